"""Which kernels suit a domain, by what its features are: numbers, codes or bits."""

from __future__ import annotations

import math

import numpy as np

from noregret.arrays import Indices, Mask, Matrix, Vector
from noregret.fitting.constants import DEFAULTS, FitConstants
from noregret.fitting.kernel_families import Family, Fixed, Grouped, Joint, Shape
from noregret.kernels import Tanimoto
from noregret.pools import BitPool, MappedPool, Points, Pool, Scales, as_numbers, numbers

GLANCED = 256  # rows on which codes are looked for, before all rows are asked
LONGEST_CODE = 1024  # levels, so that rows of zeros and ones are soon looked through
EVEN = math.sqrt(12.0)  # range over standard deviation of a feature that is spread evenly


def family_for(
    points: Points, constants: FitConstants = DEFAULTS
) -> tuple[Family, tuple[str, ...]]:
    """Return the kernels that a fit may choose among, and a name for each of their parameters.

    Packed bits are compared by Tanimoto. Columns of a one-hot code share a lengthscale, by which
    codes that differ are apart; any other feature is a number, with a lengthscale of its own, in
    units of its range (of its standard deviation times √12, which is the same for numbers that are
    spread evenly, and is not led astray by a few far out). Numbers are rough, Matérn-5/2. Where
    there are more than 64 features, all numbers share a lengthscale, and all codes.

    Codes are those of a table, or consecutive columns of zeros and ones with one 1 in every row.
    Two passes over the pool, three where codes are looked for among its columns.
    """
    if isinstance(points.domain, BitPool):
        return Fixed(Tanimoto()), ()
    scales, domain, most = Scales.of(points), points.domain, constants.most_lengthscales
    codes = _codes(points)
    coded = np.zeros(points.dim, dtype=np.bool_)
    coded[[column for code in codes for column in code]] = True
    span = np.where(coded, scales.span, np.minimum(scales.span, EVEN * scales.deviation))
    plain = np.flatnonzero(~coded).tolist()
    rough = _grouped([(j,) for j in plain], ~coded, span, "rough", most)
    smooth = _grouped(codes, coded, span, "smooth", most)
    columns = getattr(domain, "columns", ()) or [f"feature {j}" for j in range(points.dim)]
    named = {at: name for name, at in getattr(domain, "groups", {}).items()}
    names = (
        *_shared(rough, "numbers", [columns[j] for j in plain]),
        *_shared(smooth, "codes", [named.get(c, f"features {c[0]} to {c[-1]}") for c in codes]),
    )
    if coded.all():
        return smooth, names
    if not coded.any():
        return rough, names
    return Joint(rough, smooth, coded.astype(np.int64)), names


def _grouped(
    features: list[tuple[int, ...]], columns: Mask, span: Vector, shape: Shape, most: int
) -> Grouped:
    """Return kernels of some columns with a lengthscale for each feature, or one for too many."""
    groups: Indices = np.zeros(len(span), dtype=np.int64)
    if len(features) <= most:
        for number, feature in enumerate(features):
            groups[list(feature)] = number
    return Grouped(groups[columns], span[columns], shape)


def _shared(family: Grouped, kind: str, names: list[str]) -> list[str]:
    return [f"all {kind}"] if 1 == family.size < len(names) else names


def _codes(points: Points) -> list[tuple[int, ...]]:
    """Return the columns of each one-hot code."""
    domain = points.domain
    if isinstance(domain, Pool | MappedPool) and domain.levels:
        return [domain.groups[name] for name in domain.levels if len(domain.groups[name]) > 1]
    if not points.candidates:
        return []
    codes = _apparent_codes(as_numbers(points.glance(GLANCED)))
    for _, X in numbers(points):
        codes = [code for code in codes if _is_code(X[:, code])]
    return codes


def _apparent_codes(X: Matrix) -> list[tuple[int, ...]]:
    """Return runs of columns that look like codes on some rows, from left to right."""
    codes, start = [], 0
    while start < X.shape[1]:
        stop = _end_of_code(X, start)
        if stop > start + 1:
            codes.append(tuple(range(start, stop)))
        start = max(stop, start + 1)
    return codes


def _end_of_code(X: Matrix, start: int) -> int:
    """Return where the code ends that starts at a column, or the column where none does."""
    ones = np.zeros(len(X))
    for column in range(start, min(start + LONGEST_CODE, X.shape[1])):
        x = X[:, column]
        ones += x
        if not ((x == 0) | (x == 1)).all() or ones.max() > 1:
            return start
        if ones.min() == 1:
            return column + 1
    return start


def _is_code(X: Matrix) -> bool:
    """Tell whether all rows are zeros and a single one."""
    return bool(((X == 0) | (X == 1)).all() and (X.sum(axis=1) == 1).all())
