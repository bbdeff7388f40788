"""Evaluations spent on doubt of a learned model: it may be confident and wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from noregret.acquisitions import UCB, Thompson
from noregret.arrays import Indices, Matrix, Vector
from noregret.batching import FixedSize, Settle
from noregret.policies import Bandit, Belief, Evidence, Proposal, Purpose
from noregret.pools import Picks, first_new
from noregret.posteriors import Posterior, sample_functions
from noregret.widths import ConstantWidth

KNOWN = 0.5  # variance over ridge below which another evaluation tells next to nothing
PATIENCE, PACE = 2.0, 2.0  # evaluations without news before one is spent on doubt, and its growth
CLEAR = 2.0  # deviations of a difference beyond which one candidate is better than another
BLIND = 8  # every so many doubts are of the model as such
SETTLED, PROMISES = 8, 64  # doubts before every second takes, of so many functions, one promising
BLANK = 2  # evaluations by chance to one by the model, where it has found nothing
SURPRISE = 4.0  # deviations above what was expected
OPTIMISM, DRAWN = 3.0, 300  # deviations, and candidates that high, among which doubt chooses


def pause(explorations: int) -> float:
    """Return after how many evaluations without news the next one is spent on doubt.

    2 + k/2 after k doubts: of T evaluations without news, at most 2√T are.
    """
    return PATIENCE + explorations / PACE


def leading(posterior: Posterior, before: int) -> int:
    """Return the row that leads: the one before, unless another is clearly better by now."""
    rows = posterior.observed.rows
    mean, variance = posterior.at_points()
    best, old = int(np.argmax(mean)), np.flatnonzero(rows == before)
    if len(old):
        was = int(old[0])
        if mean[best] - mean[was] <= CLEAR * np.sqrt(variance[best] + variance[was]):
            return before
    return int(rows[best])


def without_news(proposal: Proposal, evidence: Evidence, ridge: float) -> int:
    """Return how many evaluations of a proposal are of candidates known, or soon to be."""
    old = np.isin(proposal.rows, evidence.told.rows) & (proposal.variances < KNOWN * ridge)
    under_way = np.isin(proposal.rows, evidence.open_.rows)
    return int(proposal.repeats[old | under_way].sum())


def chance(evidence: Evidence, size: int, rng: np.random.Generator) -> Picks:
    """Draw different points uniformly that were never evaluated, nor failed, nor are under way."""
    return evidence.points.sample_new(evidence.excluded, _tried(evidence), size, rng)


def at_ceiling(posterior: Posterior, seen: Evidence, known: int, size: int) -> Proposal | None:
    """Propose what has the highest value again; None where fewer have it than were known to."""
    told, is_top = seen.told, seen.told.y == seen.told.y.max()
    one = np.flatnonzero(is_top & seen.eligible)[:1]
    if is_top.sum() < known or not len(one):
        return None
    repeats, variances = np.array([size], dtype=np.int64), posterior.variance(told.X[one])
    return Proposal(told.rows[one], told.X[one], repeats, variances, "at the ceiling")


def by_chance(posterior: Posterior, seen: Evidence, size: int) -> Proposal | None:
    """Propose candidates that were never evaluated, drawn uniformly; None where there are none."""
    picks = chance(seen, size, seen.rng(Purpose.EXPLORATION))
    if not len(picks):
        return None
    return Proposal.of_singles(picks, "doubt: by chance", posterior.variance(picks.X))


def promises(explorations: int) -> int:
    """Return how many functions the next doubt draws, to take one that promises something."""
    return PROMISES if explorations >= SETTLED and explorations % 2 else 1


def by_sampled_function(
    bandit: Bandit, belief: Belief, seen: Evidence, size: int, promises: int = 1
) -> Proposal | None:
    """Propose the best of each of `size` functions drawn from the posterior, all different.

    Of the 300 candidates (three a function where that is more) that are not known and reach
    highest by three deviations, on which functions are drawn exactly, in O(300³). In a box, of
    points drawn anywhere and around the best. None where all is known.

    A function drawn is mostly highest beside the best that is known, and not as high. With
    `promises`, so many are drawn, and those taken first that are higher somewhere than that; then
    the others, the highest first.
    """
    posterior = belief.posterior
    mean, variance = posterior.at_points()
    known = posterior.observed.rows[variance < KNOWN * posterior.ridge]
    reach = seen.points, posterior, UCB(), OPTIMISM, seen.excluded, known
    rng = seen.rng(Purpose.EXPLORATION)
    picks = bandit.search.highest(*reach, max(DRAWN, 3 * size), rng)
    if not len(picks):
        return None
    values = sample_functions(posterior, picks.X, max(promises, size), seen.rng(Purpose.THOMPSON))
    if promises > 1:
        values = values[:, promising(values.max(axis=0), float(mean.max()))]
    chosen = picks[_best_of_each(values[:, : min(size, len(picks))])]
    return Proposal.of_singles(chosen, "doubt: a function drawn", posterior.variance(chosen.X))


def several(bandit: Bandit, belief: Belief, seen: Evidence, size: int) -> Proposal | None:
    """Propose the best of each of `size` functions drawn, in a box the highest of all points."""
    if seen.points.candidates:
        return by_sampled_function(bandit, belief, seen, size)
    width = ConstantWidth(1.0, bandit.band.delta)
    drawing = replace(bandit, acquisition=Thompson(), width=width, batching=FixedSize(size))
    return drawing.propose(belief, seen, size)[0]


def unmet(proposal: Proposal, seen: Evidence) -> Proposal | None:
    """Return what a proposal has of points never met, once each; None where that is nothing.

    In a box of whole numbers what was found anew may be a point met before.
    """
    new = first_new(proposal.rows, _tried(seen))
    return _part(proposal, new, np.ones(len(new), dtype=np.int64)) if len(new) else None


def prolonged(proposal: Proposal, ridge: float, switch_cost: float, room: int) -> Proposal:
    """Stay on every candidate until it is worth the switch, within MINI's bound (`Settle`)."""
    with np.errstate(divide="ignore"):
        bound = np.floor((Settle().long - 1.0) * ridge / proposal.variances)
    repeats = np.maximum(1.0, np.minimum(np.ceil(switch_cost), bound)).astype(np.int64)
    repeats = np.minimum(repeats, np.maximum(room - np.cumsum(repeats) + repeats, 0))
    kept = np.flatnonzero(repeats > 0)
    return _part(proposal, kept, repeats[kept])


