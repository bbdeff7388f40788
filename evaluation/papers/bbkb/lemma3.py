"""The local rule of Lemma 3 as printed, and as corrected, against the ratio that it is to bound."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import noregret as nr
from evaluation.papers.curves import Runs
from evaluation.papers.plates import Plate
from evaluation.reports.drawing import canvas
from evaluation.reports.markdown import Claim
from noregret.arrays import Matrix, Vector

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TRIALS, HISTORY, BATCH, CANDIDATES, DIM = 500, 60, 20, 200, 2
RIDGE, OVERSAMPLE = 0.05, 2.0
KERNEL = nr.RBF(0.3)
ROUNDING = 1 + 1e-9


class Trial(NamedTuple):
    """One batch on a Nyström posterior: at every candidate, the true ratio and both bounds."""

    true: Vector  # σ̃²_stale/σ̃²_now
    printed: Vector
    corrected: Vector
    overall: float  # Lemma 1: the global bound

    def excess(self, bound: Vector) -> float:
        """Return by how much the truth passes a bound, at worst: more than 1 refutes it."""
        return float((self.true / bound).max())


def trial(seed: int) -> Trial:
    """Return one random case, by dense algebra.

    With z the embedding and V = ZᵀZ + λI over the history,

        c̃(x, x') = λ z(x)ᵀ V⁻¹ z(x'),     k̃(x, x') = k(x, x') − z(x)ᵀz(x') + c̃(x, x')       (1)

    σ̃²(x) = k̃(x, x). The dictionary stays while the batch B is added to V. Printed is
    1 + Σ_B k̃²/(λσ̃²); corrected is 1 + max(Σ_B k̃², Σ_B c̃²)/(λσ̃²).
    """
    rng = np.random.default_rng(seed)
    X, B, P = (rng.random((n, DIM)) for n in (HISTORY, BATCH, CANDIDATES))
    K = KERNEL(X, X)
    variance = np.diag(K - K @ np.linalg.solve(K + RIDGE * np.eye(HISTORY), K))
    S = X[rng.random(HISTORY) < OVERSAMPLE * variance / RIDGE]  # as BBKB draws it
    L = np.linalg.cholesky(KERNEL(S, S) + 1e-10 * np.eye(len(S)))
    Z, ZB, ZP = (np.linalg.solve(L, KERNEL(S, rows)).T for rows in (X, B, P))
    V = Z.T @ Z + RIDGE * np.eye(len(S))
    c = RIDGE * ZP @ np.linalg.solve(V, ZB.T)  # (P, B)
    k = KERNEL(P, B) - ZP @ ZB.T + c
    stale, now = (_variance(P, ZP, matrix) for matrix in (V, V + ZB.T @ ZB))
    by_k, by_c = (1 + (part**2).sum(axis=1) / (RIDGE * stale) for part in (k, c))
    overall = 1 + float(_variance(B, ZB, V).sum()) / RIDGE
    return Trial(stale / now, by_k, np.maximum(by_k, by_c), overall)


def _variance(rows: Matrix, Z: Matrix, V: Matrix) -> Vector:
    residual = KERNEL.diagonal(rows) - (Z**2).sum(axis=1)
    variance: Vector = residual + RIDGE * (Z * np.linalg.solve(V, Z.T).T).sum(axis=1)
    return variance


class Rule(NamedTuple):
    """A bound that is to hold of a ratio."""

    label: str
    says: str
    colour: str
    excess: Callable[[Trial], float]
    ours: bool = False


RULES = (
    Rule(
        "printed, variances",
        "Lemma 3 bounds the ratio of Nyström variances, as the rule uses it (section 4)",
        "#d55e00",
        lambda one: one.excess(one.printed),
    ),
    Rule(
        "printed, standard deviations",
        "Lemma 3 as printed bounds the ratio of Nyström standard deviations",
        "#e69f00",
        lambda one: float((np.sqrt(one.true) / one.printed).max()),
    ),
    Rule(
        "corrected, variances",
        "max(Σ k̃², Σ c̃²) in place of Σ k̃² bounds the ratio of variances",
        "#0060ad",
        lambda one: one.excess(one.corrected),
        ours=True,
    ),
)


@cache
def trials() -> list[Trial]:
    return [trial(seed) for seed in range(TRIALS)]


def _draw(_: Runs) -> Figure:
    figure = canvas(1, 1, width=6.5, height=3.2)
    axes = figure.subplots()
    for rule in RULES:
        worst = sorted(map(rule.excess, trials()))
        axes.plot(np.arange(1, TRIALS + 1) / TRIALS, worst, color=rule.colour, label=rule.label)
    axes.axhline(1.0, color="#222222", linewidth=0.8)
    axes.set_xlabel("share of trials")
    axes.set_ylabel("true ratio / bound, worst candidate")
    axes.legend(frameon=False, fontsize=8)
    axes.grid(visible=True, alpha=0.25)
    return figure


def _claims(_: Runs) -> Iterator[Claim]:
    for rule in RULES:
        excess = np.array([rule.excess(one) for one in trials()])
        broken = float(np.mean(excess > ROUNDING))
        text = f"never passed; at most {excess.max():.3f} of it"
        if broken:
            text = f"passed in {100 * broken:.1f} %, by up to {excess.max():.3f} times"
        yield Claim(rule.says, f"{TRIALS} random trials: {text}", not broken, rule.ours)
    tighter = all(np.all(one.corrected <= one.overall * ROUNDING) for one in trials())
    text = "never above the global bound" if tighter else "above the global bound in places"
    yield Claim("the corrected rule is still tighter than the global one", text, tighter, ours=True)


TITLE = "Lemma 3: the printed local rule against the corrected one"
PLATES = (Plate("bbkb-lemma3", TITLE, _draw, _claims),)
