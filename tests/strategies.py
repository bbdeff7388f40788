"""Small problems: Hypothesis strategies, and functions from the RKHS."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

import noregret as nr
from noregret.arrays import Indices, Matrix, Vector
from noregret.kernels import Kernel
from noregret.posteriors import ExactPosterior, NystromPosterior, Observations, Oversample, subset

MODELS: dict[str, Callable[..., nr.Optimizer]] = {
    "mini_gp_ucb": nr.mini_gp_ucb,
    "mini_gp_ei": nr.mini_gp_ei,
    "gp_ucb": nr.gp_ucb,
    "gp_ei": nr.gp_ei,
    "gp_bucb-product": partial(nr.gp_bucb, rule="product"),
    "gp_bucb-global": partial(nr.gp_bucb, rule="global"),
    "gp_bucb-local": partial(nr.gp_bucb, rule="local"),
    "bkb": nr.bkb,
    "bbkb-global": partial(nr.bbkb, rule="global"),
    "bbkb-local": partial(nr.bbkb, rule="local"),
    "bbkb-sticky": partial(nr.bbkb, dictionary="sticky"),
    "bbkb-ei": partial(nr.bbkb, acquisition=nr.ExpectedImprovement()),
    "bbkb-ei-sticky": partial(
        nr.bbkb, acquisition=nr.ExpectedImprovement(), dictionary="sticky", rule="local"
    ),
    "bbkb-gradient": partial(
        nr.bbkb,
        acquisition=nr.KnowledgeGradient(ahead=20.0, noise=0.5),
        width=nr.ConstantWidth(1.0),
    ),
    "bkb-incremental": partial(nr.bkb, dictionary="incremental", oversample=1.0),
    "bbkb-incremental": partial(nr.bbkb, dictionary="incremental", rule="local"),
    "thompson-three": partial(nr.batch_thompson, batch_size=3),
    "thompson-product": partial(nr.batch_thompson, rule="product"),
    "thompson-local": partial(nr.batch_thompson, rule="local", posterior="nystrom"),
    "mini-thompson": partial(nr.mini, acquisition=nr.Thompson()),
    "mini-ucb-nystrom": partial(nr.mini, acquisition=nr.UCB(), posterior="nystrom"),
    "mini-ei-nystrom": partial(
        nr.mini, acquisition=nr.ExpectedImprovement(), posterior="nystrom", dictionary="sticky"
    ),
    "mini-gradient-nystrom": partial(
        nr.mini,
        acquisition=nr.KnowledgeGradient(ahead=20.0, noise=0.5),
        width=nr.ConstantWidth(1.0),
        posterior="nystrom",
    ),
    "mini-incremental": partial(
        nr.mini,
        acquisition=nr.ExpectedImprovement(),
        posterior="nystrom",
        dictionary="incremental",
        oversample=1.0,
    ),
    "mini-thompson-nystrom": partial(nr.mini, acquisition=nr.Thompson(), posterior="nystrom"),
}
# Whose draws are the same however points are described; incremental dictionaries hash features.
DESCRIBED_ANYHOW = [name for name in MODELS if "incremental" not in name]
Model = TypeVar("Model", ExactPosterior, NystromPosterior)
RTOL = 1e-8  # of algebra in float64 on a few dozen well-conditioned points


# Where one example is a whole run, of hundreds of choices, sixty of them are many.
whole_runs = settings(max_examples=min(60, settings().max_examples))


@dataclass(frozen=True)
class Scene:
    """A kernel, some evaluated points with counts, and rows to look at."""

    kernel: Kernel
    ridge: float
    points: Observations
    pool: Matrix

    @classmethod
    def drawn(
        cls, seed: int, N: int, told: int, kernel: Kernel | None = None, ridge: float = 0.1
    ) -> Scene:
        """Rows drawn at random, the first few of which were evaluated once."""
        rng = np.random.default_rng(seed)
        X, some = rng.standard_normal((N, 2)), np.arange(told)
        points = Observations(some, X[some], np.ones(told), rng.standard_normal(told))
        return cls(kernel or nr.RBF(1.0), ridge, points, X)

    def exact(self) -> ExactPosterior:
        return told(self.prior(), self.points)

    def prior(self) -> ExactPosterior:
        return exact_prior(self.kernel, self.ridge, self.pool.shape[1])

    def nystrom(self, members: int) -> NystromPosterior:
        """The sparse posterior on the first few points."""
        prior = nystrom_prior(self.kernel, self.ridge, self.pool.shape[1])
        first = np.arange(min(members, len(self.points)))
        return prior.rebuilt(self.points, subset(self.points, first))


def exact_prior(kernel: Kernel, ridge: float, dim: int = 2) -> ExactPosterior:
    return ExactPosterior.prior(kernel, noise_std=ridge**0.5, ridge=ridge, dim=dim)


def nystrom_prior(kernel: Kernel, ridge: float, dim: int = 2, q: float = 2.0) -> NystromPosterior:
    return NystromPosterior.prior(
        kernel, noise_std=ridge**0.5, ridge=ridge, dim=dim, oversample=Oversample(q)
    )


def told(prior: Model, points: Observations, seed: int = 0) -> Model:
    """Condition on points, with nothing under way."""
    return prior.condition(
        points, Observations.none(points.X.shape[1]), np.random.default_rng(seed)
    )


def equals_refactorised(posterior: ExactPosterior, X: Matrix, most: float = math.inf) -> None:
    """Assert that what was carried is what a factor made afresh says, to within rounding."""
    fresh = posterior.rebuilt(posterior.observed)
    off, kappa = rounding(posterior), float(posterior.kernel.diagonal(X).max())
    scale = float(np.abs(posterior.observed.y).max())
    close_to = partial(np.testing.assert_allclose, rtol=0)
    close_to(posterior.variance(X), fresh.variance(X), atol=min(off, most) * kappa)
    close_to(posterior.mean(X), fresh.mean(X), atol=off * scale)
    close_to(posterior.covariance(X, X), fresh.covariance(X, X), atol=off * kappa)
    close_to(posterior.log_det, fresh.log_det, rtol=off, atol=off)
    dimension = fresh.effective_dimension()
    close_to(posterior.effective_dimension(), dimension, rtol=off, atol=off)
    for carried, afresh in zip(posterior.at_points(), fresh.at_points(), strict=True):
        close_to(carried, afresh, atol=off * max(scale, kappa))


def one(row: int, scene: Scene, count: int = 1) -> tuple[Indices, Matrix, Vector]:
    """What `hallucinate` takes, for one row."""
    return np.array([row]), scene.pool[[row]], np.array([float(count)])


def close(actual: Vector | float, expected: Vector | float, tolerance: float = RTOL) -> None:
    """Assert that numbers agree, relatively where they are large and absolutely where small."""
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)


def rounding(posterior: ExactPosterior) -> float:
    """Return what rounding may add up to, relative to prior variance and values.

    Solves with A = K + ridge·W⁻¹ are off by about n·eps·cond(A), whatever the road; 64 is for
    constants.
    """
    p = posterior.observed
    A = posterior.kernel(p.X, p.X) + np.diag(posterior.ridge / p.w)
    return float(64 * len(p) * np.finfo(np.float64).eps * np.linalg.cond(A))


@dataclass
class Diary:
    """Evaluations of pool rows as they come in, one average a row: what a ledger tells."""

    pool: Matrix
    rows: dict[int, tuple[float, float]] = field(default_factory=dict)  # count and sum of each

    def add(self, row: int, count: int, average: float) -> None:
        w, total = self.rows.get(row, (0.0, 0.0))
        self.rows[row] = (w + count, total + count * average)

    def points(self) -> Observations:
        rows: Indices = np.array(list(self.rows), dtype=np.int64)
        w, total = np.array(list(self.rows.values())).T
        return Observations(rows, self.pool[rows], w, total / w)

    def believed(self, posterior: ExactPosterior) -> ExactPosterior:
        return told(posterior, self.points())


def no_rng() -> np.random.Generator:
    """A generator for calls that must not draw."""
    return np.random.default_rng(0)


def kernels(dim: int) -> st.SearchStrategy[Kernel]:
    scale = st.floats(0.3, 3.0)
    scales = st.tuples(*[scale] * dim)
    smooth: st.SearchStrategy[Kernel] = st.builds(nr.RBF, scale | scales)
    rough: st.SearchStrategy[Kernel] = st.builds(
        nr.Matern, nu=st.sampled_from([0.5, 1.5, 2.5]), lengthscale=scale | scales
    )
    plain = smooth | rough
    scaled: st.SearchStrategy[Kernel] = st.builds(
        nr.Scaled, kernel=plain, variance=st.floats(0.2, 5.0)
    )
    return plain | scaled | st.builds(nr.Sum, plain, st.builds(nr.Linear, st.floats(0.0, 1.0)))


@st.composite
def scenes(draw: st.DrawFn, most: int = 10, least: int = 1) -> Scene:
    """A Scene of a few points in 1 to 3 dimensions; features from a seeded normal."""
    dim = draw(st.integers(1, 3))
    n = draw(st.integers(least, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    kernel = draw(kernels(dim))
    pool = rng.standard_normal((n + 12, dim))
    w = rng.integers(1, 6, size=n).astype(np.float64)
    points = Observations(np.arange(n), pool[:n], w, rng.standard_normal(n))
    return Scene(kernel, draw(st.floats(0.01, 4.0)), points, pool)


@dataclass(frozen=True)
class RKHSProblem:
    """A pool and a function of norm `norm` in the RKHS of `kernel`."""

    pool: nr.Pool
    kernel: Kernel
    values: Vector
    noise_std: float

    def measure(self, ids: Indices, rng: np.random.Generator) -> Vector:
        return self.values[ids] + self.noise_std * rng.standard_normal(len(ids))

    def regret(self, ids: Indices) -> Vector:
        return np.asarray(np.cumsum(self.values.max() - self.values[ids]))


def rkhs_problem(
    seed: int,
    *,
    candidates: int = 300,
    dim: int = 2,
    lengthscale: float = 0.25,
    noise_std: float = 0.1,
    norm: float = 1.0,
    centres: int = 15,
) -> RKHSProblem:
    """Draw f = Σ aᵢ k(·, cᵢ) with ‖f‖ = norm, on candidates uniform in the unit cube."""
    rng = np.random.default_rng([seed, candidates, dim])
    kernel = nr.RBF(lengthscale)
    X, C = rng.random((candidates, dim)), rng.random((centres, dim))
    a = rng.standard_normal(centres)
    a *= norm / np.sqrt(a @ kernel(C, C) @ a)
    return RKHSProblem(nr.Pool(X), kernel, kernel(X, C) @ a, noise_std)


def rounds(
    optimizer: nr.Optimizer,
    problem: RKHSProblem,
    budget: int,
    seed: int | Sequence[int],
    at_most: int = 10**9,
) -> Iterator[tuple[nr.Batch, Indices]]:
    """Run the loop of the README and yield each batch, its values told, with the ids evaluated."""
    rng = np.random.default_rng(seed)
    while optimizer.spent < budget:
        batch = optimizer.ask(at_most=min(at_most, budget - optimizer.spent))
        ids: Indices = np.asarray(batch.sequence, dtype=np.int64)
        optimizer.tell(batch, problem.measure(ids, rng))
        yield batch, ids


def drive(
    optimizer: nr.Optimizer, problem: RKHSProblem, budget: int, seed: int, at_most: int = 10**9
) -> Indices:
    """Run, and return every id evaluated, in order."""
    told = rounds(optimizer, problem, budget, [seed, 7], at_most)
    return np.concatenate([ids for _, ids in told])
