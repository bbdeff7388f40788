"""NAS-Bench-101: 12 416 cells of a network, each trained three times."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterator, Sequence
from hashlib import md5
from itertools import product
from math import inf
from pathlib import Path
from struct import Struct
from struct import error as StructError

import numpy as np

from evaluation.data.files import Damaged, find, path_of
from evaluation.data.tfrecords import Record, records
from evaluation.problems.base import Problem, replicated
from evaluation.problems.candidates import at_most_unit_norm, blocks, in_order
from noregret.arrays import Matrix

CELLS = "nasbench101_6v_cells_NO_OUTCOMES.npz"
OUTCOMES = "nasbench_only108.tfrecord"
ALL_OUTCOMES = "nasbench_full.tfrecord"  # holds shorter trainings too; it does as well
EPOCHS, REPEATS = 108, 3
EDGES = 15  # adjacency bits, the first of the columns

# Numbers of fields in nasbench/lib/model_metrics.proto, and of evaluations: start, half-way, end.
EVALUATION, TRAINING_TIME, VALIDATION_ACCURACY = 1, 2, 4
END = 2
DOUBLE = Struct("<d")
SIZES = {1: 8, 5: 4}  # of fields, by their kind

# The cells that the papers search: four inner nodes, two operations.
VERTICES = 6  # input, four inner nodes, output
MOST_EDGES = 9
# The benchmark's labels: −1 for the input, −2 for the output, its operations from 0 on.
INPUT, OUTPUT, CONVOLUTION, POOLING = -1, -2, 0, 2


def nasbench101() -> Problem:
    """Return the cells, one of whose three validation accuracies answers an evaluation.

    Needs one of the released files, `nasbench_only108.tfrecord` (523 MB) or
    `nasbench_full.tfrecord`: see `evaluation.data.files`. Reading it takes some seconds.

    Source: Ying et al. (ICML 2019), github.com/google-research/nasbench; the cells and their
    features are those of BBKB (Calandriello et al., ICML 2020), appendix D.2. `noise_std` is the
    90th percentile over the cells of the standard deviation of an evaluation, the oracle of MINI
    (Calandriello et al., ICML 2022).
    """
    bits, hashes = all_cells()
    released = find(OUTCOMES) or find(ALL_OUTCOMES) or path_of(OUTCOMES)
    accuracies, seconds = outcomes(released, hashes)
    X = features(bits)
    listing = in_order(X, blocks(X.shape[1]))
    return replicated("nasbench101", "NAS-Bench-101", listing, accuracies, seconds.mean(axis=1))


def features(bits: Matrix) -> Matrix:
    """Return adjacency and operations, each scaled to at most unit norm: (N, 19) to (N, 17).

    The first and the last adjacency bit are 1 in every cell (the first inner node can only follow
    the input, the last only precede the output), and are dropped.

    Differs: BBKB's section 5 counts d = 19 dimensions "after preprocessing", its appendix D.2 drops
    the two and so leaves 17. We follow the appendix. A constant column changes no distance; what
    it changes is the scale of the adjacency half, √7 against √9 for the most edges.
    """
    adjacency, operations = bits[:, 1 : EDGES - 1], bits[:, EDGES:]
    return np.hstack([at_most_unit_norm(adjacency), at_most_unit_norm(operations)])


def outcomes(path: Path, hashes: Sequence[str]) -> tuple[Matrix, Matrix]:
    """Return final validation accuracies and seconds of training of some cells: (N, 3) each.

    The file is streamed. Every record is parsed, but only those of the cells have their content
    checked against its checksum: to check the others would take most of the time.
    """
    rows = {name: row for row, name in enumerate(hashes)}
    found: list[list[tuple[float, float]]] = [[] for _ in hashes]
    for record in records(path):
        try:
            name, epochs, _, _, metrics = json.loads(record.content)
            row = rows.get(name) if epochs == EPOCHS else None
        except (TypeError, ValueError) as error:
            raise record.damaged("it is not a list of five in JSON") from error
        if row is not None:
            record.check()
            found[row].append(_final(record, metrics))
    wrong = [name for name, runs in zip(hashes, found, strict=True) if len(runs) != REPEATS]
    if wrong:
        counts = sorted({len(found[rows[name]]) for name in wrong})
        raise Damaged(
            f"{path} lacks outcomes: {len(wrong)} of {len(hashes)} cells have "
            f"{' or '.join(map(str, counts))} trainings of {EPOCHS} epochs instead of {REPEATS}, "
            f"the first of them {wrong[0]}. It must be the released {OUTCOMES} or {ALL_OUTCOMES}."
        )
    runs = np.array(found)  # (N, 3, 2)
    return runs[:, :, 0], runs[:, :, 1]


def all_cells() -> tuple[Matrix, list[str]]:
    """Read the cells where there is a file of them; else work them out, which gives the same."""
    path = find(CELLS)
    if path is None:
        return cells()
    with np.load(path, allow_pickle=False) as held:
        return held["X"].astype(np.float64), [name.decode() for name in held["module_hash"]]


def _final(record: Record, metrics: str) -> tuple[float, float]:
    """Return validation accuracy and seconds of training at the end of a training."""
    try:
        evaluations = [part for number, part in fields(b64decode(metrics)) if number == EVALUATION]
        end = dict(fields(evaluations[END]))
        (accuracy,) = DOUBLE.unpack(end[VALIDATION_ACCURACY])
        (seconds,) = DOUBLE.unpack(end[TRAINING_TIME])
    except (IndexError, KeyError, StructError, TypeError, ValueError) as error:
        raise record.damaged("its metrics cannot be read") from error
    if not (0 <= accuracy <= 1 and 0 < seconds < inf):  # false for NaN too
        raise record.damaged(f"the accuracy is {accuracy}, after {seconds} seconds of training")
    return accuracy, seconds


def fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield number and content of the fields of a message in the format of Protocol Buffers.

    Before each stands number · 8 + kind as a varint; kinds are 0 (a varint), 1 (8 bytes), 2 (a
    length as a varint, then so many bytes) and 5 (4 bytes).

    Source: "Encoding", protobuf.dev/programming-guides/encoding.

    >>> list(fields(bytes.fromhex("089601 120774657374696e67")))
    [(1, b'\\x96\\x01'), (2, b'testing')]
    """
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        kind = tag % 8
        if kind == 0:
            end = _varint(message, at)[1]
        elif kind == 2:
            length, at = _varint(message, at)
            end = at + length
        else:
            end = at + SIZES[kind]
        if end > len(message):
            raise IndexError("the message ends within a field")
        yield tag // 8, message[at:end]
        at = end


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """Return an integer of seven bits a byte, the lowest first, and where it ends."""
    value, shift = 0, 0
    while True:
        byte = message[at]
        value, shift, at = value | (byte & 0x7F) << shift, shift + 7, at + 1
        if byte < 0x80:
            return value, at


