"""What `auto` has fitted and what it does, in sentences."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from noregret.automatic.model import AutoModel, ModelBuilder
from noregret.automatic.settings import AutoSettings
from noregret.fitting import FittedModel, Fixed, Grouped, Joint, WithCandidateEffect
from noregret.policies import Evidence
from noregret.text import counted, times

FAR = 10.0  # ranges: a feature of longer lengthscale hardly matters
NAMED = 5  # features that are listed
NOTABLE = 1.2  # times as wide: said from there on
LITTLE = 0.5  # of the gain expected: said from there on
AGREED = 10  # replicates
THEOREMS = (
    "Bounds and certificates hold by a theorem, provided that the fitted model is right; delta is "
    "shared among models (6δ/π²k² for the k-th)"
)


def described(settings: AutoSettings, model: AutoModel, unique: int, explored: int) -> str:
    """Say in one line which algorithm runs on so many points, and why."""
    points = counted(unique, "unique point")
    belief = f"Exact posterior on {points}"
    if model.is_sparse:
        most = settings.constants.exact_points
        belief = f"Posterior through BBKB's dictionary, as there are {points} (more than {most})"
    if settings.attitude == "safe":
        choice = "upper bounds of a theorem's width (safe)"
    elif settings.deterministic:
        choice = "expected improvement, nothing twice (deterministic)"
    else:
        score = "knowledge gradients" if settings.uses_knowledge_gradient else "upper bounds"
        choice = f"{score} ({settings.attitude}), explored {times(explored)}"
    if settings.workers > 1:
        return f"{belief}; {choice}; {settings.workers} evaluations at a time"
    return f"{belief}; {choice}; candidates are repeated while that changes no variance much"


def account_of(
    builder: ModelBuilder,
    model: AutoModel | None,
    evidence: Evidence,
    explored: int,
    outwards: Callable[[float], float],
) -> tuple[str, ...]:
    """Return some sentences: what is done and why, the model, its noise, what is guaranteed."""
    settings, failures = builder.settings, _failures(evidence)
    if model is None:
        begun = "No value was told yet" if failures else "Nothing told yet"
        return (f"{begun}: the first candidates are drawn by chance.", *failures)
    fitted = model.fitted
    how = described(settings, model, len(evidence.told) + len(evidence.lost), explored)
    if fitted.is_constant:
        same = "All values told were the same: nothing is known of scale or noise yet."
        return (f"{how}.", same, *failures)
    return (
        f"{how}.",
        f"{_kernel(builder, fitted, outwards)}.",
        f"{_noise(fitted)}.",
        *_calibration(fitted),
        *(_optimism(fitted) if settings.uses_knowledge_gradient else ()),
        *_caution(fitted),
        *_floor(fitted, outwards),
        *_ceiling(fitted),
        *failures,
        *_agreement(fitted, settings.deterministic),
        f"{_guarantee(settings)}.",
    )


def _kernel(builder: ModelBuilder, fitted: FittedModel, outwards: Callable[[float], float]) -> str:
    estimate, family = fitted.estimate, builder.family
    deviation, mean = math.sqrt(estimate.scale), outwards(estimate.mean)
    begin = f"Model {fitted.number}: f has mean {mean:.4g} and standard deviation {deviation:.3g}"
    share = estimate.effect_variance / estimate.scale
    end = f"; {share:.0%} of its variance are candidate effects" if share >= 0.01 else ""
    if isinstance(family, WithCandidateEffect):
        family = family.inner
    if isinstance(family, Fixed):
        return f"{begin}; candidates are compared by the bits they share (Tanimoto){end}"
    assert isinstance(family, Grouped | Joint)
    kind = "Matérn-5/2 on numbers, RBF on one-hot codes"
    if isinstance(family, Grouped):
        kind = "Matérn-5/2" if family.shape == "rough" else "RBF on one-hot codes"
    lengths = np.exp(estimate.theta[2 : 2 + family.lengthscales])
    lengths[~family.varies] = math.inf
    order = [int(j) for j in np.argsort(lengths, kind="stable")[:NAMED] if lengths[j] < FAR]
    listed = ", ".join(f"{builder.names[j]} {lengths[j]:.2g}" for j in order)
    matter = f"features that matter most, by lengthscale in ranges: {listed}"
    return f"{begin}; {kind}; {matter if listed else 'no feature is seen to matter yet'}{end}"


def _noise(fitted: FittedModel) -> str:
    error, noise = fitted.error, fitted.estimate.noise_std
    if error.freedom:
        replicates = counted(round(error.freedom), "replicate")
        text = f"Noise {noise:.3g} per evaluation, by {replicates} and the likelihood"
    else:
        text = f"Noise {noise:.3g} per evaluation, by the likelihood alone: no replicates yet"
    if error.cut:
        text += (
            f"; it is far larger at {counted(error.cut, 'candidate')}, and counted as less there"
        )
    if fitted.is_uneven:
        text += (
            "; it DIFFERS across the pool, or is far from Gaussian: bounds are too narrow where it "
            "is larger"
        )
    return text


def _calibration(fitted: FittedModel) -> tuple[str, ...]:
    if not fitted.is_calibrated:
        return ()
    if fitted.widening == 1:
        return ("Left out one by one, points lie where the model expects them.",)
    return (
        "Left out one by one, points lie farther off than the model expects: standard deviations "
        f"are multiplied by {fitted.widening:.2f}.",
    )


def _optimism(fitted: FittedModel) -> tuple[str, ...]:
    if fitted.optimism > LITTLE:
        return ()
    return (
        "The model expected more points above the best than there were: the gain that it expects "
        f"is multiplied by {fitted.optimism:.2g}.",
    )


def _caution(fitted: FittedModel) -> tuple[str, ...]:
    said = []
    if fitted.small_sample_factor >= NOTABLE:
        said.append(
            f"Bounds are {fitted.small_sample_factor:.2g} times as wide: from "
            f"{counted(fitted.points, 'point')} "
            "the scale of f is known roughly."
        )
    if fitted.is_tentative:
        said.append("All values may be noise about a constant: bounds contain that constant too.")
    return tuple(said)


def _floor(fitted: FittedModel, outwards: Callable[[float], float]) -> tuple[str, ...]:
    if not fitted.floored:
        return ()
    some, verb = counted(fitted.floored, "average"), "count" + "s" * (fitted.floored == 1)
    return (
        f"{some} far worse than the others {verb} as {outwards(fitted.floor):.4g}, so that the "
        "model fits the better ones.",
    )


def _failures(evidence: Evidence) -> tuple[str, ...]:
    failed, lost = int(evidence.failed_counts.sum()), len(evidence.lost)
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
            "Values of the same candidate DIFFER, though they were said to be deterministic: the "
            "model takes them for noisy.",
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
        "end of the scale, and only exploration looks for better ones.",
    )


def _guarantee(settings: AutoSettings) -> str:
    if settings.attitude == "safe":
        return f"{THEOREMS}. Choices are by the same width, so that its regret bound applies"
    return f"{THEOREMS}. Choices are not by that width: for them no regret bound is proven"
