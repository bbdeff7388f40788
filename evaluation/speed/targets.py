"""The cases that have goals, as data."""

from __future__ import annotations

from evaluation.speed.case import Case
from evaluation.speed.goals import (
    Goal,
    Largest,
    Ratio,
    SameChoices,
    Slope,
    milliseconds_a_step,
    peak_gb,
    peak_gb_so_far,
    regret,
    seconds,
    seconds_of_steps,
    seconds_so_far,
    touched,
)
from evaluation.speed.subjects import Sizes, Subject

N, T = 20_640, 10_000
MILLION = 10**6


def target_cases(sizes: Sizes) -> list[Case]:
    """Return the cases with goals."""
    kernels = [_kernel_case(sizes, kernel, title) for kernel, title in KERNELS.items()]
    return [*(case(sizes) for case in TARGETS), *kernels]


def library(sizes: Sizes, algorithm: str, *, N: int, T: int, kernel: str = "rbf") -> Subject:
    """A whole run of the library."""
    return sizes.subject(algorithm, "loop", algorithm=algorithm, N=N, T=T, kernel=kernel)


def paper(
    sizes: Sizes, algorithm: str, *, N: int, T: int, kernel: str = "rbf", seeds: int = 3
) -> Subject:
    """A whole run of a paper's pseudo-code."""
    return sizes.subject(
        f"transcription of {algorithm}",
        "transcription",
        seeds=seeds,
        algorithm=algorithm,
        N=N,
        T=T,
        kernel=kernel,
    )


def faster(slow: Subject, fast: Subject, limit: float) -> Goal:
    text = f"{fast.label}: times as fast as {slow.label}"
    return Goal(text, Ratio(seconds(slow), seconds(fast)), "≥", limit, "×")


def mini(sizes: Sizes) -> Case:
    fast, slow = library(sizes, "mini_gp_ucb", N=N, T=T), paper(sizes, "bbkb global", N=N, T=T)
    own = paper(sizes, "mini_gp_ucb", N=N, T=T)
    return Case(
        "mini",
        "MINI-GP-UCB, N = 20 640, T = 10⁴, limit 2",
        (fast, own, slow),
        (
            faster(slow, fast, 100),
            Goal(
                "regret over that of the transcription",
                Ratio(regret(fast), regret(slow)),
                "≤",
                1.3,
                "×",
            ),
            Goal("seconds", seconds(fast), "≤", 0.5, "s"),
            Goal("choices as in its own transcription", SameChoices(fast, own), "≥", 100, "%"),
        ),
    )


def mini_million(sizes: Sizes) -> Case:
    short, long = (library(sizes, "mini_gp_ucb", N=N, T=many) for many in (T, MILLION))
    return Case(
        "mini-million",
        "MINI-GP-UCB, N = 20 640, T = 10⁶, limit 2",
        (long, short),
        (Goal("time over that of T = 10⁴", Ratio(seconds(long), seconds(short)), "≤", 1.5, "×"),),
    )


def bbkb(sizes: Sizes) -> Case:
    slow, fresh = (make(sizes, "bbkb global", N=N, T=T) for make in (paper, library))
    sticky = library(sizes, "bbkb global sticky", N=N, T=T)
    return Case(
        "bbkb",
        "BBKB global, N = 20 640, T = 10⁴, limit 2, q̄ = 2",
        (fresh, sticky, slow),
        (
            faster(slow, fresh, 20),
            faster(slow, sticky, 20),
            Goal("fresh: choices as in the transcription", SameChoices(fresh, slow), "≥", 100, "%"),
        ),
        note="The goal of 20 × is for one of fresh and sticky; both are shown.",
    )


def bbkb_local(sizes: Sizes) -> Case:
    slow, fast = (make(sizes, "bbkb local", N=N, T=T) for make in (paper, library))
    same = Goal("choices as in the transcription", SameChoices(fast, slow), "≥", 100, "%")
    return Case(
        "bbkb-local",
        "BBKB local, N = 20 640, T = 10⁴, limit 2, q̄ = 2",
        (fast, slow),
        (faster(slow, fast, 40), same),
    )


def bkb(sizes: Sizes) -> Case:
    slow, fast = paper(sizes, "bkb", N=N, T=2000, seeds=1), library(sizes, "bkb", N=N, T=2000)
    return Case(
        "bkb",
        "BKB, N = 20 640, T = 2000, sequential",
        (fast, slow),
        (
            faster(slow, fast, 10),
            Goal("choices as in the transcription", SameChoices(fast, slow), "≥", 100, "%"),
            Goal("milliseconds a step", milliseconds_a_step(fast), "≤", None, "ms"),
        ),
        note="The transcription at one seed, for it takes minutes.",
    )


def million(sizes: Sizes) -> Case:
    bayes, rkhs = (
        library(sizes, name, N=MILLION, T=MILLION)
        for name in ("mini_gp_ucb bayesian", "mini_gp_ucb")
    )
    return Case(
        "million",
        "MINI-GP-UCB, N = T = 10⁶",
        (bayes, rkhs),
        (
            Goal("seconds, Bayesian width", seconds(bayes), "≤", 10, "s"),
            Goal("seconds, RKHS width", seconds(rkhs), "≤", 45, "s"),
            Goal("peak memory", Largest((peak_gb(bayes), peak_gb(rkhs))), "≤", 6, "GB"),
            Goal("rows touched an update", Largest((touched(bayes), touched(rkhs))), "≤", 2, "%"),
        ),
    )


