"""What BKB (§4) says of linear bandits on a sketch and of random Fourier features, run.

Ours: the paper has no such figure. Linear: 1000 arms of 40 features, ‖x‖ ≤ 1, whose j-th feature
has a standard deviation in proportion to e^(−j/2) (a short tail) or to j^(−1/4) (a long one), and
‖θ‖ = 1. Smooth: 1000 arms uniform in the unit square, f of norm 1 under an RBF kernel of
lengthscale 0.2. ξ = 0.05, λ = ξ², δ = 0.1. The sketch's width is OFUL's with V from it, without the
factors of its theorem; BKB's is that of the papers' experiments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import noregret as nr
from evaluation.methods.sketches import fourier_features, on_features, soful
from evaluation.papers.curves import Runs
from evaluation.papers.plates import Plate
from evaluation.problems.speed import NOISE_STD, Problem
from evaluation.reports.drawing import canvas
from evaluation.reports.markdown import Claim
from noregret.arrays import Indices, Vector

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ARMS, FEATURES, SCALE = 1000, 40, 0.2
T, REPETITIONS = 1000, 5
SIZES = (5, 10, 20, 40)  # of the sketch
COUNTS = (20, 60, 200)  # of random features
LONG = 20_000  # evaluations, of what can be run for so long
LINEAR = 0.8  # regret of the second half over the first: 1 is linear, √2 − 1 that of √T
PROBLEMS = {
    "short": "linear, short tail",
    "long": "linear, long tail",
    "smooth": "RBF, two features",
    "later": "the same, for longer",
}


class Outcome(NamedTuple):
    """Regret after each evaluation, and what became of the variance."""

    regret: Vector  # (T,)
    share: float = np.nan  # median over the arms of the variance over the exact one, at the end


def made(name: str, seed: int) -> Problem:
    """Return a problem; "later" is "smooth"."""
    rng = np.random.default_rng([seed, min(list(PROBLEMS).index(name), 2)])
    if name in ("smooth", "later"):
        kernel, X, C = nr.RBF(SCALE), rng.random((ARMS, 2)), rng.random((30, 2))
        a = rng.standard_normal(30)
        return Problem(X, kernel(X, C) @ a / np.sqrt(a @ kernel(C, C) @ a), kernel, seed)
    j = np.arange(1, FEATURES + 1)
    spread = np.exp(-j / 2) if name == "short" else j**-0.25
    X = rng.standard_normal((ARMS, FEATURES)) * spread
    X /= np.linalg.norm(X, axis=1).max()
    theta = rng.standard_normal(FEATURES)
    return Problem(X, X @ theta / np.linalg.norm(theta), nr.Linear(), seed)


def by_library(make: Callable[..., nr.Optimizer], problem: Problem, steps: int) -> Outcome:
    """Run an algorithm of the library."""
    optimizer = make(problem.pool(), kernel=problem.kernel, noise_std=NOISE_STD, seed=problem.seed)
    noise = problem.noise(steps)
    while optimizer.spent < steps:
        batch, t = optimizer.ask(at_most=steps - optimizer.spent), optimizer.spent
        optimizer.tell(batch, problem.f[batch.sequence] + noise[t : t + len(batch)])
    return Outcome(_regret(problem, np.asarray(optimizer.sequence, dtype=np.int64)))


def on_random_features(
    problem: Problem, steps: int, count: int, *, thompson: bool = False
) -> Outcome:
    """Run UCB or Thompson sampling on so many features, and compare variances at the end."""
    phi = fourier_features(problem.X, SCALE, count, problem.seed)
    rows, model = on_features(problem, steps, phi, thompson=thompson)
    exact = nr.gp_ucb(problem.pool(), kernel=problem.kernel, noise_std=NOISE_STD)
    exact.tell(rows, problem.f[rows])  # variances know of no values
    share = model.variance / exact.posterior.variance(problem.X)
    return Outcome(_regret(problem, rows), float(np.median(share)))


def _regret(problem: Problem, rows: Indices) -> Vector:
    return np.asarray(np.cumsum(problem.f.max() - problem.f[rows]))


def methods(name: str) -> dict[str, Callable[[Problem], Outcome]]:
    """Return what is run on a problem, by its label; the paper's own comparison partners last."""
    exact = "GP-UCB" if name == "smooth" else "OFUL"
    found: dict[str, Callable[[Problem], Outcome]] = {
        exact: partial(by_library, nr.gp_ucb, steps=T),
        "BKB": partial(by_library, nr.bkb, steps=T),
    }
    if name == "smooth":
        for count in COUNTS:
            found[f"RFF-UCB, {count} features"] = partial(on_random_features, steps=T, count=count)
        found["RFF-TS, 200 features"] = partial(
            on_random_features, steps=T, count=200, thompson=True
        )
        found["TS-QFF"] = partial(by_library, nr.ts_qff, steps=T)
    elif name == "later":
        found = {"MINI-GP-UCB": partial(by_library, nr.mini_gp_ucb, steps=LONG)}
        for count in COUNTS:
            found[f"RFF-UCB, {count} features"] = partial(
                on_random_features, steps=LONG, count=count
            )
    else:
        for size in SIZES:
            found[f"SOFUL, m = {size}"] = partial(on_sketch, size=size)
    return found