def _tried(evidence: Evidence) -> Indices:
    """Return the rows that were evaluated, failed, or are under way."""
    return np.append(evidence.taken, evidence.failed_rows)


def _part(proposal: Proposal, at: Indices, repeats: Indices) -> Proposal:
    """Return some runs of a proposal, repeated so often."""
    rows, X, variances = proposal.rows[at], proposal.X[at], proposal.variances[at]
    return replace(proposal, rows=rows, X=X, variances=variances, repeats=repeats)


def promising(tops: Vector, best: float) -> Indices:
    """Return functions in the order in which they are taken, by how high they reach."""
    return np.argsort(-np.minimum(tops, best), kind="stable")


def _best_of_each(values: Matrix) -> Indices:
    """Return the highest row of each column that no column before it has taken."""
    left, chosen = values.copy(), []
    for column in left.T:
        chosen.append(int(np.argmax(column)))
        left[chosen[-1]] = -np.inf
    return np.array(chosen, dtype=np.int64)


def is_surprised(belief: Belief, seen: Evidence) -> bool:
    """Tell whether a value told since the last batch is far higher than the belief allowed.

    An average of m new values should lie within some √(σ² + ridge/m) of the mean that was believed
    before them. Values far too low are left to the floor.
    """
    known, told = belief.posterior.observed, seen.told
    w = np.zeros(len(told))
    w[: len(known)] = known.w
    y = np.zeros(len(told))
    y[: len(known)] = known.y
    changed = np.flatnonzero(told.w > w)
    if not changed.size:
        return False
    more = told.w[changed] - w[changed]
    average = (told.w[changed] * told.y[changed] - w[changed] * y[changed]) / more
    mean, variance = belief.posterior.marginals(told.X[changed])
    room = SURPRISE * np.sqrt(variance + belief.posterior.ridge / more)
    return bool((average - mean > room).any())
