"""Settings that contradict each other, or mean nothing together: refused before a run starts."""

from __future__ import annotations

from collections.abc import Sized

from noregret.acquisitions import Acquisition, KnowledgeGradient, Thompson
from noregret.algorithms.settings import Settings
from noregret.batching import BatchRule, Repeat, Stay
from noregret.errors import ArgumentError
from noregret.kernels import Kernel, shortened
from noregret.pools import FlatSwitchCost, SwitchCosts
from noregret.widths import BayesianWidth, NystromBayesianWidth, ScaledWidth, Width

MOST_FEATURES_TO_GROW = 16  # at 10⁴ evaluations the bound is then some 10⁹ times the first


def require_no_contexts(given: Settings) -> None:
    """Raise where a setting is for runs without contexts."""
    start = given["start"]
    starts = start is not None and not (isinstance(start, Sized) and len(start) == 0)
    if starts or given["min_batch"] is not None:
        raise ArgumentError(
            "start= and min_batch= are for runs without contexts (context_kernel=), each of which "
            "would begin again. Leave them out, and tell what was evaluated before."
        )
    if given["deterministic"] or given["at_most_each"] is not None:
        raise ArgumentError(
            "deterministic= and at_most_each= are for runs without contexts (context_kernel=)."
        )
    if given["norm_bound"] == "grow":
        raise ArgumentError(
            'norm_bound="grow" is for runs without contexts (context_kernel=); give a number.'
        )


def require_growth(
    given: Settings, kernel: Kernel, features: int, acquisition: Acquisition | Thompson
) -> None:
    """Raise where norm and lengthscale would move without a theorem, or use, behind it."""
    shortened(kernel, by=2.0)
    if features > MOST_FEATURES_TO_GROW:
        raise ArgumentError(
            'norm_bound="grow" is for few features: the bound grows by (1 + s)^((d + 1)/2) at '
            f"step s, and would say nothing of f with the d = {features} of this pool, "
            f"more than {MOST_FEATURES_TO_GROW}. Take fewer, or auto, which learns the kernel."
        )
    if isinstance(acquisition, Thompson):
        raise ArgumentError(
            'norm_bound="grow" lets a bound on f grow until it holds; functions drawn from the '
            "posterior, by acquisition=Thompson(), follow no bound. Take mini_gp_ucb or bbkb, or "
            "auto, which learns the kernel."
        )
    width = _without_factors(given["width"])
    if isinstance(width, BayesianWidth | NystromBayesianWidth):
        raise ArgumentError(
            f"{type(width).__name__} holds for f drawn from the kernel's prior, which says "
            'nothing of a kernel that is wrong: leave out norm_bound="grow", or the width.'
        )
    if given["min_batch"] is not None:
        raise ArgumentError(
            f"min_batch={given['min_batch']} holds for variances that only fall; with "
            'norm_bound="grow" they rise whenever lengthscales shrink. Give one of the two.'
        )


def require_gradient(
    given: Settings, noise_std: float, acquisition: Acquisition | Thompson
) -> None:
    """Raise where a knowledge gradient would count on what it was not told.

    Its gains are in deviations of the posterior: a theorem's width would make them several times
    as large, and without noise it takes one evaluation for the truth.
    """
    if not isinstance(acquisition, KnowledgeGradient):
        return
    if given["width"] is None:
        raise ArgumentError(
            "acquisition=KnowledgeGradient(...) counts gains in standard deviations, and a bound's "
            "width would multiply them: give width=noregret.ConstantWidth(1.0) too."
        )
    if noise_std and not acquisition.noise:
        raise ArgumentError(
            "acquisition=KnowledgeGradient(noise=0) takes an evaluation for the truth, and "
            f"noise_std={noise_std:g} says that it is not: give noise=noise_std**2."
        )


def require_stays(given: Settings, batching: BatchRule, costs: SwitchCosts | None) -> None:
    """Raise where batches are of one candidate, of which a cap leaves too little."""
    most = 1 if given["deterministic"] else given["at_most_each"]
    if most is None or not isinstance(batching, Repeat | Stay):
        return
    word = "deterministic=True" if given["deterministic"] else f"at_most_each={most}"
    if given["min_batch"] is not None and given["min_batch"] > most:
        raise ArgumentError(
            f"min_batch={given['min_batch']} is more than {word} allows of one candidate, and "
            "batches of this rule are of one. Give one of the two, or take bbkb or gp_bucb."
        )
    if given["deterministic"] and isinstance(costs, FlatSwitchCost):
        require_repeats(costs.cost)


def require_repeats(switch_cost: float) -> None:
    """Raise where a cost that is the same for every switch would lengthen stays that are none."""
    if switch_cost:
        raise ArgumentError(
            f"switch_cost={switch_cost:g} repeats evaluations of a candidate; deterministic=True "
            "repeats none. Give one of the two."
        )


def _without_factors(width: Width | None) -> Width | None:
    while isinstance(width, ScaledWidth):
        width = width.width
    return width
