"""Small problems: Hypothesis strategies, and functions from the RKHS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from hypothesis import strategies as st

import noregret as nr
from noregret.arrays import Indices, Matrix, Vector
from noregret.kernels import Kernel
from noregret.posteriors import ExactPosterior, NystromPosterior, Oversample, Points

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
    "thompson-three": partial(nr.batch_thompson, batch_size=3),
    "thompson-product": partial(nr.batch_thompson, rule="product"),
    "thompson-local": partial(nr.batch_thompson, rule="local", posterior="nystrom"),
    "mini-thompson": partial(nr.mini, acquisition=nr.Thompson()),
}
RTOL = 1e-8  # of algebra in float64 on a few dozen well-conditioned points


@dataclass(frozen=True)
class Scene:
    """A kernel, some evaluated points with counts, and rows to look at."""

    kernel: Kernel
    ridge: float
    points: Points
    pool: Matrix

    def exact(self) -> ExactPosterior:
        return self.prior().condition(self.points, Points.none(self.pool.shape[1]), no_rng())

    def prior(self) -> ExactPosterior:
        return ExactPosterior.prior(
            self.kernel, noise_std=self.ridge**0.5, ridge=self.ridge, dim=self.pool.shape[1]
        )

    def nystrom(self, members: int) -> NystromPosterior:
        """The sparse posterior on the first few points."""
        prior = NystromPosterior.prior(
            self.kernel,
            noise_std=self.ridge**0.5,
            ridge=self.ridge,
            dim=self.pool.shape[1],
            oversample=Oversample(),
        )
        p = self.points
        first = Points(p.rows[:members], p.X[:members], p.w[:members], p.y[:members])
        return prior.rebuilt(p, first)


def one(row: int, scene: Scene, count: int = 1) -> tuple[Indices, Matrix, Vector]:
    """What `hallucinate` takes, for one row."""
    return np.array([row]), scene.pool[[row]], np.array([float(count)])


def close(actual: Vector, expected: Vector, tolerance: float = RTOL) -> None:
    """Assert that arrays agree, relatively where they are large and absolutely where small."""
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)


def rounding(posterior: ExactPosterior) -> float:
    """Return what rounding may add up to, relative to prior variance and values.

    Solves with A = K + ridge·W⁻¹ are off by about n·eps·cond(A), whatever the road; 64 is for
    constants.
    """
    p = posterior.points
    A = posterior.kernel(p.X, p.X) + np.diag(posterior.ridge / p.w)
    return float(64 * len(p) * np.finfo(np.float64).eps * np.linalg.cond(A))


@dataclass
class Diary:
    """Evaluations of pool rows as they come in, one average a row: what a ledger tells."""

    pool: Matrix
    rows: list[int] = field(default_factory=list)
    counts: dict[int, float] = field(default_factory=dict)
    sums: dict[int, float] = field(default_factory=dict)

    def add(self, row: int, count: int, average: float) -> None:
        if row not in self.counts:
            self.rows.append(row)
            self.counts[row] = self.sums[row] = 0.0
        self.counts[row] += count
        self.sums[row] += count * average

    def points(self) -> Points:
        rows: Indices = np.array(self.rows, dtype=np.int64)
        w = np.array([self.counts[row] for row in self.rows])
        return Points(rows, self.pool[rows], w, np.array([self.sums[r] for r in self.rows]) / w)

    def believed(self, posterior: ExactPosterior) -> ExactPosterior:
        return posterior.condition(self.points(), Points.none(self.pool.shape[1]), no_rng())


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
    points = Points(np.arange(n), pool[:n], w, rng.standard_normal(n))
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


def drive(optimizer: nr.Optimizer, problem: RKHSProblem, budget: int, seed: int) -> Indices:
    """Run the loop of the README and return every id evaluated, in order."""
    rng = np.random.default_rng([seed, 7])
    ids = []
    while optimizer.spent < budget:
        batch = optimizer.ask(at_most=budget - optimizer.spent)
        order = np.asarray(batch.sequence, dtype=np.int64)
        optimizer.tell(batch, problem.measure(order, rng))
        ids.append(order)
    return np.concatenate(ids)
