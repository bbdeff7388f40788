"""Kernels of scikit-learn: taken as they are, alone and beside ours, noise apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sk

import noregret as nr
from noregret.errors import ArgumentError, KernelError, SnapshotError
from noregret.kernels import Kernel, as_kernel
from noregret.kernels.scikit_learn import ScikitKernel
from noregret.testing.base import play
from strategies import MODELS

X = np.random.default_rng(0).random((40, 2))
F = np.sin(5 * X[:, 0]) * np.cos(4 * X[:, 1])
TWINS: dict[str, tuple[object, Kernel]] = {
    "rbf": (sk.RBF(0.4), nr.RBF(0.4)),
    "ard": (sk.RBF([0.4, 0.9]), nr.RBF((0.4, 0.9))),
    "matern": (sk.Matern(0.4, nu=1.5), nr.Matern(1.5, 0.4)),
    "scaled": (2.0 * sk.Matern(0.4, nu=2.5), 2.0 * nr.Matern(2.5, 0.4)),
    "sum": (sk.RBF(0.4) + sk.DotProduct(0.5), nr.RBF(0.4) + nr.Linear(0.25)),
    "power": (sk.Exponentiation(sk.DotProduct(0.5), 3), nr.Polynomial(3, 0.25)),
    # Ours beside theirs, in any order, although theirs takes what it does not know for a constant.
    "ours + theirs": (nr.RBF(0.3) + sk.RBF(0.9), nr.RBF(0.3) + nr.RBF(0.9)),
    "ours * theirs": (nr.RBF(0.3) * sk.RBF(0.9), nr.RBF(0.3) * nr.RBF(0.9)),
    "theirs scaled": (nr.Scaled(sk.RBF(0.9), 3.0), 3.0 * nr.RBF(0.9)),
    "sum scaled": (2.0 * (nr.Linear() + sk.RBF(0.9)), 2.0 * (nr.Linear() + nr.RBF(0.9))),
    "theirs + ours": (sk.RBF(0.9) + nr.RBF(0.3), nr.RBF(0.9) + nr.RBF(0.3)),
    "theirs * ours": (sk.RBF(0.9) * nr.Linear(), nr.RBF(0.9) * nr.Linear()),
    "product scaled": (2.0 * (sk.RBF(0.9) * nr.RBF(0.3)), 2.0 * (nr.RBF(0.9) * nr.RBF(0.3))),
    "all of it": (
        sk.RBF(0.9) * nr.Linear() + sk.Matern(nu=0.5),
        nr.RBF(0.9) * nr.Linear() + nr.Matern(0.5),
    ),
}


@pytest.mark.parametrize(("theirs", "ours"), TWINS.values(), ids=TWINS)
def test_it_is_seen_as_ours(theirs: object, ours: Kernel) -> None:
    """The same numbers by another road."""
    kernel = as_kernel(theirs)
    np.testing.assert_allclose(kernel(X, X), ours(X, X), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(X), ours.diagonal(X), rtol=1e-12)
    empty = kernel(X[:0], X), kernel(X, X[:0]), kernel.diagonal(X[:0])
    assert [block.shape for block in empty] == [(0, 40), (40, 0), (0,)]


@pytest.mark.parametrize("name", MODELS)
def test_every_algorithm_takes_one(name: str) -> None:
    """And chooses as with ours; draws differ, for only ours have random features."""
    ours, theirs = (
        MODELS[name](nr.Pool(X), kernel=kernel, noise_std=0.3, seed=2)
        for kernel in (nr.Matern(2.5, 0.4), sk.Matern(0.4, nu=2.5))
    )
    chosen = play(theirs, 6, at_most=5), play(ours, 6, at_most=5)
    if "thompson" not in name:
        assert chosen[0] == chosen[1]
        assert theirs.best().id == ours.best().id
    box = MODELS[name](nr.Box([(0.0, 1.0)]), kernel=sk.RBF(0.4), noise_std=0.3)
    assert len(box.ask(at_most=1)) == 1


@pytest.mark.parametrize(
    "kernel",
    [
        sk.WhiteKernel(0.09),
        sk.RBF(0.4) + sk.WhiteKernel(0.09),
        2.0 * sk.RBF(0.4) + sk.WhiteKernel(0.09) * 1.0,
        sk.Exponentiation(sk.RBF(0.4) + sk.WhiteKernel(0.09), 2.0),
    ],
)
def test_noise_in_the_kernel_is_refused(kernel: Kernel) -> None:
    """It would be taken for part of f at some places and not at others."""
    match = r"WhiteKernel.* noise_std=0\.3, .*kernel_.k1"
    with pytest.raises(KernelError, match=match):
        nr.bbkb(nr.Pool(X), kernel=kernel, noise_std=0.1)
    with pytest.raises(KernelError, match=match):
        nr.Scaled(kernel, 2.0)


def test_a_fitted_kernel_is_taken_without_its_noise() -> None:
    """The road by which most people come: fit there, optimise here."""
    model = GaussianProcessRegressor(1.0 * sk.RBF(0.4) + sk.WhiteKernel(0.01), optimizer=None)
    model.fit(X, F)
    noise = float(model.kernel_.k2.noise_level) ** 0.5
    optimizer = nr.gp_ucb(nr.Pool(X), kernel=model.kernel_.k1, noise_std=noise)
    optimizer.tell(range(40), F)
    np.testing.assert_allclose(optimizer.posterior.mean(X), model.predict(X), atol=1e-8)


def test_later_changes_to_it_change_nothing() -> None:
    """Their kernels are objects whose settings can be set."""
    theirs = sk.RBF(0.4)
    kernel = as_kernel(theirs)
    assert isinstance(kernel, ScikitKernel)
    theirs.length_scale = 9.0
    np.testing.assert_allclose(kernel(X, X), nr.RBF(0.4)(X, X), rtol=1e-10)
    assert "RBF(length_scale=0.4)" in repr(kernel)


@pytest.mark.parametrize("kernel", [sk.Matern(0.4, nu=2.5), 2.0 * (nr.Linear() + sk.RBF(0.4))])
def test_a_saved_run_asks_for_its_kernel_again(kernel: Kernel, tmp_path: Path) -> None:
    """Objects of another library are not kept in the file; another one is noticed."""
    optimizer = nr.bbkb(nr.Pool(X), kernel=kernel, noise_std=0.3)
    play(optimizer, 4)
    optimizer.save(tmp_path / "run")
    with pytest.raises(SnapshotError, match="give it again"):
        nr.load(tmp_path / "run", pool=nr.Pool(X))
    with pytest.raises(SnapshotError, match="is not the kernel of the saved run"):
        nr.load(tmp_path / "run", pool=nr.Pool(X), kernel=sk.RBF(0.1))
    again = nr.load(tmp_path / "run", pool=nr.Pool(X), kernel=kernel)
    assert play(again, 4) == play(optimizer, 4)


def test_what_cannot_be_taken_is_refused() -> None:
    """Classes, several kernels in one, and ours buried where only theirs can be."""
    pool = nr.Pool(X)
    with pytest.raises(ArgumentError, match="got the class"):
        nr.gp_ucb(pool, kernel=sk.RBF, noise_std=0.1)
    with pytest.raises(KernelError, match="shape"):
        nr.gp_ucb(pool, kernel=sk.CompoundKernel([sk.RBF(), sk.RBF(2.0)]), noise_std=0.1)
    buried = sk.Exponentiation(sk.RBF() + nr.RBF(0.3), 2.0)
    with pytest.raises(ArgumentError, match="Exponentiation of scikit-learn cannot hold"):
        as_kernel(buried)
