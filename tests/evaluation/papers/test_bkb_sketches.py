"""The figure of sketches and random features, on few arms and few evaluations."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from evaluation.papers import command
from evaluation.papers.bkb import sketches

SMALL = {"ARMS": 60, "T": 30, "REPETITIONS": 2, "COUNTS": (10, 20, 40), "LONG": 60}


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, value in SMALL.items():
        monkeypatch.setattr(sketches, name, value)
    caches = (sketches.outcomes, sketches.uniform)
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


def test_it_is_drawn_with_every_method_and_what_was_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "OUT", tmp_path)
    assert command.main(["bkb-sketches", "--quick"]) == 0
    assert "bkb-sketches: " in capsys.readouterr().out
    numbers = json.loads((tmp_path / "quick" / "bkb-sketches.json").read_text())
    said = " ".join(claim["measured"] for claim in numbers["claims"])
    assert len(numbers["claims"]) == 6
    for name in sketches.PROBLEMS:
        assert all(label in said for label in sketches.methods(name))
    assert (tmp_path / "quick" / "bkb-sketches.png").stat().st_size > 10_000


def test_problems_are_what_the_page_says() -> None:
    """Rows of norm 1 at most, a tail that is short or long, and a function of norm 1."""
    for name, share in (("short", 0.01), ("long", 0.1)):
        p = sketches.made(name, 0)
        assert np.linalg.norm(p.X, axis=1).max() == pytest.approx(1.0)
        values = np.linalg.svd(p.X, compute_uv=False) ** 2
        tail = values[20:].sum() / values.sum()
        assert (tail < share) == (name == "short")
    smooth, later = sketches.made("smooth", 1), sketches.made("later", 1)
    np.testing.assert_array_equal(smooth.f, later.f)
    K = smooth.kernel(smooth.X, smooth.X) + 1e-8 * np.eye(len(smooth.X))
    assert 0.5 < smooth.f @ np.linalg.solve(K, smooth.f) <= 1.0 + 1e-6


def test_linear_regret_is_1_and_that_of_a_root_less() -> None:
    """What the claims call linear."""

    def late(regret: np.ndarray) -> float:
        sketches.outcomes.cache_clear()
        one = {"x": [sketches.Outcome(regret)]}
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(sketches, "outcomes", lambda _: one)
            return sketches.late("short", "x")

    t = np.arange(1.0, 1001.0)
    assert late(t) == pytest.approx(1.0)
    assert late(np.sqrt(t)) == pytest.approx(np.sqrt(2) - 1)
