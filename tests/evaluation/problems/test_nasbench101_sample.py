"""The sample of NAS-Bench-101: on a small file of its layout, and on the file where it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.data import files as data
from evaluation.data.files import Missing
from evaluation.problems import nasbench101, nasbench101_sample, papers
from evaluation.problems.nasbench101_sample import FILE, NOISE_OF, borrowed_std
from noregret.arrays import Matrix, Vector

N, M = 60, 25
THEIRS = 12  # cells of the papers, of which the sample holds some


@pytest.fixture
def folder(only_data: Path) -> Path:
    """Files of the layout of the real ones, and no other place to find data in."""
    rng = np.random.default_rng(0)
    X = rng.integers(2, size=(N, 36), dtype=np.uint8)
    X[:, 0] = 1
    rows = np.full(N, -1, dtype=np.int32)
    rows[[5, 17, 40]] = [7, 2, 11]
    accuracies = rng.uniform(0.5, 0.95, (N, 4)).astype(np.float32)
    accuracies[30, 3] = 0.0951  # failed
    took = rng.uniform(300, 5000, N).astype(np.float32)
    np.savez(only_data / FILE, X=X, val_acc=accuracies, train_time=took, row_in_papers_subset=rows)
    runs = rng.uniform(40, 92, (M, 3)).astype(np.float32)
    runs[::2, 2] = np.nan
    np.savez(only_data / NOISE_OF, val_acc_cifar10=runs)
    bits = rng.integers(2, size=(THEIRS, 19), dtype=np.uint8)
    bits[:, [0, 14]] = 1
    names = np.array([f"{row:032x}" for row in range(THEIRS)], dtype="S32")
    np.savez(only_data / nasbench101.CELLS, X=bits, module_hash=names)
    return only_data


def held(folder: Path, file: str, name: str) -> Matrix:
    with np.load(folder / file) as arrays:
        return np.asarray(arrays[name], dtype=np.float64)


def slow_std(accuracies: list[float], runs: list[list[float]]) -> list[float]:
    """Cell by cell: how many are worse, and the deviation of the other benchmark's at that rank."""
    others = []
    for row in runs:
        known = [value for value in row if value == value]
        mean = sum(known) / len(known)
        square = sum((value - mean) ** 2 for value in known) / (len(known) - 1)
        others.append((mean, square**0.5))
    others.sort(key=lambda one: one[0])
    found = []
    for at, value in enumerate(accuracies):
        worse = sum(one < value or (one == value and k < at) for k, one in enumerate(accuracies))
        found.append(others[(2 * worse + 1) * len(others) // (2 * len(accuracies))][1])
    return found


@settings(derandomize=True, deadline=None, max_examples=50)
@given(
    st.lists(st.sampled_from([0.1, 0.5, 0.6, 0.9, 0.91]), min_size=1, max_size=40),
    st.integers(2, 30),
    st.integers(0, 100),
)
def test_a_cell_is_as_noisy_as_the_others_of_its_rank(
    accuracies: list[float], others: int, seed: int
) -> None:
    runs = np.random.default_rng(seed).uniform(size=(others, 3))
    runs[::3, 2] = np.nan
    found = borrowed_std(np.array(accuracies), runs)
    np.testing.assert_allclose(found, slow_std(accuracies, runs.tolist()), rtol=1e-12)


def test_the_sample(folder: Path) -> None:
    problem = papers.PROBLEMS["nasbench101-sample"]()
    X = held(folder, FILE, "X")
    edges, operations = X[:, 1:21], X[:, 21:]  # the first column is 1 in every cell
    assert problem.numbers.shape == (N, 35)
    for half, was in ((problem.numbers[:, :20], edges), (problem.numbers[:, 20:], operations)):
        np.testing.assert_allclose(half * np.sqrt(was.sum(axis=1).max()), was)
        assert np.linalg.norm(half, axis=1).max() == pytest.approx(1)
    accuracies = held(folder, FILE, "val_acc")[:, 3]  # after 108 epochs
    np.testing.assert_array_equal(problem.values, accuracies)
    assert problem.worst == accuracies[30]
    assert problem.seconds is not None
    np.testing.assert_array_equal(problem.seconds, held(folder, FILE, "train_time"))


def test_the_papers_cells_have_the_papers_features(folder: Path) -> None:
    problem = papers.PROBLEMS["nasbench101-subset"]()
    of_all = nasbench101.features(held(folder, nasbench101.CELLS, "X"))
    np.testing.assert_array_equal(problem.numbers, of_all[[7, 2, 11]])
    np.testing.assert_array_equal(problem.values, held(folder, FILE, "val_acc")[[5, 17, 40], 3])
    assert problem.seconds is not None
    np.testing.assert_array_equal(problem.seconds, held(folder, FILE, "train_time")[[5, 17, 40]])


@pytest.mark.parametrize("name", papers.SAMPLED)
def test_an_evaluation_is_as_noisy_as_told(name: str, folder: Path) -> None:
    """Whichever the problem: a cell's noise is that of its rank in the whole sample."""
    problem = papers.PROBLEMS[name]()
    every: Vector = held(folder, FILE, "val_acc")[:, 3]
    runs = held(folder, NOISE_OF, "val_acc_cifar10") / 100
    std = np.array(slow_std(every.tolist(), runs.tolist()))
    if name == "nasbench101-subset":
        std = std[[5, 17, 40]]
    assert problem.noise_std == pytest.approx(np.percentile(std, 90))
    count, rng = 4000, np.random.default_rng(1)
    for row in range(0, len(std), 7):
        drawn = problem.feedback(np.full(count, row), rng)
        # Five standard errors of a mean, and of a standard deviation.
        assert abs(drawn.mean() - problem.values[row]) < 5 * std[row] / count**0.5
        assert abs(drawn.std() / std[row] - 1) < 5 / (2 * count) ** 0.5


def test_without_the_sample_one_is_told_and_the_stand_ins_are_searched(folder: Path) -> None:
    assert papers.architectures() == (*papers.SAMPLED, *papers.STAND_INS)
    assert papers.cells() == papers.SAMPLED
    (folder / FILE).unlink()
    assert papers.architectures() == papers.cells() == papers.STAND_INS
    with pytest.raises(Missing, match=rf"no {FILE} in .*NOREGRET_DATA"):
        nasbench101_sample.sample()
    (folder / nasbench101.OUTCOMES).touch()
    assert papers.architectures() == papers.cells() == ("nasbench101",)


def test_the_real_sample() -> None:
    if data.find(FILE) is None:
        pytest.skip(f"no {FILE} on this machine")
    whole, part = (papers.PROBLEMS[name]() for name in papers.SAMPLED)
    assert (whole.numbers.shape, part.numbers.shape) == ((20_001, 36), (608, 17))
    assert np.mean(whole.values < 0.2) == pytest.approx(0.0012, abs=1e-5)
    assert part.worst > 0.8
    assert len(np.unique(part.numbers, axis=0)) == 608
