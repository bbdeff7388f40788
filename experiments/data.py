"""Where the data of the papers are found."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "shared" / "data"  # beside the checkout
VARIABLE = "NOREGRET_DATA"


class Missing(Exception):
    """Data that are not on this machine and cannot be fetched."""


def path_of(file: str) -> Path:
    """Return the path of a data file."""
    path = Path(os.environ.get(VARIABLE, FOLDER)) / file
    if not path.exists():
        raise Missing(f"no {file} in {path.parent}; {VARIABLE} may name another folder.")
    return path
