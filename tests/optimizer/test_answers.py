"""best, certificate, posterior: in the user's sign and units, and looking changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.arrays import Indices, Vector
from slow_references import DenseGP
from small_optimizers import (
    BASELINES,
    KERNEL,
    MODELS,
    POOL,
    F,
    X,
    build,
    every_algorithm,
    every_model,
    rows_of,
    step,
    values,
    warm,
)
from strategies import drive, rkhs_problem


@every_algorithm
def test_looking_changes_no_choice(name: str, tmp_path: Path) -> None:
    """A dashboard that refreshes every second must not steer the run."""
    seen, unseen = build(name), build(name)
    for _ in range(6):
        batch, same = seen.ask(at_most=5), unseen.ask(at_most=5)
        for _ in range(2):
            repr(seen)
            seen.save(tmp_path / "run")
            seen.peek(at_most=5)
            if seen.evaluations:
                str(seen.explain(3)), seen.best(), seen.account()
            if seen.evaluations and name not in BASELINES:
                seen.certificate(), seen.posterior.variance(X)
        assert rows_of(batch) == rows_of(same)
        told = values(batch, seen.spent)
        seen.tell(batch[:2], told[:2])
        seen.best()
        seen.tell(batch[2:], told[2:])
        unseen.tell(same, told)
    if name not in BASELINES:
        np.testing.assert_array_equal(seen.posterior.mean(X), unseen.posterior.mean(X))


@every_algorithm
def test_minimising_mirrors_maximising(name: str) -> None:
    """One sign at the rim; everything a user sees must come back with it."""
    up, down = build(name, offset=0.5), build(name, goal="min", offset=-0.5)
    for _ in range(6):
        batch, mirror = up.ask(at_most=5), down.ask(at_most=5)
        assert rows_of(batch) == rows_of(mirror)
        told = values(batch, up.spent)
        up.tell(batch, told)
        down.tell(mirror, [-v for v in told])
    assert (up.goal, down.goal) == ("max", "min")  # plots turn their arrows by it
    best, worst = up.best(), down.best()
    assert (best.id, best.evaluations) == (worst.id, worst.evaluations)
    assert best.mean == -worst.mean
    if name in BASELINES:
        return
    assert best.std == worst.std
    assert (best.lower, best.upper) == (-worst.upper, -worst.lower)
    np.testing.assert_array_equal(up.posterior.mean(X), -down.posterior.mean(X))
    np.testing.assert_array_equal(up.posterior.variance(X), down.posterior.variance(X))
    a, b = up.certificate(), down.certificate()
    assert (a.gap, a.id, a.beta) == (b.gap, b.id, b.beta)
    assert (a.guaranteed, a.reachable) == (-b.guaranteed, -b.reachable)
    assert b.reachable <= b.guaranteed


@every_algorithm
def test_an_offset_shifts_and_nothing_else(name: str) -> None:
    """Celsius or Kelvin: values and prior mean shifted alike give the same experiment."""
    plain, shifted = build(name), build(name, offset=256.0)
    for _ in range(6):
        batch, same = plain.ask(at_most=5), shifted.ask(at_most=5)
        assert rows_of(batch) == rows_of(same)
        told = values(batch, plain.spent)
        plain.tell(batch, told)
        shifted.tell(same, [v + 256.0 for v in told])
    assert shifted.best().id == plain.best().id
    assert shifted.best().mean == pytest.approx(plain.best().mean + 256.0, abs=1e-12)
    if name in MODELS:
        assert shifted.certificate().gap == plain.certificate().gap
        assert shifted.certificate().reachable == plain.certificate().reachable + 256.0


@pytest.mark.parametrize(
    "name",
    ["gp_ucb", "mini_gp_ucb", "gp_bucb-product", "mini_gp_ei", "bkb", "bbkb-local"],
)
@pytest.mark.parametrize("seed", range(4))
def test_a_certificate_holds_where_its_assumptions_do(name: str, seed: int) -> None:
    """f has norm 1 and is told to have it: nobody may be promised more than is true."""
    problem = rkhs_problem(seed, candidates=120)
    optimizer = MODELS[name](problem.pool, kernel=problem.kernel, noise_std=0.1, delta=0.05)
    for budget in (1, 5, 40):
        drive(optimizer, problem, budget, seed)
        certificate, best = optimizer.certificate(), optimizer.best()
        assert certificate.id == best.id
        assert certificate.is_sound
        assert certificate.delta == 0.05
        true, top = problem.values[int(best.id)], problem.values.max()
        assert certificate.gap >= top - true
        assert certificate.reachable >= top
        assert certificate.guaranteed <= true
        assert best.lower <= true <= best.upper
        assert certificate.guaranteed == pytest.approx(best.lower, abs=1e-10)
        assert certificate.gap == pytest.approx(certificate.reachable - certificate.guaranteed)


@pytest.mark.parametrize(
    ("make", "theorem", "sound"),
    [
        (nr.gp_ucb, "MINI (2022) Theorem 4.4", True),
        (nr.gp_ei, "MINI (2022) Theorem 4.4", True),
        (nr.gp_bucb, "MINI (2022) Theorem 4.4", True),
        (nr.mini_gp_ucb, "MINI (2022) Theorem 4.4", True),
        (partial(nr.mini_gp_ucb, width=nr.BayesianWidth(0.2)), "MINI (2022) Theorem 4.5", True),
        (nr.bkb, "BKB (2019), proof of Theorem 9", True),
        (partial(nr.bbkb, ridge=0.01, oversample=0.5), "BKB (2019), proof of Theorem 9", True),
        (partial(nr.bbkb, preset="theory"), "BKB (2019), proof of Theorem 9", True),
        (partial(nr.bbkb, width=nr.BayesianWidth(0.2)), "MINI (2022) Theorem 4.5", True),
        (
            partial(nr.bbkb, width=nr.BayesianWidth(0.2), ridge=1.0),
            "MINI (2022) Theorem 4.5",
            False,
        ),
    ],
)
def test_a_certificate_names_its_theorem_and_whether_it_applies(
    make: Callable[..., nr.Optimizer], theorem: str, sound: bool
) -> None:
    """Figures' constants are not the theorem's; who shows them as such must be told."""
    optimizer = make(POOL, kernel=KERNEL, noise_std=0.3, delta=0.2)
    for _ in range(3):
        step(optimizer)
    certificate = optimizer.certificate()
    assert certificate.theorem.startswith(theorem)
    assert certificate.is_sound is sound
    assert certificate.delta == 0.2
    assert ("DOES NOT HOLD" in str(certificate)) is not sound
    assert "with probability 0.8" in str(certificate).splitlines()[0].lower()


@every_model
def test_the_gap_closes(name: str) -> None:
    """Otherwise a certificate would never let anybody stop."""
    optimizer = build(name, nr.Pool(X[:6]))
    step(optimizer)
    early = optimizer.certificate().gap
    rows = np.arange(6)
    optimizer.tell(rows, means=F[:6], counts=np.full(6, 100_000))
    optimizer.tell(optimizer.ask(at_most=1), F[int(optimizer.ask().ids[0])])
    assert optimizer.certificate().gap < 0.2 * early
    assert optimizer.best().id == int(np.argmax(F[:6]))


@every_model
def test_best_is_the_highest_mean_of_evaluated_rows(name: str) -> None:
    """Not the luckiest value, and not a candidate nobody has ever made."""
    optimizer = warm(name, turns=6)
    evaluated = np.array(sorted({row for _ in range(3) for row in step(optimizer)}))
    best = optimizer.best()
    mean, std = optimizer.posterior.mean(X), optimizer.posterior.std(X)
    assert best.mean == pytest.approx(mean[int(best.id)], abs=1e-12)
    assert best.std == pytest.approx(std[int(best.id)], abs=1e-9)
    assert np.all(mean[evaluated] <= best.mean + 1e-12)
    beta = optimizer.certificate().beta
    assert best.upper - best.mean == pytest.approx(beta * best.std, rel=1e-6)
    np.testing.assert_array_equal(best.x, X[int(best.id)])


def test_a_baseline_names_the_highest_average() -> None:
    """It has no model; a single lucky value among many must not be averaged away wrongly."""
    optimizer = nr.uniform(POOL)
    optimizer.tell([3, 3, 8, 5, 5], [1.0, 3.0, 1.9, 2.0, 2.0])
    best = optimizer.best()
    assert (best.id, best.mean, best.evaluations) == (3, 2.0, 2)
    assert np.isnan([best.std, best.lower, best.upper]).all()
    assert str(best) == "3: average 2, evaluated twice"


@given(st.lists(st.tuples(st.integers(0, 5), st.floats(-3, 3)), min_size=1, max_size=25))
def test_any_history_gives_the_textbook_posterior(history: Sequence[tuple[int, float]]) -> None:
    """Told singly, in any order and with repeats, off the ask path."""
    optimizer = nr.gp_ucb(nr.Pool(X[:6]), kernel=KERNEL, noise_std=0.4)
    rows: Indices = np.array([row for row, _ in history])
    y: Vector = np.array([v for _, v in history])
    for row, v in history:
        optimizer.tell(row, v)
    dense = DenseGP(KERNEL, 0.16, X[rows], y)
    np.testing.assert_allclose(optimizer.posterior.mean(X), dense.mean(X), atol=1e-8)
    np.testing.assert_allclose(optimizer.posterior.variance(X), dense.variance(X), atol=1e-8)
    np.testing.assert_allclose(
        optimizer.posterior.covariance(X[:4], X[4:9]), dense.covariance(X[:4], X[4:9]), atol=1e-8
    )
    assert optimizer.posterior.log_det == pytest.approx(dense.log_det(), abs=1e-8)
    assert optimizer.posterior.effective_dimension() == pytest.approx(dense.effective_dimension())


def test_repr_counts() -> None:
    optimizer = warm("mini_gp_ucb", turns=3)
    text = f"Optimizer(Bandit, {optimizer.pool!r}, {optimizer.evaluations} evaluations of "
    assert repr(optimizer) == f"{text}{optimizer.unique} candidates)"


@pytest.mark.parametrize("make", [nr.auto, nr.uniform, nr.regularized_evolution])
def test_of_candidates_that_are_alike_the_first_told_is_recommended(
    make: Callable[..., nr.Optimizer],
) -> None:
    """Else the first row of a pool would be, in every run in which nobody has clicked yet."""
    opt = make(nr.Pool(np.arange(12.0)[:, None]), seed=0)
    opt.tell([7, 3, 11, 0], [0.0, 0.0, 0.0, 0.0])
    assert opt.best().id == 7
    opt.tell([3], [1.0])
    assert opt.best().id == 3


def test_what_is_shown_cannot_be_written_to() -> None:
    """Somebody who rescales an answer in place must not change what the run knows."""
    opt = nr.gp_ucb(nr.Pool([[0.0], [0.5], [1.0]]), kernel=nr.RBF(), noise_std=0.1)
    opt.tell([0, 1], [0.2, 0.4])
    before, evidence = opt.best(), opt.evidence
    opt.best().x[:] = 99.0
    told = evidence.told
    for array in (told.rows, told.X, told.w, told.y, evidence.excluded):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 1
    view = opt.look()
    opt.exclude([0])
    assert not evidence.excluded.any()
    assert view.next_choice() is not None
    assert (opt.best().x, opt.evaluated.ids) == (before.x, [0, 1])
