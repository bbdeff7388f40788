"""What `auto` has fitted and what it does, in sentences."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

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
THEOREM = "Bounds and certificates are proven, if the fitted model is right"
SAFE = f"{THEOREM}; so is a bound on the regret of the choices."
STEERED = f"{THEOREM}; for the choices no regret bound is."


def described(settings: AutoSettings, model: AutoModel, unique: int, explored: int) -> str:
    """Say in one line which algorithm runs on so many points, and why."""
    points = counted(unique, "unique point")
    belief = f"Exact posterior on {points}"
    if model.is_sparse:
        most = settings.constants.exact_points
        belief = f"Posterior through BBKB's dictionary, as there are {points} (more than {most})"
    if settings.attitude == "safe":
        choice = "choices by upper bounds of a theorem's width (safe)"
    elif settings.deterministic:
        choice = "choices by expected improvement, none twice (deterministic)"
    else:
        score = "knowledge gradient" if settings.uses_knowledge_gradient else "upper bounds"
        choice = f"choices by {score} ({settings.attitude}), explored {times(explored)} besides"
    if settings.workers > 1:
        return f"{belief}; {choice}; {settings.workers} evaluations at a time"
    if settings.deterministic:
        return f"{belief}; {choice}"
    return f"{belief}; {choice}; several times in a row where one value would tell little"


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
        *_trust(fitted, settings, outwards),
        *failures,
        *_agreement(fitted),
        SAFE if settings.attitude == "safe" else STEERED,
    )


def _kernel(builder: ModelBuilder, fitted: FittedModel, outwards: Callable[[float], float]) -> str:
    estimate, family = fitted.estimate, builder.family
    deviation, mean = math.sqrt(estimate.scale), outwards(estimate.mean)
    begin = f"Fit {fitted.number}: f has mean {mean:.4g} and standard deviation {deviation:.3g}"
    share = estimate.effect_variance / estimate.scale
    end = f"; features do not explain {share:.0%} of its variance" if share >= 0.01 else ""
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
    matter = f"f changes most along (over so much of their ranges): {listed}"
    return f"{begin}; {kind}; {matter if listed else 'no feature is seen to matter yet'}{end}"


def _noise(fitted: FittedModel) -> str:
    error, noise = fitted.error, fitted.estimate.noise_std
    if error.freedom:
        replicates = counted(round(error.freedom), "replicate")
        text = f"Noise {noise:.3g} per evaluation, from {replicates} and the likelihood"
    else:
        text = f"Noise {noise:.3g} per evaluation, from the likelihood alone, no replicates"
    if error.cut:
        text += f"; it is far larger at {counted(error.cut, 'candidate')}, where it counts as less"
    if fitted.is_uneven:
        text += (
            "; it DIFFERS across the pool, or is far from Gaussian: bounds are too narrow where it "
            "is larger"
        )
    return text


def _trust(
    fitted: FittedModel, settings: AutoSettings, outwards: Callable[[float], float]
) -> Iterator[str]:
    """Say how far the model is believed, and what it counts as something else."""
    if fitted.is_calibrated and fitted.widening == 1:
        yield "The model predicts each point well from the others."
    elif fitted.is_calibrated:
        yield (
            "The model predicts points from the others worse than it expects: standard deviations "
            f"are multiplied by {fitted.widening:.3g}."
        )
    if settings.uses_knowledge_gradient and fitted.optimism <= LITTLE:
        yield (
            "Fewer points exceeded the best than the model expected: the gains that it expects are "
            f"multiplied by {fitted.optimism:.2g}."
        )
    if fitted.small_sample_factor >= NOTABLE:
        points = counted(fitted.points, "point")
        wide = f"Bounds are {fitted.small_sample_factor:.2g} times as wide"
        yield f"{wide}: {points} tell only roughly how far f varies."
    if fitted.is_tentative:
        yield "All values may be noise about a constant: bounds contain that constant too."
    if fitted.floored:
        some, verb = counted(fitted.floored, "average"), "count" + "s" * (fitted.floored == 1)
        yield (
            f"{some} far worse than the others {verb} as {outwards(fitted.floor):.4g}, so that the "
            "model fits the better ones."
        )
    if fitted.tied:
        yield (
            f"{fitted.tied} candidates share the best value, more than any other: it is taken for "
            "the end of the scale, and only exploration looks for better ones."
        )


def _failures(evidence: Evidence) -> tuple[str, ...]:
    failed, lost = int(evidence.failed_counts.sum()), len(evidence.lost)
    if not failed:
        return ()
    never, verb = counted(lost, "candidate"), "is" if lost == 1 else "are"
    low = f"; {never} never had a value, and {verb} taken to be like the worst quarter"
    return (f"{counted(failed, 'evaluation')} failed{low if lost else ''}.",)


def _agreement(fitted: FittedModel) -> Iterator[str]:
    error = fitted.error
    if error.variance == 0 and error.freedom >= AGREED:
        yield "Replicates always agreed: if they must, deterministic=True evaluates nothing twice."
