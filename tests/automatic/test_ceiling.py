"""auto where values end, and where they do not seem to."""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np
import pytest

import noregret as nr
from noregret.arrays import Matrix, Vector
from small_auto import GRID, fitted_of, hill, run


def test_where_values_end_it_stops_looking_for_more() -> None:
    """Of values cut off above, but for digits that differ, most evaluations are of the best."""
    values = 2.0 * hill(GRID) + 0.3 * np.random.default_rng(8).normal(size=len(GRID))
    values = np.minimum(values, 0.7) + 1e-4 * np.arange(len(GRID)) / len(GRID)
    f = dict(zip(map(tuple, GRID.tolist()), values.tolist(), strict=True))
    opt = nr.auto(nr.Pool(GRID))
    run(opt, 150, noise=0.0, f=lambda X: np.array([f[tuple(x)] for x in X.tolist()]))
    assert fitted_of(opt).optimism < 0.1
    assert "the gains that it expects are multiplied by" in opt.account()
    assert opt.unique < 110
    evaluated = opt.evidence.told
    assert evaluated.w[evaluated.y > 0.7].sum() > 90
    for other in (nr.auto(nr.Pool(GRID), attitude="safe"), nr.auto(nr.Box([(0, 1), (0, 1)]))):
        run(other, 40, f=lambda X: np.minimum(hill(X), 0.1))
        assert "the gains that it expects" not in other.account()


def test_where_all_may_be_noise_optimism_stays() -> None:
    """Clicks are rare, and one of 60 items has three times as many as others."""
    opt, rng, tentative = nr.auto(nr.Pool(np.eye(60)), seed=1), np.random.default_rng(1), 0
    while opt.spent < 2000:
        batch = opt.ask(at_most=2000 - opt.spent)
        rates = np.where(np.array(batch.sequence) == 17, 0.06, 0.02)
        opt.tell(batch, (rng.random(len(batch)) < rates).astype(np.float64))
        if opt.spent > 100 and fitted_of(opt).is_tentative:
            assert fitted_of(opt).optimism == 1.0
            tentative += 1
    assert tentative > 100
    assert fitted_of(opt).optimism_found < 0.5
    counts = opt.evidence.told.w
    assert np.sort(counts)[-2] > 100  # not the first that was clicked alone


@pytest.mark.parametrize("f", [lambda x: float(x > 0.33), lambda x: min(float(x), 0.3)])
def test_a_plateau_is_told_from_what_lies_below(f: Callable[[float], float]) -> None:
    """Where half of all values are the best one, the others must not count as much."""
    line = nr.Pool(np.linspace(0, 1, 30)[:, None])
    result = nr.maximize(lambda x: f(x[0]), line, budget=40)
    assert f(result.best().x[0]) == f(1.0)


def capped(X: Matrix) -> Vector:
    """Cut off above: what lies at the top of the hills is all the same."""
    f: Vector = np.minimum(hill(X), 0.5)
    return f


def test_at_a_ceiling_only_exploration_goes_on() -> None:
    """A model expects more above what is cut off, and would evaluate all that it has not seen."""
    opt = run(nr.auto(nr.Pool(GRID)), 400, noise=0.0, f=capped)
    assert fitted_of(opt).tied >= 5
    assert "end of the scale" in opt.account()
    late = opt.sequence[200:]
    assert (capped(GRID[late]) == 0.5).mean() > 0.85
    new = len(np.unique(opt.sequence)) - len(np.unique(opt.sequence[:200]))
    assert new < 30  # explorations: 2 + k/2 evaluations apart


def test_a_ceiling_off_the_pool_is_not_chosen() -> None:
    """Points may be told that are no candidates; the highest among them must not be asked for."""
    opt = nr.auto(nr.Pool(GRID))
    opt.tell(np.array([[2.0, 2.0], [3.0, 3.0]]), [0.5, 0.5])
    run(opt, 200, noise=0.0, f=capped)
    assert fitted_of(opt).tied > 2
    assert set(opt.ask().ids) <= set(range(len(GRID)))


def test_a_ceiling_is_left_where_it_is_excluded_or_something_is_above_it() -> None:
    opt = run(nr.auto(nr.Pool(GRID)), 200, noise=0.0, f=capped)
    assert fitted_of(opt).tied
    other = copy.deepcopy(opt)
    top = [int(row) for row in np.unique(opt.sequence) if capped(GRID[[row]])[0] == 0.5]
    opt.exclude(top)
    assert not set(opt.ask().ids) & set(top)
    higher = int(np.setdiff1d(np.arange(len(GRID)), other.sequence)[0])
    other.tell([higher], [0.9])
    assert other.ask().reason != "at the ceiling"
