"""From features to a plane."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, final

import numpy as np

from noregret.arrays import Indices, Matrix, Rows, Vector
from noregret.errors import ArgumentError
from noregret.pools import BitPool, Box, Candidates, Domain

Projection: TypeAlias = Literal["components"] | tuple[int, int]
MOST_ROWS = 200_000  # candidates looked at; of more, an even choice
MOST_NUMBERS = 1 << 24  # of features from which components are found
SIDE = 80  # points to either side of a box


@final
@dataclass(frozen=True, slots=True, eq=False)
class Plane:
    """Two numbers for every row of features: ((x − centre)/scale) P."""

    domain: Domain
    centre: Vector  # (d,)
    scale: Vector  # (d,)
    P: Matrix  # (d, 2)
    labels: tuple[str, str]

    def of(self, X: Rows) -> Matrix:
        return np.asarray(((numbers(self.domain, X) - self.centre) / self.scale) @ self.P)


def numbers(domain: Domain, X: Rows) -> Matrix:
    """Return features as numbers: those of a fingerprint are its bits."""
    unpacked = domain.unpacked(X) if isinstance(domain, BitPool) else X
    return np.asarray(unpacked, dtype=np.float64)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """The candidates that are drawn, read block by block in the user's units."""

    domain: Domain
    rows: Indices  # of a pool

    @classmethod
    def of(cls, domain: Domain) -> Sample:
        if isinstance(domain, Box) and domain.dim != 2:
            raise ArgumentError(f"pool2d() draws a box of two dimensions, this has {domain.dim}.")
        if not isinstance(domain, Candidates):
            return cls(domain, np.empty(0, dtype=np.int64))
        return cls(domain, _evenly(len(domain), MOST_ROWS))

    @property
    def note(self) -> str:
        """What must be said about it."""
        if not isinstance(self.domain, Candidates) or len(self.rows) == len(self.domain):
            return ""
        return f"{len(self.rows):,} of {len(self.domain):,} candidates"

    def blocks(self) -> Iterator[Rows]:
        """Walk the rows, or a fine grid over a box."""
        if isinstance(self.domain, Candidates):
            for part in np.split(self.rows, range(4096, len(self.rows), 4096)):
                yield self.domain.shown(self.domain.rows(part))
            return
        assert isinstance(self.domain, Box)
        side = np.linspace(0.0, 1.0, SIDE)
        grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
        yield self.domain.shown(self.domain.snapped(grid))

    @property
    def features(self) -> int:
        """How many numbers a row has."""
        return int(numbers(self.domain, next(self.blocks())[:1]).shape[1])

    def few(self) -> Matrix:
        """Return the features of as many rows as components are found from."""
        if not isinstance(self.domain, Candidates):
            return np.concatenate([*self.blocks()])
        some = self.rows[_evenly(len(self.rows), max(MOST_NUMBERS // self.features, 2))]
        return numbers(self.domain, self.domain.shown(self.domain.rows(some)))


def plane_of(
    sample: Sample, projection: Projection | None, features: Sequence[str] | None
) -> Plane:
    """Return the plane of two features, or of the first two components."""
    domain, d = sample.domain, sample.features
    if d < 2:
        raise ArgumentError(
            "pool2d() draws two features or more, this domain has one: noregret.plot.posterior1d()."
        )
    names = _names(domain, d) if features is None else list(features)
    if len(names) != d:
        raise ArgumentError(f"pool2d(features=...) names {len(names)} features, the pool has {d}.")
    if projection is None:
        projection = (0, 1) if d == 2 else "components"
    if isinstance(projection, str) and projection == "components":
        return _components(domain, sample.few())
    if not _is_pair(projection, d):
        raise ArgumentError(
            f'pool2d(projection=...) must be "components" or two feature numbers from 0 to '
            f"{d - 1}, got {projection!r}."
        )
    one, other = (int(at) for at in projection)
    return Plane(
        domain, np.zeros(d), np.ones(d), np.eye(d)[:, [one, other]], (names[one], names[other])
    )


def _components(domain: Domain, X: Matrix) -> Plane:
    """Return the plane in which scaled features vary most; constant ones count for nothing."""
    from scipy.linalg import eigh

    d, centre, deviation = X.shape[1], X.mean(axis=0), X.std(axis=0)
    scale = np.where(deviation > 0, deviation, 1.0)
    Z = (X - centre) / scale
    C = Z.T @ Z / len(Z)
    variance, vectors = eigh(C, subset_by_index=[d - 2, d - 1])
    P = vectors[:, ::-1] * np.where(
        vectors[:, ::-1].sum(axis=0) < 0, -1.0, 1.0
    )  # a sign that does not hang on the solver
    second, first = 100 * variance / max(float(np.trace(C)), np.finfo(float).tiny)
    label = f"first component ({first:.0f} % of the variance)"
    return Plane(domain, centre, scale, P, (label, f"second component ({second:.0f} %)"))


def _evenly(count: int, most: int) -> Indices:
    """Return at most so many numbers below `count`, evenly spread."""
    if count <= most:
        return np.arange(count)
    return np.unique(np.linspace(0, count - 1, most).astype(np.int64))


def _names(domain: Domain, d: int) -> list[str]:
    """Return the names of features that the pool knows, or their numbers."""
    known = getattr(domain, "columns", ())
    return list(known) if len(known) == d else [f"feature {at}" for at in range(d)]


def _is_pair(given: object, d: int) -> bool:
    if not isinstance(given, tuple | list) or len(given) != 2:
        return False
    whole = (isinstance(at, int | np.integer) and not isinstance(at, bool) for at in given)
    return all(whole) and all(0 <= at < d for at in given)
