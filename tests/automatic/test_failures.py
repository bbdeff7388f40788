"""auto where evaluations fail."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.arrays import Vector
from small_auto import GRID, model_of, policy_of, run


def crashing(x: Vector) -> Any:
    """Rises towards where nothing has a value."""
    return nr.FAILED if x[0] > 0.6 else float(0.3 * x[0] - ((x - [0.55, 0.3]) ** 2).sum())


@pytest.mark.parametrize("deterministic", [False, True])
def test_candidates_that_fail_are_given_up(deterministic: bool) -> None:
    line = nr.Pool(np.linspace(0, 1, 30)[:, None])
    result = nr.maximize(
        lambda x: nr.FAILED if x[0] > 0.8 else float(x[0]),
        line,
        budget=60 if not deterministic else 30,
        deterministic=deterministic,
    )
    assert np.isnan(result.values).sum() <= 2 * 6
    assert result.best().x[0] > 0.7


@pytest.mark.parametrize("domain", [nr.Pool(GRID), nr.Box([(0, 1), (0, 1)])])
@pytest.mark.parametrize("deterministic", [False, True])
def test_where_evaluations_fail_it_stops_looking(
    domain: nr.Pool | nr.Box, deterministic: bool
) -> None:
    """Nothing is learned of f there, and what is not known attracts: it took 19 of 20 once."""
    result = nr.maximize(crashing, domain, budget=100, deterministic=deterministic)
    if not deterministic:  # there, something new must come though the best is found
        assert np.isnan(result.values).sum() <= 35
    assert crashing(result.best().x) > 0.12  # 0.178 is the most


def test_failures_are_half_a_low_value_in_whatever_order_they_came() -> None:
    """The slow reference: a model told everything at once, failures as values of weight a half."""
    pool, rng = nr.Pool(GRID), np.random.default_rng(0)
    opt = run(nr.auto(pool), 12)
    rows: list[int] = []
    for step in range(10):
        batch = opt.ask(at_most=1)
        if step % 2:
            opt.tell(batch, [float(rng.standard_normal())] * len(batch))
        else:
            opt.fail(batch)
            rows.append(int(batch.ids[0]))
        if step == 6:
            opt.tell([rows[0]], [0.3])  # it worked in the end
    model, evidence = model_of(opt), opt.evidence
    seen = model.seen(evidence)
    assert set(evidence.lost) <= set(rows) - {rows[0]}
    assert len(seen.told) == len(evidence.told) + len(evidence.lost) > len(evidence.told)
    for row, w, y in zip(seen.told.rows, seen.told.w, seen.told.y, strict=True):
        at = np.flatnonzero(evidence.told.rows == row)
        value = evidence.told.y[at[0]] if len(at) else model.fitted.lost
        assert w == (evidence.told.w[at[0]] if len(at) else 0.5)
        assert y == max(value, model.fitted.floor) - model.fitted.estimate.mean
    now = model.belief.posterior.condition(seen.told, seen.open_, rng)
    prior = policy_of(opt).builder.prior(model.fitted, len(seen.told), 2)
    dense = prior.condition(seen.told, seen.open_, rng)
    for one, other in zip(now.marginals(GRID), dense.marginals(GRID), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-8)
    means = opt.look().means()  # in the ledger's order
    np.testing.assert_allclose(
        means, now.mean(evidence.told.X) + model.fitted.estimate.mean, atol=1e-8
    )
    assert "failed would have had low values" in str(opt.certificate().assumptions)
    assert np.isfinite(opt.explain(rows[-1]).mean)


def test_a_box_that_fails_at_first_goes_on() -> None:
    result = nr.maximize(
        lambda x: nr.FAILED if x[0] > 0.5 else float(x[0]), nr.Box([(0, 1)]), budget=40
    )
    assert result.optimizer.evaluations >= 5
