"""What a user would pick instead, each at the sizes it can bear."""

from __future__ import annotations

from evaluation.speed.case import Case
from evaluation.speed.subjects import Sizes

PEERS = {
    "botorch": "BoTorch",
    "scikit-learn": "scikit-learn",
    "optuna gp": "Optuna GPSampler",
    "optuna tpe": "Optuna TPE",
}
OURS = ("gp_ucb", "mini_gp_ucb", "bbkb global")
TIMES = [10, 100, 300, 1000, 2000]
POOLS = (2000, 20_640, 100_000)
MOST_SECONDS = 40.0
RACE = 200

NOTE = (
    "BoTorch: SingleTaskGP with this kernel and noise fixed, UpperConfidenceBound, "
    "optimize_acqf_discrete over the pool. scikit-learn: GaussianProcessRegressor with this "
    "kernel, alpha = noise², optimizer=None. Optuna: samplers in the pool's box, suggestions "
    "snapped to the nearest row (not timed); GPSampler fits its own kernel at every ask, and "
    "neither sees the pool, so that their time does not grow with N. A cell ends after 40 s."
)


def side_by_side_cases(sizes: Sizes) -> list[Case]:
    """Return single asks after t evaluations, and races from the first evaluation on."""
    asks = [
        sizes.subject(
            title,
            "peer asks",
            seeds=1,
            most_seconds=MOST_SECONDS,
            peer=peer,
            N=N,
            ts=TIMES,
        )
        for N in POOLS
        for peer, title in PEERS.items()
    ]
    own = [
        sizes.subject(
            name,
            "asks",
            seeds=1,
            most_seconds=MOST_SECONDS,
            algorithm=name,
            N=N,
            ts=TIMES,
        )
        for N in POOLS
        for name in OURS
    ]
    races = [
        sizes.subject(
            title,
            "race",
            seeds=1,
            most_seconds=MOST_SECONDS,
            peer=peer,
            N=20_640,
            T=RACE,
            kernel="rbf",
        )
        for peer, title in PEERS.items()
    ]
    runs = [
        sizes.subject(
            name, "loop", most_seconds=MOST_SECONDS, algorithm=name, N=20_640, T=RACE, kernel="rbf"
        )
        for name in OURS
    ]
    return [
        Case("asks", "seconds of one ask after t evaluations", (*own, *asks), note=NOTE),
        Case(
            "race",
            f"{RACE} evaluations, N = 20 640",
            (*runs, *races),
            note=f"{NOTE} Others: one seed.",
        ),
    ]
