"""Evaluations of different noise: weights of unique points against one row per evaluation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import noregret as nr
from noregret.arrays import Indices, Matrix, Vector
from noregret.kernels import Kernel
from noregret.posteriors import ExactPosterior, Observations, subset
from noregret.posteriors.base import merged
from noregret.posteriors.dictionary import Oversample
from noregret.widths import Information, WidthInputs
from slow_references import DenseGP, DenseNystrom
from strategies import exact_prior, kernels, no_rng, nystrom_prior, told

CLOSE = 1e-9
EVALUATIONS = 14


@dataclass(frozen=True)
class Instruments:
    """Evaluations in the order told, each with its noise in multiples of the run's."""

    kernel: Kernel
    ridge: float
    pool: Matrix
    rows: Indices  # (t,)
    values: Vector  # (t,)
    noise: Vector  # (t,) ξ_s/ξ

    def points(self, t: int = EVALUATIONS) -> Observations:
        """What a ledger tells after t of them: a plain sum over each row."""
        rows = np.array(list(dict.fromkeys(self.rows[:t].tolist())), dtype=np.int64)
        its = [np.flatnonzero(self.rows[:t] == row) for row in rows]
        w = np.array([sum(1 / self.noise[i] ** 2 for i in at) for at in its])
        y = np.array([sum(self.values[i] / self.noise[i] ** 2 for i in at) for at in its]) / w
        counts = np.array([float(len(at)) for at in its])
        return Observations(rows, self.pool[rows], w, y, counts)

    def dense(self, t: int = EVALUATIONS) -> DenseGP:
        X = self.pool[self.rows[:t]]
        return DenseGP(self.kernel, self.ridge, X, self.values[:t], self.noise[:t] ** 2)


@st.composite
def instruments(draw: st.DrawFn) -> Instruments:
    """Two or more instruments, up to a hundred times as far apart in variance."""
    dim = draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    kernel, ridge = draw(kernels(dim)), draw(st.floats(0.05, 4.0))
    pool, rows = rng.standard_normal((16, dim)), rng.integers(0, 6, EVALUATIONS)
    noise = np.exp(rng.uniform(np.log(0.3), np.log(3.0), EVALUATIONS))
    if draw(st.booleans()):  # two of them
        noise = np.where(rng.random(EVALUATIONS) < 0.5, 1.0, noise[0])
    return Instruments(kernel, ridge, pool, rows, rng.standard_normal(EVALUATIONS), noise)


def agree(actual: Vector | float, expected: Vector | float, tolerance: float = CLOSE) -> None:
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)


@given(instruments(), st.lists(st.integers(1, EVALUATIONS), max_size=3))
def test_weights_are_the_dense_heteroscedastic_gp(scene: Instruments, stops: list[int]) -> None:
    """A precise instrument must count as much as its noise says, however its values come in."""
    posterior = exact_prior(scene.kernel, scene.ridge, scene.pool.shape[1])
    for t in [*sorted(stops), EVALUATIONS]:
        posterior, dense = told(posterior, scene.points(t)), scene.dense(t)
        mean, variance = posterior.marginals(scene.pool)
        agree(mean, dense.mean(scene.pool))
        agree(variance, dense.variance(scene.pool))
        agree(posterior.covariance(scene.pool, scene.pool), dense.covariance(*[scene.pool] * 2))
        agree(posterior.log_det, dense.log_det())
        agree(posterior.effective_dimension(), dense.effective_dimension())
        at = scene.points(t).X
        for carried, expected in zip(
            posterior.at_points(), (dense.mean(at), dense.variance(at)), strict=True
        ):
            agree(carried, expected)


@given(instruments(), st.integers(0, 15), st.integers(1, 5))
def test_what_is_under_way_has_the_noise_of_the_run(
    scene: Instruments, row: int, count: int
) -> None:
    """Which instrument will be taken is not known: a batch is planned with the ordinary one."""
    stale = told(exact_prior(scene.kernel, scene.ridge, scene.pool.shape[1]), scene.points())
    now = stale.hallucinate(np.array([row]), scene.pool[[row]], np.array([float(count)]))
    rows, noise = np.append(scene.rows, [row] * count), np.append(scene.noise, np.ones(count))
    y = np.zeros(len(rows))
    dense = DenseGP(scene.kernel, scene.ridge, scene.pool[rows], y, noise**2)
    agree(now.variance(scene.pool), dense.variance(scene.pool))
    agree(now.mean(scene.pool), stale.mean(scene.pool))


@given(instruments(), st.integers(1, 6))
def test_a_dictionary_sees_weights_too(scene: Instruments, size: int) -> None:
    """BBKB's equations with a row √w·z per evaluation."""
    p = scene.points()
    S = subset(p, np.arange(min(size, len(p))))
    assume(np.linalg.cond(scene.kernel(S.X, S.X)) < 1e6)
    posterior = nystrom_prior(scene.kernel, scene.ridge, scene.pool.shape[1]).rebuilt(p, S)
    dense = DenseNystrom(
        scene.kernel, scene.ridge, S.X, scene.pool[scene.rows], scene.values, scene.noise**2
    )
    mean, variance = posterior.marginals(scene.pool)
    agree(mean, dense.mean(scene.pool), 1e-7)  # the twin's root of K_S loses some digits
    agree(variance, dense.variance(scene.pool), 1e-7)
    agree(posterior.log_det, np.linalg.slogdet(dense.V / scene.ridge)[1], 1e-7)
    variances = dense.variance(scene.pool[scene.rows])
    agree(posterior.effective_dimension(), (variances / scene.noise**2).sum() / scene.ridge, 1e-7)
    rows = 100 + np.arange(EVALUATIONS)  # none of the dictionary's
    alone = Observations(rows, scene.pool[scene.rows], scene.noise**-2, scene.values)
    each = nystrom_prior(scene.kernel, scene.ridge, scene.pool.shape[1]).rebuilt(alone, S)
    agree(mean, each.mean(scene.pool))  # one row per evaluation, by the same algebra
    agree(variance, each.variance(scene.pool))
    agree(posterior.log_det, each.log_det)


