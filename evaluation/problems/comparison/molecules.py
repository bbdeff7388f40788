"""Proteins, molecules and reactions, each measured or computed once."""

from __future__ import annotations

import json

import numpy as np

import noregret as nr
from evaluation.data.files import path_of
from evaluation.problems.comparison.base import Problem, recorded
from evaluation.problems.comparison.listing import Listing, coded, floats, framed, measured, sheet

REACTIONS = {
    "buchwald-hartwig": "Buchwald–Hartwig",
    "suzuki": "Suzuki–Miyaura",
    "direct-arylation": "Direct arylation",
}
NUMBERS = ("Concentration", "Temp_C")  # of direct arylation; all else is words


def gb1(*, noisy: bool = False) -> Problem:
    """Fitness of 149 361 variants of four sites of the protein GB1."""
    with np.load(path_of("gb1.npz"), allow_pickle=False) as held:
        header = json.loads(str(held["header"]))
        listing = coded(header["sites"], list(header["alphabet"]), held["aa_index"])
        return recorded("gb1", "GB1", listing, held["fitness"], noisy=noisy)


def enamine(*, noisy: bool = False) -> Problem:
    """Minus the docking score of 49 706 molecules, by their fingerprints of 2048 bits.

    Methods that cannot take bits search thirteen descriptors instead.
    """
    with np.load(path_of("enamine50k_docking.npz"), allow_pickle=False) as held:
        names = json.loads(str(held["header"]))["descriptors"]
        described = measured(names, held["desc"].astype(np.float64))
        pool = nr.BitPool(held["fp"][described.order], packed=True)
        scores = held["y"].astype(np.float64)
    listing = Listing(pool, described.space, described.order)
    return recorded("enamine", "Enamine 50k", listing, -scores, noisy=noisy)


def reaction(name: str, *, noisy: bool = False) -> Problem:
    """Yield in percent of a reaction, by what goes into it."""
    table = sheet(f"{name.replace('-', '_')}.csv.gz")
    yields = floats(table.pop("yield"))
    del table["entry"]
    columns = {key: floats(text) if key in NUMBERS else text for key, text in table.items()}
    return recorded(name, REACTIONS[name], framed(columns), yields, noisy=noisy)
