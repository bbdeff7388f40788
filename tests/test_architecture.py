"""docs/architecture.md against what runs: every file of an ask is named, and they are counted."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

import noregret

SOURCE = Path(noregret.__file__).parent
PAGE = SOURCE.parents[1] / "docs" / "architecture.md"
ASKS = {"told": 26, "learned": 41}  # files that may run; 20 and 35 would be better


def files_of(action: Callable[[], object]) -> set[str]:
    """Return the files of the package of which functions run, on any thread."""
    seen: set[str] = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        del event, argument
        seen.add(frame.f_code.co_filename)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    paths = (Path(name) for name in seen)
    return {p.relative_to(SOURCE).as_posix() for p in paths if p.is_relative_to(SOURCE)}


def sections() -> dict[str, str]:
    """Return the text below the heading of each ask."""
    parts = re.split(r"^### `(\w+)\.ask\(\)`", PAGE.read_text(), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.fixture(name="asks", scope="module")
def _asks() -> dict[str, set[str]]:
    names: dict[str, noregret.Optimizer] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.S):
        exec(block, names)
    return {name: files_of(names[name].ask) for name in ASKS}


@pytest.mark.parametrize("name", ASKS)
def test_every_file_that_runs_is_named(name: str, asks: dict[str, set[str]]) -> None:
    """Who follows an ask with the page in hand must not come to a place that it does not know."""
    text = "".join(sections()[each] for each in list(ASKS)[: list(ASKS).index(name) + 1])
    named = set(re.findall(r"\]\(\.\./src/noregret/([\w/]+\.py)\)", text))
    assert asks[name] - named == set()


@pytest.mark.parametrize("name", ASKS)
def test_no_more_files_run_than_the_page_says(name: str, asks: dict[str, set[str]]) -> None:
    """An ask that wanders through ever more files can no longer be followed by anybody."""
    (said,) = re.findall(r"runs through (\d+) files", sections()[name])
    assert len(asks[name]) <= int(said) <= ASKS[name], sorted(asks[name])
    assert any("fitting/" in file for file in asks[name]) == (name == "learned")


def test_the_import_map_is_that_of_the_house() -> None:
    """In the same order, from the ground up."""
    from test_house import MAP

    table = PAGE.read_text().partition("## Who may import whom")[2].partition("## One ask")[0]
    assert tuple(re.findall(r"`(\w+)`", table)) == MAP
