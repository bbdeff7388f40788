"""All plates, in the order of the papers."""

from __future__ import annotations

from evaluation.papers.bbkb import figures as bbkb
from evaluation.papers.bbkb import lemma3
from evaluation.papers.bkb import figures as bkb
from evaluation.papers.mini import figures as mini
from evaluation.papers.plates import Plate

PLATES: dict[str, Plate] = {
    plate.name: plate for plate in (*bkb.PLATES, *bbkb.PLATES, *lemma3.PLATES, *mini.PLATES)
}
