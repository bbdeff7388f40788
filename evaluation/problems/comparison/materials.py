"""Materials that were printed or mixed, and measured."""

from __future__ import annotations

import numpy as np

from evaluation.problems.comparison.base import Problem, recorded, replicated
from evaluation.problems.comparison.listing import floats, framed, measured, sheet
from evaluation.problems.comparison.space import Columns

DESIGN = ("n", "theta", "r", "t")


def crossed_barrel() -> Problem:
    """Toughness of 600 printed structures, three prints each."""
    table = sheet("materials_crossed_barrel.csv.gz")
    rows = np.column_stack([floats(table[name]) for name in DESIGN])
    designs, which = np.unique(rows, axis=0, return_inverse=True)
    order = np.argsort(which.ravel(), kind="stable")
    runs = floats(table["toughness"])[order].reshape(len(designs), -1)
    listing = measured(DESIGN, designs, mutable=True)
    return replicated("crossed-barrel", "Crossed barrel", listing, runs)


def oer(*, noisy: bool = False) -> Problem:
    """Minus the overpotential of 8481 catalysts: fractions of eleven elements, and the plate.

    The four plates are one problem, each a category, since a composition may be on several of them
    with another outcome, and so that this experiment does not count four times among the others.
    """
    table = sheet("oer_plates.csv.gz")
    values = -floats(table.pop("overpotential"))
    plates = [f"plate {plate}" for plate in table.pop("plate")]
    columns: Columns = {"plate": plates, **{name: floats(text) for name, text in table.items()}}
    # Fractions sum to one: no two candidates differ in one column alone.
    return recorded("oer", "OER plates", framed(columns, mutable=False), values, noisy=noisy)
