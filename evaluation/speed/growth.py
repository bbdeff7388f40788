"""How time grows, for each algorithm that can run there; and what a user would pick instead."""

from __future__ import annotations

from collections.abc import Iterator

from evaluation.speed.goals import Case
from evaluation.speed.results import Settings, Subject

POOL = 20_640
MOST_SECONDS = 45.0  # a series ends at the first size that takes longer
STOPS = f"One seed; a series ends at the first size that takes over {MOST_SECONDS:.0f} s."
# Evaluations at which algorithms are compared as N and d grow: the sequential ones bear fewer.
MANY, FEW = (
    ("mini_gp_ucb", "mini_gp_ei", "bbkb global", "bbkb local"),
    ("bkb", "gp_ucb", "gp_ei", "gp_bucb"),
)
EVALUATIONS = {**dict.fromkeys(MANY, 10_000), **dict.fromkeys(FEW, 300)}

PEERS = {
    "botorch": "BoTorch",
    "scikit-learn": "scikit-learn",
    "optuna gp": "Optuna GPSampler",
    "optuna tpe": "Optuna TPE",
}
OURS = ("gp_ucb", "mini_gp_ucb", "bbkb global")
POOLS = (2000, POOL, 100_000)
TIMES = [10, 100, 300, 1000, 2000]
PEER_SECONDS = 40.0
RACE = 200
NOTE = (
    "BoTorch: SingleTaskGP with this kernel and noise fixed, UpperConfidenceBound, "
    "optimize_acqf_discrete over the pool. scikit-learn: GaussianProcessRegressor with this "
    "kernel, alpha = noise², optimizer=None. Optuna: samplers in the pool's box, suggestions "
    "snapped to the nearest row (not timed); GPSampler fits its own kernel at every ask, and "
    "neither sees the pool, so that their time does not grow with N. A cell ends after 40 s."
)


def growth_cases() -> Iterator[Case]:
    """Return the scaling tables, single asks after t evaluations, and races from the first on."""
    in_t = ("auto", *MANY, *FEW, "uniform by 100", "epsilon_greedy by 100")
    yield Case(
        "scaling-t",
        f"seconds against evaluations, N = {POOL}",
        tuple(_run(name, T=T) for name in in_t for T in (1000, 10_000, 100_000, 1_000_000)),
        against="T",
        note=f"{STOPS} Baselines ask for 100 at a time.",
    )
    yield Case(
        "scaling-N",
        "seconds against pool size",
        tuple(
            _run(name, N=N, T=T)
            for name, T in EVALUATIONS.items()
            for N in (10_000, 100_000, 1_000_000)
        ),
        against="N",
        note=f"{STOPS} T = 10⁴ for MINI and BBKB, 300 for the sequential ones.",
    )
    yield Case(
        "scaling-d",
        f"seconds against dimension, N = {POOL}",
        tuple(_run(name, T=T, d=d) for name, T in EVALUATIONS.items() for d in (2, 8, 32, 64)),
        against="d",
        note=f"{STOPS} T as above; lengthscales grow with √d, as distances do.",
    )
    yield Case(
        "scaling-unique",
        f"seconds of one ask and tell against unique points, N = {POOL}",
        tuple(
            _asks(name, POOL, [100, 300, 1000, 3000], MOST_SECONDS, name) for name in EVALUATIONS
        ),
        against="unique",
        note="After so many different candidates were told: an ask that follows another.",
    )
    ours = [_asks(name, N, TIMES, PEER_SECONDS) for N in POOLS for name in OURS]
    theirs = [_peer(peer, "peer asks", {"N": N, "ts": TIMES}) for N in POOLS for peer in PEERS]
    yield Case("asks", "seconds of one ask after t evaluations", (*ours, *theirs), note=NOTE)
    size = {"N": POOL, "T": RACE, "kernel": "rbf"}
    ours = [
        Subject(name, "loop", {"algorithm": name, **size}, most_seconds=PEER_SECONDS)
        for name in OURS
    ]
    theirs = [_peer(peer, "race", size) for peer in PEERS]
    title = f"{RACE} evaluations, N = 20 640"
    yield Case("race", title, (*ours, *theirs), note=f"{NOTE} Others: one seed.")


def _run(name: str, *, N: int = POOL, **grown: int) -> Subject:
    settings = {"algorithm": name, "kernel": "rbf", "N": N, **grown}
    return Subject(name, "loop", settings, 1, MOST_SECONDS, series=name)


def _asks(name: str, N: int, ts: list[int], most_seconds: float, series: str = "") -> Subject:
    settings = {"algorithm": name, "N": N, "ts": ts}
    return Subject(name, "asks", settings, 1, most_seconds, series)


def _peer(peer: str, runner: str, settings: Settings) -> Subject:
    return Subject(PEERS[peer], runner, {"peer": peer, **settings}, 1, PEER_SECONDS)
