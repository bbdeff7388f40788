"""The goals, each with what was measured and whether it is met."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evaluation.methods.by_plate import AUTO, BOOSTING, FILLERS, UNIFORM
from evaluation.plates.summary import MEASURES, Sample, Shown, Standings, title
from evaluation.problems.large import LARGE
from evaluation.reports.markdown import Claim
from evaluation.reports.standings import AtBudget
from evaluation.runs.by_plate import ALONE
from evaluation.runs.timed import Times

SEEKER = AUTO  # who is held against others where hits are sought
LIBRARIES, MORE = ("enamine10k", "enamine"), 1.5
TWENTY_FOUR, WITHIN = 24, 1.2
TENTH, SHARE = 10, 0.9
MEMORY = 2e9  # bytes beyond the features


def goals(
    standings: Standings, shown: Shown, times: dict[tuple[str, str], list[Times]]
) -> list[Claim]:
    """Return every goal that there are runs for."""
    budgets = {size: standings.at(size) for size in standings.sizes}
    ours = {size: at for size, at in budgets.items() if AUTO in at.contestants}
    found = [claim for size, at in ours.items() for claim in _ranks(size, at)]
    found += [claim for size, at in ours.items() for claim in _hits(size, at)]
    found += [*_alone(standings)]
    found += [claim for size, at in ours.items() for claim in _distinct(size, at)]
    return [*found, *_clicks(shown), *_seconds(times)]


def _ranks(size: int, at: AtBudget[Sample]) -> Iterator[Claim]:
    """Hold ours against all that are run everywhere, then with each that is not, where it is."""
    others = [one for one in at.contestants if FILLERS[one].competitor or one == UNIFORM]
    everywhere = [one for one in others if not FILLERS[one].limited]
    groups = [("", [AUTO, *everywhere])] if everywhere else []
    for one in others:
        if FILLERS[one].limited:
            groups.append((f", with {title(one)}", [AUTO, *everywhere, one]))
    for measure in ("regret", "simple"):
        for suffix, who in groups:
            if pools := at.pools(*who):
                ranks = at.ranks(measure, *who)
                mine = ranks.pop(AUTO)
                rank, second = min((rank.value, one) for one, rank in ranks.items())
                found = f"{mine}; next {title(second)} {ranks[second]}"
                says = f"by {size}: best average rank in {MEASURES[measure]}{suffix}"
                yield Claim(says, found, mine.value <= rank, pools=len(pools))


def _hits(size: int, at: AtBudget[Sample]) -> Iterator[Claim]:
    """Hold the share of the top hundredth found against the best of the others, pool by pool."""
    ratios = {}
    for name in at.pools(SEEKER):
        found = {
            one: 1 - float(at.values("missed", one, name).mean())
            for one in at.contestants
            if (one == SEEKER or FILLERS[one].competitor) and (name, one) in at.samples
        }
        mine = found.pop(SEEKER)
        if found:
            best = max(found.values())
            ratios[name] = mine / best if best else np.inf
    for wanted, names, where in (
        (MORE, [one for one in ratios if one in LIBRARIES], "Enamine 10k and 50k"),
        (1.0, [one for one in ratios if one not in LIBRARIES], "every other pool"),
    ):
        if names:
            missed = [f"{one} {ratios[one]:.2f}" for one in names if ratios[one] < wanted]
            told = f"less on {', '.join(missed)}" if missed else "on all"
            says = f"by {size}: top hundredth found, ≥ {wanted:g} × the best of the others, {where}"
            yield Claim(says, told, not missed, pools=len(names))


def _alone(standings: Standings) -> Iterator[Claim]:
    for T in ALONE:
        alone, together = standings.at(1, T), standings.at(TWENTY_FOUR, T // TWENTY_FOUR)
        names = [one for one in together.pools(AUTO) if (one, AUTO) in alone.samples]
        if not names or AUTO not in together.contestants:
            continue
        ours, theirs = (
            np.array([at.values("simple", AUTO, name).mean() for name in names])
            for at in (together, alone)
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = float(np.median(np.where(ours == theirs, 1.0, ours / theirs)))
        says = f"T = {T}: simple regret by 24 within {WITHIN:g} × of one at a time, median"
        yield Claim(says, f"{ratio:.3g} of it", ratio <= WITHIN, pools=len(names))


def _distinct(size: int, at: AtBudget[Sample]) -> Iterator[Claim]:
    exact = [one for one in at.pools(AUTO) if at.samples[one, AUTO].exact]
    least = {name: float(np.nanmin([*at.values("distinct", AUTO, name), size])) for name in exact}
    fewer = [f"{name} {count:g}" for name, count in least.items() if count < size]
    if exact:
        told = f"fewest in a plate: {', '.join(fewer)}" if fewer else "all"
        says = f"by {size}: without noise all candidates of a plate are distinct"
        yield Claim(says, told, not fewer, pools=len(exact))


def _clicks(shown: Shown) -> Iterator[Claim]:
    worlds = [one for one in shown.worlds if (one, AUTO) in shown.rates]
    tenth = [one for one in worlds if shown.rates[one, AUTO].shape[1] >= TENTH]
    if tenth:
        found = {one: shown.of_batch(one, AUTO, TENTH) for one in tenth}
        told = ", ".join(f"{one} {share:.2f}" for one, share in found.items())
        says = f"clicks: ≥ {SHARE:g} of the best rate shown by batch {TENTH}"
        yield Claim(says, told, min(found.values()) >= SHARE, pools=len(tenth))
    both = [one for one in worlds if (one, BOOSTING) in shown.rates]
    if both:
        first = {}
        for one in both:
            ours, theirs = (shown.so_far(one, who) for who in (AUTO, BOOSTING))
            if below := (np.flatnonzero(ours[1:] < theirs[1:]) + 2).tolist():  # the first is chance
                first[one] = below[0]
        told = ", ".join(f"{one} after batch {at}" for one, at in first.items())
        says = f"clicks: average rate so far ≥ that of {title(BOOSTING)}, from batch 2 on"
        yield Claim(says, f"less on {told}" if first else "on all", not first, pools=len(both))


def _seconds(times: dict[tuple[str, str], list[Times]]) -> Iterator[Claim]:
    for name, at in LARGE.items():
        for one in times.get((name, AUTO), ()):
            took = max(one["seconds"], default=0.0)
            told = f"not back after {one['late']:g} s" if one["late"] else f"{took:.3g} s"
            says = f"{name}, by {at.size}: an ask in ≤ {at.goal:g} s"
            yield Claim(says, told, not one["late"] and took <= at.goal, pools=1)
            memory = max(one["memory"], default=0.0)
            says = f"{name}, by {at.size}: ≤ 2 GB beyond the features"
            told = f"{memory / 1e9:.2g} GB" + (" until then" if one["late"] else "")
            yield Claim(says, told, not one["late"] and memory <= MEMORY, pools=1)
