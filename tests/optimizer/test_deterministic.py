"""The same candidate always has the same value: one evaluation says all there is."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import ArgumentError, ExhaustedError, TellError
from small_optimizers import refused_by
from strategies import kernels

X = np.random.default_rng(8).random((30, 2))
POOL = nr.Pool(X)
F = np.sin(5 * X[:, 0]) * X[:, 1]
MODEL: dict[str, Any] = {"kernel": nr.RBF(0.3), "noise_std": 0, "deterministic": True}
MODELS: dict[str, Callable[..., nr.Optimizer]] = {
    "gp_ucb": nr.gp_ucb,
    "gp_ei": nr.gp_ei,
    "plate": partial(nr.gp_bucb, rule=nr.FixedSize(5)),
    "gp_bucb": nr.gp_bucb,
    "bkb": nr.bkb,
    "bbkb": nr.bbkb,
    "bbkb-local": partial(nr.bbkb, rule="local", dictionary="sticky"),
    "mini_gp_ucb": nr.mini_gp_ucb,
    "mini_gp_ei": nr.mini_gp_ei,
    "batch_thompson": partial(nr.batch_thompson, batch_size=4),
    "ts_qff": partial(nr.ts_qff, batch_size=3),
    "lin_ucb": partial(nr.lin_ucb, bias=1.0),
}
OTHERS: dict[str, Callable[..., nr.Optimizer]] = {
    "uniform": partial(nr.uniform, batch_size=4),
    "random_search": nr.random_search,
    "epsilon_greedy": partial(nr.epsilon_greedy, batch_size=4),
    "evolution": partial(nr.regularized_evolution, population=4, sample=2),
}


def deterministic(name: str, pool: nr.Pool = POOL) -> nr.Optimizer:
    if name in OTHERS:
        return OTHERS[name](pool, deterministic=True)
    given = {k: v for k, v in MODEL.items() if (k, name) != ("kernel", "lin_ucb")}
    return MODELS[name](pool, **given)


@pytest.mark.parametrize("name", [*MODELS, *OTHERS])
def test_nothing_is_evaluated_twice_and_the_best_is_found(name: str) -> None:
    """A simulation run twice is a night lost; when all have run, the best of them is known."""
    optimizer = deterministic(name)
    while optimizer.evaluations < 30:
        batch = optimizer.ask(at_most=7)
        optimizer.tell(batch, F[np.asarray(batch.sequence, dtype=np.int64)])
    with pytest.raises(ExhaustedError, match="every candidate that is not excluded was evaluated"):
        optimizer.ask()
    assert sorted(np.asarray(optimizer.sequence).tolist()) == list(range(30))
    best = optimizer.best()
    assert F[int(best.id)] >= F.max() - (1e-3 if name != "lin_ucb" else np.inf)
    if name in MODELS and name not in ("lin_ucb", "bkb", "ts_qff") and "bbkb" not in name:
        assert best.mean == pytest.approx(F.max(), abs=1e-3)  # stable, with a ridge of 10⁻⁶


@given(kernels(2), st.integers(0, 2**20))
def test_without_noise_the_band_holds_for_sure(kernel: nr.Kernel, seed: int) -> None:
    """|f − μ| ≤ F·σ for every f of norm F, though σ has a ridge: no chance is left."""
    rng = np.random.default_rng(seed)
    C, a = rng.random((6, 2)), rng.standard_normal(6)
    norm = float(np.sqrt(a @ kernel(C, C) @ a))
    truth = kernel(X, C) @ a
    optimizer = nr.gp_ucb(POOL, kernel=kernel, noise_std=0, deterministic=True, norm_bound=norm)
    for _ in range(12):
        batch = optimizer.ask()
        optimizer.tell(batch, truth[batch.ids])
    view = optimizer.posterior
    assert view.beta == pytest.approx(norm)
    reach = norm * np.sqrt(view.variance(X)) + 1e-6 * norm
    assert (np.abs(view.mean(X) - truth) <= reach).all()
    best, certificate = optimizer.best(), optimizer.certificate()
    assert truth.max() - truth[int(best.id)] <= certificate.gap + 2e-6 * norm
    assert "there is no noise" in str(certificate)
    assert certificate.delta == 0.0
    assert "probability" not in str(certificate)
    assert "For certain, best()" in str(certificate)
    assert "best() and certificate() hold for certain by" in optimizer.account()


@pytest.mark.parametrize("name", ["bkb", "bbkb", "gp_ucb"])
def test_what_chance_is_left_without_noise_is_said(name: str) -> None:
    """None where only noise could mislead; a Bayesian band speaks of the functions that it is
    drawn from, and noise that was told stays."""
    for more, delta in (
        ({}, 0.0),
        ({"norm_bound": "grow"}, 0.0),
        ({"width": nr.BayesianWidth(0.05)}, 0.05),
        ({"noise_std": 0.2, "delta": 0.2}, 0.2),
    ):
        optimizer = MODELS[name](POOL, **{**MODEL, **more})
        optimizer.tell([1, 2, 3], F[[1, 2, 3]])
        assert optimizer.certificate().delta == delta


@pytest.mark.parametrize(
    "tell",
    [
        lambda opt: opt.tell([4], [0.6]),
        lambda opt: opt.tell([7, 4], [0.1, 0.4]),
        lambda opt: opt.tell([8, 8], [0.1, 0.2]),
        lambda opt: opt.tell([4], means=[0.7], counts=[3]),
        lambda opt: opt.tell(X[[9, 4]], [0.3, 0.4]),
        lambda opt: opt.tell([[2.0, 2.0], [2.0, 2.0]], [0.3, 0.4]),
    ],
)
def test_values_that_contradict_each_other_are_refused(
    tell: Callable[[nr.Optimizer], None],
) -> None:
    """One of the two is wrong, and nobody but the user can know which; nothing is taken in."""
    optimizer = nr.gp_ucb(POOL, **MODEL)
    optimizer.tell([4, 5], [0.5, 2.0])
    before = optimizer.evaluated, len(optimizer.evidence.points)
    with pytest.raises(TellError, match=r"deterministic=True the same candidate always has"):
        tell(optimizer)
    assert optimizer.evaluated.ids == before[0].ids
    assert len(optimizer.evidence.points) == before[1]


def test_a_contradiction_names_both_values_in_the_users_units() -> None:
    """Minimising, with an offset: the numbers are those that were told."""
    optimizer = nr.uniform(POOL, deterministic=True, goal="min", offset=7.0)
    batch = optimizer.ask()
    optimizer.tell(batch, [8.25])
    with pytest.raises(TellError, match=r"value 0 told is 8\.5, of a candidate of value 8\.25"):
        optimizer.tell(batch.ids, [8.5])


def test_values_are_compared_with_each_other_alone() -> None:
    """Neither a large offset nor a large value of another candidate hides a contradiction."""
    optimizer = nr.gp_ucb(POOL, **MODEL, offset=1e6)
    optimizer.tell([4, 5, 6], [1e6 + 0.1, 1e9, 1.0])
    for id, value in ((4, 1e6 + 0.9), (6, 500.0)):
        with pytest.raises(TellError, match="deterministic=True the same candidate always has"):
            optimizer.tell([id], [value])


def test_the_same_value_again_is_welcome() -> None:
    """A result that is sent twice, or rounded to single precision, contradicts nothing."""
    optimizer = nr.gp_ucb(POOL, **MODEL)
    optimizer.tell([4, 5, 6], [0.1, -3.0, 1e-17])
    optimizer.tell([4, 5, 6, 4], [float(np.float32(0.1)), -3.0, 0.0, nr.FAILED])
    assert optimizer.evaluations == 3


@pytest.mark.parametrize(
    "again",
    [
        lambda opt: opt.tell([4, 5, 4], [0.5, 2.0, 0.5]),
        lambda opt: opt.tell([5], means=[2.0], counts=[40]),
        lambda opt: opt.tell(X[[4]], [0.5]),
        lambda opt: opt.tell([[2.0, 2.0], [2.0, 2.0]], [0.3, 0.3]),
    ],
)
@pytest.mark.parametrize("make", [nr.gp_ucb, nr.bbkb])
def test_the_same_value_again_is_the_same_knowledge(
    again: Callable[[nr.Optimizer], None], make: Callable[..., nr.Optimizer]
) -> None:
    """Counted as two it would be believed as if a second, independent evaluation had agreed."""
    runs = [make(POOL, kernel=nr.RBF(0.3), noise_std=0.2, deterministic=True) for _ in range(2)]
    for optimizer, count in zip(runs, (1, 3), strict=True):
        optimizer.tell([4], [0.5])
        optimizer.tell([5], means=[2.0], counts=[count])
        optimizer.tell([[2.0, 2.0]], [0.3])
    again(runs[1])
    one, other = runs
    assert one.evaluated.evaluations.tolist() == other.evaluated.evaluations.tolist()
    assert one.posterior.beta == other.posterior.beta
    for what in ("mean", "variance"):
        found = getattr(other.posterior, what)(X)
        np.testing.assert_array_equal(found, getattr(one.posterior, what)(X))
    assert one.ask().ids.tolist() == other.ask().ids.tolist()


TWINS = nr.Pool(X[[0, 1, 2, 0, 3, 1, 0]])


@pytest.mark.parametrize(
    "tell",
    [
        lambda opt: opt.tell([3], [0.6]),
        lambda opt: opt.tell([4, 6], [0.1, 0.6]),
        lambda opt: opt.tell([1, 5], [0.1, 0.2]),
        lambda opt: opt.tell([6], means=[0.7], counts=[3]),
        lambda opt: opt.tell(opt.ask(at_most=1), [0.6]),
    ],
)
@pytest.mark.parametrize("make", [partial(nr.gp_ucb, **MODEL, start=[3]), nr.uniform, nr.auto])
def test_candidates_of_equal_features_have_equal_values(
    make: Callable[..., nr.Optimizer], tell: Callable[[nr.Optimizer], None], tmp_path: Path
) -> None:
    """To the model they are one point: of two values it would believe the mean, and certify it."""
    word = {} if isinstance(make, partial) else {"deterministic": True}
    optimizer = make(TWINS, **word)
    optimizer.tell([0, 2], [0.5, 2.0])
    if not isinstance(make, partial):  # others may ask for any
        optimizer.exclude([1, 4, 5])
    optimizer.ask(at_most=1)
    with refused_by(optimizer, tmp_path, "deterministic=True the same candidate always has"):
        tell(optimizer)
    optimizer.tell([6, 3], [0.5, 0.5])
    assert optimizer.evaluations == 4


@given(st.lists(st.tuples(st.integers(0, 8), st.sampled_from([0.0, 1.0])), max_size=9))
def test_a_value_is_refused_where_equal_features_had_another(
    story: list[tuple[int, float]],
) -> None:
    """By a table of features and values; two points lie off the pool, and join it midway."""
    rows = np.concatenate([TWINS.X, X[[7, 8]]])
    optimizer, known = nr.uniform(TWINS, deterministic=True), dict[bytes, float]()
    for i, (at, value) in enumerate(story):
        if i == 5:
            optimizer.extend(rows[7:])
        contradicts = known.get(rows[at].tobytes(), value) != value
        what = rows[[at]] if at > 6 else [at]
        if contradicts:
            with pytest.raises(TellError, match="the same candidate always has"):
                optimizer.tell(what, [value])
        else:
            optimizer.tell(what, [value])
            known[rows[at].tobytes()] = value


def test_a_box_that_is_used_up_can_be_explained() -> None:
    """There is no next choice, which is no reason not to say what is known."""
    optimizer = nr.gp_ucb(nr.Box([(0, 3)], integer=[0]), **MODEL)
    for _ in range(4):
        optimizer.tell(optimizer.ask(), [0.2])
    with pytest.raises(ExhaustedError):
        optimizer.ask()
    assert optimizer.explain(0).leader is None


def test_it_is_at_most_one_of_each_with_a_small_ridge() -> None:
    """The word adds nothing to the choices but the cap and a ridge that rounding needs."""
    make = partial(nr.gp_ei, POOL, kernel=4.0 * nr.RBF(0.3), norm_bound=2.0)
    one = make(noise_std=0.0, deterministic=True)
    other = make(noise_std=1e-9, ridge=4e-6, at_most_each=1)
    for _ in range(15):
        a, b = one.ask(), other.ask()
        assert a.ids.tolist() == b.ids.tolist()
        one.tell(a, F[a.ids])
        other.tell(b, F[b.ids])


def test_noise_may_be_told_all_the_same() -> None:
    """What features do not say is noise to the model, though the same candidate repeats itself."""
    optimizer = nr.gp_ucb(POOL, kernel=nr.RBF(0.3), noise_std=0.2, deterministic=True)
    assert optimizer.look().posterior.ridge == pytest.approx(0.04)


@pytest.mark.parametrize("make", [nr.uniform, nr.auto, partial(nr.gp_ucb, **MODEL)])
def test_contradictory_settings_are_refused(make: Callable[..., nr.Optimizer]) -> None:
    """Who says both means one of them."""
    with pytest.raises(ArgumentError, match=r"at_most_each=3 allows it. Give one of the two"):
        make(POOL, at_most_each=3, **({} if isinstance(make, partial) else {"deterministic": True}))
    make(POOL, at_most_each=1, **({} if isinstance(make, partial) else {"deterministic": True}))


def test_no_noise_needs_the_word() -> None:
    """Without it a noise of 0 would make every batch of MINI endless."""
    with pytest.raises(ArgumentError, match=r"noise_std must be above 0, got 0\..*deterministic"):
        nr.gp_ucb(POOL, kernel=nr.RBF(0.3), noise_std=0)
    with pytest.raises(ArgumentError, match=r"noise_std must be at least 0\.0, got -1"):
        nr.gp_ucb(POOL, kernel=nr.RBF(0.3), noise_std=-1, deterministic=True)


def test_a_saved_run_remembers_it(tmp_path: Path) -> None:
    """What was promised before the night holds after it."""
    optimizer = nr.gp_ucb(POOL, **MODEL)
    optimizer.tell([4], [0.5])
    optimizer.save(tmp_path / "run")
    again = nr.load(tmp_path / "run", pool=POOL)
    assert again.ask().ids.tolist() == optimizer.ask().ids.tolist()
    with pytest.raises(TellError, match="deterministic=True"):
        again.tell([4], [0.6])


def test_auto_refuses_values_that_contradict_its_word() -> None:
    """As the guide says, and every other algorithm does."""
    optimizer = nr.auto(POOL, deterministic=True)
    with pytest.raises(TellError, match="deterministic=True the same candidate always has"):
        optimizer.tell([4, 4], [0.5, 0.9])
    assert optimizer.evaluations == 0
