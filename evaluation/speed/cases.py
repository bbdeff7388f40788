"""The cases, as data: those with goals first, in the order in which they are run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evaluation.speed.goals import (
    Case,
    Goal,
    case,
    median,
    of_all,
    peak_gb,
    ratio,
    same_choices,
    seconds,
    seconds_of_steps,
    slope_in,
    so_far,
    touched,
)
from evaluation.speed.growth import growth_cases
from evaluation.speed.results import Figures, Settings, Subject

N, T = 20_640, 10_000
MILLION = 10**6
ONE_SEED = "Transcriptions at one seed"
MINI, GLOBAL, LOCAL, STICKY = "mini_gp_ucb", "bbkb global", "bbkb local", "bbkb global sticky"
GAINS = {GLOBAL: 20, STICKY: 20, LOCAL: 40, "bkb": 10}  # times as fast as the transcription
SMALL = (
    *("gp_ucb", "gp_ei", "gp_bucb", "bkb", GLOBAL, LOCAL, MINI, "mini_gp_ei", "uniform"),
    "epsilon_greedy",
)


def library(
    algorithm: str, *, N: int = N, T: int = T, kernel: str = "rbf", seeds: int = 3
) -> Subject:
    """A whole run of the library."""
    settings = {"algorithm": algorithm, "N": N, "T": T, "kernel": kernel}
    return Subject(algorithm, "loop", settings, seeds)


def paper(algorithm: str, *, seeds: int = 3, **sizes: Any) -> Subject:
    """A whole run of a paper's pseudo-code."""
    settings = library(algorithm, **sizes).settings
    return Subject(f"transcription of {algorithm}", "transcription", settings, seeds)


def faster(slow: Subject, fast: Subject, limit: float) -> Goal:
    text = f"{fast.label}: times as fast as {slow.label}"
    return Goal(text, ratio(seconds(slow), seconds(fast)), f"≥ {limit} ×")


def less_regret(text: str, fast: Subject, slow: Subject, limit: float = 1.3) -> Goal:
    return Goal(text, ratio(median(fast, "regret"), median(slow, "regret")), f"≤ {limit} ×")


def alike(fast: Subject, slow: Subject, text: str = "choices as in the transcription") -> Goal:
    return Goal(text, same_choices(fast, slow), "≥ 100 %")


def against_papers() -> Iterator[Case]:
    """Return the runs at the papers' size, and far beyond it."""
    mini, long, own = library(MINI), library(MINI, T=MILLION), paper(MINI)
    fresh, sticky, slow = library(GLOBAL), library(STICKY), paper(GLOBAL)
    yield case(
        "mini",
        "MINI-GP-UCB, N = 20 640, T = 10⁴, limit 2",
        (mini, own, slow),
        faster(slow, mini, 100),
        less_regret("regret over that of the transcription", mini, slow),
        Goal("seconds", seconds(mini), "≤ 0.5 s"),
        alike(mini, own, "choices as in its own transcription"),
    )
    million = ratio(seconds(long), seconds(mini))
    yield case(
        "mini-million",
        "MINI-GP-UCB, N = 20 640, T = 10⁶, limit 2",
        (long, mini),
        Goal("time over that of T = 10⁴", million, "≤ 1.5 ×"),
    )
    yield case(
        "bbkb",
        "BBKB global, N = 20 640, T = 10⁴, limit 2, q̄ = 2",
        (fresh, sticky, slow),
        faster(slow, fresh, 20),
        faster(slow, sticky, 20),
        alike(fresh, slow, "fresh: choices as in the transcription"),
        note="The goal of 20 × is for one of fresh and sticky; both are shown.",
    )
    fast, slow = library(LOCAL), paper(LOCAL)
    yield case(
        "bbkb-local",
        "BBKB local, N = 20 640, T = 10⁴, limit 2, q̄ = 2",
        (fast, slow),
        faster(slow, fast, 40),
        alike(fast, slow),
    )
    fast, slow = library("bkb", T=2000), paper("bkb", T=2000, seeds=1)
    step = median(fast, lambda figures, _: 1e3 * figures["seconds"] / figures["evaluations"])
    yield case(
        "bkb",
        "BKB, N = 20 640, T = 2000, sequential",
        (fast, slow),
        faster(slow, fast, 10),
        alike(fast, slow),
        Goal("milliseconds a step", step, "reported ms"),
        note="The transcription at one seed, for it takes minutes.",
    )
    bayes, rkhs = (library(f"{MINI}{width}", N=MILLION, T=MILLION) for width in (" bayesian", ""))
    peak, rows = (of_all(max, median(bayes, of), median(rkhs, of)) for of in (peak_gb, touched))
    yield case(
        "million",
        "MINI-GP-UCB, N = T = 10⁶",
        (bayes, rkhs),
        Goal("seconds, Bayesian width", seconds(bayes), "≤ 10 s"),
        Goal("seconds, RKHS width", seconds(rkhs), "≤ 45 s"),
        Goal("peak memory", peak, "≤ 6 GB"),
        Goal("rows touched an update", rows, "≤ 2 %"),
    )
    run = library(STICKY, N=MILLION, T=100_000, seeds=1)
    yield case(
        "bbkb-million",
        "BBKB, N = 10⁶, T = 10⁵",
        (run,),
        Goal("seconds, at least", so_far(run, "seconds"), "≤ 300 s"),
        Goal("peak memory", median(run, peak_gb), "≤ 12 GB"),
        Goal("peak memory so far", so_far(run, peak_gb), "reported GB"),
        note="One seed; a sticky dictionary, which is followed lazily at this size.",
    )


