"""Digest what every algorithm chooses, and compare with what it chose before.

    python tests/digests.py              compare every run with the record, digests.json
    python tests/digests.py auto/ box    only those with one of these words in their names
    python tests/digests.py --write      record anew what has changed

Choices must be the same, numbers the same up to rounding. A change that means to choose otherwise
writes the record anew, in a commit of its own with a `numerics` fragment.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from digest_runs import is_delicate, runs
from digest_words import Record, differences, rounding

FILE = Path(__file__).with_suffix(".json")


def recorded() -> dict[str, Record]:
    """Return the record of every run by its name."""
    if not FILE.exists():
        return {}
    kept: dict[str, Record] = json.loads(FILE.read_text())
    return kept


def write(records: dict[str, Record]) -> None:
    lines = [f"{json.dumps(name)}: {json.dumps(records[name])}" for name in sorted(records)]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def changes(name: str, kept: dict[str, Record], new: Record) -> list[str]:
    """Return what differs in a run, but for what may by rounding on another kind of machine."""
    other = name in kept and is_delicate(name) and kept.get("rounding") != rounding()
    return [] if other or name == "rounding" else everything(name, kept, new)


def everything(name: str, kept: dict[str, Record], new: Record) -> list[str]:
    return differences(kept.get(name, {}), new)


def main(arguments: list[str]) -> int:
    """Compare, or write; return how the program ends."""
    words = [word for word in arguments if word != "--write"]
    kept, every = recorded(), runs()
    new = {name: every[name]() for name in every if any(word in name for word in words or [""])}
    compare = changes if "--write" not in arguments else everything
    apart = {name: compare(name, kept, record) for name, record in new.items()}
    apart = {name: lines for name, lines in apart.items() if lines}
    gone = {name: ["is recorded, and made no more"] for name in kept if name not in every}
    for name, lines in (apart | gone).items():
        print(name, *lines, sep="\n    ")
    print(f"{len(new)} runs, {len(apart)} differ")
    if kept.get("rounding") != rounding():
        print(
            "this machine rounds otherwise than that of the record: no choice on a box was compared"
        )
    if "--write" not in arguments:
        return 1 if apart or gone else 0
    same = {name: record for name, record in kept.items() if name in every}  # but for rounding
    write(same | {name: new[name] for name in new if name in apart or name not in same})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
