"""auto: nothing to tune."""

from __future__ import annotations

from typing import Literal

from noregret.algorithms.agreement import require_repeats
from noregret.automatic import AutoPolicy, AutoSettings
from noregret.errors import (
    ArgumentError,
    require_choice,
    require_count,
    require_flag,
    require_number,
    require_probability,
)
from noregret.optimizer import Goal, Optimizer, at_most
from noregret.pools import Domain, FlatSwitchCost, Points, as_switch_costs


def auto(
    pool: Domain,
    *,
    attitude: Literal["safe", "balanced", "greedy"] = "balanced",
    workers: int = 1,
    switch_cost: object = 0.0,
    deterministic: bool = False,
    at_most_each: int | None = None,
    delta: float = 0.1,
    goal: Goal = "max",
    seed: int = 0,
) -> Optimizer:
    """Learn kernel, scale, mean and noise from the values, and find the best with them.

    attitude       "balanced": explore as far as it pays in three times the evaluations so far and
                   fifty more, by the fitted model and now and then past it; "greedy": in a sixth of
                   that; "safe": by a theorem's width, which costs many evaluations
    workers        evaluations that run at the same time: batches hold so many
    switch_cost    what changing the candidate costs, in evaluations; lengthens stays on one. By
                   column, pair of rows or a function of two: only the order of a batch minds it
    deterministic  the same candidate always has the same value: nothing is evaluated twice
    at_most_each   evaluations that one candidate can have, those under way counted in
    delta          probability with which bounds and certificates may fail
    goal, seed     "max" or "min"; the same seed makes the same choices

    What was learned, what is done and what that guarantees: `optimizer.account()`. Posteriors are
    exact, on unique points; beyond two thousand of these BBKB's dictionaries take their place.

    >>> pool = nr.Pool([[x / 100] for x in range(101)])
    >>> opt = nr.auto(pool)
    >>> while opt.spent < 30:
    ...     batch = opt.ask(at_most=30 - opt.spent)
    ...     opt.tell(batch, [-((x[0] - 0.7) ** 2) for x in batch])
    >>> opt.best().id
    70
    """
    points = Points.of(pool)
    require_choice("attitude", attitude, ("safe", "balanced", "greedy"))
    require_count("workers", workers)
    costs = as_switch_costs(switch_cost, points)
    cost = costs.cost if isinstance(costs, FlatSwitchCost) else 0.0
    require_number("switch_cost", cost)
    if cost and workers > 1:
        raise ArgumentError(
            f"switch_cost={cost:g} makes one worker stay longer on a candidate; "
            f"workers={workers} evaluate different ones at the same time. Give one of the two."
        )
    at_most(at_most_each, deterministic)  # raises where the two contradict each other
    if deterministic:
        require_repeats(cost)
    settings = AutoSettings(
        attitude=attitude,
        delta=require_probability("delta", delta),
        workers=int(workers),
        switch_cost=cost,
        deterministic=require_flag("deterministic", deterministic),
        enumerates=bool(points.candidates),
    )
    policy = AutoPolicy.of(points, settings)
    return Optimizer(
        points,
        policy,
        seed=seed,
        goal=goal,
        at_most_each=at_most_each,
        deterministic=deterministic,
        switch_cost=costs if cost or (costs is not None and costs.by_pair) else None,
    )
