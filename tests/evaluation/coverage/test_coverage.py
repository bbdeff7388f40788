"""The page of coverage is made of its numbers, and what is counted can fail."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import noregret as nr
from evaluation.coverage import lengthscale
from evaluation.coverage.__main__ import main, section
from evaluation.coverage.cases import CASES, Outcome, run, told

PAGE = Path(__file__).parents[3] / "docs" / "results" / "coverage.md"


def test_the_page_says_what_its_numbers_say() -> None:
    """A page edited by hand would be believed."""
    kept = json.loads((PAGE.parent / "coverage" / "results.json").read_text())
    found = {name: [Outcome(**one) for one in runs] for name, runs in kept.items()}
    assert section(found) in PAGE.read_text()
    for name, runs in found.items():
        assert len(runs) == 200
        held = sum(one.kept and one.reach <= 1 for one in runs)
        assert held >= 168, name  # of 200 at nine in ten, once in a hundred times fewer


def test_the_guide_to_choosing_says_what_a_wrong_lengthscale_gave() -> None:
    """Both pages follow the numbers, and the numbers can be run again."""
    kept = json.loads((PAGE.parent / "coverage" / "lengthscale.json").read_text())
    found = {name: [lengthscale.Outcome(**one) for one in runs] for name, runs in kept.items()}
    assert [len(runs) for runs in found.values()] == [lengthscale.RUNS] * 3
    assert lengthscale.section(found) in PAGE.read_text()
    guide = (PAGE.parents[1] / "how-to-choose.md").read_text()
    assert lengthscale.in_words(found) in " ".join(guide.split())
    again, first = lengthscale.run("grow", 0), found["grow"][0]
    assert again.outside == first.outside == 0
    assert again.regret == pytest.approx(first.regret, rel=0.05)
    assert again.certified == pytest.approx(first.certified, rel=0.05)


def test_a_band_that_promises_too_much_is_counted_as_failed() -> None:
    """A norm bound of a thousandth, and hardly any allowance for noise."""
    liar = replace(CASES["bbkb"], make=told(nr.bbkb, norm_bound=1e-3, ridge=1e4))
    assert not run(liar, 0).kept
    honest = run(CASES["bbkb"], 0)
    assert honest.kept
    assert honest.sound
    assert 0 < honest.reach <= 1
    assert honest.gap >= honest.true_gap >= 0


def test_the_command_runs_a_case_and_refuses_others(tmp_path: Path) -> None:
    assert main(["bkb", "--quick", "--out", str(tmp_path)]) == 0
    assert main(["lengthscale", "--quick", "--out", str(tmp_path)]) == 0
    assert not list(tmp_path.iterdir())
    assert main(["no such case"]) == 2
