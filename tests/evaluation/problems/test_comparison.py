"""Problems are what their data say: shapes, truths, answers and budgets."""

from __future__ import annotations

import numpy as np
import pytest

import noregret as nr
from evaluation.data.files import Missing
from evaluation.problems import base, comparison
from evaluation.problems.base import Problem, recorded, replicated
from evaluation.problems.candidates import Listing, Parameter, Space, coded, framed, measured
from evaluation.problems.comparison import PROBLEMS, RECORDED, Clicks, problem

COUNTS = {
    **{name: 15_625 for name in PROBLEMS if name.startswith("nasbench201")},
    **{name: 62_208 for name in PROBLEMS if name.startswith("fcnet")},
    **{"nasbench-macro": 6561, "crossed-barrel": 600, "open-bandit": 80, "gb1": 149_361},
    **{"buchwald-hartwig": 3955, "suzuki": 3696, "direct-arylation": 1728, "oer": 8481},
    **{"enamine": 49_706, "abalone": 4177, "cadata": 20_640},
}
BEST = {  # by hand, from the data's description
    **{"gb1": 8.76, "enamine": 9.9, "abalone": 29.0, "cadata": 500_001.0, "oer": -0.34},
    **{"suzuki": 100.0, "fcnet-protein": -np.log(0.2214), "nasbench-macro": 93.13},
}


def line(N: int, **noise: float) -> Problem:
    """Candidates 0 to N − 1, each worth its number."""
    listing = measured(("x",), np.arange(float(N))[:, None])
    return recorded("some", "Some", listing, np.arange(float(N)), **noise)


@pytest.fixture(scope="module", params=COUNTS)
def held(request: pytest.FixtureRequest) -> Problem:
    try:
        made = PROBLEMS[request.param]()
    except Missing as error:
        pytest.skip(str(error))
    assert made.name == request.param
    return made


def test_a_pool_has_its_candidates_and_truths(held: Problem) -> None:
    """A column read as another would be optimised just as well."""
    N = COUNTS[held.name]
    rows = np.arange(N)
    values = held.truth(rows)
    assert held.candidates == N
    assert held.domain.dim == (held.numbers.shape[1] if isinstance(held.domain, nr.Pool) else 256)
    assert held.space.table is not None
    assert held.space.table.shape == (N, len(held.space.parameters))
    assert values.max() == held.best == pytest.approx(BEST.get(held.name, held.best), abs=5e-3)
    assert held.gaps(rows).mean() == pytest.approx(held.uniform)
    assert (held.noise_std > 0) == (held.name not in RECORDED)


def test_answers_scatter_around_the_truth(held: Problem) -> None:
    rng = np.random.default_rng(0)
    rows = np.argsort(held.truth(np.arange(COUNTS[held.name])))[-40:]
    values = np.array([held.feedback(rows, rng) for _ in range(300)])
    spread = np.ptp(values, axis=0)
    assert (spread == 0).all() == (held.noise_std == 0)
    assert held.noise_std or np.array_equal(values[0], held.truth(rows))
    error = (values.mean(axis=0) - held.truth(rows)).mean() / held.uniform
    assert abs(error) < 0.1  # of 12 000 answers, the widest spread being that of clicks


def test_a_member_is_its_own_nearest(held: Problem) -> None:
    """What a peer suggests must be what is evaluated, wherever it is in the pool."""
    assert held.space.table is not None
    for row in (0, 7, COUNTS[held.name] - 1):
        found = held.space.nearest(held.space.table[row])
        assert np.array_equal(held.space.table[found], held.space.table[row])
        assert found <= row


def test_groups_cover_the_columns(held: Problem) -> None:
    if held.groups is not None:
        columns = [column for group in held.groups for column in group]
        assert sorted(columns) == list(range(held.domain.dim))


def test_noise_is_a_twentieth_of_the_range(monkeypatch: pytest.MonkeyPatch) -> None:
    some = "Some", measured(("x",), np.arange(3.0)[:, None]), np.array([1.0, 5.0, 21.0])
    monkeypatch.setitem(RECORDED, "some", lambda: some)
    exact, noisy = comparison.as_recorded("some"), comparison.with_noise("some")
    assert (exact.noise_std, noisy.noise_std, noisy.name) == (0, 1.0, "some-noisy")
    answers = noisy.feedback(np.full(10_000, 2), np.random.default_rng(0))
    assert answers.std() == pytest.approx(1.0, abs=0.03)


def test_budgets_end_at_the_candidates_without_noise() -> None:
    """Nothing is left to learn once all was seen, unless answers scatter."""
    assert line(200).budgets == (50, 200)
    assert line(200, noise=base.NOISE).budgets == base.BUDGETS
    assert problem("branin").budgets == base.BUDGETS


def test_the_truth_of_replicates_is_the_mean_of_those_there_are() -> None:
    """A missing run (NaN) is never the answer."""
    listing = measured(("x",), np.arange(2.0)[:, None])
    one = replicated("some", "Some", listing, np.array([[1.0, 2.0, np.nan], [1.0, 2.0, 6.0]]))
    assert one.truth(np.array([0, 1])).tolist() == [1.5, 3.0]
    answers = one.feedback(np.repeat([0, 1], 50), np.random.default_rng(0))
    assert set(answers[:50]) == {1.0, 2.0}
    assert set(answers[50:]) == {1.0, 2.0, 6.0}


