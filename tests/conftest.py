"""Hypothesis: derandomised, no deadline; few cases by default, many in the slow run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

common = settings(
    derandomize=True,
    deadline=None,
    database=None,
    print_blob=False,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("few", common, max_examples=20)
settings.register_profile("many", common, max_examples=200)
settings.register_profile(
    "unshrunk", common, max_examples=100, phases=[Phase.explicit, Phase.generate]
)
settings.load_profile(os.environ.get("NOREGRET_CASES", "few"))


@pytest.fixture
def closed() -> Iterator[None]:
    """Figures cost memory until they are closed; the style must be as it was."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    mpl.use("Agg")
    plt.close("all")  # what an example of the docs has drawn
    before = dict(mpl.rcParams)
    yield
    plt.close("all")
    assert dict(mpl.rcParams) == before


@pytest.fixture
def only_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, and no other place to find data in, nor to fetch them from."""
    from evaluation.data import files

    monkeypatch.setenv("NOREGRET_DATA", str(tmp_path))
    monkeypatch.setattr(files, "FOLDER", tmp_path / "nowhere")
    monkeypatch.setattr(files, "cache", lambda: None)
    monkeypatch.setattr(files, "ORIGINALS", {})
    return tmp_path
