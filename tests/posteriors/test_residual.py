"""What a dictionary leaves out, against dense algebra on every single evaluation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import noregret as nr
from noregret.arrays import Indices
from noregret.posteriors import (
    NystromPosterior,
    Observations,
    mean_shift,
    projection_residual,
    subset,
)
from noregret.posteriors.residual import AT_ONCE, TOGETHER, ProjectionResidual
from slow_references import DenseGP, DenseNystrom, repeated
from strategies import Scene, close, nystrom_prior, scenes

# The twin's pseudo-inverse root loses as many digits as the dictionary's condition number has.
LOOSE = 1e-5


def sparse(scene: Scene, members: Indices) -> NystromPosterior:
    prior = nystrom_prior(scene.kernel, scene.ridge, scene.pool.shape[1])
    return prior.rebuilt(scene.points, subset(scene.points, members))


def dense(scene: Scene, members: Indices) -> DenseNystrom:
    return DenseNystrom(scene.kernel, scene.ridge, scene.points.X[members], *repeated(scene.points))


def well_conditioned(scene: Scene, members: Indices) -> bool:
    S = scene.points.X[members]
    return bool(np.linalg.cond(scene.kernel(S, S)) < 1e8)


some_members = st.sets(st.integers(0, 9), min_size=1, max_size=6)


def chosen(scene: Scene, drawn: set[int]) -> Indices:
    return np.unique(np.array(sorted(drawn)) % len(scene.points))


@given(scenes(), some_members, st.integers(1, 12))
def test_bounds_are_those_of_dense_algebra(scene: Scene, drawn: set[int], together: int) -> None:
    """In one block they are the numbers themselves; in several never less than these."""
    members = chosen(scene, drawn)
    assume(well_conditioned(scene, members))
    R = dense(scene, members).left_out()
    largest, log_det = np.linalg.eigvalsh(R)[-1], np.linalg.slogdet(np.eye(len(R)) + R)[1]
    posterior = sparse(scene, members)
    found = projection_residual(posterior, together)
    slack = LOOSE * (1 + np.trace(R))
    assert largest - slack <= found.largest <= np.trace(R) + slack
    assert log_det - slack <= found.log_det <= np.log1p(np.diag(R)).sum() + slack
    if together >= len(scene.points) - len(members):
        assert found.largest == pytest.approx(largest, rel=LOOSE, abs=slack)
        assert found.log_det == pytest.approx(log_det, rel=LOOSE, abs=slack)


@given(scenes(), some_members)
def test_deviations_are_right_up_to_the_distortion(scene: Scene, drawn: set[int]) -> None:
    """Both sides: what was said of one dictionary, and not of most of those that are drawn."""
    members = chosen(scene, drawn)
    posterior, exact = sparse(scene, members), scene.exact()
    c = projection_residual(posterior).distortion
    ratio = np.sqrt(posterior.variance(scene.pool) / exact.variance(scene.pool))
    assert ratio.max() <= c * (1 + LOOSE)
    assert ratio.min() >= (1 - LOOSE) / c


@given(scenes(), some_members, st.integers(1, 12))
def test_the_mean_lies_no_farther_from_the_exact_one(
    scene: Scene, drawn: set[int], at_once: int
) -> None:
    """D is computed without the exact posterior, and must hold at every candidate."""
    members = chosen(scene, drawn)
    posterior, exact = sparse(scene, members), scene.exact()
    D = mean_shift(posterior, at_once)
    off = np.abs(posterior.mean(scene.pool) - exact.mean(scene.pool))
    assert np.all(off <= D * np.sqrt(exact.variance(scene.pool)) + LOOSE)
    if at_once >= len(scene.points) - len(members) and well_conditioned(scene, members):
        slow = dense(scene, members)
        r = slow.y - slow.mean(slow.X)
        expected = np.sqrt(max(float(r @ slow.left_out() @ r), 0.0) / scene.ridge)
        close(D, expected, 1e-3)


def test_a_bad_dictionary_needs_the_distortion() -> None:
    """Where most is left out deviations are far off, and so are the numbers that say so."""
    scene = Scene.drawn(0, N=60, told=40, kernel=nr.RBF(0.7), ridge=0.05)
    posterior, exact = sparse(scene, np.arange(3)), scene.exact()
    ratio = np.sqrt(posterior.variance(scene.pool) / exact.variance(scene.pool)).max()
    found = projection_residual(posterior)
    assert 2 < ratio <= found.distortion < 20 * ratio
    R = dense(scene, np.arange(3)).left_out()
    assert found.largest == pytest.approx(np.linalg.eigvalsh(R)[-1], rel=LOOSE)


def test_more_points_than_a_block_are_bounded_too() -> None:
    """A thousand points at their real sizes: nothing is patched here."""
    rng = np.random.default_rng(1)
    X = rng.random((AT_ONCE + 200, 2))
    points = Observations(np.arange(len(X)), X, np.ones(len(X)), rng.standard_normal(len(X)))
    scene = Scene(nr.RBF(0.15), 0.5, points, X[:300])
    members = np.arange(60)
    posterior = sparse(scene, members)
    found, R = projection_residual(posterior), dense(scene, members).left_out()
    largest = float(np.linalg.eigvalsh(R)[-1])
    assert len(points) - len(members) > TOGETHER
    assert largest <= found.largest < np.trace(R) * (1 - 1e-3)
    assert np.linalg.slogdet(np.eye(len(R)) + R)[1] <= found.log_det
    assert found.log_det <= np.log1p(np.diag(R)).sum() * (1 + 1e-9)
    exact = DenseGP(scene.kernel, scene.ridge, X, points.y)
    off = np.abs(posterior.mean(scene.pool) - exact.mean(scene.pool))
    assert np.all(off <= mean_shift(posterior) * np.sqrt(exact.variance(scene.pool)))


def test_nothing_is_left_out_where_all_are_members() -> None:
    """Then every bound is that of the exact posterior, to the last digit."""
    scene = Scene.drawn(2, N=30, told=12)
    posterior = sparse(scene, np.arange(12))
    assert projection_residual(posterior) == ProjectionResidual()
    assert projection_residual(posterior).distortion == 1.0
    assert mean_shift(posterior) == 0.0
    assert projection_residual(nystrom_prior(nr.RBF(), 1.0)) == ProjectionResidual()


@given(scenes(), some_members)
def test_of_an_incremental_dictionary_the_trace_is_bound_enough(
    scene: Scene, drawn: set[int]
) -> None:
    """It does not look at all points, and holds one number in place of one a point."""
    members = chosen(scene, drawn)
    prior = replace(sparse(scene, members), incremental=True)
    found = projection_residual(prior.rebuilt(scene.points, subset(scene.points, members)))
    tight = projection_residual(sparse(scene, members))
    assert found.largest >= tight.largest * (1 - LOOSE)
    assert found.log_det >= tight.log_det * (1 - LOOSE)


def test_what_is_left_out_is_computed_once_per_posterior() -> None:
    """A look asks for it several times; another posterior must not be given that of the last."""
    scene = Scene.drawn(3, N=40, told=20)
    one, other = sparse(scene, np.arange(4)), sparse(scene, np.arange(9))
    assert projection_residual(one) is projection_residual(one)
    assert projection_residual(one) == projection_residual(sparse(scene, np.arange(4)))
    assert projection_residual(one) != projection_residual(other)
    more = replace(one, ridge=2 * one.ridge)
    assert projection_residual(more).largest < projection_residual(one).largest
    assert projection_residual(one, together=1) != projection_residual(one)
