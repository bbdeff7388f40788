"""The examples on real data run, where the data are, and find what they are to find."""

from __future__ import annotations

import pytest

from evaluation.data.files import find
from examples import ads, architectures, housing, hyperparameters, molecules, prints, reactions


@pytest.fixture(autouse=True)
def _data_or_skip(request: pytest.FixtureRequest) -> None:
    file = getattr(request, "param", None)
    if file is not None and find(file) is None:
        pytest.skip(f"no {file} on this machine")


def needs(file: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("_data_or_skip", [file], indirect=True)


@needs("enamine10k_docking.npz")
def test_molecules() -> None:
    found = molecules.main(budget=240)
    assert found["batch_thompson"] > found["uniform"]


@needs("direct_arylation.csv.gz")
def test_reactions() -> None:
    assert reactions.main(budget=60, seeds=1)["batch_thompson"] > 90


@needs("materials_crossed_barrel.csv.gz")
def test_prints() -> None:
    assert prints.main(budget=100) < 15
    assert (prints.OUT / "prints.png").stat().st_size > 10_000


@needs("cadata.npz")
def test_housing() -> None:
    found = housing.main(past=2000, budget=40)
    assert found["chosen"] > found["pool"] + 0.1


@needs("nasbench201.npz")
def test_architectures() -> None:
    regrets = architectures.main(budget=60, seeds=1)
    assert regrets["batch_thompson"] < regrets["uniform"]


@needs(ads.LOGS[0])
def test_ads(capsys: pytest.CaptureFixture[str]) -> None:
    """With contexts more is clicked than the best ad for all would be; what is made up is said."""
    found = ads.main(budget=500, seeds=1)
    assert found[ads.EACH] > 8.0 > found[ads.ONE] > 5.0 > found[ads.RANDOM]
    assert (ads.OUT / "ads.png").stat().st_size > 10_000
    assert "Rates are made up" in capsys.readouterr().out


def test_hyperparameters() -> None:
    assert hyperparameters.main(budget=16) > 0.9
