"""NAS-Bench-101 is read as it was released, and anything else is refused."""

from __future__ import annotations

import base64
import doctest
import json
import struct
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.data import files as data
from evaluation.data import tfrecords
from evaluation.data.files import Damaged, Missing
from evaluation.problems import nasbench101
from noregret.arrays import Matrix

Runs: TypeAlias = tuple[Matrix, Matrix]  # accuracies and seconds, three of each a cell
N = 30
HASHES = [f"{37 * row:032x}" for row in range(N)]


# A writer of the released format, on its own feet: bit by bit where the reader has a table.


def crc32c(content: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in content:
        for bit in range(8):
            odd = (crc ^ byte >> bit) & 1
            crc = crc >> 1 ^ 0x82F63B78 * odd
    return crc ^ 0xFFFFFFFF


def masked(content: bytes) -> bytes:
    crc = crc32c(content)
    rotated = (crc >> 15) | (crc << 17) % 2**32
    return struct.pack("<I", (rotated + 0xA282EAD8) % 2**32)


def framed(content: bytes, checksum: bytes | None = None) -> bytes:
    length = struct.pack("<Q", len(content))
    return length + masked(length) + content + (masked(content) if checksum is None else checksum)


def varint(value: int) -> bytes:
    low, high = value % 128, value // 128
    return bytes([low + 128]) + varint(high) if high else bytes([low])


def double(number: int, value: float) -> bytes:
    return varint(8 * number + 1) + struct.pack("<d", value)


def nested(number: int, content: bytes) -> bytes:
    return varint(8 * number + 2) + varint(len(content)) + content


def evaluation(epoch: float, seconds: float, accuracy: float) -> bytes:
    numbers = enumerate((epoch, seconds, 0.999, accuracy, 0.111), start=1)
    checkpoint = nested(6, b"/path/of/a/checkpoint" * 10)  # a length of two bytes
    return nested(1, b"".join(double(*one) for one in numbers) + checkpoint)


def metrics(accuracy: float, seconds: float, *, epochs: int = 108) -> bytes:
    start = evaluation(0.0, 0.0, 0.1)
    half_way = evaluation(epochs / 2, seconds / 2, accuracy / 2)
    parameters = varint(8 * 2) + varint(8_555_530)
    return start + half_way + evaluation(epochs, seconds, accuracy) + parameters + double(3, 9e9)


def row(name: str, content: bytes, *, epochs: int = 108) -> bytes:
    operations = "input,conv3x3-bn-relu,maxpool3x3,output"
    encoded = base64.b64encode(content).decode()
    return json.dumps([name, epochs, "0110000100010000", operations, encoded]).encode()


def write(path: Path, hashes: Sequence[str], accuracies: Matrix, seconds: Matrix) -> Path:
    """One repeat after the other, as a sweep over all cells would be written."""
    with path.open("wb") as out:
        for pairs in zip(accuracies.T, seconds.T, strict=True):
            for name, accuracy, took in zip(hashes, *pairs, strict=True):
                out.write(framed(row(name, metrics(accuracy, took))))
    return path


@pytest.fixture
def runs() -> Runs:
    rng = np.random.default_rng(0)
    return rng.uniform(0.5, 0.95, (N, 3)), rng.uniform(500, 3000, (N, 3))


@pytest.fixture
def path(tmp_path: Path, runs: Runs) -> Path:
    """A file with all runs of all cells."""
    return write(tmp_path / "runs.tfrecord", HASHES, *runs)


def write_cells(only_data: Path, hashes: Sequence[str]) -> Matrix:
    X = np.random.default_rng(1).integers(2, size=(len(hashes), 19), dtype=np.uint8)
    X[:, [0, 14]] = 1
    X[0] = 1
    np.savez(only_data / nasbench101.CELLS, X=X, module_hash=np.array(hashes, dtype="S32"))
    return X.astype(np.float64)


@pytest.mark.parametrize(("module", "examples"), [(tfrecords, 1), (nasbench101, 2)])
def test_examples_run(module: ModuleType, examples: int) -> None:
    assert doctest.testmod(module) == (0, examples)


# The format.


@given(st.binary(max_size=200))
def test_the_checksum_is_castagnolis(content: bytes) -> None:
    assert tfrecords.crc32c(content) == crc32c(content)
    assert struct.pack("<I", tfrecords.masked_crc32c(content)) == masked(content)


def test_the_checksum_of_the_standard() -> None:
    """The vectors of RFC 3720 (iSCSI), appendix B.4."""
    vectors = (bytes(32), b"\xff" * 32, bytes(range(32)))
    assert [*map(tfrecords.crc32c, vectors)] == [0x8A9136AA, 0x62A8AB43, 0x46DD794E]


CONTENTS = (  # of fields, with their kind
    st.integers(0, 2**64 - 1).map(lambda value: (0, varint(value))),
    st.binary(min_size=8, max_size=8).map(lambda content: (1, content)),
    st.binary(max_size=300).map(lambda content: (2, content)),
    st.binary(min_size=4, max_size=4).map(lambda content: (5, content)),
)


@given(st.lists(st.tuples(st.integers(1, 2**29 - 1), st.one_of(CONTENTS)), max_size=6))
def test_fields_are_read_as_written(fields: list[tuple[int, tuple[int, bytes]]]) -> None:
    message = b"".join(
        varint(8 * number + kind) + (varint(len(content)) if kind == 2 else b"") + content
        for number, (kind, content) in fields
    )
    expected = [(number, content) for number, (_, content) in fields]
    assert list(nasbench101.fields(message)) == expected


# What is read.


def test_every_repeat_is_read(path: Path, runs: Runs) -> None:
    """In the order of the cells asked for, whatever that of the file."""
    order = np.random.default_rng(2).permutation(N)
    found = nasbench101.outcomes(path, [HASHES[cell] for cell in order])
    np.testing.assert_array_equal(found, [part[order] for part in runs])


def test_other_cells_and_shorter_trainings_are_passed_over(path: Path, runs: Runs) -> None:
    """The full file holds 423 624 cells, each trained for 4, 12, 36 and 108 epochs."""
    others = (
        *(framed(row(HASHES[0], metrics(0.99, 1.0), epochs=epochs)) for epochs in (4, 12, 36)),
        *(framed(row(f"{cell:032x}", metrics(0.99, 1.0))) for cell in (1, 2, 38)),
    )
    path.write_bytes(b"".join(others) + path.read_bytes() + b"".join(others))
    np.testing.assert_array_equal(nasbench101.outcomes(path, HASHES), runs)


def test_the_file_is_never_in_memory_whole(path: Path) -> None:
    """The full one has 2 GB."""
    other = framed(row("f" * 32, bytes(30_000)), checksum=bytes(4))
    with path.open("ab") as stream:
        for _ in range(500):
            stream.write(other)
    assert path.stat().st_size > 20e6
    tracemalloc.start()
    nasbench101.outcomes(path, HASHES)
    assert tracemalloc.get_traced_memory()[1] < 3e6
    tracemalloc.stop()


# What is refused.


def changed(at: int, by: int) -> Callable[[bytes], bytes]:
    return lambda content: content[:at] + bytes([content[at] ^ by]) + content[at:][1:]


LENGTH = struct.pack("<Q", 2**62)
ONE, TWICE = framed(row(HASHES[0], metrics(0.9, 1000.0))), framed(row(HASHES[3], metrics(0.9, 1e3)))
KINDS = (b"", b"[1, 2]", b"5", b"\xff", b'[["a"], 108, "", "", ""]')

GOOD = metrics(0.9, 1000.0)
LACKING = evaluation(0, 0, 0.1) + evaluation(54, 1, 0.2)  # the end of the training
METRICS = (
    *((content, "cannot be read") for content in (b"", LACKING, GOOD[:-1])),
    (LACKING + nested(1, double(2, 5.0)), "cannot be read"),
    (LACKING + nested(1, double(2, 5.0) + nested(4, b"0.9")), "cannot be read"),
    (b"\x0b" + GOOD, "cannot be read"),  # a group: no such kind of field is used
    (b"\xff" * 5, "cannot be read"),  # a number without end
    (metrics(np.nan, 1000.0), "the accuracy is nan"),
    (metrics(92.6, 1000.0), r"the accuracy is 92\.6"),
    (metrics(0.9, np.inf), "after inf seconds"),
    (metrics(0.9, 0.0), r"after 0\.0 seconds"),
)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        # A damaged length, before as many bytes are asked for.
        *((changed(byte, 0x40), "record at byte 0: its length does not") for byte in (0, 7, 8, 11)),
        # Damaged content: a digit that changed would otherwise be an accuracy.
        *((changed(-back, 1), r"in the record at byte \d+") for back in (1, 5, 40, 100)),
        # A download that broke off within a length, a checksum, or what they speak of.
        *(
            (lambda _, kept=kept: ONE + ONE[:kept], f"at byte {len(ONE)}: the file ends within it")
            for kept in (1, 8, 11, 12, 13, 100, len(ONE) - 5, len(ONE) - 4, len(ONE) - 1)
        ),
        # A length beyond the file.
        (lambda _: LENGTH + masked(LENGTH) + b"some", "the file ends within it"),
        # Records of another kind.
        *((lambda _, kind=kind: framed(kind), "not a list of five in JSON") for kind in KINDS),
        # A repeat too many, as in two files put together: their mean would count some runs twice.
        (lambda content: content + TWICE, "1 of 30 cells have 4 trainings"),
        (lambda _: b"", "30 of 30 cells have 0 trainings"),
        # Metrics that say nothing.
        *((lambda _, one=one: framed(row(HASHES[0], one)), why) for one, why in METRICS),
    ],
)
def test_another_file_than_the_released_one_is_refused(
    change: Callable[[bytes], bytes], why: str, path: Path
) -> None:
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(Damaged, match=why) as told:
        nasbench101.outcomes(path, HASHES)
    assert str(told.value).startswith(str(path))


