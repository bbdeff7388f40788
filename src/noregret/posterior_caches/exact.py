"""The cache of exact posteriors: rows are brought up to date when they could matter."""

from __future__ import annotations

from functools import partial
from typing import final

import numpy as np
import numpy.typing as npt

from noregret.acquisitions import Acquisition
from noregret.arrays import Indices, Mask, Matrix, Vector, chunk_rows
from noregret.kernels import Kernel, Scaled, WithEffect
from noregret.pools import Candidates, Hashes, all_hashed, hashed
from noregret.posterior_caches.base import Values, Work, bring, log_restart, padded, priors
from noregret.posteriors import ExactPosterior, Observations, Posterior
from noregret.threads import parallel_map

SCAN = 1 << 15  # rows whose bounds are computed together: their columns stay in a core's cache
TOGETHER = 1 << 11  # rows brought up to date together, at most
BLAS_LIKES = 512  # right-hand sides from which on a triangular solve is as fast as a product
KEPT = 1 << 29  # bytes of kernel values
LEAST = 64  # points that there is room for
ROOM = 1e-9  # by which gains are rounded up


@final
class ExactCache:
    """Follows exact posteriors lazily: O(n) for a row and update, and only for rows that matter.

    Each update of the posterior is a column u of weights, with σ²_new(x) = σ²_old(x) − (k(x)ᵀu)²
    and a gain s = g·(ȳ_B − μ_j)² (`ExactPosterior`, (3)). A row that missed some updates has
    today, β being today's,

        μ + βσ ≤ μ_old + σ_old·√(β² + Σ s)                                                  (1)

    the sum over the updates missed: by Cauchy-Schwarz (μ − μ_old)² ≤ Σs·(σ²_old − σ²). Rows whose
    bound cannot win are left alone; others catch up by one product of their kernel values with the
    columns missed, and the mean, k(x)ᵀα, carries no history. Some numbers a row are kept, and its
    kernel values while those of all rows fit `memory`.

    Before the first update a row has mean 0 and variance k(x, x): to start again is to say that all
    updates were missed, with Σs = ȳᵀα.
    """

    def __init__(
        self, pool: Candidates, work: Work, memory: int = KEPT, kept: Values | None = None
    ) -> None:
        self._pool, self._work, N = pool, work, len(pool)
        self._kept = KeptValues(pool, min(memory, KEPT)) if kept is None else kept
        self._last: ExactPosterior | None = None
        self._U: Matrix = np.zeros((0, 0), order="F")  # (points, updates kept), with room to grow
        self._first = 0  # the update in the first column of U
        self._now = 0  # updates followed
        self._gain = 0.0  # Σ s of all of them
        self._stamp: npt.NDArray[np.int32] = np.zeros(N, dtype=np.int32)  # updates a row has seen
        self._since: Vector = np.zeros(N)  # Σ s at that time
        self._high: Vector = np.zeros(N)  # mean, and …
        self._reach: Vector = np.zeros(N)  # … deviation, at that time, with rounding added
        self.mean: Vector = np.zeros(N)
        self.variance: Vector = np.zeros(N)
        self.prior: Vector = np.zeros(N)
        self.slack = self.relative = 0.0
        self._least = (0.0, 0.0)  # rounding that was found to be there
        self.extra = 0.0  # Σ s of further updates, which no row has seen

    def follow(self, posterior: Posterior) -> None:
        assert isinstance(posterior, ExactPosterior)
        if posterior is self._last:
            return
        missed = self._missed(posterior)
        last, self._last = self._last, None  # broken off in the middle, the next one starts again
        if missed is None:
            self.restart(last, posterior)
        else:
            self._record(posterior, missed)
        self._last = posterior
        slack, relative = posterior.rounding
        self.slack, self.relative = max(slack, self._least[0]), max(relative, self._least[1])

    def bound(self, rows: slice, mean: Vector, deviation: Vector) -> None:
        """Take in means of rows now, and deviations that may be too large."""
        self._high[rows], self._reach[rows], self._since[rows] = mean, deviation, self._gain

    def refresh(self, rows: Indices) -> None:
        behind = rows[self._stamp[rows] < self._now]
        if not behind.size:
            return
        p = self._last
        assert p is not None
        step = min(chunk_rows(2 * len(p.observed)), TOGETHER)
        self._kept.follow(p.kernel, p.observed)
        bring(partial(self._catch_up, p), behind, step, self._work)

    def ceilings(
        self, acquisition: Acquisition, beta: float, best_mean: float, floor: float
    ) -> Vector:
        N = len(self.mean)
        bound = np.empty(N)

        def scan(rows: slice) -> None:
            gain = self._gain * (1 + ROOM) + self.extra - self._since[rows]
            np.maximum(gain, 0.0, out=gain)
            high = self._high[rows] + self.slack
            bound[rows] = acquisition.ceiling(high, self._reach[rows], gain, beta, best_mean)

        parallel_map(scan, [slice(start, start + SCAN) for start in range(0, N, SCAN)])
        self._work.scanned += N
        self._work.bytes += 32 * N
        return bound

    def covariances(self, rows: Indices, others: Indices) -> tuple[Matrix, Matrix]:
        """k(x, z) − k(x)ᵀ A⁻¹ k(z): O(n) a pair."""
        p = self._last
        assert p is not None
        X, Z = self._pool.rows(rows), self._pool.rows(others)
        C = p.kernel(X, Z) - p.kernel(X, p.observed.X) @ p.weights(Z)
        return C, C

    def widen(self, mean_error: float, relative_error: float) -> None:
        self._least = (max(self._least[0], mean_error), max(self._least[1], relative_error))
        last, self._last = self._last, None
        assert last is not None
        log_restart(mean_error, relative_error, len(self.mean))
        self.follow(last)

    def _missed(self, posterior: ExactPosterior) -> int | None:
        """Return how many of the posterior's last updates are new; None if it does not follow."""
        last = self._last
        if last is None or last.kernel is not posterior.kernel or last.ridge != posterior.ridge:
            return None
        if _same(posterior.base, last.base):
            n, before = len(last.observed), len(last.gains)
            more = len(posterior.gains) - before
            if more < 0 or len(posterior.observed) < n:
                return None
            same = np.array_equal(posterior.gains[:before], last.gains)
            return more if same and np.array_equal(posterior.tail[:n, :before], last.tail) else None
        return len(posterior.gains) if _same(posterior.base, last.observed) else None

    def extend(self, pool: Candidates) -> None:
        N, before, last = len(pool), len(self.mean), self._last
        self._pool = pool
        self._kept.extend(pool)
        self.mean, self.prior = padded(self.mean, N), padded(self.prior, N)
        if last is not None:
            priors(last.kernel, pool, self.prior, before)
        new = self.prior[before:]  # of which every update was missed
        self.variance = np.concatenate([self.variance, new])
        self._reach = np.concatenate([self._reach, np.sqrt(new)])
        self._high, self._since = padded(self._high, N), padded(self._since, N)
        self._stamp = padded(self._stamp, N)

    def restart(self, last: ExactPosterior | None, posterior: ExactPosterior) -> None:
        p = posterior.observed
        if last is None or last.kernel is not posterior.kernel:
            priors(posterior.kernel, self._pool, self.prior)
        self._now = self._first = int(len(p) > 0)
        self._gain = max(float(p.y @ posterior.alpha), 0.0)
        self._stamp[:], self._since[:] = 0, 0.0
        self.mean[:], self.variance[:] = 0.0, self.prior
        self._high[:], self._reach[:] = 0.0, np.sqrt(self.prior)

    def _record(self, posterior: ExactPosterior, missed: int) -> None:
        """Keep the new columns, and of the old ones as many as there are points."""
        n, before = len(posterior.observed), len(posterior.gains) - missed
        kept = self._now - self._first
        rows, columns = self._U.shape
        if n > rows or kept + missed > columns:
            keep = min(kept, max(64, n))
            grown = np.zeros((max(rows, n + n // 2 + 16), 2 * keep + missed + 64), order="F")
            grown[:rows, :keep] = self._U[:, kept - keep : kept]
            self._U, self._first, kept = grown, self._now - keep, keep
        self._U[:, kept : kept + missed] = 0.0
        self._U[:n, kept : kept + missed] = posterior.tail[:, before:]
        self._now += missed
        self._gain += float(posterior.gains[before:].sum())

    def _catch_up(self, posterior: ExactPosterior, rows: Indices) -> Work:
        n, work = len(posterior.observed), Work(refreshed=len(rows))
        K = self._kept.of(rows)
        stamps, self._stamp[rows] = self._stamp[rows], 0  # broken off, they start again
        prior, variance = self.prior[rows], self.variance[rows]
        ages = self._now - stamps
        patience = n if len(rows) < BLAS_LIKES else n // 2  # updates, before a solve costs less
        again = (stamps < self._first) | (ages > patience)
        recent = ~again & (ages <= max(8, n // 16))
        for group in (recent, ~again & ~recent):
            if group.any():
                variance[group] -= self._missed_by(K[group], stamps[group], work)
        if again.any():
            variance[again] = prior[again] - posterior.explained(K[again])
            work.product(int(again.sum()), n, n // 2)
        np.maximum(variance, 0.0, out=variance)  # rounding, as in ExactPosterior
        mean = K @ posterior.alpha
        self.mean[rows], self.variance[rows] = mean, variance
        self._high[rows] = mean + self.slack
        self._reach[rows] = np.sqrt(variance + 2 * self.relative * prior)
        self._since[rows] = self._gain
        self._stamp[rows] = self._now
        work.product(len(rows), n, 1 + self._pool.dim)
        return work

    def _missed_by(self, K: Matrix, stamps: npt.NDArray[np.int32], work: Work) -> Vector:
        """Return Σ(k(x)ᵀu)² over the updates that each row missed."""
        oldest = int(stamps.min())
        T: Matrix = K @ self._U[: K.shape[1], oldest - self._first : self._now - self._first]
        if oldest < stamps.max():
            T *= np.arange(oldest, self._now) >= stamps[:, None]
        work.product(len(K), K.shape[1], T.shape[1])
        return np.asarray(np.einsum("ij,ij->i", T, T))


def _same(a: Observations, b: Observations) -> bool:
    """Tell whether two sets of points are the same, with the same values."""
    return a is b or (
        np.array_equal(a.rows, b.rows) and np.array_equal(a.w, b.w) and np.array_equal(a.y, b.y)
    )


@final
class KeptValues:
    """k(x, xᵢ) of a pool's rows and points that are only added to, while it fits the memory.

    A row that is looked at again needs its values with the points since then, and no others:
    reading one costs a tenth of computing it. A kernel of another scale has the values it had,
    times a number, and effects of candidates (`WithEffect`) are added to them. Pages of rows never
    looked at are never touched.
    """

    def __init__(self, pool: Candidates, memory: int) -> None:
        self._pool, self._memory = pool, memory
        self._whole: Kernel | None = None  # that is followed: …
        self._kernel: Kernel | None = None  # … this one, …
        self._scale, self._effect = 1.0, 0.0  # … times a number, and the variance of effects
        self._points: Observations = Observations.none(pool.dim)  # the columns
        self._values: Matrix = np.empty((0, 0))  # (N, points) with room to grow; (0, 0): not kept
        self._known: npt.NDArray[np.int32] = np.zeros(len(pool), dtype=np.int32)  # columns filled
        self._hashes: Hashes = np.zeros(0, dtype=np.uint64)  # a number a row, once it is needed
        self._met: Hashes = np.zeros(0, dtype=np.uint64)  # … and one a point …
        self._met_of: Observations | None = None  # … of these …
        self._is_met: Mask = np.zeros(0, dtype=np.bool_)  # … and which rows have one of them

    def follow(self, kernel: Kernel, points: Observations) -> None:
        """Take in what comes next, and forget what is not of this kernel and these points.

        To be called before `of`, by one thread.
        """
        core = self._kernel
        if kernel is not self._whole:
            self._whole = None  # broken off, the next one starts again
            core, self._scale, self._effect = _parted(kernel)
        if self._effect:
            self._recognise(points)
        if core is self._kernel and points is self._points:
            self._whole = kernel
            return
        known = _alike(points, self._points) if core is self._kernel else 0
        if known < len(self._points):
            np.minimum(self._known, known, out=self._known)
        self._whole, self._kernel, self._points = kernel, core, points
        self._make_room(len(points))

    def _recognise(self, points: Observations) -> None:
        """Make ready to tell which rows are points."""
        if not len(self._hashes):
            self._hashes = all_hashed(self._pool)
            self._is_met = np.zeros(len(self._hashes), dtype=np.bool_)
        if self._met_of is not points:
            met = hashed(points.X)
            new = met[~np.isin(met, self._met)]
            self._is_met |= np.isin(self._hashes, new)  # of points that went, marks do no harm
            self._met, self._met_of = met, points  # last, so that one broken off starts again

    def _make_room(self, points: int) -> None:
        """Let so many points have their columns, or keep nothing where they do not fit."""
        N, columns = len(self._pool), self._values.shape[1]
        if points <= columns:
            return
        most = self._memory // (8 * N)
        wanted = min(max(LEAST, points + points // 2), most)
        if points > most:
            self._values = np.empty((0, 0))
            return
        if not columns:
            self._known[:] = 0
        self._values = self._moved(wanted)

    def _moved(self, columns: int) -> Matrix:
        """Return what is known of every row in a table of its own, with room for more columns."""
        N, before = len(self._pool), self._values.shape[1]
        moved, step = np.empty((N, columns)), max(1, (1 << 20) // max(before, 1))
        for start in range(0, N if before else 0, step):
            some = np.flatnonzero(self._known[start : start + step]) + start
            moved[some, :before] = self._values[some]
        return moved

    def extend(self, pool: Candidates) -> None:
        """Follow a pool that has more rows behind these."""
        self._pool, columns = pool, self._values.shape[1]
        self._known = np.pad(self._known, (0, len(pool) - len(self._known)))
        if len(self._hashes):
            new = all_hashed(pool, len(self._hashes))
            self._hashes = np.concatenate([self._hashes, new])
            self._is_met = np.concatenate([self._is_met, np.isin(new, self._met)])
        fits = 8 * len(pool) * columns <= self._memory
        self._values = self._moved(columns) if columns and fits else np.empty((0, 0))

    def of(self, rows: Indices) -> Matrix:
        """Return k(x, xᵢ), a row of the pool each; threads may ask for different rows at once."""
        K = self._of(rows)
        if self._scale != 1.0:
            K *= self._scale
        if self._effect:
            same = np.flatnonzero(self._is_met[rows])
            K[same] += self._effect * np.equal.outer(self._hashes[rows[same]], self._met)
        return K

    def _of(self, rows: Indices) -> Matrix:
        core, points = self._kernel, self._points
        assert core is not None
        if not self._values.size:
            return np.array(core(self._pool.rows(rows), points.X))
        n, known = len(points), self._known[rows]
        for group in (rows[known == 0], rows[(known > 0) & (known < n)]):
            if len(group):
                first = int(self._known[group].min())
                self._values[group, first:n] = core(self._pool.rows(group), points.X[first:])
                self._known[group] = n
        return self._values[rows, :n]


def _parted(kernel: Kernel) -> tuple[Kernel, float, float]:
    """Return a kernel as another one times a number, and the variance of candidate effects."""
    match kernel:
        case Scaled(kernel=inner, variance=variance):
            core, scale, effect = _parted(inner)
            return core, variance * scale, variance * effect
        case WithEffect(shared=shared, effect=more):
            core, scale, effect = _parted(shared)
            return core, scale, effect + more
        case _:
            return kernel, 1.0, 0.0


def _alike(some: Observations, others: Observations) -> int:
    """Return how many points are the same, from the first on."""
    n = min(len(some), len(others))
    same = (some.rows[:n] == others.rows[:n]) & (some.X[:n] == others.X[:n]).all(axis=1)
    return n if same.all() else int(np.argmin(same))
