"""Evaluations that look past a fitted model, which may be confident and wrong."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from noregret.acquisitions import Thompson
from noregret.arrays import Indices, Matrix, Vector
from noregret.automatic.constants import AutoConstants
from noregret.automatic.model import AutoModel
from noregret.automatic.settings import AutoSettings
from noregret.batching import FixedSize
from noregret.errors import ExhaustedError
from noregret.policies import Allowance, Bandit, Belief, Evidence, Proposal, Purpose
from noregret.pools import Picks, first_new
from noregret.posteriors import sample_functions
from noregret.widths import ConstantWidth


def pause(explorations: int, constants: AutoConstants) -> float:
    """Return after how many evaluations without news the next exploration is due.

    2 + k/2 after k explorations: of T evaluations without news, at most 2√T explore.
    """
    return constants.pause + constants.pause_growth * explorations


def blank_size(model: AutoModel, settings: AutoSettings) -> int:
    """Return how many evaluations a model that found nothing is used for at once."""
    return max(settings.workers, model.values // settings.constants.most_at_once)


def pause_of(model: AutoModel, settings: AutoSettings, explorations: int) -> float:
    """Return after how many evaluations without news a run explores."""
    constants = settings.constants
    if model.fitted.is_blank:
        return blank_size(model, settings) + settings.switch_cost
    slow = model.together * (constants.greedy_pause if settings.attitude == "greedy" else 1.0)
    return settings.workers * slow * (pause(explorations, constants) + settings.switch_cost)


def without_news(proposal: Proposal, evidence: Evidence, known: float) -> int:
    """Return how many evaluations of a proposal are of candidates known, or soon to be."""
    old = np.isin(proposal.rows, evidence.told.rows) & (proposal.variances < known)
    under_way = np.isin(proposal.rows, evidence.open_.rows)
    return int(proposal.repeats[old | under_way].sum())


def chance(evidence: Evidence, size: int, rng: np.random.Generator) -> Picks:
    """Draw different points uniformly that were never evaluated, nor failed, nor are under way."""
    return evidence.points.sample_new(evidence.excluded, _tried(evidence), size, rng)


def at_ceiling(belief: Belief, seen: Evidence, tied: int, size: int) -> Proposal | None:
    """Propose what has the highest value again; None where fewer candidates share it by now."""
    told, is_best = seen.told, seen.told.y == seen.told.y.max()
    one = np.flatnonzero(is_best & seen.eligible & ~np.isin(told.rows, seen.spent))[:1]
    if is_best.sum() < tied or not len(one):
        return None
    if seen.at_most_each is not None:
        size = min(size, Allowance(seen).of(int(told.rows[one[0]])))
    repeats, variances = np.array([size], dtype=np.int64), belief.posterior.variance(told.X[one])
    return Proposal(told.rows[one], told.X[one], repeats, variances, "at the ceiling")


@final
@dataclass(frozen=True, slots=True, eq=False)
class Exploration:
    """What may be evaluated in place of what a model would choose."""

    constants: AutoConstants
    bandit: Bandit
    belief: Belief
    seen: Evidence

    def leader(self, before: int) -> int:
        """Return the row that leads: the one before, unless another is clearly better by now."""
        posterior = self.belief.posterior
        rows = posterior.observed.rows
        mean, variance = posterior.at_points()
        best, old = int(np.argmax(mean)), np.flatnonzero(rows == before)
        if len(old):
            was = int(old[0])
            deviation = np.sqrt(variance[best] + variance[was])
            if mean[best] - mean[was] <= self.constants.clearly_better * deviation:
                return before
        return int(rows[best])

    def by_chance(self, size: int) -> Proposal | None:
        """Propose candidates never evaluated, drawn uniformly; None where there are none."""
        picks = chance(self.seen, size, self.seen.rng(Purpose.EXPLORATION))
        return self._singles(picks, "exploration: by chance") if len(picks) else None

    def functions(self, turn: int) -> int:
        """Return how many functions the next exploration samples, to take a promising one."""
        constants = self.constants
        return constants.functions if turn >= constants.settled and turn % 2 else 1

    def by_sampled_functions(self, size: int, functions: int = 1) -> Proposal | None:
        """Propose the best of each of `size` functions sampled from the posterior, all different.

        Of the 300 candidates (three per function where that is more) that are not known and reach
        highest by three deviations, on which functions are sampled exactly, in O(300³). In a box,
        of points drawn anywhere and around the best. None where all is known.

        A sampled function is mostly highest beside the best that is known, and not as high. Of
        more `functions` than `size` those are taken first that are higher somewhere than that;
        then the others, the highest first.
        """
        constants, seen, posterior = self.constants, self.seen, self.belief.posterior
        mean, variance = posterior.at_points()
        known = posterior.observed.rows[variance < constants.known * posterior.ridge]
        taken = np.concatenate([np.flatnonzero(seen.excluded), known, seen.spent])
        most = max(constants.candidates, constants.candidates_per_function * size)
        rng = seen.rng(Purpose.EXPLORATION)
        picks = self.bandit.search.highest(
            seen.points, posterior, constants.optimism, taken, most, rng
        )
        if not len(picks):
            return None
        rng = seen.rng(Purpose.THOMPSON)
        values = sample_functions(posterior, picks.X, max(functions, size), rng)
        if functions > 1:
            values = values[:, promising(values.max(axis=0), float(mean.max()))]
        chosen = picks[_best_of_each(values[:, : min(size, len(picks))])]
        return self._singles(chosen, "exploration: by sampled functions")

    def unmet(self, proposal: Proposal, room: int) -> Proposal:
        """Return different points that were never met: the one proposed, if it is that.

        Several are the best of functions sampled, in a box the highest of all points. In a box of
        whole numbers what was found may be a point met before: then by chance.
        """
        rule = self.bandit.batching
        size = min(room, rule.size if isinstance(rule, FixedSize) else 1)
        new: Proposal | None = proposal
        if size > 1 and self.seen.points.candidates:
            new = self.by_sampled_functions(size)
        elif size > 1:
            width, batching = ConstantWidth(1.0, self.bandit.band.delta), FixedSize(size)
            thompson = replace(self.bandit, acquisition=Thompson(), width=width, batching=batching)
            new = thompson.propose(self.belief, self.seen, size)[0]
        if new is not None:
            at = first_new(new.rows, _tried(self.seen))
            new = _part(new, at, np.ones(len(at), dtype=np.int64)) if len(at) else None
        if new is None:
            new = self.by_chance(size)
        if new is None:  # of a box of whole numbers, as pools are closed before
            raise ExhaustedError("no point was found that was never evaluated.")
        return new

    def prolonged(self, proposal: Proposal, switch_cost: float, room: int) -> Proposal:
        """Repeat every candidate until it is worth the switch, within MINI's bound (`Settle`)."""
        ridge = self.belief.posterior.ridge
        with np.errstate(divide="ignore"):
            bound = np.floor((self.constants.long - 1.0) * ridge / proposal.variances)
        repeats = np.maximum(1.0, np.minimum(np.ceil(switch_cost), bound)).astype(np.int64)
        if self.seen.at_most_each is not None:
            repeats = Allowance(self.seen).admitted(proposal.rows, repeats)
        repeats = np.minimum(repeats, np.maximum(room - np.cumsum(repeats) + repeats, 0))
        kept = np.flatnonzero(repeats > 0)
        return _part(proposal, kept, repeats[kept])

    def _singles(self, picks: Picks, reason: str) -> Proposal:
        return Proposal.of_singles(picks, reason, self.belief.posterior.variance(picks.X))


def promising(highest: Vector, best: float) -> Indices:
    """Return functions in the order in which they are taken, by how high they reach."""
    return np.argsort(-np.minimum(highest, best), kind="stable")


def _tried(evidence: Evidence) -> Indices:
    """Return the rows that were evaluated, failed, or are under way."""
    return np.append(evidence.taken, evidence.failed_rows)


def _part(proposal: Proposal, at: Indices, repeats: Indices) -> Proposal:
    """Return some runs of a proposal, repeated so often."""
    rows, X, variances = proposal.rows[at], proposal.X[at], proposal.variances[at]
    return replace(proposal, rows=rows, X=X, variances=variances, repeats=repeats)


def _best_of_each(values: Matrix) -> Indices:
    """Return the highest row of each column that no column before it has taken."""
    left, chosen = values.copy(), []
    for column in left.T:
        chosen.append(int(np.argmax(column)))
        left[chosen[-1]] = -np.inf
    return np.array(chosen, dtype=np.int64)
