"""A pool over an array: keys, rows, fingerprints."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import PoolError

X = np.random.default_rng(0).random((6, 3))
STRINGS = ["salt", "acid", "base", "ether", "water", "ash"]
NUMBERS = [40, -3, 7, 0, 10**12, 1]


@pytest.mark.parametrize("names", [None, STRINGS, NUMBERS, np.array(STRINGS), tuple(NUMBERS)])
def test_find_undoes_keys(names: object) -> None:
    """A value told of `acid` must reach the row of acid."""
    pool, index = nr.Pool(X, names=names), np.array([3, 0, 0, 5, 1])
    keys = pool.keys(index)
    assert pool.find(keys).tolist() == index.tolist()
    assert pool.find(keys[0].item()).tolist() == [3]
    expected = range(6) if names is None else list(names)  # type: ignore[call-overload]  # any of the above
    assert keys.tolist() == [expected[i] for i in index]


@given(
    st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=12, unique=True)
    | st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=12, unique=True),
    st.data(),
)
def test_any_names_are_found(names: list[str] | list[int], data: st.DataObject) -> None:
    """Names come from everywhere: unsorted, one a prefix of another, in any script."""
    # NumPy strings drop trailing NULs, so that names differing only there are not unique.
    stripped = {name.rstrip("\0") if isinstance(name, str) else name for name in names}
    features = np.zeros((len(names), 1))
    if len(stripped) < len(names):
        with pytest.raises(PoolError, match="unique"):
            nr.Pool(features, names=names)
        return
    pool = nr.Pool(features, names=names)
    rows = data.draw(st.lists(st.integers(0, len(names) - 1), max_size=8))
    assert pool.find([names[row] for row in rows]).tolist() == rows
    strange: st.SearchStrategy[object] = st.integers(-5, 5)
    if isinstance(names[0], str):
        strange = st.text(min_size=1, max_size=6).map(lambda text: text.rstrip("\0"))
    other = data.draw(strange)
    if other not in stripped:
        with pytest.raises(PoolError):
            pool.find([names[0], other])


def test_one_unknown_name_among_many_is_named() -> None:
    """Which of a thousand ids was mistyped?"""
    with pytest.raises(PoolError, match="unknown name 'watr'; did you mean 'water'"):
        nr.Pool(X, names=STRINGS).find(["acid", "watr", "salt"])
    with pytest.raises(PoolError, match=r"unknown name '5'"):
        nr.Pool(X, names=NUMBERS).find([40, 5])
    with pytest.raises(PoolError, match="row 6 is outside this pool of 6"):
        nr.Pool(X).find([0, 6])


def test_the_features_are_a_copy() -> None:
    """Scaling the table afterwards must not change what was asked for."""
    source = X.copy()
    pool = nr.Pool(source)
    source[:] = 0
    np.testing.assert_array_equal(pool.X, X)
    with pytest.raises(ValueError, match="read-only"):
        pool.X[0, 0] = 1.0


def test_a_pool_says_how_large_it_is() -> None:
    pool = nr.Pool(X.astype(np.float32))
    np.testing.assert_array_equal(pool.X, X.astype(np.float32))
    assert (len(pool), pool.dim) == (6, 3)
    assert repr(pool) == "Pool(6 candidates × 3 features)"
    assert repr(nr.Pool(X, names=STRINGS)) == "Pool(6 candidates × 3 features, named)"


SMALL = [40, 3, 7, 0, 12, 1]


@pytest.mark.parametrize(
    ("same", "names"),
    [
        (nr.Pool(X.tolist(), names=STRINGS), STRINGS),
        (nr.Pool(np.asfortranarray(X), names=tuple(STRINGS)), STRINGS),
        (nr.Pool(X, names=np.array(STRINGS, dtype=object)), STRINGS),
        (nr.Pool(X, names=np.array(STRINGS, dtype="<U40")), STRINGS),
        (nr.Pool(np.repeat(X, 2, axis=0)[::2], names=np.array(STRINGS)), STRINGS),
        *((nr.Pool(X, names=np.array(SMALL, kind)), SMALL) for kind in ("i1", "i4", "i8", "u2")),
    ],
)
def test_equal_pools_have_equal_fingerprints(same: nr.Pool, names: object) -> None:
    """Read from CSV today and Parquet tomorrow, with int32 or int64: a saved run must still fit."""
    assert same.fingerprint() == nr.Pool(X, names=names).fingerprint()


def test_different_pools_have_different_fingerprints() -> None:
    """A run must not go on with rows that moved, changed or were renamed."""
    pools = [
        nr.Pool(X),
        nr.Pool(X[::-1]),
        nr.Pool(X[:, ::-1]),
        nr.Pool(X.reshape(3, 6)),
        nr.Pool(X.reshape(9, 2)),
        nr.Pool(np.where(X[5, 2] == X, np.nextafter(X, 2), X)),
        nr.Pool(X, names=STRINGS),
        nr.Pool(X, names=STRINGS[::-1]),
        nr.Pool(X, names=range(6)),
        nr.Pool(X, names=[str(i) for i in range(6)]),
        nr.Pool(X, names=["sal", "tacid", *STRINGS[2:]]),
    ]
    assert len({pool.fingerprint() for pool in pools}) == len(pools)
