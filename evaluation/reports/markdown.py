"""Pages: tables, pictures, and sections that are written again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table, a cell for every word of the head in every row."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_plain, line))} |" for line in lines)


def _plain(cell: str) -> str:
    return cell.replace("|", "\\|").replace("\n", " ")


def into_page(page: Path, name: str, text: str) -> None:
    """Put a section between its markers on a page; nothing else changes."""
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, found, rest = page.read_text().partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise ValueError(f"{page} has no place for {name}: {begin} and {end}.")
    page.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}")


def write_numbers(path: Path, numbers: object) -> None:
    """Write the numbers behind a page, for whoever wants more of them."""
    path.write_text(json.dumps(numbers, indent=1) + "\n")


def rounded(value: float, digits: int = 4) -> float:
    """Return a number with so many significant digits."""
    return float(f"{value:.{digits}g}")
