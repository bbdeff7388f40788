"""The same gains with kernels that cost more: another library's, and one on packed bits."""

from __future__ import annotations

from evaluation.speed.case import Case
from evaluation.speed.goals import Goal, Ratio, SameChoices, regret
from evaluation.speed.subjects import Sizes
from evaluation.speed.targets import N, faster, library, paper


def kernel_cases(sizes: Sizes) -> list[Case]:
    """Return a case for a kernel of scikit-learn, and one for real molecules."""
    return [scikit(sizes), molecules(sizes)]


def scikit(sizes: Sizes) -> Case:
    """A kernel of another library, in the problem of the others."""
    return _short_case(
        sizes,
        "scikit",
        "a kernel of scikit-learn, N = 20 640, T = 2000",
        N=N,
        T=2000,
        kernel="scikit",
        note="Its RBF, with the lengthscale of the others. Transcriptions at one seed.",
    )


def molecules(sizes: Sizes) -> Case:
    """Real molecules, on which nearly every evaluation is of another candidate."""
    return _short_case(
        sizes,
        "molecules",
        "docking scores of 49 706 molecules by Tanimoto on 2048 bits, T = 300",
        N=49_706,
        T=300,
        kernel="tanimoto",
        note="Enamine 50k (Graff et al. 2021), f scaled to 0 on average and 1 at the best. "
        "Transcriptions at one seed, with the library's kernel.",
    )


def _short_case(
    sizes: Sizes, name: str, title: str, *, N: int, T: int, kernel: str, note: str
) -> Case:
    """MINI-GP-UCB and BBKB against their transcriptions, at a size that these can bear."""
    names = ("mini_gp_ucb", "bbkb global")
    fast = {which: library(sizes, which, N=N, T=T, kernel=kernel) for which in names}
    slow = {which: paper(sizes, which, N=N, T=T, kernel=kernel, seeds=1) for which in names}
    sticky = library(sizes, "bbkb global sticky", N=N, T=T, kernel=kernel)
    mini, bbkb = names
    alike = [
        Goal(f"{which}: choices as in its own transcription", same, "≥", 100, "%")
        for which in names
        for same in [SameChoices(fast[which], slow[which])]
    ]
    return Case(
        name,
        title,
        (*fast.values(), sticky, *slow.values()),
        (
            faster(slow[bbkb], fast[mini], 100),
            Goal(
                "regret over that of BBKB",
                Ratio(regret(fast[mini]), regret(slow[bbkb])),
                "≤",
                1.3,
                "×",
            ),
            faster(slow[bbkb], fast[bbkb], 20),
            faster(slow[bbkb], sticky, 20),
            *alike,
        ),
        note=note,
    )