def on_sketch(problem: Problem, size: int) -> Outcome:
    return Outcome(_regret(problem, soful(problem, T, size=size)))


@cache
def outcomes(name: str) -> dict[str, list[Outcome]]:
    """Run everything on a problem, each repetition on another draw of it."""
    problems = [made(name, seed) for seed in range(REPETITIONS)]
    return {label: [run(one) for one in problems] for label, run in methods(name).items()}


@cache
def uniform(name: str) -> float:
    """Return the regret of an evaluation drawn uniformly, on average."""
    problems = [made(name, seed) for seed in range(REPETITIONS)]
    return float(np.mean([(one.f.max() - one.f).mean() for one in problems]))


def mean_regret(name: str, label: str) -> Vector:
    """Return regret over uniform's, after each evaluation, on average."""
    regret = np.mean([one.regret for one in outcomes(name)[label]], axis=0)
    return np.asarray(regret / (np.arange(1, len(regret) + 1) * uniform(name)))


def late(name: str, label: str) -> float:
    """Return the regret of the second half over that of the first: 1 where it is linear."""
    ratio = mean_regret(name, label)
    whole, half = len(ratio) * ratio[-1], len(ratio) // 2 * ratio[len(ratio) // 2 - 1]
    return float((whole - half) / half)


def _draw(_: Runs) -> Figure:
    figure = canvas(1, len(PROBLEMS), width=3.4)
    for axes, (name, title) in zip(
        figure.subplots(1, len(PROBLEMS)), PROBLEMS.items(), strict=True
    ):
        for label in methods(name):
            ratio = mean_regret(name, label)
            axes.plot(np.arange(1, len(ratio) + 1), ratio, label=label, linewidth=1.2)
        axes.set_title(title, fontsize=9)
        axes.set(xlabel="evaluations", xscale="log", yscale="log")
        axes.legend(fontsize=6, frameon=False)
    figure.axes[0].set_ylabel("regret over uniform's")
    return figure


def _claims(_: Runs) -> Iterator[Claim]:
    yield _too_small("long")
    yield _too_small("short")
    yield _adaptive()
    yield _starved()
    yield _not_low()
    yield _quadrature()


def _ends(name: str, labels: list[str]) -> str:
    """Return regret over uniform's at the end, and the second half over the first."""
    parts = (
        f"{label} {mean_regret(name, label)[-1]:.3f} ({late(name, label):.2f})" for label in labels
    )
    return f"{PROBLEMS[name]}: {', '.join(parts)}"


def _too_small(name: str) -> Claim:
    labels = [f"SOFUL, m = {size}" for size in SIZES]
    worst = [late(name, label) for label in labels[:-1]]
    if name == "long":
        says = "SOFUL: where the tail does not decrease quickly, a fixed m has linear regret"
        return Claim(says, _ends(name, labels), min(worst) > LINEAR)
    says = "where the tail is short, an m that holds it is as good as all, a smaller one is not"
    same = abs(mean_regret(name, labels[2])[-1] / mean_regret(name, labels[-1])[-1] - 1)
    return Claim(says, _ends(name, labels), bool(same < 0.05) and worst[0] > LINEAR, ours=True)


def _adaptive() -> Claim:
    says = "BKB achieves OFUL's regret on the same task, choosing the size by itself"
    parts, held = [], True
    for name in ("short", "long"):
        parts.append(_ends(name, ["OFUL", "BKB"]))
        held &= bool(mean_regret(name, "BKB")[-1] < 1.2 * mean_regret(name, "OFUL")[-1])
    return Claim(says, "; ".join(parts), held)


def _starved() -> Claim:
    shares = {c: [one.share for one in outcomes("later")[f"RFF-UCB, {c} features"]] for c in COUNTS}
    found = ", ".join(f"{np.mean(some):.2g} with {count}" for count, some in shares.items())
    return Claim(
        "random Fourier features suffer from variance starvation",
        f"after {LONG} evaluations the median variance over the exact one, on the same "
        f"evaluations, is {found} features",
        bool(max(np.mean(shares[count]) for count in COUNTS[:2]) < 0.5),
    )


def _not_low() -> Claim:
    labels = list(methods("later"))
    return Claim(
        "GP-UCB on random Fourier features is not low-regret",
        _ends("later", labels),
        min(late("later", label) for label in labels[1:3]) > LINEAR,
    )


def _quadrature() -> Claim:
    labels = ["GP-UCB", "BKB", "TS-QFF", *list(methods("smooth"))[2:-1]]
    ends = [mean_regret("smooth", label)[-1] for label in labels[:3]]
    return Claim(
        "Thompson sampling on quadrature features has the regret of GP-UCB and BKB, or less",
        _ends("smooth", labels),
        bool(ends[2] <= max(ends[:2])),
    )


TITLE = "Beside §4: linear bandits on a sketch, random Fourier features; regret over uniform's"
PLATES = (Plate("bkb-sketches", TITLE, _draw, _claims),)
