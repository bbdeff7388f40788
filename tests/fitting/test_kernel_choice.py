"""Features are recognised for what they are: numbers, codes or bits."""

from __future__ import annotations

import numpy as np
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.arrays import Matrix
from noregret.fitting import Family, FitConstants, Fixed, Grouped, Joint, family_for
from noregret.pools import Domain, Points


def chosen(pool: Domain) -> tuple[Family, tuple[str, ...]]:
    return family_for(Points(pool))


def one_hot(levels: list[int], rows: int, rng: np.random.Generator) -> Matrix:
    """Codes in which every level occurs."""
    blocks = []
    for count in levels:
        codes = np.concatenate([np.arange(count), rng.integers(count, size=rows - count)])
        blocks.append(np.eye(count)[rng.permutation(codes)])
    return np.concatenate(blocks, axis=1)


@given(st.lists(st.integers(2, 5), min_size=1, max_size=4), st.integers(0, 3), st.integers(0, 99))
def test_one_hot_columns_are_found_among_numbers(levels: list[int], d: int, seed: int) -> None:
    """A matrix of features says nothing of codes; each code still gets one lengthscale."""
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.random((40, d)), one_hot(levels, 40, rng)], axis=1)
    family, names = chosen(nr.Pool(X))
    groups = np.repeat(np.arange(len(levels)), levels)
    assert family.size == len(names) == d + len(levels)
    if d:
        assert isinstance(family, Joint)
        np.testing.assert_array_equal(family.codes.groups, groups)
        np.testing.assert_array_equal(family.which, [0] * d + [1] * sum(levels))
    else:
        assert isinstance(family, Grouped)
        assert family.shape == "smooth"
        np.testing.assert_array_equal(family.groups, groups)


def test_a_code_behind_free_bits_is_found() -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.integers(2, size=(60, 2)), one_hot([4], 60, rng)], axis=1)
    family, names = chosen(nr.Pool(X))
    assert isinstance(family, Joint)
    assert names == ("feature 0", "feature 1", "features 2 to 5")


def test_what_is_a_code_in_some_rows_only_is_none() -> None:
    """Codes are looked for in some rows, and asked of all."""
    X = np.tile([[1.0, 0.0], [0.0, 1.0]], (1000, 1))
    X[777] = [1.0, 1.0]
    family, names = chosen(nr.Pool(X))
    assert isinstance(family, Grouped)
    assert family.shape == "rough"
    assert names == ("feature 0", "feature 1")


def test_tables_name_their_columns() -> None:
    table = pyarrow.table(
        {"salt": ["KF", "CsF", "KF"], "heat": [20, 40, 30], "base": ["a", "b", "c"]}
    )
    family, names = chosen(nr.Pool.from_frame(table))
    assert isinstance(family, Joint)
    assert names == ("heat", "salt", "base")


def test_bits_are_compared_by_tanimoto() -> None:
    family, names = chosen(nr.BitPool([[1, 1, 0], [0, 1, 1]]))
    assert isinstance(family, Fixed)
    assert names == ()


def test_many_features_share_a_lengthscale() -> None:
    """A few hundred values cannot tell a thousand lengthscales apart."""
    points = Points(nr.Pool(np.random.default_rng(0).random((30, 5))))
    family, names = family_for(points, FitConstants(most_lengthscales=4))
    assert family.size == 1
    assert names == ("all numbers",)


def test_a_far_value_does_not_stretch_a_feature() -> None:
    """One block with 39 000 rooms must not make all others alike."""
    x = np.append(np.linspace(0, 1, 999), 1e4)[:, None]
    family, _ = chosen(nr.Pool(x))
    assert isinstance(family, Grouped)
    assert family.span[0] < 0.2e4
    even, _ = chosen(nr.Pool(x[:-1]))
    assert isinstance(even, Grouped)
    assert even.span[0] == pytest.approx(1.0, rel=0.01)


def test_a_box_is_a_cube() -> None:
    family, names = chosen(nr.Box([(-5, 10), (0, 15)]))
    assert isinstance(family, Grouped)
    np.testing.assert_array_equal(family.span, [1.0, 1.0])
    assert names == ("feature 0", "feature 1")


def test_one_candidate_will_do() -> None:
    family, _ = chosen(nr.Pool([[0.3, 0.7]]))
    assert family.size == 2
