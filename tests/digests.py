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

from digest_runs import runs
from digest_words import Record, differences

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


def main(arguments: list[str]) -> int:
    """Compare, or write; return how the program ends."""
    words = [word for word in arguments if word != "--write"]
    kept, every = recorded(), runs()
    chosen = [name for name in every if not words or any(word in name for word in words)]
    new = {name: every[name]() for name in chosen}
    apart = {name: differences(kept.get(name, {}), new[name]) for name in chosen}
    apart = {name: lines for name, lines in apart.items() if lines}
    for name, lines in apart.items():
        print(name, *lines, sep="\n    ")
    gone = sorted(kept.keys() - every.keys())
    for name in gone:
        print(f"{name}\n    is recorded, and no run any more")
    print(f"{len(chosen)} runs, {len(apart)} differ")
    if "--write" in arguments:  # what differs by rounding alone stays as it was
        write(
            {
                name: new[name] if name in apart else kept[name]
                for name in every
                if name in kept or name in apart
            }
        )
        return 0
    return 1 if apart or gone else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
