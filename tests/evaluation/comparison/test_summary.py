"""Ranks, ratios and goals of runs made up so that they are known."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from evaluation.comparison import drawing
from evaluation.comparison.report import numbers, publish, section
from evaluation.comparison.summary import Sample, Standings, goals
from evaluation.methods.contestants import CONTESTANTS
from evaluation.reports.intervals import Figure
from evaluation.reports.markdown import Claim
from evaluation.reports.standings import AtBudget
from evaluation.runs.cells import Line, Store
from evaluation.runs.reading import Reading


def sample(
    regret: Sequence[float],
    simple: Sequence[float] | None = None,
    seconds: float = 0.1,
    covered: Sequence[bool | None] = (),
) -> Sample:
    n = len(regret)
    simple, covered = regret if simple is None else simple, tuple(covered) or (True,) * n
    took, unique = np.full(n, seconds), np.full(n, 7.0)
    return Sample(np.array(regret), np.array(simple), took, unique, tuple(covered))


def standings(base: Standings | None = None, **held: Sample | Sequence[float]) -> Standings:
    """Names are problem, contestant and budget, as in a_tpe_200; a list is of regrets."""
    points = dict(base.samples) if base else {}
    for name, one in held.items():
        pool, who, budget = name.split("_")
        points[pool, who, int(budget)] = one if isinstance(one, Sample) else sample(one)
    return Standings(points)


def at(held: Standings) -> AtBudget[Sample]:
    (only,) = held.budgets
    return only


A = standings(a_auto_200=[0.1, 0.1], a_tpe_200=[0.4, 0.4], a_uniform_200=[1.0, 1.0])
THREE = standings(A, b_auto_200=[0.3, 0.3], b_tpe_200=[0.2, 0.2], b_uniform_200=[0.9, 0.9])
SO_FAR = standings(a_auto_50=[0.5], b_tpe_50=[0.7, 0.9])  # on no pool has everybody been run


def test_ranks_are_averaged_over_pools() -> None:
    ranks = at(THREE).ranks("regret")
    assert {who: one.value for who, one in ranks.items()} == {"auto": 1.5, "tpe": 1.5, "uniform": 3}
    assert all(one.low == one.value == one.high for one in ranks.values())  # seeds agree


def test_equal_means_share_a_rank() -> None:
    held = standings(a_auto_50=[0.0], a_tpe_50=[0.0], a_uniform_50=[1.0])
    ranks = at(held).ranks("simple")
    assert [ranks[who].value for who in ("auto", "tpe", "uniform")] == [1.5, 1.5, 3.0]


def test_only_pools_that_all_have_run_are_ranked() -> None:
    """A method that was run on easy pools only would look good."""
    held = standings(THREE, c_auto_200=[0.0])
    assert at(held).pools() == ["a", "b"]
    assert at(held).pools("auto") == ["a", "b", "c"]
    assert at(held).ranks("regret")["auto"].value == 1.5


def test_intervals_are_those_of_means_of_seeds_drawn_again() -> None:
    """Against the normal interval of a mean, which many seeds must come near to."""
    values = np.random.default_rng(0).normal(1.0, 0.2, size=400)
    held = standings(a_auto_50=values.tolist())
    found = at(held).across("regret", "auto", ["a"])
    half = 1.96 * values.std() / 20
    assert found.value == pytest.approx(values.mean())
    assert found.high - found.low == pytest.approx(2 * half, rel=0.15)
    assert found.low < found.value < found.high


def test_a_difference_is_of_the_first_to_the_second() -> None:
    found = at(THREE).difference("regret", "a", "auto", "uniform")
    assert [found.value, found.low, found.high] == pytest.approx([-0.9] * 3)


def test_quantiles_count_every_pool_alike() -> None:
    """Four runs of one pool must not outweigh one run of another."""
    held = standings(a_tpe_50=[0.0, 0.0, 0.0, 0.0], b_tpe_50=[1.0])
    for pools, level, expected in (
        (["a", "b"], 0.5, 0.0),
        (["a", "b"], 0.51, 1.0),
        (["a"], 0.9, 0.0),
    ):
        assert at(held).quantile("simple", "tpe", pools, level) == expected


def test_figures_read_as_a_number_with_its_interval() -> None:
    assert str(Figure.of(np.array([0.5, 0.25, 0.25, 0.75, 0.75]))) == "0.5 (0.25 to 0.75)"
    assert str(Figure.of(np.array([0.5, 0.5, 0.5]))) == "0.5"


def test_no_goal_without_runs_of_ours() -> None:
    assert goals(standings(a_tpe_50=[1.0], a_uniform_50=[1.0])) == []


def found(held: Standings, word: str) -> list[Claim]:
    return [one for one in goals(held) if word in one.says]


def test_the_best_average_rank_is_a_goal() -> None:
    (goal,) = found(THREE, "average rank")
    assert goal.holds  # a tie is the best rank
    worse = standings(THREE, a_auto_200=[0.5, 0.5])
    (goal,) = found(worse, "average rank")
    assert not goal.holds
    assert "| **missed** |" in section(worse, [goal], "comparison")
    assert "Optuna TPE 1" in goal.found


def test_half_of_tpe_is_a_median_over_pools() -> None:
    (goal,) = found(THREE, "half of TPE")  # 0.25 and 1.5
    assert goal.found.startswith("0.875 ")
    assert not goal.holds
    (goal,) = found(standings(THREE, b_auto_200=[0.15, 0.15]), "half of TPE")  # 0.25 and 0.75
    assert goal.holds


def test_simple_regret_is_held_against_the_best_of_the_others() -> None:
    held = standings(
        a_auto_50=sample([1.0, 1.0], simple=[0.1, 0.5]),
        a_tpe_50=sample([1.0, 1.0], simple=[0.2, 0.4]),
        a_uniform_50=sample([1.0, 1.0], simple=[0.0, 0.0]),  # a floor, not one of the others
    )
    median, tail = found(held, "best of the others")
    assert median.holds
    assert "0.1; best of the others Optuna TPE 0.2" in median.found
    assert not tail.holds


def test_worse_than_uniform_is_said_where_the_interval_says_so() -> None:
    held = standings(
        a_auto_50=sample([1.2, 1.3, 1.2, 1.3], simple=[0.5] * 4),
        a_uniform_50=sample([1.0, 1.1, 1.0, 1.1], simple=[0.5] * 4),
        b_auto_50=[1.2, 0.2, 1.4, 1.6],
        b_uniform_50=[1.0, 1.1, 1.0, 1.1],
    )
    cumulative, simple = found(held, "worse than uniform")
    assert cumulative.found == "worse on a"  # b is higher too, but scatters
    assert not cumulative.holds
    assert simple.holds


def test_no_interval_covers_nothing() -> None:
    for covered, share, enough in (
        ([True] * 9 + [None], "90.0% of 10", True),
        ([True] * 8 + [None, False], "80.0% of 10", False),
    ):
        (goal,) = found(standings(a_auto_50=sample([1.0] * 10, covered=covered)), "covers")
        assert (goal.holds, goal.found) == (enough, share)


def test_time_is_that_of_the_slowest_pool() -> None:
    held = standings(
        a_auto_200=sample([1.0], seconds=0.5),
        b_auto_200=sample([1.0], seconds=1.5),
        a_auto_10000=sample([1.0], seconds=9.0),
        a_auto_1000=sample([1.0], seconds=99.0),  # no goal
    )
    short, long = found(held, "optimiser time")
    assert (short.holds, long.holds) == (False, True)
    assert "1.5 s on b" in short.found


def reading(scale: float) -> Reading:
    return Reading(
        budgets=[50, 200],
        regret=[100.0 * scale, 200.0 * scale],
        simple=[1.0 * scale, 0.5 * scale],
        covered=[None, True],
        width=[None, 2.0],
        unique=[50, 120],
        seconds=[0.1, 0.4],
        uniform=2.0,
    )


def test_readings_become_ratios_over_uniform(tmp_path: Path) -> None:
    """100 over 50 draws that lose 2 on average: no better than uniform."""
    store, line = Store(tmp_path), Line("a", "tpe", ({"algorithm": "tpe"},), 200, 20)
    for seed, scale in ((0, 1.0), (2, 0.5)):  # 1 is still missing
        store.write(line.wanted(store)[seed], reading(scale))
    held = Standings.of([line], store)
    assert [one.T for one in held.budgets] == [50, 200]
    early, late = (held.samples["a", "tpe", T] for T in (50, 200))
    assert (early.regret.tolist(), late.regret.tolist()) == ([1.0, 0.5], [0.5, 0.25])
    assert (early.simple.tolist(), late.covered) == ([0.5, 0.25], (True, True))


def everybody() -> Standings:
    rng = np.random.default_rng(0)
    return Standings(
        {
            (name, who, T): sample(rng.random(3).tolist(), seconds=0.01 * T)
            for T in (50, 200, 1000, 10_000)
            for who, one in CONTESTANTS.items()
            for name in ("a", "b", "c")
            if one.most >= T
        }
    )


def test_pictures_numbers_and_tables_are_made(tmp_path: Path) -> None:
    held = everybody()
    reached = publish(held, tmp_path)
    for name in ("ranks", "regret", "simple", "times"):
        assert imread(tmp_path / f"{name}.png").std() > 0.01
    text = json.loads((tmp_path / "results.json").read_text())
    assert text == json.loads(json.dumps(numbers(held, reached)))
    assert len(text["pools"]) == len(held.samples)
    page = section(held, reached, "comparison")
    for one in CONTESTANTS.values():
        assert one.title in page
    assert "### T = 10000, 3 pools" in page
    assert "auto (3)" in page  # how many repetitions
    assert page.count("\n| a |") == 2 * 4


@pytest.mark.parametrize("lowest", [0.3, 0.03, 1e-3, 1e-9])
def test_no_label_stands_on_another(lowest: float) -> None:
    """However many decades an axis has."""
    points = list(everybody().samples)
    levels = np.random.default_rng(0).permutation(np.geomspace(lowest, 1.3, len(points)))
    held = Standings(
        {place: sample([x], seconds=x) for place, x in zip(points, levels.tolist(), strict=True)}
    )
    pictures = [drawing.ranks(held), drawing.times(held)]
    for picture in [*pictures, *(drawing.pools(held, one) for one in ("regret", "simple"))]:
        picture.draw_without_rendering()
        for axes in picture.axes:
            for axis in (axes.xaxis, axes.yaxis):
                labels = axis.get_ticklabels(which="both")
                boxes = [one.get_window_extent() for one in labels if one.get_text()]
                assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


def test_pictures_and_a_table_of_what_has_been_run_so_far(tmp_path: Path) -> None:
    """Where nobody can be ranked, the picture says so; pools that wait do not stop the page."""
    said = [one.get_text() for axes in drawing.ranks(SO_FAR).axes for one in axes.texts]
    assert said == ["not all have been run on any problem yet"] * 2
    page = section(SO_FAR, publish(SO_FAR, tmp_path), "comparison")
    assert imread(tmp_path / "regret.png").std() > 0.01
    assert "No pool has been run by everybody yet." in page
    assert "| b |  | **0.8** |" in page
