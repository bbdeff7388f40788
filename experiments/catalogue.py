"""All plates, in the order of the papers."""

from __future__ import annotations

from experiments.bbkb import figures as bbkb
from experiments.bbkb import lemma3
from experiments.bkb import figures as bkb
from experiments.mini import figures as mini
from experiments.plates import Plate

PLATES: dict[str, Plate] = {
    plate.name: plate for plate in (*bkb.PLATES, *bbkb.PLATES, *lemma3.PLATES, *mini.PLATES)
}
