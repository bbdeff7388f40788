"""The cells of NAS-Bench-101 that the papers search: four inner nodes, two operations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import md5
from itertools import product

import numpy as np

from noregret.arrays import Matrix

VERTICES = 6  # input, four inner nodes, output
MOST_EDGES = 9
# The benchmark's labels: −1 for the input, −2 for the output, its operations from 0 on.
INPUT, OUTPUT, CONVOLUTION, POOLING = -1, -2, 0, 2


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
