"""Finished runs as published: a file a method, so that a clone goes on where others stopped."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from evaluation.reports.markdown import rounded
from evaluation.runs.cells import Cell, Line, Store

DIGITS = 7  # significant ones; a run's last digits differ from machine to machine


def publish_runs(lines: Iterable[Line], store: Store, folder: Path) -> None:
    """Write what is stored, a line a run, by method, in the order of the line-up."""
    folder.mkdir(parents=True, exist_ok=True)
    texts: dict[str, list[str]] = {}
    for line in lines:
        texts.setdefault(line.label, []).extend(
            json.dumps({"cell": cell.as_dict(), "record": rounded(store.load(cell), DIGITS)})
            for cell in line.wanted(store)
            if store.holds(cell)
        )
    for label, runs in texts.items():
        path = folder / f"{label}.jsonl"
        if runs:
            path.write_text("\n".join(runs) + "\n")
        else:
            path.unlink(missing_ok=True)


def restore_runs(folder: Path, store: Store) -> int:
    """Store the published runs that are not stored; return how many they were."""
    restored = 0
    for path in sorted(folder.glob("*.jsonl")):
        for text in path.read_text().splitlines():
            run = json.loads(text)
            cell = Cell.of(**run["cell"])
            if not store.holds(cell):
                store.folder.mkdir(parents=True, exist_ok=True)
                store.write(cell, run["record"])
                restored += 1
    return restored
