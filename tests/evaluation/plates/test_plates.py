"""Plates, hits, clicks and goals of runs made up so that they are known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread

from evaluation.methods.by_plate import FILLERS
from evaluation.plates.goals import goals
from evaluation.plates.report import Results, numbers, publish, section
from evaluation.plates.summary import Sample, Shown, Standings
from evaluation.problems.large import LARGE
from evaluation.reports.markdown import Claim
from evaluation.runs.by_plate import SECONDS, PlateReading
from evaluation.runs.cells import Line, Store
from evaluation.runs.timed import Times


def reading(
    regret: list[float],
    *,
    plates: list[int] | None = None,
    simple: float = 1.0,
    late: bool = False,
    noise: float = 0.1,
    distinct: float = 4.0,
) -> PlateReading:
    """Plates of four, of which a uniform choice loses 2 per evaluation, and the best is worth 4."""
    n = len(regret)
    return PlateReading(
        plates=plates or list(range(1, n + 1)),
        regret=regret,
        simple=[simple] * n,
        top=[0.1 * (1 + at) for at in range(n)],
        distinct=[*[4.0] * (n - 1), distinct] if n else [],
        seconds=[0.5] * n,
        late=late,
        uniform=2.0,
        best=4.0,
        noise_std=noise,
    )


def sample(regret: float, **other: Any) -> Sample:
    held = Sample.of([reading([8.0 * regret], **other)] * 2, 4, 1)
    return held


def standings(**held: Sample) -> Standings:
    """Names are problem, contestant, size and plates, as in a_tpe_24_10."""
    places = {}
    for name, one in held.items():
        pool, who, size, plates = name.split("_")
        places[pool, who.replace("0", "-"), int(size), int(plates)] = one
    return Standings(places)


def reached(held: Standings, word: str, shown: Shown | None = None, **times: Times) -> list[Claim]:
    named = {(name.replace("_", "-"), "auto"): [one] for name, one in times.items()}
    found = goals(held, shown or Shown({}), named)
    return [one for one in found if word in one.says]


def test_plates_become_ratios_over_uniform() -> None:
    """Eight evaluations lost 12 where uniform ones lose 16, the second plate 4 of 8."""
    held = Sample.of([reading([8.0, 12.0])], 4, 2)
    assert (held.regret[0], held.last[0]) == (0.75, 0.5)
    assert (held.simple[0], held.missed[0]) == (0.5, 0.8)
    assert (held.seconds[0], held.distinct[0], held.late) == (0.5, 4, 0)


def test_a_run_that_is_late_goes_on_as_uniform_would() -> None:
    """Who never comes back must not look better than who does."""
    held = Sample.of([reading([4.0], late=True)], 4, 3)
    assert held.regret[0] == (4.0 + 2 * 8.0) / 24
    assert (held.simple[0], held.missed[0], held.late) == (0.5, 0.9, 1)
    assert held.seconds[0] == pytest.approx((0.5 + 2 * SECONDS) / 3)
    assert np.isnan(held.last[0])
    never = Sample.of([reading([], late=True)], 4, 3)
    assert (never.regret[0], never.simple[0], never.missed[0]) == (1.0, 1.0, 1.0)


def test_runs_are_read_off_plate_by_plate(tmp_path: Path) -> None:
    store = Store(tmp_path)
    line = Line("a", "auto", ({"algorithm": "auto", "batch": 4},), 12, 20)
    store.write(line.wanted(store)[0], reading([8.0, 12.0, 14.0]))
    store.write(line.wanted(store)[2], reading([8.0], late=True))  # 1 is still missing
    held = Standings.of([line], store)
    assert [place[-1] for place in held.samples] == [1, 2, 3, 10]
    assert [len(held.samples["a", "auto", 4, done]) for done in (1, 2, 3, 10)] == [2, 2, 2, 1]
    assert held.samples["a", "auto", 4, 3].late == 1


def test_limited_methods_are_held_against_where_they_run() -> None:
    """Few pools of the costly must not stand for all."""
    held = standings(
        a_auto_8_10=sample(0.5),
        a_forest_8_10=sample(0.7),
        b_auto_8_10=sample(0.5),
        b_forest_8_10=sample(0.7),
        b_baybe_8_10=sample(0.3),
    )
    everywhere, with_it = reached(held, "average rank in cumulative")
    assert (everywhere.holds, everywhere.pools) == (True, 2)
    assert (with_it.holds, with_it.pools) == (False, 1)
    assert "with BayBE" in with_it.says


def test_hits_are_held_against_the_best_of_the_others() -> None:
    fewer, more = reading([1.0]), reading([1.0])
    fewer["top"], more["top"] = [0.2], [0.28]
    one, other = (Sample.of([held], 4, 1) for held in (fewer, more))
    found = standings(
        enamine_auto_96_10=other,
        enamine_forest_96_10=one,
        oer_auto_96_10=other,
        oer_forest_96_10=one,
        oer_thompson_96_10=sample(0.1),  # ours, not one of the others
    )
    library, rest = reached(found, "top hundredth")
    assert not library.holds
    assert "enamine 1.40" in library.found
    assert rest.holds


def test_simple_regret_by_24_is_held_against_one_at_a_time() -> None:
    held = standings(
        a_auto_1_240=sample(1.0, simple=0.5),
        a_auto_24_10=sample(1.0, simple=0.7),
        b_auto_1_240=sample(1.0, simple=0.0),
        b_auto_24_10=sample(1.0, simple=0.0),
        c_auto_24_10=sample(1.0, simple=9.0),  # not run alone
    )
    (goal,) = reached(held, "one at a time")
    assert (goal.pools, goal.holds, goal.found) == (2, True, "1.2 of it")


def test_repeats_within_a_plate_are_told_where_there_is_no_noise() -> None:
    held = standings(
        a_auto_4_10=sample(0.5, noise=0.0),
        b_auto_4_10=sample(0.5, noise=0.0, distinct=3.0),
        c_auto_4_10=sample(0.5, distinct=1.0),
    )
    (goal,) = reached(held, "distinct")
    assert (goal.holds, goal.pools) == (False, 2)
    assert goal.found == "fewest in a plate: b 3"


def test_rates_shown_are_of_the_truth(tmp_path: Path) -> None:
    """A batch that loses 8 of 16 shows half the best rate; one that never came shows nothing."""
    store = Store(tmp_path)
    line = Line("clicks-x", "auto", ({"algorithm": "auto", "batch": 4},), 12, 1)
    store.write(line.wanted(store)[0], reading([8.0, 12.0], late=True))
    shown = Shown.of([line], store)
    assert shown.rates["clicks-x", "auto"][0, :2].tolist() == [0.5, 0.75]
    assert [shown.of_batch("clicks-x", "auto", batch) for batch in (1, 2, 3)] == [0.5, 0.75, 0.0]
    assert shown.so_far("clicks-x", "auto") == pytest.approx([0.5, 0.625, 1.25 / 3])


def test_clicks_are_held_against_the_best_rate_and_against_boosting() -> None:
    ours = np.array([[0.1, 0.4, *[0.95] * 8]])
    for theirs, holds in ((0.2, True), (0.3, False)):
        shown = Shown({("w", "auto"): ours, ("w", "boosting"): np.full((1, 10), theirs)})
        tenth, throughout = reached(standings(), "clicks", shown)
        assert (tenth.holds, tenth.found) == (True, "w 0.95")
        assert throughout.holds == holds
    assert "w after batch 2" in throughout.found


def test_an_ask_that_does_not_come_back_misses_its_goals() -> None:
    first = Times(seconds=[1.0], processor=[1.0], distinct=[96], memory=[1e6], late=60.0)
    whole = Times(seconds=[0.5, 0.9], processor=[1, 1], distinct=[96, 96], memory=[1e6], late=None)
    assert LARGE["large-bits"].goal == 1.0
    for times, holds, told in ((first, False, "not back after 60 s"), (whole, True, "0.9 s")):
        seconds, memory = reached(standings(), "large-bits", large_bits=times)
        assert (seconds.holds, seconds.found) == (holds, told)
        assert memory.holds == holds


def everything() -> Results:
    rng = np.random.default_rng(0)
    samples = {
        (name, who, size, plates): sample(float(rng.random()))
        for size in (8, 24)
        for plates in (1, 2, 10)
        for who, one in FILLERS.items()
        for name in ("a", "b")
        if one.pools
    }
    rates = {("w", who): rng.random((2, 20)) for who, one in FILLERS.items() if one.clicks}
    late = Times(seconds=[1.5], processor=[1.0], distinct=[96], memory=[1e9], late=60.0)
    return Results(Standings(samples), Shown(rates), {("large-bits", "auto"): [late]})


def test_pictures_numbers_and_tables_are_made(tmp_path: Path) -> None:
    held = everything()
    claims = publish(held, tmp_path)
    for name in ("ranks", "plates", "clicks"):
        assert imread(tmp_path / f"{name}.png").std() > 0.01
    text = json.loads((tmp_path / "results.json").read_text())
    assert text == json.loads(json.dumps(numbers(held, claims)))
    assert {(one["size"], one["plates"]) for one in text["pools"]} == {(8, 10), (24, 10)}
    assert len(text["pools"]) == sum(plates == 10 for *_, plates in held.standings.samples)
    page = section(held, claims, "plates")
    for one in FILLERS.values():
        assert one.title in page
    assert "### 10 plates of 24" in page
    assert page.count("\n| a |") == 2 * 3
    assert "| large-bits | 96 | auto | 1.5, not back after 60 | 96 | 1 |" in page
    assert "**missed**" in page


def test_a_page_of_what_has_been_run_so_far(tmp_path: Path) -> None:
    held = Results(standings(a_auto_8_10=sample(0.5)), Shown({}), {})
    page = section(held, publish(held, tmp_path), "plates")
    assert "### 10 plates of 8" in page
    assert "## Clicks" not in page
    assert not (tmp_path / "clicks.png").exists()
