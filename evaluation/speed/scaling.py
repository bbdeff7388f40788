"""How time grows: with t, N, d and unique points, for every algorithm that can run there."""

from __future__ import annotations

from evaluation.speed.case import Case
from evaluation.speed.subjects import Sizes, Subject

POOL = 20_640
MOST_SECONDS = 45.0  # a series ends at the first size that takes longer
TIMES = (1000, 10_000, 100_000, 1_000_000)
POOLS = (10_000, 100_000, 1_000_000)
DIMENSIONS = (2, 8, 32, 64)
UNIQUE = [100, 300, 1000, 3000]

IN_T = (
    "auto",
    "mini_gp_ucb",
    "mini_gp_ei",
    "bbkb global",
    "bbkb local",
    "bkb",
    "gp_ucb",
    "gp_ei",
    "gp_bucb",
    "uniform by 100",
    "epsilon_greedy by 100",
)
# Evaluations at which algorithms are compared as N and d grow: the sequential ones bear fewer.
EVALUATIONS = {
    "mini_gp_ucb": 10_000,
    "mini_gp_ei": 10_000,
    "bbkb global": 10_000,
    "bbkb local": 10_000,
    "bkb": 300,
    "gp_ucb": 300,
    "gp_ei": 300,
    "gp_bucb": 300,
}


def scaling_cases(sizes: Sizes) -> list[Case]:
    """Return the scaling tables; each series ends where it takes too long."""
    in_t = [(name, {"N": POOL, "T": T}) for name in IN_T for T in TIMES]
    in_N = [(name, {"N": N, "T": T}) for name, T in EVALUATIONS.items() for N in POOLS]
    in_d = [
        (name, {"N": POOL, "T": T, "d": d}) for name, T in EVALUATIONS.items() for d in DIMENSIONS
    ]
    unique = [
        sizes.subject(
            name,
            "asks",
            seeds=1,
            most_seconds=MOST_SECONDS,
            series=name,
            algorithm=name,
            N=POOL,
            ts=UNIQUE,
        )
        for name in EVALUATIONS
    ]
    stops = f"One seed; a series ends at the first size that takes over {MOST_SECONDS:.0f} s."
    return [
        Case(
            "scaling-t",
            f"seconds against evaluations, N = {POOL}",
            _series(sizes, in_t),
            against="T",
            note=f"{stops} Baselines ask for 100 at a time.",
        ),
        Case(
            "scaling-N",
            "seconds against pool size",
            _series(sizes, in_N),
            against="N",
            note=f"{stops} T = 10⁴ for MINI and BBKB, 300 for the sequential ones.",
        ),
        Case(
            "scaling-d",
            f"seconds against dimension, N = {POOL}",
            _series(sizes, in_d),
            against="d",
            note=f"{stops} T as above; lengthscales grow with √d, as distances do.",
        ),
        Case(
            "scaling-unique",
            f"seconds of one ask and tell against unique points, N = {POOL}",
            tuple(unique),
            against="unique",
            note="After so many different candidates were told: an ask that follows another.",
        ),
    ]


def _series(sizes: Sizes, runs: list[tuple[str, dict[str, int]]]) -> tuple[Subject, ...]:
    return tuple(
        sizes.subject(
            name,
            "loop",
            seeds=1,
            most_seconds=MOST_SECONDS,
            series=name,
            algorithm=name,
            kernel="rbf",
            **settings,
        )
        for name, settings in runs
    )
