"""What BBKB freezes within a batch, frozen or not: the two naive variants of its appendix A.4."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import noregret as nr
from evaluation.papers.curves import Runs
from evaluation.papers.plates import Plate
from evaluation.reports.drawing import canvas
from evaluation.reports.markdown import Claim
from noregret.arrays import Indices, Matrix, Vector

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SEEDS, CANDIDATES, T = 20, 200, 300
KERNEL, NOISE_STD, OVERSAMPLE, DELTA = nr.RBF(0.1), 0.3, 2.0, 0.1
LIMITS = (2.0, 8.0, 64.0)  # of batches; the width has the first of them throughout
RIDGE = NOISE_STD**2
ROUNDING = 1 + 1e-6


class Variant(NamedTuple):
    """Which of the two stays as it was when the batch was opened."""

    label: str
    dictionary: bool
    feedback: bool
    colour: str


BBKB = Variant("BBKB: both frozen", True, True, "#0060ad")
FIRST = Variant("first naive: feedback alone", False, True, "#e69f00")
SECOND = Variant("second naive: dictionary alone", True, False, "#d55e00")
BKB = Variant("BKB: neither", False, False, "#8a5fbf")
VARIANTS = (BBKB, FIRST, SECOND, BKB)


class Record(NamedTuple):
    """One run."""

    rows: list[int]
    opened: list[bool]  # whether a batch was opened, at every choice
    dictionaries: Vector  # drawn until then
    regret: Vector  # cumulated
    passed: list[float]  # largest σ̃²_fb/σ̃²_t over what Lemma 1 says, at choices within a batch
    risen: list[bool]  # whether some UCB rose, at choices within a batch
    off: list[float]  # largest |μ̃ − μ|/σ, μ and σ exact and given the same values


class Problem(NamedTuple):
    """A function of norm 1, and all that a run draws."""

    X: Matrix
    K: Matrix
    f: Vector
    first: int
    noise: Vector
    draws: Callable[[int], Vector]  # a number per candidate, for each dictionary drawn

    @classmethod
    def of(cls, seed: int) -> Problem:
        rng = np.random.default_rng([2020, seed])
        X = rng.random((CANDIDATES, 1))
        K = KERNEL(X, X)
        weights = rng.standard_normal(12)
        some = rng.choice(CANDIDATES, 12, replace=False)
        f = K[:, some] @ weights / math.sqrt(float(weights @ K[np.ix_(some, some)] @ weights))
        noise = NOISE_STD * rng.standard_normal(T)
        numbers = rng.random((T + 1, CANDIDATES))
        return cls(X, K, f, int(rng.integers(CANDIDATES)), noise, lambda drawn: numbers[drawn])


class Embedding(NamedTuple):
    """The pool through a dictionary: z of every candidate, and what z leaves of its variance."""

    Z: Matrix
    left: Vector

    @classmethod
    def of(cls, K: Matrix, members: Indices) -> Embedding:
        """With K_S = U diag(s) Uᵀ, z = s^(−½) Uᵀ k_S where s is not rounding."""
        values, vectors = np.linalg.eigh(K[np.ix_(members, members)])
        kept = values > 1e-12 * values[-1]
        Z = (vectors[:, kept] / np.sqrt(values[kept])).T @ K[members]
        return cls(Z, np.diag(K) - (Z**2).sum(axis=0))

    def mean(self, w: Vector, sums: Vector) -> Vector:
        V = (self.Z * w) @ self.Z.T + RIDGE * np.eye(len(self.Z))
        return np.asarray(self.Z.T @ np.linalg.solve(V, self.Z @ sums))

    def variance(self, w: Vector) -> Vector:
        V = (self.Z * w) @ self.Z.T + RIDGE * np.eye(len(self.Z))
        model = RIDGE * (self.Z * np.linalg.solve(V, self.Z)).sum(axis=0)
        return np.asarray(np.maximum(self.left, 0.0) + model)


def run(
    p: Problem, variant: Variant, limit: float, horizon: int = T, every: int | None = None
) -> Record:
    """Run BBKB's Algorithm 1, in which dictionary and feedback stay only as the variant says.

    BBKB 2020, A.4: x_{t+1} is the arg max of

        μ̃_fb(x, S_t) + α̃_t σ̃_t(x, S_t)      the first naive variant,
        μ̃_t(x, S_fb) + α̃_fb σ̃_t(x, S_fb)    the second;

    batches end by Lemma 1 in both, or without it after `every` evaluations; the width is that of
    the experiments, with C̃ = 2.
    """
    N = len(p.f)
    w, sums = np.zeros(N), np.zeros(N)
    w[p.first], sums[p.first] = 1.0, p.f[p.first] + p.noise[0]
    order = [p.first]
    known, values = w.copy(), sums.copy()
    var, gains, drawn = np.diag(p.K).copy(), math.log1p(float(p.K[p.first, p.first]) / RIDGE), 0
    bound, beta = math.inf, 0.0
    everyone = Embedding.of(p.K, np.arange(N))
    record = Record([], [], np.zeros(horizon), np.zeros(horizon), [], [], [])
    record.regret[0] = p.f.max() - p.f[p.first]
    seen, stale, before = Embedding.of(p.K, np.array([p.first])), var, np.full(N, math.inf)
    for t in range(1, horizon):
        ends = bound > limit if every is None else (t - 1) % every == 0
        opens = ends or variant is BKB
        if opens or not variant.dictionary:
            drawn += 1
            last = stale if variant.dictionary else var  # of the last dictionary drawn
            chance = np.minimum(1.0, w * OVERSAMPLE * last / RIDGE)
            chosen = np.flatnonzero(p.draws(drawn)[: len(order)] < chance[order])
            if not chosen.size:
                chosen = np.array([int(np.argmax(chance[order]))])
            seen = Embedding.of(p.K, np.array(order)[chosen])
        if opens or not variant.feedback:
            known, values = w.copy(), sums.copy()
        var = seen.variance(w)
        if opens:
            bound, stale, before = 1.0, var, np.full(N, math.inf)
            beta = 1.0 + math.sqrt(LIMITS[0] * gains + math.log(1 / DELTA))
        mean = seen.mean(known, values)
        upper = mean + beta * np.sqrt(var)
        if not opens:
            record.passed.append(float((stale / var).max()) / bound)
            record.risen.append(bool((upper > before + 1e-9).any()))
        exact = everyone.mean(known, values), everyone.variance(known)
        record.off.append(float((np.abs(mean - exact[0]) / np.sqrt(exact[1])).max()))
        row = int(np.argmax(upper))
        before = upper
        bound += float(stale[row]) / RIDGE
        gains += math.log1p(float(stale[row]) / RIDGE)
        w[row], sums[row] = w[row] + 1.0, sums[row] + p.f[row] + p.noise[t]
        order += [] if row in order else [row]
        record.rows.append(row)
        record.opened.append(opens)
        record.dictionaries[t] = drawn
        record.regret[t] = record.regret[t - 1] + p.f.max() - p.f[row]
    return record


@cache
def runs(limit: float) -> dict[Variant, list[Record]]:
    return {variant: _each(variant, limit) for variant in VARIANTS}


def _each(variant: Variant, limit: float, every: int | None = None) -> list[Record]:
    return [run(Problem.of(seed), variant, limit, every=every) for seed in range(SEEDS)]


def by_batch(record: Record) -> Iterator[tuple[float, float]]:
    """Yield |μ̃ − μ|/σ at the opening of every batch of several, and the largest within it."""
    starts = np.flatnonzero(record.opened).tolist()
    for start, end in zip(starts, [*starts[1:], len(record.off)], strict=True):
        if end - start > 1:
            yield record.off[start], max(record.off[start + 1 : end])


def orthogonal(times: int = 9) -> tuple[float, float, float, float]:
    """Return mean and variance of an arm evaluated so often, frozen out of S and then in it.

    Two arms that tell nothing of each other; the frozen dictionary holds the other one.
    """
    K, w, sums = np.eye(2), np.array([1.0, float(times)]), np.array([0.0, float(times)])
    frozen, drawn = (Embedding.of(K, np.array(S)) for S in ([0], [0, 1]))
    return (
        float(frozen.mean(w, sums)[1]),
        float(frozen.variance(w)[1]),
        float(drawn.mean(w, sums)[1]),
        float(drawn.variance(w)[1]),
    )


def _draw(_: Runs) -> Figure:
    figure = canvas(1, 2)
    regret, draws = figure.subplots(1, 2)
    for variant, records in runs(LIMITS[1]).items():
        for axes, what in ((regret, "regret"), (draws, "dictionaries")):
            curves = np.array([getattr(record, what) for record in records])
            axes.plot(np.arange(1, T + 1), curves.mean(axis=0), color=variant.colour)
            axes.lines[-1].set_label(variant.label)
            axes.grid(visible=True, alpha=0.25)
            axes.set_xlabel("t")
    regret.set_ylabel("cumulative regret")
    draws.set_ylabel("dictionaries drawn")
    draws.legend(frameon=False, fontsize=8)
    return figure


def _end(records: list[Record]) -> tuple[float, float]:
    """Return the mean regret at the end and half its interval, by t of 19 degrees of freedom."""
    ends = np.array([record.regret[-1] for record in records])
    return float(ends.mean()), float(2.09 * ends.std(ddof=1)) / math.sqrt(len(ends))


def _claims(_: Runs) -> Iterator[Claim]:
    of = runs(LIMITS[1])
    shares = {v: np.concatenate([r.passed for r in of[v]]) for v in (BBKB, FIRST)}
    broken = {v: float(np.mean(share > ROUNDING)) for v, share in shares.items()}
    yield Claim(
        "first: Lemma 1 cannot guarantee a valid UCB, as the dictionary changes over time",
        f"its bound is passed at {100 * broken[FIRST]:.1f} % of the choices within batches, by up "
        f"to {shares[FIRST].max():.3g} times; in BBKB at {100 * broken[BBKB]:.1f} %",
        broken[FIRST] > 0 and not broken[BBKB],
    )
    rises = {v: float(np.mean(np.concatenate([r.risen for r in of[v]]))) for v in (BBKB, FIRST)}
    yield Claim(
        "first: after each update any UCB may be the new maximiser (A.3)",
        f"some UCB rises at {100 * rises[FIRST]:.0f} % of the choices within batches, in BBKB at "
        f"{100 * rises[BBKB]:.0f} %",
        rises[FIRST] > 0.5 and rises[BBKB] == 0,
    )
    counts = {v: np.mean([r.dictionaries[-1] for r in of[v]]) for v in VARIANTS}
    yield Claim(
        "first: the GP is resparsified at every step, BBKB once a batch",
        f"{counts[FIRST]:.0f} dictionaries drawn, {counts[BBKB]:.0f} by BBKB, T = {T}",
        bool(counts[FIRST] == T - 1 and counts[BBKB] < T / 4),
    )
    opening, inside = np.mean([part for r in of[SECOND] for part in by_batch(r)], axis=0)
    yield Claim(
        "second: the mean is much harder to control, if the dictionary is not updated",
        f"in a batch μ̃ is off the exact mean by up to {inside:.2g} exact deviations, on average, "
        f"and by {opening:.2g} where the batch is opened",
        bool(inside > 2 * opening),
    )
    mean, variance, known, less = orthogonal()
    yield Claim(
        "second: an arm orthogonal to the frozen dictionary is ignored until it is drawn again",
        f"such an arm, evaluated 9 times with value 1, has mean {mean:.2g} ({known:.2g} as a "
        f"member); its variance stays {variance:.2g} too ({less:.2g}), so that its UCB does not "
        "fall and it fills the batch",
        mean == 0.0 and known > 0.9,
    )
    for limit in LIMITS:
        ends = {v: _end(records) for v, records in runs(limit).items()}
        says = ", ".join(
            f"{v.label.split(':')[0]} {mean:.3g} ± {half:.1g}" for v, (mean, half) in ends.items()
        )
        drawn = np.mean([r.dictionaries[-1] for r in runs(limit)[SECOND]])
        yield Claim(
            f"second: suspended for long enough, regret may be equally large; C̃ = {limit:g}",
            f"regret {says}; {drawn:.0f} dictionaries of the second naive variant",
            ends[SECOND][0] - ends[SECOND][1] > sum(ends[BKB]),
        )
    theirs = _end(runs(LIMITS[0])[BKB])
    for limit in LIMITS[:2]:
        drawn = float(np.mean([r.dictionaries[-1] for r in runs(limit)[SECOND]]))
        mean, half = _end(_each(SECOND, limit, every=round(T / drawn)))
        yield Claim(
            f"second, as many dictionaries as with C̃ = {limit:g}, but every {round(T / drawn)} "
            "evaluations in place of by Lemma 1: its regret is larger than BKB's",
            f"{mean:.3g} ± {half:.1g}; BKB {theirs[0]:.3g} ± {theirs[1]:.1g}",
            mean - half > sum(theirs),
            ours=True,
        )


TITLE = "Appendix A.4: dictionary and feedback, frozen or not"
PLATES = (Plate("bbkb-freezing", TITLE, _draw, _claims),)
