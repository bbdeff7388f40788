"""One table in the terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table

from evaluation.speed.case import Case
from evaluation.speed.results import Results
from evaluation.speed.rows import COLUMNS, goal_line, rows_of

STYLES = {"met": "green", "missed": "bold red"}
WIDE = 180  # columns, where there is no terminal to ask


def print_table(cases: Iterable[Case], results: Results) -> None:
    """Print every case: a row a subject, then a row a goal with its figure and verdict."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDE)
    console.print(_table(cases, results))


def _table(cases: Iterable[Case], results: Results) -> Table:
    title = "medians over seeds" + (" (quick sizes: goals are not judged)" if results.quick else "")
    table = Table(*COLUMNS, title=title, show_lines=False)
    table.columns[0].min_width = 48
    for column in table.columns[1:]:
        column.justify = "right"
    for case in cases:
        blank = [""] * (len(COLUMNS) - 1)
        table.add_row(f"[bold]{case.name}[/]: {case.title}", *blank)
        for row in rows_of(case, results):
            what, *rest = row.cells
            table.add_row("  " + what, *rest)
        for goal in case.goals:
            text, figure, word = goal_line(goal, results)
            style = STYLES.get(word, "dim")
            table.add_row(
                f"  [italic]{text}[/]", "", "", f"[{style}]{figure} {word}[/]", *blank[3:]
            )
        table.add_section()
    return table
