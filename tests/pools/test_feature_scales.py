"""The spread of features, by which distances are measured."""

from __future__ import annotations

import numpy as np
import pytest

import noregret as nr
from noregret import arrays
from noregret.pools import Points, Scales, as_numbers
from strategies import close


def test_scales_are_those_of_the_whole_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chunk forgotten would tilt every distance."""
    X = np.random.default_rng(0).standard_normal((1000, 3)) * [1.0, 1e6, 1e-9] + [0.0, 5e6, 3.0]
    monkeypatch.setattr(arrays, "CHUNK_BYTES", 1)  # 64 rows a chunk
    scales = Scales.of(Points(nr.Pool(X)))
    np.testing.assert_array_equal(scales.low, X.min(axis=0))
    np.testing.assert_array_equal(scales.span, np.ptp(X, axis=0))
    close(scales.deviation / X.std(axis=0), np.ones(3), 1e-7)  # 3 + 1e-9·z has seven digits of z


def test_distances_are_in_deviations_or_in_ranges() -> None:
    """Metres beside nanometres must both count."""
    X = np.random.default_rng(1).standard_normal((50, 2)) * [1e3, 1e-3]
    scales = Scales.of(Points(nr.Pool(X)))
    gaps = X - X[7]
    close(scales.standard_squares(X, X[7]), ((gaps / X.std(axis=0)) ** 2).sum(axis=1))
    close(scales.unit_squares(X, X[7]), ((gaps / np.ptp(X, axis=0)) ** 2).sum(axis=1))


def test_a_feature_that_never_changes_adds_nothing() -> None:
    """0/0 is no distance."""
    X = np.array([[0.1, 1.0], [0.1, 2.0], [0.1, 4.0]])
    scales = Scales.of(Points(nr.Pool(X)))
    assert scales.span[0] == scales.deviation[0] == 0.0
    close(scales.unit_squares(X, X[0]), np.array([0.0, 1 / 9, 1.0]))
    one = Scales.of(Points(nr.Pool([[3.0, 4.0]])))
    close(one.standard_squares(np.array([[3.0, 4.0]]), np.array([3.0, 4.0])), np.zeros(1))


def test_whole_numbers_equally_far_away_are_ties() -> None:
    """On a grid a tie must not be decided by rounding."""
    X = np.arange(11.0)[:, None]
    squares = Scales.of(Points(nr.Pool(X))).standard_squares(X, X[5])
    np.testing.assert_array_equal(squares, squares[::-1])


def test_a_box_is_a_cube() -> None:
    """Its points are kept in [0, 1] already."""
    scales = Scales.of(Points(nr.Box([(0, 10), (1, 100)], log=[1])))
    close(scales.unit_squares(np.array([[0.0, 1.0]]), np.array([0.5, 0.5])), np.array([0.5]))


def test_packed_bits_are_unpacked() -> None:
    """A byte is eight features, not a number up to 255."""
    bits = np.random.default_rng(2).integers(2, size=(5, 16)).astype(np.uint8)
    packed = np.packbits(bits, axis=1)
    np.testing.assert_array_equal(as_numbers(packed.view()), bits.astype(np.float64))  # type: ignore[arg-type]  # packed