def exact() -> Case:
    runs = [
        Subject(f"{name}, distinct", "distinct", {"algorithm": name, "N": N, "T": 2000})
        for name in ("gp_ucb", "gp_bucb")
    ]
    peer = Subject(
        "BoTorch at t = 10, 100, 300, 1000, 2000 of it",
        "same steps",
        {"peer": "botorch", "N": N, "ts": [10, 100, 300, 1000, 2000]},
        seeds=1,
    )
    text, theirs = "{}: times as fast as BoTorch on the same steps", median(peer, seconds_of_steps)
    return case(
        "exact",
        "GP-UCB and GP-BUCB exact, N = 20 640, T = 2000 distinct points",
        (*runs, peer),
        *(Goal(text.format(run.label), ratio(theirs, seconds(run)), "≥ 20 ×") for run in runs),
        note="BoTorch is timed at some steps of the library's run, with the same data, kernel, "
        "noise and width; its total is by powers of t between them. One seed.",
    )


def one_tell() -> Case:
    run = Subject("one tell", "tell", {"algorithm": MINI, "N": N, "n": 1000, "values": MILLION})
    goal = Goal("seconds", seconds(run), "≤ 0.1 s")
    return case("tell", "one tell of 10⁶ values over 10³ candidates", (run,), goal)


def flat() -> Case:
    label = "mini_gp_ucb, all told of 300 candidates"
    counts = [
        Subject(label, "counts", {"algorithm": MINI, "N": N, "n": 300, "T": many})
        for many in (3000, 30_000, 300_000, 3_000_000)
    ]
    whole = [library(MINI, T=many) for many in (T, 100_000, MILLION)]
    return case(
        "flat",
        "total time against T at fixed n and N = 20 640",
        (*counts, *whole),
        Goal("slope of log time, told n = 300", slope_in("T", counts), "≤ 0.1"),
        Goal("slope of log time, whole runs", slope_in("T", whole), "≤ 0.1"),
    )


def small() -> Case:
    runs = [library(name, N=500, T=100) for name in SMALL]
    loading = Subject("import noregret, beyond numpy and scipy.linalg", "imports", seeds=1)
    return case(
        "small",
        "small problems: N = 500, T = 100",
        (*runs, loading),
        Goal("seconds of the slowest", of_all(max, *map(seconds, runs)), "≤ 0.3 s"),
        Goal("seconds to import", seconds(loading), "≤ 0.1 s"),
    )


def gains(
    name: str, title: str, note: str, times: Mapping[str, int], papers: Sequence[str], **at: Any
) -> Case:
    """The gains again, each algorithm run for its T, at a size that transcriptions can bear."""
    ours = {one: library(one, T=T, **at) for one, T in times.items()}
    theirs = {one: paper(one, T=times[one], seeds=1, **at) for one in papers}
    slow = theirs[GLOBAL]
    goals = [
        faster(slow, ours[MINI], 100),
        less_regret("regret over that of BBKB", ours[MINI], slow),
        *(faster(theirs.get(one, slow), ours[one], GAINS[one]) for one in ours if one in GAINS),
    ]
    if MINI in papers:
        text = "{}: choices as in its own transcription"
        goals += [alike(ours[one], theirs[one], text.format(one)) for one in papers]
    return case(name, title, (*ours.values(), *theirs.values()), *goals, note=note)


