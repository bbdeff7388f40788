"""Random search, tuned ε-greedy and LinUCB."""

from __future__ import annotations

import math

import numpy as np
import pytest

import noregret as nr
from noregret.arrays import Matrix, Vector
from noregret.policies import EPSILON_GRID

POOL = nr.Pool(np.linspace(0, 1, 7)[:, None])


def test_random_search_sees_all_before_any_twice() -> None:
    """Round by round, in an order that differs from round to round."""
    optimizer, rows = nr.random_search(POOL, batch_size=3, seed=1), list[int]()
    while len(rows) < 21:
        batch = optimizer.ask()
        rows += batch.sequence.astype(np.int64).tolist()
        optimizer.tell(batch, np.zeros(len(batch)))
    rounds = [rows[at : at + 7] for at in (0, 7, 14)]
    assert all(sorted(some) == list(range(7)) for some in rounds)
    assert rounds[0] != rounds[1] != rounds[2]
    one = nr.random_search(nr.Pool([[0.5]]), batch_size=4)
    assert one.ask().sequence.tolist() == [0, 0, 0, 0]


def test_random_search_is_uniform() -> None:
    """Every candidate is as likely as any other to come first, or last."""
    draws = [nr.random_search(POOL, batch_size=7, seed=seed).ask().ids for seed in range(700)]
    for place in (0, 6):
        counts = np.bincount([int(ids[place]) for ids in draws], minlength=7)
        chi2 = float(((counts - 100.0) ** 2 / 100.0).sum())
        assert chi2 < 6 + 4 * np.sqrt(12)  # four deviations of χ² with 6 degrees


def test_random_search_minds_what_is_open_excluded_or_failed() -> None:
    """Two workers do not share a candidate; a failed one may come again, an excluded one not."""
    for seed in range(10):
        optimizer = nr.random_search(POOL, batch_size=2, seed=seed)
        optimizer.exclude([0, 4])
        first, second = optimizer.ask(worker="a"), optimizer.ask(worker="b")
        assert len({*first.ids.tolist(), *second.ids.tolist()} - {0, 4}) == 4
    optimizer.tell(first, [0.0, 0.0])
    optimizer.fail(second)
    rest = set()
    for _ in range(2):
        batch = optimizer.ask(at_most=2)
        rest |= set(batch.ids.tolist())
        optimizer.tell(batch, np.zeros(len(batch)))
    assert rest >= set(second.ids.tolist())


def test_random_search_on_a_box() -> None:
    """Real numbers never come twice; few whole numbers come round by round."""
    box = nr.Box([(0, 3), (0, 2)], integer=[0, 1])  # twelve points
    optimizer, seen = nr.random_search(box, batch_size=4, seed=2), list[tuple[float, ...]]()
    for _ in range(3):
        batch = optimizer.ask()
        seen += [tuple(x.tolist()) for x in batch]
        optimizer.tell(batch, np.zeros(4))
    assert len(set(seen)) >= 11  # the last of twelve may hide from 64 draws, rarely
    optimizer.tell(optimizer.ask(), np.zeros(4))
    real = nr.random_search(nr.Box([(0, 1)]), batch_size=1000)
    assert len(np.unique(real.ask().x)) == 1000


def test_the_grid_is_the_papers() -> None:
    """MINI 2022, B.1: a ∈ {0.1, 1, 10}, b ∈ {1/3, 1/2, 1, 2}."""
    settings = {(setting["a"], setting["b"]) for setting in EPSILON_GRID}
    assert settings == {(a, b) for a in (0.1, 1, 10) for b in (1 / 3, 1 / 2, 1, 2)}
    assert len(EPSILON_GRID) == 12


def test_tuning_averages_over_seeds_and_takes_the_lowest() -> None:
    """The mean of every setting is reported, ties go to the first."""
    calls: list[tuple[int, float]] = []

    def regret(seed: int, a: float) -> float:
        calls.append((seed, a))
        return abs(a - 2) + (seed - 1) * 0.1

    tuned = nr.tune(regret, grid=[{"a": 4.0}, {"a": 1.0}, {"a": 3.0}], seeds=[0, 1, 2, 5])
    assert tuned.setting == {"a": 1.0}
    np.testing.assert_allclose(tuned.regrets, [2.1, 1.1, 1.1])
    assert tuned.regret == min(tuned.regrets)
    assert len(calls) == 12


