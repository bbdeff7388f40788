"""Where the data of the papers are found, and how they are had where they are missing."""

from __future__ import annotations

import csv
import gzip
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.data.originals import MADE_OF, ORIGINALS, Original
from noregret.errors import MissingExtraError, require_extra

FOLDER = Path(__file__).parents[3] / "shared" / "data"  # beside the checkout
VARIABLE = "NOREGRET_DATA"


class Missing(Exception):
    """Data that are not on this machine and cannot be fetched."""


class Damaged(Exception):
    """Data that are not what they should be."""


def path_of(file: str) -> Path:
    """Return the path of a data file; fetch its public original once where it is not here.

    Looked for in the folder that NOREGRET_DATA names, in `../shared/data` beside the checkout,
    and among what was fetched before. An original is believed only if its sha256 is the known one.
    """
    if (path := find(file)) is not None:
        return path
    original = ORIGINALS.get(file)
    if original is None:
        made = f"It is made of {MADE_OF[file]}." if file in MADE_OF else ""
        raise Missing(f"{_nowhere(file)} {made or 'No public original of it is known.'}")
    try:
        return _fetched(file, original)
    except (OSError, MissingExtraError) as error:  # requests' errors are kinds of OSError
        raise Missing(
            f"{_nowhere(file)} Its public original {original.url} could not be fetched: {error}"
        ) from error


def find(file: str) -> Path | None:
    """Return the path of a data file that is on this machine already, or None."""
    paths = (folder / file for folder in folders())
    return next((path for path in paths if path.is_file()), None)


def folders() -> tuple[Path, ...]:
    """Return where data are looked for, in this order."""
    named = os.environ.get(VARIABLE)
    points = (Path(named).expanduser() if named else None, FOLDER, cache())
    return tuple(place for place in points if place is not None)


def cache() -> Path | None:
    """Return the folder of what was fetched; None without pooch, which knows it."""
    try:
        pooch = require_extra("pooch", extra="papers", what="fetching data")
    except MissingExtraError:
        return None
    return Path(pooch.os_cache("noregret"))


def _fetched(file: str, original: Original) -> Path:
    """Fetch an original into the cache, and make our file of it there."""
    pooch = require_extra("pooch", extra="papers", what="fetching data")
    place = cache()
    assert place is not None  # there is pooch
    name = file if original.derive is None else None  # None: a name that pooch makes of the URL
    try:
        fetched = pooch.retrieve(original.url, f"sha256:{original.sha256}", name, place)
    except ValueError as error:  # pooch's kind for a checksum that differs
        raise Damaged(f"{original.url} is not the file that {file} is made of: {error}") from error
    if original.derive is not None:
        content = original.derive(Path(fetched))
        with tempfile.NamedTemporaryFile(dir=place, delete=False) as stream:
            stream.write(content)
        os.replace(stream.name, place / file)  # others see all of it or nothing
    return place / file


def _nowhere(file: str) -> str:
    looked = ", ".join(map(str, folders()))
    return f"no {file} in {looked}; {VARIABLE} may name another folder that holds it."


def arrays(file: str, *names: str) -> tuple[Any, ...]:
    """Return arrays of an .npz file; of a `header`, what its JSON says."""
    with np.load(path_of(file), allow_pickle=False) as held:
        found = [held[name] for name in names]
    pairs = zip(names, found, strict=True)
    return tuple(json.loads(str(one)) if name == "header" else one for name, one in pairs)


def columns(file: str) -> dict[str, list[str]]:
    """Return the columns of a packed CSV file, as text."""
    with gzip.open(path_of(file), "rt", newline="") as lines:
        header, *rows = csv.reader(lines)
    return {name: [row[at] for row in rows] for at, name in enumerate(header)}
