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


RNG = np.random.default_rng(0)
CODED = np.concatenate([RNG.integers(2, size=(60, 2)), one_hot([4], 60, RNG)], axis=1)
NEARLY = np.tile([[1.0, 0.0], [0.0, 1.0]], (1000, 1))
NEARLY[777] = 1.0
TABLE = pyarrow.table({"salt": ["KF", "CsF", "KF"], "heat": [20, 40, 30], "base": ["a", "b", "c"]})
TWO = ("feature 0", "feature 1")
CHOICES: dict[str, tuple[Domain, object, tuple[str, ...]]] = {
    "a code behind free bits": (nr.Pool(CODED), Joint, (*TWO, "features 2 to 5")),
    # Codes are looked for in some rows, and asked of all.
    "a code in some rows only": (nr.Pool(NEARLY), "rough", TWO),
    "columns of a table": (nr.Pool.from_frame(TABLE), Joint, ("heat", "salt", "base")),
    "bits": (nr.BitPool([[1, 1, 0], [0, 1, 1]]), Fixed, ()),
    "a box": (nr.Box([(-5, 10), (0, 15)]), "rough", TWO),
    "one candidate": (nr.Pool([[0.3, 0.7]]), "rough", TWO),
}


@pytest.mark.parametrize(("domain", "kind", "expected"), CHOICES.values(), ids=CHOICES)
def test_features_are_seen_as_what_they_are(
    domain: Domain, kind: object, expected: tuple[str, ...]
) -> None:
    """By the class of the family, or the shape of numbers, and named as a user knows them."""
    family, names = chosen(domain)
    assert (family.shape if isinstance(family, Grouped) else type(family)) == kind
    assert names == expected
    if isinstance(domain, nr.Box):
        assert isinstance(family, Grouped)
        np.testing.assert_array_equal(family.span, [1.0, 1.0])


def test_many_features_share_a_lengthscale() -> None:
    """A few hundred values cannot tell a thousand lengthscales apart."""
    points = Points(nr.Pool(np.random.default_rng(0).random((30, 5))))
    family, names = family_for(points, FitConstants(most_lengthscales=4))
    assert family.size == 1
    assert names == ("all numbers",)


def test_a_far_value_does_not_stretch_a_feature() -> None:
    """One block with 39 000 rooms must not make all others alike."""
    x = np.append(np.linspace(0, 1, 999), 1e4)[:, None]
    far, even = chosen(nr.Pool(x))[0], chosen(nr.Pool(x[:-1]))[0]
    assert isinstance(far, Grouped)
    assert isinstance(even, Grouped)
    assert far.span[0] < 0.2e4
    assert even.span[0] == pytest.approx(1.0, rel=0.01)