def test_clicks_come_at_their_rates() -> None:
    rows = np.repeat([0, 1, 2], 20_000)
    clicked = Clicks(np.array([0.0, 0.03, 1.0]))(rows, np.random.default_rng(0)).reshape(3, -1)
    assert clicked.mean(axis=1) == pytest.approx([0.0, 0.03, 1.0], abs=0.005)


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("branin", [np.pi, 2.275]),
        ("hartmann6", [0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573]),
        ("ackley10", [0.0] * 10),
    ],
)
def test_functions_have_their_known_maxima(name: str, where: list[float]) -> None:
    """Regret is counted from there."""
    function = problem(name)
    assert isinstance(function.domain, nr.Box)
    assert function.truth(np.array([where]))[0] == pytest.approx(function.best, abs=1e-5)
    drawn = function.domain.shown(function.domain.sample(4000, np.random.default_rng(1)))
    assert function.truth(drawn).max() < function.best
    assert function.gaps(drawn).mean() == pytest.approx(function.uniform, rel=0.05)
    assert function.noise_std == pytest.approx(0.05 * (function.best - function.worst))


def test_a_box_speaks_in_points_and_a_pool_in_rows() -> None:
    for held, shape in ((problem("branin"), (4, 2)), (line(9), (4,))):
        opt = nr.uniform(held.domain, batch_size=4)
        batch = opt.ask()
        points = held.batch(batch)
        opt.tell(batch, held.truth(points))
        assert points.shape == shape
        assert held.truth(held.recommended(opt.best())).tolist() == [held.truth(points).max()]


def test_the_order_of_a_table_tells_nothing() -> None:
    """Ties go to the first row: of a table that is sorted by value, that would be the best."""
    held = line(400)
    assert isinstance(held.domain, nr.Pool)
    assert held.order is not None
    assert held.domain.X[:, 0].tolist() == held.order.tolist()
    assert held.numbers[:, 0].tolist() == list(range(400))
    assert abs(np.corrcoef(np.arange(400), held.truth(held.order))[0, 1]) < 0.1
    opt = nr.uniform(held.domain)
    opt.tell([7], [3.0])
    assert held.recommended(opt.best()).tolist() == [held.order[7]]


def test_codes_become_one_hot_columns() -> None:
    listing = coded(("a", "b"), ("u", "v", "w"), np.array([[0, 2], [1, 1]], dtype=np.uint8))
    assert isinstance(listing.pool, nr.Pool)
    rows = np.array([[1, 0, 0, 0, 0, 1], [0, 1, 0, 0, 1, 0]])
    assert listing.pool.X.tolist() == rows[listing.order].tolist()
    assert listing.groups == ((0, 1, 2), (3, 4, 5))
    assert [one.levels for one in listing.space.parameters] == [("u", "v"), ("v", "w")]


def test_tables_keep_numbers_and_spread_words() -> None:
    listing = framed({"salt": ["KF", "CsF", "KF"], "heat": np.array([20.0, 40.0, 80.0])})
    assert isinstance(listing.pool, nr.Pool)
    rows = np.array([[0, 1, 20], [1, 0, 40], [0, 1, 80]])
    assert listing.pool.X.tolist() == rows[listing.order].tolist()
    assert listing.groups == ((0, 1), (2,))


RATES = Space.of(
    {"rate": np.array([0.001, 0.001, 0.1, 0.1]), "act": ["relu", "tanh"] * 2}, log=["rate"]
)
# (u, 0) is missing: u with another number is nearer than v with the same one.
MIXED = Space.of({"c": ["u", "v"], "x": np.array([0.9, 0.0])})


@pytest.mark.parametrize(
    ("space", "point", "row"),
    [
        *((RATES, [0.001, 0], 0), (RATES, [0.1, 1], 3), (RATES, [0.05, 0], 2)),
        *((RATES, [0.009, 1], 1), (RATES, [0.011, 1], 3)),  # around the middle of the logarithms
        *((MIXED, [0.0, 0.1], 0), (MIXED, [0.0, -0.1], 1)),
        (Space.of({"x": np.array([2.0, 2.0])}), [2.0], 0),
    ],
)
def test_the_nearest_member_by_scaled_numbers_and_equal_categories(
    space: Space, point: list[float], row: int
) -> None:
    assert space.nearest(np.array(point)) == row


def test_a_constant_number_is_no_distance() -> None:
    assert Parameter("x", 2.0, 2.0).unit(np.array([2.0])).tolist() == [0.0]


def test_bits_are_described_by_other_numbers() -> None:
    """Who cannot take fingerprints takes descriptors."""
    described = measured(("weight",), np.array([[1.0], [2.0]])).space
    bits = nr.BitPool([[1, 0], [0, 1]])
    one = recorded("some", "Some", Listing(bits, described, np.arange(2)), np.array([0.0, 1.0]))
    assert one.numbers.tolist() == [[1.0], [2.0]]