def bbkb_million(sizes: Sizes) -> Case:
    run = sizes.subject(
        "bbkb global sticky",
        "loop",
        seeds=1,
        algorithm="bbkb global sticky",
        N=MILLION,
        T=100_000,
        kernel="rbf",
    )
    return Case(
        "bbkb-million",
        "BBKB, N = 10⁶, T = 10⁵",
        (run,),
        (
            Goal("seconds, at least", seconds_so_far(run), "≤", 300, "s"),
            Goal("peak memory", peak_gb(run), "≤", 12, "GB"),
            Goal("peak memory so far", peak_gb_so_far(run), "≤", None, "GB"),
        ),
        note="One seed; a sticky dictionary, which is followed lazily at this size.",
    )


def exact(sizes: Sizes) -> Case:
    runs = [
        sizes.subject(f"{name}, distinct", "distinct", algorithm=name, N=N, T=2000)
        for name in ("gp_ucb", "gp_bucb")
    ]
    peer = sizes.subject(
        "BoTorch at t = 10, 100, 300, 1000, 2000 of it",
        "same steps",
        seeds=1,
        peer="botorch",
        N=N,
        ts=[10, 100, 300, 1000, 2000],
    )
    last = peer.settings["ts"]
    assert isinstance(last, list)
    return Case(
        "exact",
        "GP-UCB and GP-BUCB exact, N = 20 640, T = 2000 distinct points",
        (*runs, peer),
        tuple(
            Goal(
                f"{run.label}: times as fast as BoTorch on the same steps",
                Ratio(seconds_of_steps(peer, last[-1]), seconds(run)),
                "≥",
                20,
                "×",
            )
            for run in runs
        ),
        note="BoTorch is timed at some steps of the library's run, with the same data, kernel, "
        "noise and width; its total is by powers of t between them. One seed.",
    )


def one_tell(sizes: Sizes) -> Case:
    run = sizes.subject("one tell", "tell", algorithm="mini_gp_ucb", N=N, n=1000, values=MILLION)
    goal = Goal("seconds", seconds(run), "≤", 0.1, "s")
    return Case("tell", "one tell of 10⁶ values over 10³ candidates", (run,), (goal,))


def flat(sizes: Sizes) -> Case:
    counts = tuple(
        sizes.subject(
            "mini_gp_ucb, all told of 300 candidates",
            "counts",
            algorithm="mini_gp_ucb",
            N=N,
            n=300,
            T=many,
        )
        for many in (3000, 30_000, 300_000, 3_000_000)
    )
    whole = tuple(
        sizes.subject("mini_gp_ucb", "loop", algorithm="mini_gp_ucb", N=N, T=many, kernel="rbf")
        for many in (T, 100_000, MILLION)
    )
    return Case(
        "flat",
        "total time against T at fixed n and N = 20 640",
        (*counts, *whole),
        (
            Goal("slope of log time, told n = 300", Slope(counts, "T"), "≤", 0.1),
            Goal("slope of log time, whole runs", Slope(whole, "T"), "≤", 0.1),
        ),
    )


SMALL = (
    "gp_ucb",
    "gp_ei",
    "gp_bucb",
    "bkb",
    "bbkb global",
    "bbkb local",
    "mini_gp_ucb",
    "mini_gp_ei",
    "uniform",
    "epsilon_greedy",
)


def small(sizes: Sizes) -> Case:
    runs = tuple(library(sizes, name, N=500, T=100) for name in SMALL)
    loading = sizes.subject("import noregret, beyond numpy and scipy.linalg", "imports", seeds=1)
    return Case(
        "small",
        "small problems: N = 500, T = 100",
        (*runs, loading),
        (
            Goal("seconds of the slowest", Largest(tuple(map(seconds, runs))), "≤", 0.3, "s"),
            Goal("seconds to import", seconds(loading), "≤", 0.1, "s"),
        ),
    )


TARGETS = (
    mini,
    mini_million,
    bbkb,
    bbkb_local,
    bkb,
    million,
    bbkb_million,
    exact,
    one_tell,
    flat,
    small,
)
LENGTHS = {"matern52": 2000, "ard": T}  # evaluations: rough functions need large dictionaries
KERNELS = {"matern52": "Matérn-5/2", "ard": "RBF with a lengthscale a feature"}


def _kernel_case(sizes: Sizes, kernel: str, title: str) -> Case:
    """The gains again, with another kernel; transcriptions at one seed, for they take minutes."""
    many = LENGTHS[kernel]
    runs = (("bbkb global", many), ("bbkb local", many), ("bkb", 500))
    slow = {name: paper(sizes, name, N=N, T=count, kernel=kernel, seeds=1) for name, count in runs}
    fast = {name: library(sizes, name, N=N, T=count, kernel=kernel) for name, count in runs}
    mini = library(sizes, "mini_gp_ucb", N=N, T=many, kernel=kernel)
    limits = {"bbkb global": 20, "bbkb local": 40, "bkb": 10}
    gains = [faster(slow[name], fast[name], limit) for name, limit in limits.items()]
    return Case(
        kernel,
        f"the same gains with {title}",
        (mini, *fast.values(), *slow.values()),
        (
            faster(slow["bbkb global"], mini, 100),
            Goal(
                "regret over that of BBKB",
                Ratio(regret(mini), regret(slow["bbkb global"])),
                "≤",
                1.3,
                "×",
            ),
            *gains,
        ),
        note=f"T = {many}, BKB at T = 500. Transcriptions at one seed.",
    )