def test_cells_without_outcomes_are_counted(path: Path, runs: Runs) -> None:
    write(path, HASHES[2:], runs[0][2:], runs[1][2:])
    once = framed(row(HASHES[1], metrics(0.9, 1000.0)))
    path.write_bytes(once + path.read_bytes())
    told = rf"2 of 30 cells have 0 or 1 trainings of 108 epochs instead of 3, .* {HASHES[0]}"
    with pytest.raises(Damaged, match=told):
        nasbench101.outcomes(path, HASHES)


# The problem.


@pytest.mark.parametrize("file", [nasbench101.OUTCOMES, nasbench101.ALL_OUTCOMES])
def test_the_problem(file: str, only_data: Path, runs: Runs) -> None:
    X, (accuracies, _) = write_cells(only_data, HASHES), runs
    write(only_data / file, HASHES, *runs)
    problem = nasbench101.nasbench101()
    assert problem.numbers.shape == (N, 17)
    assert problem.seconds is not None
    for found, three_each in zip((problem.values, problem.seconds), runs, strict=True):
        np.testing.assert_allclose(found, [sum(three) / 3 for three in three_each])
    spreads = sorted(np.sqrt(np.sum((three - np.mean(three)) ** 2) / 2) for three in accuracies)
    assert problem.noise_std == pytest.approx(spreads[26] + 0.1 * (spreads[27] - spreads[26]))
    assert problem.groups == tuple((column,) for column in range(17))
    assert set(np.flatnonzero(problem.numbers[5])) == set(np.flatnonzero(np.delete(X[5], [0, 14])))
    drawn = problem.feedback(np.full(300, 4), np.random.default_rng(3))
    assert set(drawn) == set(accuracies[4])


