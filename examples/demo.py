"""Optimise 100 000 candidates with 100 000 noisy evaluations, and draw how it went.

Run by `make demo`. The truth is known here, so that what was found can be held against it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

import noregret as nr

CANDIDATES = 100_000
BUDGET = 100_000
NOISE = 5.0  # percentage points
SCALE = 15.0
CENTRE = 50.0
LENGTHSCALE = 0.2
ALGORITHMS: dict[str, Callable[..., nr.Optimizer]] = {
    "mini_gp_ucb": nr.mini_gp_ucb,
    "mini_gp_ei": nr.mini_gp_ei,
    "bbkb": nr.bbkb,
}
GREEN = "#0b6141"


@dataclass(frozen=True)
class Problem:
    """Yields, in percent, of made-up reaction conditions: two settings between 0 and 1."""

    X: npt.NDArray[np.float64]
    truth: npt.NDArray[np.float64]
    kernel: nr.Kernel
    norm: float


@dataclass(frozen=True)
class Run:
    name: str
    result: nr.Result
    seconds: float
    average_regret: npt.NDArray[np.float64]


def make_problem(seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    X, centres = rng.random((CANDIDATES, 2)), rng.random((40, 2))
    kernel = SCALE**2 * nr.RBF(LENGTHSCALE)
    a = rng.standard_normal(40) / SCALE**2
    f = kernel(X, centres) @ a
    a *= SCALE / f.std()
    f *= SCALE / f.std()
    return Problem(X, CENTRE + f, kernel, float(np.sqrt(a @ kernel(centres, centres) @ a)))


def optimise(problem: Problem, name: str) -> Run:
    rng = np.random.default_rng(7)
    began = time.perf_counter()
    result = nr.maximize(
        lambda row: float(problem.truth[row] + NOISE * rng.standard_normal()),
        nr.Pool(problem.X),
        algorithm=ALGORITHMS[name],
        budget=BUDGET,
        by_id=True,
        kernel=problem.kernel,
        noise_std=NOISE,
        offset=CENTRE,
        norm_bound=problem.norm,
        horizon=BUDGET,
    )
    return Run(name, result, time.perf_counter() - began, averaged(problem, result.ids))


def averaged(problem: Problem, ids: npt.NDArray[np.generic]) -> npt.NDArray[np.float64]:
    """R_t/t: how much an evaluation fell short of the best, on average so far."""
    short = problem.truth.max() - problem.truth[ids.astype(np.int64)]
    return np.asarray(np.cumsum(short) / np.arange(1, len(ids) + 1))


def report(problem: Problem, runs: list[Run], console: Console) -> None:
    table = Table(title=f"\n{CANDIDATES:,} candidates, {BUDGET:,} evaluations, noise ±{NOISE:g}")
    for column in ("", "seconds", "tried", "batches", "found", "truth", "gap ≤", "regret"):
        table.add_column(column, justify="right" if column else "left")
    for run in runs:
        best, optimizer = run.result.best(), run.result.optimizer
        table.add_row(
            run.name,
            f"{run.seconds:.1f}",
            f"{optimizer.unique}",
            f"{optimizer.batches}",
            f"{problem.truth[int(best.id)]:.2f}",
            f"{problem.truth.max():.2f}",
            f"{run.result.certificate().gap:.2f}",
            f"{run.average_regret[-1]:.2f}",
        )
    console.print(table)
    console.print(
        "tried: different candidates; found: true yield of the recommendation;\n"
        "truth: the best yield there is; gap: what the certificate allows;\n"
        "regret: how much an evaluation fell short of the best, on average.\n",
        style="dim",
        highlight=False,
    )
    console.print(f"[bold]{runs[0].name} recommends[/bold]", str(runs[0].result.best()))
    console.print(str(runs[0].result.certificate()), highlight=False)


def draw(problem: Problem, runs: list[Run], path: Path) -> None:
    figure = Figure(figsize=(11, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1))
    draw_regret(left, problem, runs)
    draw_pool(right, problem, runs[0])
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


def draw_regret(axes: Axes, problem: Problem, runs: list[Run]) -> None:
    drawn = np.random.default_rng(8).integers(CANDIDATES, size=BUDGET)
    curves = {"uniform": problem.truth[drawn], **{run.name: run.result for run in runs}}
    nr.plot.regret(curves, truth=problem.truth, unit="percentage points", ax=axes)
    axes.set_title("Falling behind the best, less and less", loc="left", fontsize=11)
    axes.legend(frameon=False, loc="lower left")


def draw_pool(axes: Axes, problem: Problem, run: Run) -> None:
    (x, y), truth = problem.X.T, problem.truth
    pale = LinearSegmentedColormap.from_list("pale", ["#ffffff", "#f2e3bc", "#e0a458"])
    shades = axes.tripcolor(x, y, truth, shading="gouraud", cmap=pale, rasterized=True)
    run_on = axes.get_figure()
    assert run_on is not None
    run_on.colorbar(shades, ax=axes, label="true yield (%)", shrink=0.8)
    rows, counts = np.unique(run.result.ids.astype(np.int64), return_counts=True)
    size = 8 + 4 * np.sqrt(counts)
    axes.scatter(x[rows], y[rows], s=size, color=GREEN, ec="white", lw=0.5)
    best = int(np.argmax(truth))
    axes.plot(x[best], y[best], marker="+", color="#d62828", ms=16, mew=2.5)
    axes.set_title(f"{len(rows)} candidates tried by {run.name}", loc="left", fontsize=11)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_aspect("equal")
    axes.set_xlabel("larger dot: more evaluations;  + the true best")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "out" / "demo.png")
    parser.add_argument(
        "--algorithms",
        nargs="+",
        choices=ALGORITHMS,
        default=["mini_gp_ucb", "mini_gp_ei"],
        help="those to run (bbkb takes minutes here)",
    )
    given = parser.parse_args()
    out: Path = given.out
    console, problem = Console(), make_problem(seed=0)
    runs = []
    for name in given.algorithms:
        console.print(f"{name} …")
        runs.append(optimise(problem, name))
    report(problem, runs, console)
    draw(problem, runs, out)
    console.print(f"\nThe picture is in {out}")


if __name__ == "__main__":
    main()