def cells() -> tuple[Matrix, list[str]]:
    """Return every cell once, (12 416, 19) of 0 and 1, and the names the benchmark gives them.

    A row holds the 15 entries above the diagonal of the adjacency matrix, row by row, then whether
    each inner node is a 3 × 3 convolution (1) or a pooling (0). Of isomorphic cells the first is
    kept, counting adjacency bits upward column by column, as the benchmark was generated. This
    hashes 24 720 graphs: some seconds.

    Source: Ying et al., "NAS-Bench-101" (ICML 2019) and its released generator of graphs; the
    subset is that of BBKB (Calandriello et al., ICML 2020), appendix D.2.
    """
    upper = np.triu_indices(VERTICES, 1)
    found: dict[str, list[int]] = {}
    for adjacency in _graphs():
        for nodes in product((1, 0), repeat=VERTICES - 2):
            labels = [INPUT, *(CONVOLUTION if node else POOLING for node in nodes), OUTPUT]
            row = [*adjacency[upper].tolist(), *nodes]
            found.setdefault(module_hash(adjacency.tolist(), labels), row)
    return np.array(list(found.values()), dtype=np.float64), list(found)


def module_hash(adjacency: Sequence[Sequence[int]], labels: Sequence[int]) -> str:
    """Return the name of a labelled graph, the same for isomorphic ones.

    Every vertex begins with a hash of (edges out, edges in, label), and as many times as there are
    vertices takes that of its sorted neighbours' and its own; the graph's is that of them all.

    >>> module_hash([[0, 1, 1], [0, 0, 1], [0, 0, 0]], [INPUT, CONVOLUTION, OUTPUT])
    'd32d0b26d534203b48d866facd98cc3e'
    """
    columns = list(zip(*adjacency, strict=True))
    degrees = zip(map(sum, adjacency), map(sum, columns), labels, strict=True)
    hashes = [_md5(str(degree)) for degree in degrees]
    for _ in labels:
        hashes = [
            _md5(f"{_joined(hashes, before)}|{_joined(hashes, after)}|{own}")
            for own, before, after in zip(hashes, columns, adjacency, strict=True)
        ]
    return _md5(str(sorted(hashes)))


def _joined(hashes: list[str], chosen: Sequence[int]) -> str:
    return "".join(sorted(h for h, edge in zip(hashes, chosen, strict=True) if edge))


def _md5(text: str) -> str:
    return md5(text.encode(), usedforsecurity=False).hexdigest()


def _graphs() -> Iterator[np.ndarray]:
    """Yield the matrices in which every vertex lies on a way from the input to the output."""
    after, before = np.tril_indices(VERTICES, -1)  # edges of the upper half, column by column
    for bits in range(2 ** len(after)):
        if bits.bit_count() > MOST_EDGES:
            continue
        adjacency = np.zeros((VERTICES, VERTICES), dtype=np.int64)
        adjacency[before, after] = bits >> np.arange(len(after)) & 1
        # In an acyclic graph it is enough that only the input has no edge in, the output none out.
        if adjacency[:-1].any(axis=1).all() and adjacency[:, 1:].any(axis=0).all():
            yield adjacency