def test_tuned_epsilon_greedy_is_no_worse_than_any_other() -> None:
    """The whole grid on a noisy line, by the loop a user would write."""
    values = np.linspace(0, 1, 20)
    pool = nr.Pool(values[:, None])

    def regret(seed: int, a: float, b: float) -> float:
        optimizer, rng, lost = nr.epsilon_greedy(pool, a=a, b=b, seed=seed), None, 0.0
        rng = np.random.default_rng(seed)
        while optimizer.spent < 60:
            batch = optimizer.ask()
            optimizer.tell(batch, batch.x[:, 0] + 0.1 * rng.standard_normal(1))
            lost += float(1.0 - batch.x[0, 0])
        return lost

    tuned = nr.tune(regret, seeds=range(6))
    assert len(tuned.regrets) == 12
    again = [regret(seed, **tuned.setting) for seed in range(6)]
    assert math.isclose(float(np.mean(again)), min(tuned.regrets))


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"grid": []}, "0 settings"),
        ({"seeds": []}, "0 seeds"),
        ({"grid": [{"a": 1.0}], "seeds": [3]}, r"seed=3.*must be finite"),
    ],
)
def test_tuning_refuses_what_has_no_average(settings: dict[str, object], match: str) -> None:
    """A NaN is neither low nor high."""
    with pytest.raises(nr.NoRegretError, match=match):
        nr.tune(lambda **_: float("nan"), **settings)  # type: ignore[arg-type]  # on purpose


def ridge_regression(
    X: Matrix, rows: list[int], y: list[float], ridge: float
) -> tuple[Vector, ...]:
    """μ and σ of every row by V = λI + Σ x xᵀ, inverted as in a textbook."""
    Z = X[rows]
    V = ridge * np.eye(X.shape[1]) + Z.T @ Z
    theta = np.linalg.solve(V, Z.T @ np.array(y))
    leverage = np.einsum("ij,ij->i", X, np.linalg.solve(V, X.T).T)
    return X @ theta, np.sqrt(ridge * leverage)


@pytest.mark.parametrize("bias", [0.0, 2.0])
def test_lin_ucb_is_ridge_regression_step_by_step(bias: float) -> None:
    """LinUCB of the textbooks chooses the same candidates, also beyond as many as features."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((80, 4))
    X /= np.linalg.norm(X, axis=1)[:, None]
    truth = X @ rng.standard_normal(4)
    lifted = np.hstack([X, np.full((80, 1), np.sqrt(bias))])
    optimizer = nr.lin_ucb(
        nr.Pool(X), noise_std=0.3, bias=bias, width=nr.ConstantWidth(2.0), ridge=0.36, start=[7]
    )
    rows, y = list[int](), list[float]()
    for step in range(40):
        batch = optimizer.ask()
        chosen = int(batch.ids[0])
        if step:
            mu, sd = ridge_regression(lifted, rows, y, 0.36)
            assert chosen == int(np.argmax(mu + 2.0 * sd))
            np.testing.assert_allclose(optimizer.posterior.mean(X), mu, atol=1e-9)
            np.testing.assert_allclose(optimizer.posterior.std(X), sd, atol=1e-7)
        rows.append(chosen)
        y.append(float(truth[chosen] + 0.3 * rng.standard_normal()))
        optimizer.tell(batch, y[-1:])
    assert optimizer.unique > 5  # more than there are parameters


def test_lin_ucb_is_as_wide_as_oful() -> None:
    """β‖x‖_{V⁻¹} with β = ξ√(2 log(det(V/λ)^½/δ)) + √λ·S, in deviations of f."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3))
    optimizer = nr.lin_ucb(nr.Pool(X), noise_std=0.4, ridge=0.7, norm_bound=2.0, delta=0.05)
    optimizer.tell([1, 2, 2, 9], [0.1, 0.2, 0.3, -0.4])
    Z = X[[1, 2, 2, 9]]
    V = 0.7 * np.eye(3) + Z.T @ Z
    log_det = np.linalg.slogdet(V / 0.7)[1]
    oful = 0.4 * np.sqrt(2 * (0.5 * log_det + np.log(1 / 0.05))) + np.sqrt(0.7) * 2.0
    best = optimizer.best()
    row = int(best.id)
    reach = oful * np.sqrt(X[row] @ np.linalg.solve(V, X[row]))
    np.testing.assert_allclose(best.upper - best.mean, reach, rtol=1e-9)


def test_lin_ucb_climbs_a_box() -> None:
    """To the corner that the slope points at, past the origin, where k(x, x) = 0."""
    box = nr.Box([(0, 2), (-1, 1)])
    best = nr.maximize(
        lambda x: 3 * x[0] - x[1], box, algorithm=nr.lin_ucb, budget=30, noise_std=0.1, bias=1.0
    ).best()
    np.testing.assert_allclose(best.x, [2.0, -1.0], atol=1e-6)
    flat = nr.maximize(
        lambda x: -x[0], nr.Box([(0, 1)]), algorithm=nr.lin_ucb, budget=9, noise_std=0.1
    )
    assert flat.best().x[0] < 0.1


def test_lin_ucb_refuses_a_kernel() -> None:
    """It is the linear one."""
    with pytest.raises(TypeError, match="kernel"):
        nr.lin_ucb(POOL, noise_std=0.1, kernel=nr.RBF(1.0))  # type: ignore[call-arg]  # on purpose
