"""What a run without knobs has learned and does, in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from noregret.fitting import Family, Fixed, Grouped, Joint, Lesson, Owned
from noregret.text import counted

FAR = 10.0  # ranges: a feature of longer lengthscale hardly matters
NAMED = 5  # features that are listed
NOTABLE = 1.2  # times as wide: said from there on
LITTLE = 0.5  # of what may be gained: said from there on
AGREED = 10  # replicates
THEOREMS = (
    "Bounds and certificates are a theorem's, provided that the learned model is right; "
    "delta is shared among models (6δ/π²k² for the k-th)"
)


def account_of(
    family: Family,
    lesson: Lesson | None,
    *,
    how: str,
    attitude: str,
    hopes: bool,
    deterministic: bool,
    failed: int,
    lost: int,
    names: Sequence[str],
    outwards: Callable[[float], float],
) -> tuple[str, ...]:
    """Return some sentences: what is done and why, the model, its noise, what is guaranteed."""
    if lesson is None:
        begun = "No value was told yet" if failed else "Nothing told yet"
        return (f"{begun}: the first candidates are drawn by chance.", *_failures(failed, lost))
    if lesson.is_constant:
        same = "All values told were the same: nothing is known of scale or noise yet."
        return (f"{how}.", same, *_failures(failed, lost))
    return (
        f"{how}.",
        f"{_kernel(family, lesson, names, outwards)}.",
        f"{_noise(lesson)}.",
        *_calibration(lesson),
        *(_hope(lesson) if hopes else ()),
        *_caution(lesson),
        *_floor(lesson, outwards),
        *_ceiling(lesson),
        *_failures(failed, lost),
        *_agreement(lesson, deterministic),
        f"{_guarantee(attitude)}.",
    )


def _kernel(
    family: Family, lesson: Lesson, names: Sequence[str], outwards: Callable[[float], float]
) -> str:
    model = lesson.model
    deviation, mean = math.sqrt(model.scale), outwards(model.mean)
    begin = f"Model {lesson.number}: f spreads by {deviation:.3g} about {mean:.4g}"
    share = model.own / model.scale
    end = f"; {share:.0%} of the variance is each candidate's own" if share >= 0.01 else ""
    if isinstance(family, Owned):
        family = family.inner
    if isinstance(family, Fixed):
        return f"{begin}; candidates are as alike as the bits they share (Tanimoto){end}"
    assert isinstance(family, Grouped | Joint)
    shape = {"rough": "Matérn-5/2", "smooth": "codes that differ are apart"}
    kind = (
        "numbers by Matérn-5/2, codes apart where they differ"
        if isinstance(family, Joint)
        else shape[family.shape]
    )
    lengths = np.exp(model.theta[2 : 2 + family.lengthscales])
    lengths[~family.varies] = math.inf
    order = [int(j) for j in np.argsort(lengths, kind="stable")[:NAMED] if lengths[j] < FAR]
    listed = ", ".join(f"{names[j]} {lengths[j]:.2g}" for j in order)
    matter = (
        f"features that matter most, by lengthscale in ranges: {listed}"
        if listed
        else "none is seen to matter yet"
    )
    return f"{begin}; {kind}; {matter}{end}"


def _noise(lesson: Lesson) -> str:
    error, noise = lesson.error, lesson.model.noise_std
    if error.freedom:
        replicates = counted(round(error.freedom), "replicate")
        text = f"Noise {noise:.3g} an evaluation, by {replicates} and likelihood"
    else:
        text = f"Noise {noise:.3g} an evaluation, by likelihood: no replicates were told yet"
    if error.cut:
        text += f"; of {counted(error.cut, 'candidate')} it was cut, being far more than the rest's"
    if lesson.is_uneven:
        text += (
            "; it DIFFERS across the pool, or is far from Gaussian: bounds are off where it is more"
        )
    return text


def _calibration(lesson: Lesson) -> tuple[str, ...]:
    if not lesson.is_calibrated:
        return ()
    if lesson.widening == 1:
        return ("Left out one by one, points lie where the model expects them.",)
    return (
        f"Left out one by one, points lie farther off than the model expects: deviations are "
        f"widened by {lesson.widening:.2f}.",
    )


def _hope(lesson: Lesson) -> tuple[str, ...]:
    if lesson.hope > LITTLE:
        return ()
    return (
        f"More of them were expected above the best than were: what may be gained beyond it counts "
        f"{lesson.hope:.2g} times.",
    )


def _caution(lesson: Lesson) -> tuple[str, ...]:
    said = []
    if lesson.youth >= NOTABLE:
        said.append(
            f"Bounds are {lesson.youth:.2g} times as wide: from {counted(lesson.points, 'point')} "
            "little is known of how far values spread."
        )
    if lesson.is_tentative:
        said.append("All of it may be noise about a constant, so that bounds reach that too.")
    return tuple(said)


def _floor(lesson: Lesson, outwards: Callable[[float], float]) -> tuple[str, ...]:
    if not lesson.floored:
        return ()
    floor, some = f"{outwards(lesson.floor):.4g}", counted(lesson.floored, "average")
    return (f"What is far worse than the rest counts as {floor}, to mind the best: {some}.",)


def _failures(failed: int, lost: int) -> tuple[str, ...]:
    if not failed:
        return ()
    never = f"; {counted(lost, 'candidate')} never had a value" if lost else ""
    verb = "is" if lost == 1 else "are"
    low = f", and {verb} taken to be as low as the lower quarter" if lost else ""
    return (f"{counted(failed, 'evaluation')} failed{never}{low}.",)


def _agreement(lesson: Lesson, deterministic: bool) -> tuple[str, ...]:
    error = lesson.error
    if deterministic and error.variance > 0:
        return (
            "Values of the same candidate DIFFER, though they were said to be deterministic: their "
            "averages are taken at their word.",
        )
    if not deterministic and error.variance == 0 and error.freedom >= AGREED:
        return (
            "Replicates always agreed: if they must, deterministic=True evaluates nothing twice.",
        )
    return ()


def _ceiling(lesson: Lesson) -> tuple[str, ...]:
    if not lesson.tied:
        return ()
    return (
        f"{lesson.tied} candidates share the best value, more than any other: it is taken for the "
        "end of the scale, and only doubt looks for better ones.",
    )


def _guarantee(attitude: str) -> str:
    if attitude == "safe":
        return f"{THEOREMS}. Choices are by the same width, so that its regret bound applies"
    return f"{THEOREMS}. Choices are by what they promise, for which no regret bound is proven"
