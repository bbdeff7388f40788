"""What everything is measured on, the same for every competitor."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

import noregret as nr
from noregret.arrays import Indices, Rows, Vector

NOISE_STD = 0.05
RIDGE = NOISE_STD**2
NORM_BOUND = 1.0
DELTA = 0.1  # the library's, where no horizon is given
MOLECULES = "enamine50k_docking.npz"
CENTRES = 40
LENGTHSCALE = 12.5  # at d = 8
CHUNK = 1 << 15  # rows of the pool at a time, so that making f needs little memory


@final
@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """A pool, its kernel and an f: standard-normal rows and norm 1, where nothing else is said."""

    X: Rows  # (N, d)
    f: Vector  # (N,)
    kernel: nr.Kernel
    seed: int

    def pool(self) -> nr.Pool | nr.BitPool:
        """Return the pool, copied, as a user would make it."""
        return nr.BitPool(self.X, packed=True) if self.X.dtype == np.uint8 else nr.Pool(self.X)

    def noise(self, T: int) -> Vector:
        """Return the noise of evaluations 0 … T − 1: the t-th is the same for every competitor."""
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(1,)))
        return NOISE_STD * rng.standard_normal(T)

    def regret(self, rows: Indices) -> float:
        """Return how much evaluations of these rows fell short of the best, in all."""
        return float(self.f.max() * len(rows) - self.f[rows].sum())


def kernel_of(name: str, d: int) -> nr.Kernel:
    """Return a kernel by name; lengthscales grow with √d, as distances between rows do.

    "ard" has lengthscales from half to twice the common one.
    """
    lengthscale = LENGTHSCALE * math.sqrt(d / 8)
    if name == "rbf":
        return nr.RBF(lengthscale)
    if name == "matern52":
        # Twice as long: with that, Matérn-5/2 needs about as many points as RBF does.
        return nr.Matern(nu=2.5, lengthscale=2 * lengthscale)
    if name == "ard":
        return nr.RBF(tuple(lengthscale * np.geomspace(0.5, 2.0, d)))
    if name == "scikit":
        from sklearn.gaussian_process.kernels import RBF  # heavy, and no other case needs it

        from noregret.kernels import as_kernel

        return as_kernel(RBF(lengthscale))
    raise ValueError(f"kernel must be rbf, matern52, ard or scikit, got {name!r}.")


def make_problem(N: int, *, d: int = 8, kernel: str = "rbf", seed: int = 0) -> Problem:
    """Draw pool and function: f = Σ aᵢ k(cᵢ, ·) with Σ aᵢ = 0, without which f is nearly flat."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0,)))
    k = kernel_of(kernel, d)
    X, C = rng.standard_normal((N, d)), rng.standard_normal((CENTRES, d))
    a = rng.standard_normal(CENTRES)
    a -= a.mean()
    a *= NORM_BOUND / math.sqrt(float(a @ k(C, C) @ a))
    f = np.concatenate([k(X[i : i + CHUNK], C) @ a for i in range(0, N, CHUNK)])
    return Problem(X, f, k, seed)


def make_molecules(N: int, *, seed: int = 0) -> Problem:
    """Return the first N of Enamine's 49 706 molecules; f is 0 on average and 1 at the best.

    AutoDock Vina scores of Graff et al. (2021), lower being better, and Morgan fingerprints of
    2048 bits, compared by Tanimoto.
    """
    from evaluation.data.files import arrays  # here: most cases need no data

    bits, energies = arrays(MOLECULES, "fp", "y")
    scores = energies[:N].astype(np.float64)
    f: Vector = (scores.mean() - scores) / (scores.mean() - scores.min())
    return Problem(nr.BitPool(bits[:N], packed=True).X, f, nr.Tanimoto(), seed)


def exact_posterior(
    known: nr.Evaluated, X: Rows, kernel: nr.Kernel, noise_std: float
) -> nr.ExactPosterior:
    """Return the posterior on what is known, at features X, as a user would make it."""
    from noregret.posteriors import Observations  # here: other cases need public names alone

    n, dim = X.shape
    told = Observations(np.arange(n), X, known.evaluations.astype(np.float64), known.averages)
    prior = nr.ExactPosterior.prior(kernel, noise_std=noise_std, ridge=noise_std**2, dim=dim)
    return prior.condition(told, Observations.none(dim), np.random.default_rng(0))
