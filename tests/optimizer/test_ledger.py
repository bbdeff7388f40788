"""The ledger against plain Python lists."""

from __future__ import annotations

from itertools import pairwise
from statistics import fmean
from statistics import variance as sample_variance

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noregret.arrays import Indices, Vector
from noregret.optimizer.ledger import Ledger

CANDIDATES = 9
entries = st.lists(st.tuples(st.integers(0, CANDIDATES - 1), st.floats(-1e3, 1e3)), max_size=60)


def split(told: list[tuple[int, float]]) -> tuple[Indices, Vector]:
    rows = np.array([row for row, _ in told], dtype=np.int64)
    return rows, np.array([value for _, value in told], dtype=np.float64)


def grouped(told: list[tuple[int, float]]) -> dict[int, list[float]]:
    plain: dict[int, list[float]] = {}
    for row, value in told:
        plain.setdefault(row, []).append(value)
    return plain


def bits(ledger: Ledger) -> tuple[bytes, ...]:
    parts = (ledger.rows, ledger.counts, ledger.firsts, ledger.sums, ledger.squares)
    return tuple(part.tobytes() for part in parts)


@given(entries)
def test_a_ledger_is_a_dict_of_lists(told: list[tuple[int, float]]) -> None:
    """Everything believed rests on these sums."""
    ledger, plain = Ledger(CANDIDATES), grouped(told)
    ledger.add(*split(told))
    assert ledger.rows.tolist() == list(plain)  # in the order of their first value
    assert ledger.counts.tolist() == [len(values) for values in plain.values()]
    assert (len(ledger), ledger.evaluations) == (len(plain), len(told))
    for i, values in enumerate(plain.values()):
        apart = [value - values[0] for value in values]
        assert ledger.sums[i] == sum(apart)  # added one by one in order, so to the last bit
        assert ledger.squares[i] == sum(v**2 for v in apart)
        assert ledger.averages[i] == pytest.approx(fmean(values), rel=1e-12, abs=1e-10)


@given(entries, st.lists(st.integers(0, 60)))
def test_parts_add_up_to_the_whole_bit_for_bit(
    told: list[tuple[int, float]], cuts: list[int]
) -> None:
    """Otherwise a resumed run would drift from the unbroken one."""
    whole, parts = Ledger(CANDIDATES), Ledger(CANDIDATES)
    whole.add(*split(told))
    edges = [0, *sorted(min(cut, len(told)) for cut in cuts), len(told)]
    for start, stop in pairwise(edges):
        parts.add(*split(told[start:stop]))
    assert bits(parts) == bits(whole)


@given(entries)
def test_variances_are_those_of_the_values(told: list[tuple[int, float]]) -> None:
    """Noise is judged by them; one value says nothing about spread."""
    ledger, plain = Ledger(CANDIDATES), grouped(told)
    ledger.add(*split(told))
    for variance, values in zip(ledger.variances(), plain.values(), strict=True):
        if len(values) == 1:
            assert np.isnan(variance)
            continue
        # A first value far from the others cancels: 60 squares, each rounded to 1e-16 of itself.
        scale = max((v - values[0]) ** 2 for v in values)
        expected = sample_variance(values)  # by fractions, exactly
        assert variance == pytest.approx(expected, rel=1e-9, abs=60 * 1e-15 * scale)
        assert variance >= 0


@given(st.floats(-1e9, 1e9), st.integers(2, 300))
def test_values_that_agree_have_no_spread(value: float, count: int) -> None:
    """Ties and the absence of noise are told from exact numbers, however far these are from 0."""
    ledger = Ledger(1)
    ledger.add(np.zeros(count, dtype=np.int64), np.full(count, value))
    assert ledger.variances().tolist() == [0.0]
    assert ledger.averages.tolist() == [value]


@given(
    st.lists(
        st.tuples(st.integers(0, CANDIDATES - 1), st.floats(-10, 10), st.integers(1, 9)),
        max_size=20,
    )
)
def test_averages_count_as_often_as_they_say(told: list[tuple[int, float, int]]) -> None:
    """A mean of nine scans weighs nine times a single one."""
    averaged, repeated = Ledger(CANDIDATES), Ledger(CANDIDATES)
    rows = np.array([row for row, _, _ in told], dtype=np.int64)
    means = np.array([mean for _, mean, _ in told], dtype=np.float64)
    counts = np.array([count for _, _, count in told], dtype=np.int64)
    averaged.add_means(rows, means, counts)
    repeated.add(np.repeat(rows, counts), np.repeat(means, counts))
    assert averaged.rows.tolist() == repeated.rows.tolist()
    assert averaged.counts.tolist() == repeated.counts.tolist()
    np.testing.assert_allclose(averaged.sums, repeated.sums, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(averaged.squares, repeated.squares, rtol=1e-12, atol=1e-12)


def test_a_ledger_goes_on_from_its_fields() -> None:
    """A loaded run must find the places of its candidates again."""
    first, again = Ledger(5), Ledger(5)
    first.add(np.array([3, 1, 3]), np.array([0.5, 1.0, 0.25]))
    fields = (first.rows, first.counts, first.firsts, first.sums, first.squares, first.entries)
    again = Ledger(5, *fields)
    for ledger in (first, again):
        ledger.add(np.array([1, 4]), np.array([2.0, 3.0]))
    assert bits(again) == bits(first)
    assert first.rows.tolist() == [3, 1, 4]


def test_what_was_given_is_not_written_to() -> None:
    """The array of values may be the user's own."""
    rows, values = np.array([1, 1]), np.array([0.5, 0.25])
    rows.flags.writeable = values.flags.writeable = False
    ledger = Ledger(2)
    ledger.add(rows, values)
    ledger.add(rows, values)
    assert ledger.averages.tolist() == [0.375]


def test_averages_tell_of_the_spread_by_their_own() -> None:
    """Averages of c values scatter by ξ²/c about the truth: with weights, by ξ² again."""
    rng = np.random.default_rng(0)
    ledger = Ledger(1)
    counts = rng.integers(1, 9, 4000)
    means = 3.0 + rng.standard_normal(4000) / np.sqrt(counts)
    ledger.add_means(np.zeros(4000, dtype=np.int64), means, counts)
    assert ledger.entries.tolist() == [4000]
    assert ledger.variances()[0] == pytest.approx(1.0, rel=0.1)


def test_one_average_says_nothing_of_the_spread() -> None:
    ledger = Ledger(1)
    ledger.add_means(np.array([0]), np.array([3.0]), np.array([50]))
    assert np.isnan(ledger.variances()[0])
