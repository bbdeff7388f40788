"""What it costs to go from one candidate to another: the same for all, or by the pair."""

from __future__ import annotations

import hashlib
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import SupportsIndex, TypeGuard, final

import numpy as np

from noregret.arrays import Matrix, Rows, as_floats
from noregret.errors import ArgumentError, require_at_least
from noregret.pools.feature_scales import as_numbers
from noregret.pools.points import Picks, Points
from noregret.storable import storable

SOME = 64  # candidates from which a switch is tried, where it is not known what comes before
FEW = 8  # candidates between which costs are compared with those of a saved run
RULE = (
    "switch_cost must be a number, columns with a cost each such as {'temperature': 60}, a matrix "
    "of costs from row to row of the pool, or a function of two candidates"
)


class SwitchCosts(ABC):
    """Costs between candidates; to stay on one costs nothing."""

    __slots__ = ()
    by_pair = True  # whether the cost of a switch depends on the two

    @abstractmethod
    def of_pairs(self, points: Points, before: Picks, after: Picks) -> Matrix:
        """Return a row of costs for each candidate that is left, a column for each to come."""

    @final
    def between(self, points: Points, before: Picks, after: Picks) -> Matrix:
        """Return costs of the switches from some candidates to others, 0 where they are one."""
        same = before.rows[:, None] == after.rows
        return np.where(same, 0.0, self.of_pairs(points, before, after))

    @final
    def typical(self, points: Points, to: Picks) -> float:
        """Return what it costs to go to a candidate, half of the others costing less.

        Of many candidates `SOME` from all over the domain are looked at.
        """
        others = points.all_over(SOME)
        others = others[others.rows != to.rows[0]]
        return float(np.median(self.between(points, others, to))) if len(others) else 0.0


@final
@storable("FlatSwitchCost")
@dataclass(frozen=True, slots=True)
class FlatSwitchCost(SwitchCosts):
    """Every switch costs the same."""

    cost: float
    by_pair = False

    def of_pairs(self, points: Points, before: Picks, after: Picks) -> Matrix:
        return np.full((len(before), len(after)), self.cost)


@final
@storable("MatrixSwitchCosts")
@dataclass(frozen=True, slots=True, eq=False)
class MatrixSwitchCosts(SwitchCosts):
    """A cost from each row of a pool to each."""

    matrix: Matrix

    def of_pairs(self, points: Points, before: Picks, after: Picks) -> Matrix:
        return self.matrix[np.ix_(before.rows, after.rows)]

    def mark(self, points: Points) -> str:
        """Return a digest, by which it is recognised when it is given again: O(N²)."""
        return hashlib.blake2b(np.ascontiguousarray(self.matrix).data, digest_size=16).hexdigest()


@final
@storable("ColumnSwitchCosts")
@dataclass(frozen=True, slots=True)
class ColumnSwitchCosts(SwitchCosts):
    """A cost for each column, or group of columns, in which two candidates differ."""

    groups: tuple[tuple[int, ...], ...]
    costs: tuple[float, ...]

    def of_pairs(self, points: Points, before: Picks, after: Picks) -> Matrix:
        X, Z = _numbers(before.X), _numbers(after.X)
        total = np.zeros((len(X), len(Z)))
        for group, cost in zip(self.groups, self.costs, strict=True):
            differs = np.zeros(total.shape, dtype=np.bool_)
            for column in group:
                differs |= X[:, column, None] != Z[:, column]
            total += cost * differs
        return total


@final
@dataclass(frozen=True, slots=True, eq=False)
class SwitchCostFunction(SwitchCosts):
    """A function of two candidates, given their features as batches show them."""

    function: Callable[..., object]

    def of_pairs(self, points: Points, before: Picks, after: Picks) -> Matrix:
        shown = points.domain.shown(before.X), points.domain.shown(after.X)
        costs = np.zeros((len(before), len(after)))
        for i, row in enumerate(before.rows.tolist()):
            for j, other in enumerate(after.rows.tolist()):
                if row != other:
                    cost = self.function(shown[0][i], shown[1][j])
                    costs[i, j] = require_at_least("switch_cost(x, z)", cost, 0.0)
        return costs

    def mark(self, points: Points) -> Matrix:
        """Return costs between a few candidates, by which it is recognised when given again."""
        few = points.all_over(FEW)
        return self.between(points, few, few)


def as_switch_costs(given: object, points: Points) -> SwitchCosts | None:
    """Return what a user said of the costs of switches; None for nothing."""
    if given is None or isinstance(given, SwitchCosts):
        return given
    if isinstance(given, type):
        raise ArgumentError(f"{RULE}; got {given!r}.")
    if isinstance(given, Mapping):
        groups, costs = _columns(given, points)
        return ColumnSwitchCosts(groups, costs)
    if callable(given):
        return SwitchCostFunction(given)
    if isinstance(given, float) and given == float("inf"):
        return FlatSwitchCost(given)
    if isinstance(given, str) or np.ndim(given) == 0:  # type: ignore[arg-type]  # anything
        return FlatSwitchCost(require_at_least("switch_cost", given, 0.0))
    if hasattr(given, "columns"):
        raise ArgumentError(
            "switch_cost is a data frame, whose labels would not be looked at. Put its rows and "
            "columns in the order of the pool's rows, and give the numbers: .to_numpy()."
        )
    matrix, N = as_floats("switch_cost", given), points.candidates
    if matrix.shape != (N, N) or not N:
        of = f"has {N} × {N} costs for this pool" if N else "needs a pool"
        raise ArgumentError(f"{RULE}; a matrix {of}, got shape {matrix.shape}.")
    if not (np.isfinite(matrix).all() and (matrix >= 0).all()):
        raise ArgumentError("switch_cost: every cost must be a finite number of at least 0.")
    return MatrixSwitchCosts(matrix.copy())


def _columns(
    given: Mapping[object, object], points: Points
) -> tuple[tuple[tuple[int, ...], ...], tuple[float, ...]]:
    """Return the features of each column named, and their costs."""
    domain = points.domain
    names: Mapping[object, object] = getattr(domain, "groups", None) or {}
    width = int(getattr(domain, "bits", domain.dim))
    groups, costs = list[tuple[int, ...]](), list[float]()
    for name, cost in given.items():
        if isinstance(name, str) and name in names:
            group = tuple(int(at) for at in np.atleast_1d(np.asarray(names[name])))
        elif not names and _is_column(name, width):
            group = (operator.index(name),)
        else:
            known = ", ".join(map(repr, names)) if names else f"columns 0 to {width - 1}"
            raise ArgumentError(
                f"switch_cost={dict(given)!r:.80}: there is no column {name!r}; there are {known}."
            )
        groups.append(group)
        costs.append(require_at_least(f"switch_cost[{name!r}]", cost, 0.0))
    return tuple(groups), tuple(costs)


def _is_column(name: object, width: int) -> TypeGuard[SupportsIndex]:
    if isinstance(name, bool) or not isinstance(name, int | np.integer):
        return False
    return bool(0 <= name < width)


def _numbers(X: Rows) -> Rows:
    return as_numbers(X) if X.dtype == np.uint8 else X
