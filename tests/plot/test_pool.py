"""Pools in the plane: features, components, fingerprints, boxes."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.collections import PathCollection, PolyCollection, QuadMesh

import noregret as nr
from drawn import KERNEL, F, X, labelled, xy
from noregret.plot import pool, projections, style

pytestmark = pytest.mark.usefixtures("closed")


@pytest.mark.parametrize("goal", ["max", "min"])
def test_a_plane_holds_every_candidate_in_its_colour(goal: Literal["max", "min"]) -> None:
    optimizer = nr.gp_ucb(nr.Pool(X), kernel=KERNEL, noise_std=0.3, goal=goal)
    for _ in range(6):
        batch = optimizer.ask()
        optimizer.tell(batch, F[batch.ids])
    ax = nr.plot.pool2d(optimizer, features=["acid", "base"], unit="%")
    everyone = next(c for c in ax.collections if isinstance(c, PathCollection))
    means = optimizer.posterior.mean(X)
    order = np.argsort(means if goal == "max" else -means, kind="stable")
    np.testing.assert_allclose(xy(everyone), X[order])
    np.testing.assert_allclose(np.asarray(everyone.get_array()), means[order], rtol=1e-10)
    colours = np.asarray(everyone.to_rgba(np.sort(means)))[:, :3].sum(axis=1)
    assert (np.diff(colours) <= 1e-9).all() == (goal == "max")
    rings, evaluated = labelled(ax, "evaluated"), optimizer.evaluated
    np.testing.assert_allclose(xy(rings), evaluated.x)
    np.testing.assert_allclose(rings.get_sizes(), style.sizes(evaluated.evaluations))
    np.testing.assert_allclose(rings.get_array(), optimizer.posterior.mean(evaluated.x), rtol=1e-10)
    assert rings.norm is everyone.norm
    best = labelled(ax, "recommended")
    np.testing.assert_allclose(np.ravel(best.get_xydata()), optimizer.best().x)
    following = labelled(ax, "next choice")
    np.testing.assert_allclose(np.ravel(following.get_xydata()), optimizer.peek().x[0])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("acid", "base")
    assert ax.figure.axes[1].get_ylabel() == "posterior mean (%)"


def test_components_are_those_of_a_singular_value_decomposition() -> None:
    """Of features scaled to unit variance, up to a sign; a constant one counts for nothing."""
    rng = np.random.default_rng(0)
    wide = np.concatenate([rng.standard_normal((60, 3)) @ rng.standard_normal((3, 4)) * 1e3,
                           np.full((60, 1), 7.0)], axis=1)  # fmt: skip
    ax = nr.plot.pool2d(nr.uniform(nr.Pool(wide)))
    (dots,) = (c for c in ax.collections if isinstance(c, PathCollection) and len(xy(c)) == 60)
    Z = (wide - wide.mean(axis=0)) / [*wide.std(axis=0)[:4], 1.0]
    U, s, _ = np.linalg.svd(Z, full_matrices=False)
    for at in range(2):
        expected, drawn = U[:, at] * s[at], xy(dots)[:, at]
        np.testing.assert_allclose(
            drawn * np.sign(drawn @ expected), expected, rtol=1e-6, atol=1e-6
        )
    share = 100 * s**2 / (s**2).sum()
    assert ax.get_xlabel() == f"first component ({share[0]:.0f} % of the variance)"
    assert ax.get_ylabel() == f"second component ({share[1]:.0f} %)"


def test_components_of_many_features_are_found_from_some_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wide = np.random.default_rng(1).random((300, 5)) * [9.0, 1.0, 1.0, 1.0, 1.0]
    monkeypatch.setattr(projections, "MOST_NUMBERS", 500)
    ax = nr.plot.pool2d(nr.uniform(nr.Pool(wide)))
    few = wide[np.unique(np.linspace(0, 299, 100).astype(np.int64))]
    P = np.linalg.svd((few - few.mean(axis=0)) / few.std(axis=0))[2][:2].T
    expected = ((wide - few.mean(axis=0)) / few.std(axis=0)) @ P
    drawn = xy(ax.collections[0])
    np.testing.assert_allclose(np.abs(drawn), np.abs(expected), rtol=1e-6, atol=1e-9)


def test_fingerprints_are_drawn_by_their_bits() -> None:
    """Packed bytes are not features; bits are."""
    bits = np.random.default_rng(3).random((80, 40)) < 0.3
    optimizer = nr.mini_gp_ucb(nr.BitPool(bits), kernel=nr.Tanimoto(), noise_std=0.1)
    optimizer.tell([1, 7], [0.5, 0.9])
    ax = nr.plot.pool2d(optimizer)
    everyone = next(c for c in ax.collections if isinstance(c, PathCollection))
    means = np.sort(optimizer.posterior.mean(bits))
    np.testing.assert_allclose(np.asarray(everyone.get_array()), means, rtol=1e-9)
    Z = (bits - bits.mean(axis=0)) / np.maximum(bits.std(axis=0), 1e-9)
    U, s, _ = np.linalg.svd(Z, full_matrices=False)
    order = np.argsort(optimizer.posterior.mean(bits), kind="stable")
    np.testing.assert_allclose(np.abs(xy(everyone)), np.abs((U * s)[order, :2]), atol=1e-6)
    np.testing.assert_allclose(
        np.abs(xy(labelled(ax, "evaluated"))), np.abs((U * s)[[1, 7], :2]), atol=1e-6
    )


def test_features_are_chosen_and_called_as_in_the_table() -> None:
    """The chemist knows which two matter, a frame the names of its columns."""
    wide = np.random.default_rng(1).random((20, 4))
    ax = nr.plot.pool2d(nr.uniform(nr.Pool(wide)), projection=(3, 1))
    np.testing.assert_allclose(xy(ax.collections[0]), wide[:, [3, 1]])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("feature 3", "feature 1")
    frame = pa.table({"heat": [1.0, 2.0, 4.0], "time": [5.0, 1.0, 2.0]})
    ax = nr.plot.pool2d(nr.uniform(nr.Pool.from_frame(frame)))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("heat", "time")
    single = nr.uniform(nr.Pool.from_frame(frame, features=["heat"]))
    assert nr.plot.posterior1d(single).get_xlabel() == "heat"


def test_a_large_pool_is_averaged_in_hexagons_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A million dots are a black page."""
    rng = np.random.default_rng(2)
    many = rng.random((600, 2))
    optimizer = nr.gp_ucb(nr.Pool(many), kernel=KERNEL, noise_std=0.1)
    optimizer.tell([0, 5], [1.0, -1.0])
    monkeypatch.setattr(pool, "MOST_DOTS", 100)
    ax = nr.plot.pool2d(optimizer)
    (cells,) = (c for c in ax.collections if isinstance(c, PolyCollection))
    means = optimizer.posterior.mean(many)
    shades = np.asarray(cells.get_array())
    assert means.min() <= shades.min() <= shades.max() <= means.max()
    assert ax.get_xlabel() == "feature 0"
    monkeypatch.setattr(projections, "MOST_ROWS", 300)
    assert nr.plot.pool2d(optimizer).get_xlabel() == "feature 0\n300 of 600 candidates"


def test_a_box_is_drawn_as_a_field() -> None:
    box = nr.Box([(0.0, 2.0), (1e-2, 1.0)], log=[1])
    optimizer = nr.gp_ucb(box, kernel=nr.RBF(0.3), noise_std=0.1)
    optimizer.tell([[1.0, 0.1], [0.0, 1.0]], [2.0, 1.0])
    ax = nr.plot.pool2d(optimizer)
    (field,) = (c for c in ax.collections if isinstance(c, QuadMesh))
    corners = np.asarray(field.get_coordinates()).reshape(-1, 2)
    np.testing.assert_allclose(
        np.asarray(field.get_array()).ravel(), optimizer.posterior.mean(corners), rtol=1e-9
    )
    assert corners.min(axis=0) == pytest.approx([0.0, 1e-2])
    assert corners.max(axis=0) == pytest.approx([2.0, 1.0])
    assert (ax.get_xscale(), ax.get_yscale()) == ("linear", "log")
    np.testing.assert_allclose(xy(labelled(ax, "evaluated")), [[1.0, 0.1], [0.0, 1.0]])