@given(instruments())
def test_bounds_on_the_information_hold_with_weights(scene: Instruments) -> None:
    """Widths rest on them: a precise value teaches more than a coarse one."""
    L, w, lam = scene.dense().log_det(), scene.noise**-2, scene.ridge
    prior = exact_prior(scene.kernel, scene.ridge, scene.pool.shape[1])
    posterior, information = told(prior, scene.points()), Information()
    kappa2 = float(scene.kernel.diagonal(scene.pool).max())
    for weight, variance in zip(w, prior.variance(scene.pool[scene.rows]), strict=True):
        information = information.plus(float(weight * variance) / lam, times=1)
    assert information.plain >= L * (1 - CLOSE)
    inputs = WidthInputs(posterior, 16, EVALUATIONS, 1.0, information)
    agree(inputs.weight, w.sum())
    growth = 1 + np.log1p(kappa2 * inputs.weight / lam)
    assert growth * posterior.effective_dimension() >= L * (1 - CLOSE)
    beta = nr.BKBWidth(0.1, kappa2).beta(inputs)
    noise = np.sqrt(2 * (3 * growth * posterior.effective_dimension() + np.log(10)))
    agree(beta, noise + 1 + np.sqrt(2))


def test_oversampling_grows_with_evaluations_not_with_weights(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At most one dictionary is drawn per evaluation, and rows are as many, whatever they weigh.

    With 300 evaluations of weight 0.01 each the draw would be as if there were three.
    """
    points = Observations(
        np.arange(3), np.arange(3.0)[:, None], np.ones(3), np.zeros(3), np.full(3, 100.0)
    )
    open_ = Observations(np.array([2, 7]), np.array([[2.0], [7.0]]), np.full(2, 2.0), np.zeros(2))
    asked: list[int] = []

    def at(self: Oversample, t: int) -> float:
        asked.append(t)
        return self.value

    monkeypatch.setattr(Oversample, "at", at)
    nystrom_prior(nr.RBF(1.0), 0.1, dim=1).condition(points, open_, no_rng())
    assert asked == [304]
    assert merged(points, open_).counts.tolist() == [100.0, 100.0, 102.0, 2.0]
    assert merged(points, open_).w.tolist() == [1.0, 1.0, 3.0, 2.0]


def test_plain_evaluations_count_as_often_as_they_weigh() -> None:
    points = Observations(np.arange(2), np.zeros((2, 1)), np.array([3.0, 1.0]), np.zeros(2))
    assert points.counts.tolist() == [3.0, 1.0]
    assert subset(points, np.array([1])).evaluations is None
    assert (
        nr.RKHSWidth()
        .assumptions(WidthInputs(_posterior(points), 9, 4, 1.0, Information()))[1]
        .statement.endswith("noise_std = 1")
    )


def test_a_certificate_says_that_noise_was_told() -> None:
    counts = np.array([1.0, 1.0])
    points = Observations(np.arange(2), np.eye(2)[:, :1], np.array([4.0, 1.0]), np.zeros(2), counts)
    inputs = WidthInputs(_posterior(points), 9, 2, 1.0, Information())
    for width in (nr.RKHSWidth(), nr.BayesianWidth(), nr.BKBWidth(), nr.EIWidth()):
        said = [each.statement for each in width.assumptions(inputs)]
        end = "noise_std = 1, or as told of a value, and known before it"
        assert [text.endswith(end) for text in said if text.startswith("noise")] == [True]


def _posterior(points: Observations) -> ExactPosterior:
    return told(exact_prior(nr.RBF(1.0), 1.0, dim=1), points)


@pytest.mark.parametrize("weight", [1e-12, 1e-6, 1e6, 1e12])
def test_weights_far_from_one_are_believed_within_rounding(weight: float) -> None:
    """The coarsest gauge beside the finest: neither may spoil the other."""
    X = np.array([[0.0], [0.3], [2.0]])
    w, y = np.array([1.0, weight, 1.0]), np.array([0.5, -0.2, 1.0])
    prior = exact_prior(nr.RBF(1.0), 0.1, dim=1)
    one = Observations(np.arange(1), X[:1], w[:1], y[:1], np.ones(1))
    points = Observations(np.arange(3), X, w, y, np.ones(3))
    dense = DenseGP(nr.RBF(1.0), 0.1, X, y, 1 / w)
    for posterior in (told(prior, points), told(told(prior, one), points)):
        agree(posterior.mean(X), dense.mean(X), 1e-9)
        agree(posterior.variance(X), np.maximum(dense.variance(X), 0.0), 1e-9)