def test_each_half_has_at_most_unit_norm(only_data: Path) -> None:
    """So that adjacency and operations weigh alike; the constant columns are gone."""
    bits = write_cells(only_data, HASHES)
    X = nasbench101.features(bits)
    for half, was in ((X[:, :13], bits[:, 1:14]), (X[:, 13:], bits[:, 15:])):
        assert np.linalg.norm(half, axis=1).max() == pytest.approx(1)
        np.testing.assert_allclose(half * np.sqrt(was.sum(axis=1).max()), was)


def test_without_outcomes_one_is_told(only_data: Path) -> None:
    write_cells(only_data, HASHES)
    with pytest.raises(Missing, match=r"no nasbench_only108\.tfrecord in .*NOREGRET_DATA"):
        nasbench101.nasbench101()


# The cells.

PUBLISHED = [  # a cell of the release, and its name there
    [0, 1, 0, 0, 1, 1, 0],
    [0, 0, 1, 0, 0, 0, 0],
    [0, 0, 0, 1, 0, 0, 1],
    [0, 0, 0, 0, 0, 1, 0],
    [0, 0, 0, 0, 0, 1, 0],
    [0, 0, 0, 0, 0, 0, 1],
    [0, 0, 0, 0, 0, 0, 0],
]
LABELS = [-1, 0, 2, 0, 0, 1, -2]


def test_the_hash_is_the_one_of_the_release() -> None:
    """The name is what outcomes are joined on."""
    assert nasbench101.module_hash(PUBLISHED, LABELS) == "00005c142e6f48ac74fdcf73e3439874"


@given(st.permutations(range(7)))
def test_isomorphic_cells_have_one_name(order: list[int]) -> None:
    turned = np.array(PUBLISHED)[np.ix_(order, order)].tolist()
    labels = [LABELS[vertex] for vertex in order]
    assert nasbench101.module_hash(turned, labels) == nasbench101.module_hash(PUBLISHED, LABELS)
    labels[order.index(5)] = 0
    assert nasbench101.module_hash(turned, labels) != nasbench101.module_hash(PUBLISHED, LABELS)


def released_cells() -> tuple[Matrix, list[str]]:
    if data.find(nasbench101.CELLS) is None:
        pytest.skip(f"no {nasbench101.CELLS} to compare with")
    return nasbench101.all_cells()


@pytest.mark.slow
def test_the_cells_worked_out_are_those_of_the_file(
    only_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the same order, so that a run is the same with the file and without."""
    worked_out = nasbench101.all_cells()
    assert worked_out[0].shape == (12_416, 19)
    monkeypatch.undo()
    assert str(only_data) not in str(data.folders())
    bits, hashes = released_cells()
    np.testing.assert_array_equal(worked_out[0], bits)
    assert worked_out[1] == hashes


def test_outcomes_join_the_true_cells(tmp_path: Path, runs: Runs) -> None:
    bits, hashes = released_cells()
    some = hashes[:: len(hashes) // N][:N]
    path = write(tmp_path / "runs.tfrecord", some, *runs)
    np.testing.assert_array_equal(nasbench101.outcomes(path, some[::-1])[0], runs[0][::-1])
    assert np.flatnonzero(bits.min(axis=0) == bits.max(axis=0)).tolist() == [0, 14]
    with pytest.raises(Damaged, match="12386 of 12416 cells have 0 trainings"):
        nasbench101.outcomes(path, hashes)
