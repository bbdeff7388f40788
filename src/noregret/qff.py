"""Thompson sampling with quadrature Fourier features, in one to three dimensions."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TypeAlias, final

import numpy as np
import numpy.typing as npt

from noregret.appraisals import appraised
from noregret.arrays import Indices, Matrix, Vector, chunk_rows
from noregret.baselines import anything, singles
from noregret.errors import ArgumentError, AskError, CertificateError, require_count
from noregret.kernels import RBF, Kernel, Scaled
from noregret.policy import Appraisal, Estimates, Evidence, Footing, Gap, Outlook, Proposal
from noregret.pools import Picks, Places, Scales
from noregret.posteriors import ExactPosterior, Points, cholesky
from noregret.streams import Purpose

Phases: TypeAlias = npt.NDArray[np.complex128]
MOST_DIMENSIONS = 3
MOST_FEATURES = 4096  # their covariance takes 128 MB, a factor of it some seconds
ERROR = 1e-4  # of k(x, z), aimed at where the number of nodes is not given
LEAST_RIDGE = 1e-8  # of the variance: V has condition t/ridge, and eps·10⁸·t must stay below 1
NO_THEOREM = (
    "ts_qff draws at random and has no band to certify with. For a certificate use a "
    "confidence-bound algorithm, such as mini_gp_ucb or bbkb."
)


@final
@dataclass(frozen=True, slots=True)
class QuadratureFeatures:
    """Features φ with φ(x)ᵀφ(z) ≈ k(x, z) for a Gaussian kernel; itself a kernel, of finite rank.

    A Gaussian kernel is the average of cos(ωᵀ(x − z)) over ω ~ N(0, diag(lengthscale)⁻²). With the
    nodes s and weights v of Gauss-Hermite quadrature (for e^(−s²)) in every dimension,

        k(x, z) ≈ variance · Σ p cos(ωᵀ(x − z)),    ω = √2·s/lengthscale,   p = Π v/√π        (1)

    summed over the tensor product of the nodes. ω and −ω share a cosine and a sine, so that m nodes
    in each of d dimensions make m^d features. By the remainder of the quadrature, with r the
    largest distance in a dimension divided by its lengthscale, each dimension adds at most

        variance · m!/(2m)! · r^(2m)  ≈  variance/√2 · (e·r²/(4m))^m                         (2)

    Source: Mutný & Krause, NeurIPS 2018 (quadrature Fourier features).
    """

    lengthscales: tuple[float, ...]
    variance: float
    nodes: tuple[int, ...]  # one number a dimension
    centre: tuple[float, ...]  # phases are measured from here, to keep them small
    _waves: tuple[Vector, ...] = field(init=False, repr=False, compare=False)  # ω of each dimension
    _roots: Vector = field(init=False, repr=False, compare=False)  # √(p·variance), one of each ±ω

    def __post_init__(self) -> None:
        from scipy.special import roots_hermite  # loads slowly, and only this needs it

        waves, weights = list[Vector](), np.array([self.variance])
        for m, lengthscale in zip(self.nodes, self.lengthscales, strict=True):
            s, v = roots_hermite(m)
            s, v = (s - s[::-1]) / 2, (v + v[::-1]) / 2  # symmetric to the last bit
            waves.append(np.sqrt(2.0) / lengthscale * s)
            weights = np.multiply.outer(weights, v / v.sum()).ravel()
        waves[0] = waves[0][: (len(waves[0]) + 1) // 2]  # behind the middle come those of −ω
        object.__setattr__(self, "_waves", tuple(waves))
        object.__setattr__(self, "_roots", np.sqrt(weights[: (self.size + 1) // 2]))

    @property
    def size(self) -> int:
        """Number of features."""
        return math.prod(self.nodes)

    def embed(self, X: Matrix) -> Matrix:
        """Return φ of each row of X: cosines, sines, and where ω = 0 a constant."""
        phases = np.ones((len(X), 1), dtype=np.complex128)
        for turns in self._turns(X):
            width = phases.shape[1] * turns.shape[1]
            phases = (phases[:, :, None] * turns[:, None, :]).reshape(len(X), width)
        pairs, lonely = divmod(self.size, 2)
        Z = np.empty((len(X), self.size))
        twice = math.sqrt(2.0) * self._roots[:pairs]
        np.multiply(phases[:, :pairs].real, twice, out=Z[:, :pairs])
        np.multiply(phases[:, :pairs].imag, twice, out=Z[:, pairs : 2 * pairs])
        if lonely:
            Z[:, -1] = self._roots[-1]
        return Z

    def values(self, X: Matrix, thetas: Matrix) -> Matrix:
        """Return φ(x)ᵀθ for each θ and each row of X, without any φ(x).

        A cosine and a sine are the real part of (a − ib)·e^(iωᵀx), a product over dimensions, which
        are summed over one by one: a matrix product for the last.
        """
        pairs, lonely = divmod(self.size, 2)
        waves = math.prod(map(len, self._waves))
        c = np.zeros((len(thetas), waves), dtype=np.complex128)
        c[:, :pairs] = thetas[:, :pairs] - 1j * thetas[:, pairs : 2 * pairs]
        c[:, :pairs] *= math.sqrt(2.0) * self._roots[:pairs]
        if lonely:
            c[:, pairs] = thetas[:, -1] * self._roots[-1]
        *others, last = self._turns(X)
        sums = last @ c.reshape(-1, last.shape[1]).T  # (rows, θ × nodes of the other dimensions)
        for turns in reversed(others):
            k = turns.shape[1]
            sums = np.einsum("nrk,nk->nr", sums.reshape(len(X), sums.shape[1] // k, k), turns)
        return np.asarray(sums.real.T)

    def _turns(self, X: Matrix) -> list[Phases]:
        """Return e^(iω(x − centre)) of every dimension."""
        columns = zip(X.T, self.centre, self._waves, strict=True)
        return [np.exp(1j * np.multiply.outer(x - at, waves)) for x, at, waves in columns]

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        K: Matrix = self.embed(X) @ self.embed(Z).T
        return K

    def diagonal(self, X: Matrix) -> Vector:
        """cos² + sin² = 1 at every frequency, and the weights add up to 1."""
        return np.full(len(X), self.variance)


def error_bound(nodes: int, reach: float) -> float:
    """Return (2) for one dimension and variance 1, `reach` being r."""
    if reach == 0:
        return 0.0
    log = math.lgamma(nodes + 1) - math.lgamma(2 * nodes + 1) + 2 * nodes * math.log(reach)
    return math.exp(min(log, 700.0))


def quadrature(kernel: Kernel, pool: Places, nodes: object) -> QuadratureFeatures:
    """Return features for a kernel over a pool, checked; as many as the error asks for."""
    d, variance = pool.dim, 1.0
    if d > MOST_DIMENSIONS:
        raise ArgumentError(
            f"ts_qff takes candidates of at most {MOST_DIMENSIONS} features, got {d}: its cost "
            "grows exponentially with them. Use mini_gp_ucb or bbkb."
        )
    while isinstance(kernel, Scaled):
        variance *= kernel.variance
        kernel = kernel.kernel
    if not isinstance(kernel, RBF):
        raise ArgumentError(
            f"ts_qff(kernel=...) must be RBF(lengthscale) or variance * RBF(lengthscale), whose "
            f"frequencies are Gaussian; got {kernel!r}."
        )
    given = kernel.lengthscale
    lengthscales = given if isinstance(given, tuple) else (given,) * d
    if len(lengthscales) != d:
        raise ArgumentError(
            f"lengthscale has {len(lengthscales)} entries for candidates of {d} features; "
            "give one number, or one a feature."
        )
    scales = Scales.of(pool)
    reaches = (scales.span / np.array(lengthscales)).tolist()
    counts = _counts(nodes, reaches)
    if math.prod(counts) > MOST_FEATURES:
        raise ArgumentError(
            f"ts_qff needs {' × '.join(map(str, counts))} = {math.prod(counts)} features, more "
            f"than {MOST_FEATURES}: the pool reaches over {max(reaches):.3g} lengthscales. Give "
            "fewer nodes=..., a longer lengthscale, or use mini_gp_ucb."
        )
    centre = (scales.low + scales.span / 2).tolist()
    return QuadratureFeatures(lengthscales, variance, counts, tuple(centre))


def _counts(nodes: object, reaches: list[float]) -> tuple[int, ...]:
    """Return the nodes of each dimension: as given, or as few as the error allows."""
    if nodes is None:
        return tuple(_fewest(reach, ERROR / len(reaches)) for reach in reaches)
    if isinstance(nodes, list | tuple):
        if len(nodes) != len(reaches):
            raise ArgumentError(
                f"ts_qff(nodes=...) has {len(nodes)} entries for candidates of {len(reaches)} "
                "features; give one number, or one a feature."
            )
        return tuple(require_count("ts_qff(nodes=...)", count) for count in nodes)
    return (require_count("ts_qff(nodes=...)", nodes),) * len(reaches)


def _fewest(reach: float, error: float) -> int:
    count = 1
    while count < MOST_FEATURES and error_bound(count, reach) > error:
        count += 1
    return count


@final
@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """What is known of the weights θ of f = φᵀθ: precision V and pull V·E[θ]."""

    V: Matrix  # I + Φᵀ W Φ/ridge
    pull: Vector  # Φᵀ W ȳ/ridge
    w: Vector  # counts, and …
    sums: Vector  # … sums of values, that went into them

    def told(self, points: Points, features: QuadratureFeatures, ridge: float) -> Weights:
        """Add what was told since: O(features²) a candidate that changed."""
        n = len(self.w)
        w, sums = np.zeros(len(points)), np.zeros(len(points))
        w[:n], sums[:n] = self.w, self.sums
        totals = points.w * points.y
        changed = np.flatnonzero(points.w != w)
        if not changed.size:
            return self
        Z = features.embed(points.X[changed])
        more, extra = (points.w - w)[changed] / ridge, (totals - sums)[changed] / ridge
        V = self.V + (Z.T * more) @ Z
        return replace(self, V=V, pull=self.pull + Z.T @ extra, w=points.w, sums=totals)


@final
@dataclass(frozen=True, slots=True)
class ThompsonQFF:
    """Evaluate the best candidate of a function drawn from the posterior, one draw each.

    With f = φᵀθ, θ ~ N(0, I) and V = I + ΦᵀWΦ/ridge = L Lᵀ,

        θ ~ N(V⁻¹ΦᵀWȳ/ridge, V⁻¹):    θ = V⁻¹ΦᵀWȳ/ridge + L⁻ᵀε,  ε ~ N(0, I)               (3)

    Costs O(m³) a batch and O(N·m) an evaluation with m features, whatever was evaluated before.
    Evaluations under way change nothing; draws are apart by themselves.

    Source: Mutný & Krause, NeurIPS 2018 (Thompson sampling with quadrature Fourier features).
    """

    features: QuadratureFeatures
    noise_std: float
    ridge: float
    size: int = 1

    def __post_init__(self) -> None:
        require_count("ts_qff(batch_size=...)", self.size)

    vet = anything
    no_theorem = NO_THEOREM

    def begin(self) -> Weights:
        """Return the belief before any feedback."""
        m = self.features.size
        return Weights(np.eye(m), np.zeros(m), np.zeros(0), np.zeros(0))

    def propose(self, state: Weights, evidence: Evidence, room: int) -> tuple[Proposal, Weights]:
        """Draw as many functions as there are evaluations and take the best of each."""
        if evidence.excluded.all():
            raise AskError(
                f"all {len(evidence.excluded)} candidates are excluded, so none is left to choose "
                "from. Exclude fewer, or stop here and take best()."
            )
        state = state.told(evidence.told, self.features, self.ridge)
        L = cholesky.factor(state.V)
        best = self._drawn(state, L, evidence, min(self.size, room))
        footing = Footing(1.0, cholesky.log_det(L), self.features.size)
        return replace(singles(best, self.size, room), footing=footing), state

    def estimates(self, state: Weights, evidence: Evidence) -> Estimates:
        """Return posterior mean and deviation at evaluated points; there is no band."""
        state = state.told(evidence.told, self.features, self.ridge)
        L, Z = cholesky.factor(state.V), self.features.embed(evidence.told.X)
        mean: Vector = Z @ cholesky.solve(L, state.pull)
        half = cholesky.solve_lower(L, Z.T)
        unknown = np.full(len(mean), np.nan)
        return Estimates(mean, np.sqrt(np.einsum("ij,ij->j", half, half)), unknown, unknown)

    def posterior(self, state: Weights, evidence: Evidence) -> Outlook:
        """Return the same belief as a posterior over functions: O(n³) for n unique points."""
        dim = evidence.places.dim
        prior = ExactPosterior.prior(
            self.features, noise_std=self.noise_std, ridge=self.ridge, dim=dim
        )
        rng = evidence.rng(Purpose.DICTIONARY)
        return Outlook(prior.condition(evidence.told, Points.none(dim), rng), 1.0)

    def certify(self, state: Weights, evidence: Evidence, row: int) -> Gap:
        """Say that there is no theorem."""
        raise CertificateError(self.no_theorem)

    def appraise(self, state: Weights, evidence: Evidence, row: int) -> Appraisal:
        """Return what is thought of a row, beside the best candidate of the next function drawn."""
        outlook = self.posterior(state, evidence)
        posterior, beta = outlook.posterior, outlook.beta
        first = None
        if not evidence.excluded.all():
            state = state.told(evidence.told, self.features, self.ridge)
            first = self._drawn(state, cholesky.factor(state.V), evidence, 1)
        return appraised(posterior, beta, evidence, row, score="Thompson", first=first)

    def _drawn(self, state: Weights, L: Matrix, evidence: Evidence, size: int) -> Picks:
        """Return the best candidates of so many functions drawn."""
        luck = evidence.rng(Purpose.POLICY).standard_normal((self.size, self.features.size))[:size]
        return evidence.places.picks(self._best(evidence, sampled(L, state.pull, luck)))

    def _best(self, evidence: Evidence, thetas: Matrix) -> Indices:
        """Return the row of the highest value of each function, the lowest such row on ties."""
        top = np.full(len(thetas), -np.inf)
        rows = np.zeros(len(thetas), dtype=np.int64)
        step = chunk_rows(2 * len(thetas) * self.features.size // self.features.nodes[-1])
        for start, X in evidence.places.chunks(step):
            values = self.features.values(X, thetas)
            values[:, evidence.excluded[start : start + len(X)]] = -np.inf
            at = values.argmax(axis=1)
            found = values[np.arange(len(thetas)), at]
            rows = np.where(found > top, start + at, rows)
            top = np.maximum(top, found)
        return rows


def sampled(L: Matrix, pull: Vector, luck: Matrix) -> Matrix:
    """Return weights by (3), one draw a row, from standard normal numbers."""
    mean = cholesky.solve(L, pull)
    return np.asarray(mean + cholesky.solve_upper(L, np.asfortranarray(luck.T)).T)
