"""Where the examples find real data, and how they are had where they are missing."""

from __future__ import annotations

import os
from pathlib import Path

from evaluation.data.files import FOLDER, VARIABLE, Missing

__all__ = ["FOLDER", "VARIABLE", "Missing", "path_of"]


def path_of(file: str, origin: str) -> Path:
    """Return the path of a data file, or say where its public original is."""
    path = Path(os.environ.get(VARIABLE, FOLDER)) / file
    if not path.exists():
        raise Missing(
            f"no {file} in {path.parent}; {VARIABLE} may name another folder. "
            f"It is made of {origin}."
        )
    return path
