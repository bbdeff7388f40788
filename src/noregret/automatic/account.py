"""What a run without knobs has learned and does, in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from noregret.fitting import Family, FittedModel, Fixed, Grouped, Joint, WithCandidateEffect
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
    fitted: FittedModel | None,
    *,
    how: str,
    attitude: str,
    uses_knowledge_gradient: bool,
    deterministic: bool,
    failed: int,
    lost: int,
    names: Sequence[str],
    outwards: Callable[[float], float],
) -> tuple[str, ...]:
    """Return some sentences: what is done and why, the model, its noise, what is guaranteed."""
    if fitted is None:
        begun = "No value was told yet" if failed else "Nothing told yet"
        return (f"{begun}: the first candidates are drawn by chance.", *_failures(failed, lost))
    if fitted.is_constant:
        same = "All values told were the same: nothing is known of scale or noise yet."
        return (f"{how}.", same, *_failures(failed, lost))
    return (
        f"{how}.",
        f"{_kernel(family, fitted, names, outwards)}.",
        f"{_noise(fitted)}.",
        *_calibration(fitted),
        *(_optimism(fitted) if uses_knowledge_gradient else ()),
        *_caution(fitted),
        *_floor(fitted, outwards),
        *_ceiling(fitted),
        *_failures(failed, lost),
        *_agreement(fitted, deterministic),
        f"{_guarantee(attitude)}.",
    )


def _kernel(
    family: Family, fitted: FittedModel, names: Sequence[str], outwards: Callable[[float], float]
) -> str:
    estimate = fitted.estimate
    deviation, mean = math.sqrt(estimate.scale), outwards(estimate.mean)
    begin = f"Model {fitted.number}: f spreads by {deviation:.3g} about {mean:.4g}"
    share = estimate.effect_variance / estimate.scale
    end = f"; {share:.0%} of the variance is each candidate's own" if share >= 0.01 else ""
    if isinstance(family, WithCandidateEffect):
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
    lengths = np.exp(estimate.theta[2 : 2 + family.lengthscales])
    lengths[~family.varies] = math.inf
    order = [int(j) for j in np.argsort(lengths, kind="stable")[:NAMED] if lengths[j] < FAR]
    listed = ", ".join(f"{names[j]} {lengths[j]:.2g}" for j in order)
    matter = (
        f"features that matter most, by lengthscale in ranges: {listed}"
        if listed
        else "none is seen to matter yet"
    )
    return f"{begin}; {kind}; {matter}{end}"


def _noise(fitted: FittedModel) -> str:
    error, noise = fitted.error, fitted.estimate.noise_std
    if error.freedom:
        replicates = counted(round(error.freedom), "replicate")
        text = f"Noise {noise:.3g} an evaluation, by {replicates} and likelihood"
    else:
        text = f"Noise {noise:.3g} an evaluation, by likelihood: no replicates were told yet"
    if error.cut:
        text += f"; of {counted(error.cut, 'candidate')} it was cut, being far more than the rest's"
    if fitted.is_uneven:
        text += (
            "; it DIFFERS across the pool, or is far from Gaussian: bounds are off where it is more"
        )
    return text


def _calibration(fitted: FittedModel) -> tuple[str, ...]:
    if not fitted.is_calibrated:
        return ()
    if fitted.widening == 1:
        return ("Left out one by one, points lie where the model expects them.",)
    return (
        f"Left out one by one, points lie farther off than the model expects: deviations are "
        f"widened by {fitted.widening:.2f}.",
    )


def _optimism(fitted: FittedModel) -> tuple[str, ...]:
    if fitted.optimism > LITTLE:
        return ()
    return (
        f"More of them were expected above the best than were: what may be gained beyond it counts "
        f"{fitted.optimism:.2g} times.",
    )


def _caution(fitted: FittedModel) -> tuple[str, ...]:
    said = []
    if fitted.small_sample_factor >= NOTABLE:
        said.append(
            f"Bounds are {fitted.small_sample_factor:.2g} times as wide: from "
            f"{counted(fitted.points, 'point')} "
            "little is known of how far values spread."
        )
    if fitted.is_tentative:
        said.append("All of it may be noise about a constant, so that bounds reach that too.")
    return tuple(said)


def _floor(fitted: FittedModel, outwards: Callable[[float], float]) -> tuple[str, ...]:
    if not fitted.floored:
        return ()
    floor, some = f"{outwards(fitted.floor):.4g}", counted(fitted.floored, "average")
    return (f"What is far worse than the rest counts as {floor}, to mind the best: {some}.",)


def _failures(failed: int, lost: int) -> tuple[str, ...]:
    if not failed:
        return ()
    never = f"; {counted(lost, 'candidate')} never had a value" if lost else ""
    verb = "is" if lost == 1 else "are"
    low = f", and {verb} taken to be as low as the lower quarter" if lost else ""
    return (f"{counted(failed, 'evaluation')} failed{never}{low}.",)


def _agreement(fitted: FittedModel, deterministic: bool) -> tuple[str, ...]:
    error = fitted.error
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


def _ceiling(fitted: FittedModel) -> tuple[str, ...]:
    if not fitted.tied:
        return ()
    return (
        f"{fitted.tied} candidates share the best value, more than any other: it is taken for the "
        "end of the scale, and only doubt looks for better ones.",
    )


def _guarantee(attitude: str) -> str:
    if attitude == "safe":
        return f"{THEOREMS}. Choices are by the same width, so that its regret bound applies"
    return f"{THEOREMS}. Choices are by what they promise, for which no regret bound is proven"