def all_gains() -> Iterator[Case]:
    """Return the gains with other kernels, that of another library and that of bits included."""
    kernels = {"matern52": ("Matérn-5/2", 2000), "ard": ("RBF with a lengthscale a feature", T)}
    for kernel, (title, many) in kernels.items():
        title, note = f"the same gains with {title}", f"T = {many}, BKB at T = 500."
        times = {MINI: many, GLOBAL: many, LOCAL: many, "bkb": 500}
        papers = (GLOBAL, LOCAL, "bkb")
        yield gains(kernel, title, f"{note} {ONE_SEED}.", times, papers, kernel=kernel)
    title = "a kernel of scikit-learn, N = 20 640, T = 2000"
    note = f"Its RBF, with the lengthscale of the others. {ONE_SEED}."
    short = dict.fromkeys((MINI, GLOBAL, STICKY), 2000)
    yield gains("scikit", title, note, short, (MINI, GLOBAL), kernel="scikit")
    title = "docking scores of 49 706 molecules by Tanimoto on 2048 bits, T = 300"
    note = "Enamine 50k (Graff et al. 2021), f scaled to 0 on average and 1 at the best. "
    note += f"{ONE_SEED}, with the library's kernel."
    short = dict.fromkeys(short, 300)
    yield gains("molecules", title, note, short, (MINI, GLOBAL), N=49_706, kernel="tanimoto")


def box(name: str, T: int) -> Case:
    """A function on a box, searched uphill and by random candidates."""
    shared = {"function": name, "T": T}
    uphill = Subject("gp_ei, uphill", "box", {**shared, "search": "uphill"})
    drawn = {**shared, "search": "random", "candidates": 100_000}
    random = Subject("gp_ei, 10⁵ random candidates a step", "box", drawn)
    ahead = "steps at which no random candidate scores higher"
    return case(
        f"box-{name}",
        f"a box: {name}, {T} evaluations",
        (uphill, random),
        Goal("times as fast", ratio(seconds(random), seconds(uphill)), "≥ 1 ×"),
        Goal(ahead, median(uphill, "ahead"), "≥ 95 %"),
        less_regret("regret of the recommendation over that of random", uphill, random, 1),
        note="Regret is that of the recommendation, f having standard deviation 1 over the box.",
    )


def thompson() -> Case:
    run = Subject("mini(Thompson())", "thompson", {"N": MILLION, "T": 100_000}, seeds=1)
    ask = median(run, lambda figures, _: figures["seconds"] / figures["batches"])
    return case(
        "thompson",
        "Thompson sampling, N = 10⁶, T = 10⁵",
        (run,),
        Goal("seconds", seconds(run), "reported s"),
        Goal("seconds an ask", ask, "reported s"),
        Goal("an ask over one pass", ratio(ask, median(run, "one_pass")), "≤ 5 ×"),
        note="A pass computes mean and variance at every row on the last posterior.",
    )


def history() -> Case:
    run = Subject("bbkb, n = 10⁵ told at once", "history", {"N": 100_000, "n": 100_000})
    return case(
        "history",
        "BBKB after 10⁵ past evaluations, N = 10⁵",
        (run,),
        Goal("seconds to tell and to ask", seconds(run), "≤ 10 s"),
        Goal("members of the dictionary", median(run, "members"), "reported"),
        Goal("seconds of the next batch", median(run, "one_pass"), "reported s"),
        note="Half of them in the pool, half off it, all different.",
    )


def fitting(figures: Figures, _: Settings) -> float:
    """The percentage of the time that fits take."""
    return 100.0 * figures["one_pass"] / figures["seconds"]


def refits() -> Case:
    sizes = {"small": (1000, 200), "short": (N, 200), "large": (100_000, 200), "long": (N, T)}
    runs = {
        f"time spent on learning, {name}": Subject(
            f"auto, N = {n}, T = {t}", "refits", {"N": n, "T": t}
        )
        for name, (n, t) in sizes.items()
    }
    return case(
        "refits",
        "what learning the model takes of auto's time",
        tuple(runs.values()),
        *(Goal(text, median(run, fitting), "≤ 20 %") for text, run in runs.items()),
        note="The first fit of a process loads what SciPy climbs with, 0.1 s of each run.",
    )


def certificate() -> Case:
    runs = [
        Subject(f"bbkb, N = {n}, T = {t}", "steered", {"N": n, "T": t})
        for n, t in ((1000, 1000), (N, T), (100_000, 2000))
    ]
    return case(
        "certificate",
        "what the width that certifies takes of BBKB's time, where it steers",
        runs,
        *(Goal(run.label, median(run, fitting), "≤ 10 %") for run in runs),
        note="Where it does not steer nothing of it is computed before a certificate is asked for.",
    )


CASES = {
    one.name: one
    for one in (
        *against_papers(),
        *(exact(), one_tell(), flat(), small(), *all_gains()),
        *(box("branin", 60), box("hartmann6", 120), box("ackley10", 200)),
        *(thompson(), history(), refits(), certificate(), *growth_cases()),
    )
}
