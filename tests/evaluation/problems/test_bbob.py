"""The BBOB functions against a public implementation, and the noise against its formulas.

`python -m tests.evaluation.problems.test_bbob` prints evaluation/problems/bbob.json again.
"""

from __future__ import annotations

import doctest
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluation.problems import bbob
from noregret.arrays import Matrix
from noregret.errors import ArgumentError

FUNCTIONS = {"f104": 104, "f116": 116, "f122": 122, "rastrigin": 3}


def theirs(number: int) -> Any:
    """The first instance of a function as the makers of the suite wrote it, in 3 dimensions."""
    # Inside, because it loads Matplotlib and scipy.stats.
    from cma import bbobbenchmarks

    f = getattr(bbobbenchmarks, f"F{number}")(1)
    f._evalfull(np.zeros((1, bbob.DIM)))  # draws what depends on the dimension
    return f


def drawn(number: int) -> dict[str, Any]:
    """x_opt, f_opt and rotations of theirs, which turns rows: z = yᵀR there is z = Ry here."""
    f = theirs(number)
    rotations: list[Matrix] = []
    if hasattr(f, "rotation"):
        rotations.append(f.rotation.T)
    if hasattr(f, "linearTF"):
        rotations.append((f.linearTF / f.scales).T)  # it holds QΛ
    listed = [rotation.tolist() for rotation in rotations]
    return {"x_opt": f.xopt.tolist(), "f_opt": float(f.fopt), "rotations": listed}


def ours(name: str, X: Matrix) -> Matrix:
    setting = bbob.SETTINGS[name]
    at = bbob.instance(setting.number)
    return setting.f(X, at) + at.f_opt


@pytest.mark.parametrize("number", FUNCTIONS.values())
def test_the_instance_is_the_suites(number: int) -> None:
    """Numbers kept as data that nobody can draw again are numbers made up."""
    held = json.loads(Path(bbob.__file__).with_name("bbob.json").read_text())[f"f{number}"]
    again = drawn(number)
    assert held["f_opt"] == again["f_opt"]
    np.testing.assert_allclose(held["x_opt"], again["x_opt"], rtol=1e-15)
    np.testing.assert_allclose(held["rotations"], again["rotations"], atol=1e-14)
    for Q in bbob.instance(number).rotations:
        np.testing.assert_allclose(Q @ Q.T, np.eye(bbob.DIM), atol=1e-14)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_are_the_suites_on_the_whole_grid(name: str) -> None:
    """Another function under a known name would make every comparison void."""
    X = bbob.grid()
    _, values = theirs(FUNCTIONS[name])._evalfull(X)
    assert X.shape == (10_648, 3)
    np.testing.assert_allclose(ours(name, X), values, rtol=1e-11, atol=1e-9)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_optimum_is_where_it_is_said_to_be(name: str) -> None:
    """Nothing nearby is lower than f_opt, and no grid point is so near that noise would vanish."""
    at = bbob.instance(bbob.SETTINGS[name].number)
    near = at.x_opt + 0.01 * np.random.default_rng(0).standard_normal((100, bbob.DIM))
    assert ours(name, at.x_opt[None])[0] == pytest.approx(at.f_opt, abs=1e-9)
    assert ours(name, near).min() > at.f_opt
    assert ours(name, bbob.grid()).min() > at.f_opt + 1e-8


@pytest.mark.parametrize("name", bbob.SETTINGS)
def test_the_truth_ranks_as_the_suite_does(name: str) -> None:
    """The lowest f is the best candidate, worth 1; the highest is worth 0."""
    problem = bbob.bbob(name)
    values = ours(name, problem.numbers)
    assert problem.name == name
    assert (problem.values.min(), problem.values.max()) == (0.0, 1.0)
    scaled = (values.max() - values) / (values.max() - values.min())
    np.testing.assert_allclose(problem.values, scaled, atol=1e-12)


@pytest.mark.parametrize("name", ["f104", "f116-severe", "f122-severe"])
def test_an_evaluation_is_the_suites_draw_by_draw(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given the same normal numbers, the suite's noisy value under our map."""
    from cma import bbobbenchmarks

    problem, f = bbob.bbob(name), theirs(bbob.SETTINGS[name].number)
    rows = np.random.default_rng(1).integers(len(problem.numbers), size=500)
    monkeypatch.setattr(bbobbenchmarks, "_randn", np.random.default_rng(2).standard_normal)
    noisy, _ = f._evalfull(problem.numbers[rows])
    values = ours(name, problem.numbers)
    expected = (values.max() - noisy) / (values.max() - values.min())
    got = problem.feedback(rows, np.random.default_rng(2))
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", bbob.SETTINGS)
def test_evaluations_have_the_mean_and_spread_that_are_told(name: str) -> None:
    """An algorithm told a wrong noise level is tuned to another problem."""
    problem, beta = bbob.bbob(name), bbob.SETTINGS[name].beta
    noise = problem.feedback
    assert isinstance(noise, bbob.GaussianModel)
    assert beta == (1.0 if name.endswith("severe") else 0.01)
    bias = (np.exp(beta**2 / 2) - 1) * noise.lacks / np.ptp(noise.lacks)
    kurtosis = np.array([1, 2, 3]) @ np.exp(beta**2 * np.array([4, 3, 2])) - 3  # log-normal
    for row in (0, 5_000, int(problem.values.argmax())):
        draws = problem.feedback(np.full(400_000, row), np.random.default_rng(row))
        mean, error = problem.values[row] - bias[row], noise.std[row] / np.sqrt(len(draws))
        assert draws.mean() == pytest.approx(mean, abs=4 * error)
        close = 4 * float(np.sqrt((kurtosis - 1) / len(draws)))
        assert draws.var() == pytest.approx(noise.std[row] ** 2, rel=close)
    louder = (noise.std > problem.noise_std).mean()
    assert louder == pytest.approx(0.1, abs=1e-3)


@pytest.mark.parametrize("name", ["f105", "", "F104", None, 104])
def test_other_names_are_refused(name: object) -> None:
    with pytest.raises(ArgumentError, match="'f104', 'f116', 'f122', 'rastrigin', 'f116-severe'"):
        bbob.bbob(name)  # type: ignore[arg-type]  # what is tested


def test_the_example_runs() -> None:
    """People read the example first."""
    assert doctest.testmod(bbob) == (0, 3)


if __name__ == "__main__":
    rows = [f'"f{number}": {json.dumps(drawn(number))}' for number in FUNCTIONS.values()]
    print("{\n" + ",\n".join(rows) + "\n}")
