"""Pages: claims with what was measured, tables, and sections that are written again."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final


@final
@dataclass(frozen=True, slots=True)
class Claim:
    """What is said, what was measured, and whether it holds.

    What is said of BBKB or of MINI holds if the better of its two variants has it, unless the paper
    says both. On the papers' pages a statement that is `ours` is marked so and not counted.
    """

    says: str
    found: str
    holds: bool
    ours: bool = False
    pools: int = 0  # of the comparison, behind it


def print_claims(head: str, claims: Iterable[Claim]) -> None:
    print(head)
    for one in claims:
        print(f"  {'yes' if one.holds else 'NO '}  {one.says}: {one.found}")


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


def spaced(count: int) -> str:
    """Return a number of candidates or evaluations with its thousands apart."""
    return f"{count:,}".replace(",", " ")


def rounded(value: Any, digits: int = 4) -> Any:
    """Return a number, or all those in lists and tables, with so many digits; NaN is None."""
    if isinstance(value, dict):
        return {name: rounded(part, digits) for name, part in value.items()}
    if isinstance(value, list):
        return [rounded(part, digits) for part in value]
    if isinstance(value, float):
        return None if math.isnan(value) else float(f"{value:.{digits}g}")
    return value
