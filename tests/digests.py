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

from digest_runs import Run, is_delicate, runs
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


def is_elsewhere(name: str, kept: dict[str, Record]) -> bool:
    """Whether a run hangs on rounding, and this machine rounds otherwise than the record's."""
    return name == "rounding" or (is_delicate(name) and kept.get("rounding") != rounding())


def made(run: Run) -> Record:
    """Make a run; one that breaks off differs, and the others are still made."""
    try:
        return run()
    except Exception as error:
        return {"broken": f"{type(error).__name__}: {error}"}


def main(arguments: list[str]) -> int:
    """Compare, or write; return how the program ends."""
    words = [word for word in arguments if word != "--write"] or [""]
    kept, every = recorded(), runs()
    new = {name: made(every[name]) for name in every if any(word in name for word in words)}
    apart = {name: differences(kept.get(name, {}), record) for name, record in new.items()}
    apart = {name: lines for name, lines in apart.items() if lines}
    gone = {name: ["is recorded, and made no more"] for name in kept if name not in every}
    if "--write" in arguments:
        same = {name: record for name, record in kept.items() if name in every}
        write(same | {name: new[name] for name in apart})  # what rounding alone moved stays
    else:
        elsewhere = [name for name in apart if is_elsewhere(name, kept)]
        apart = {name: lines for name, lines in apart.items() if name not in elsewhere}
        if elsewhere:
            print(f"This machine rounds otherwise; not counted: {', '.join(elsewhere)}")
    for name, lines in (apart | gone).items():
        print(name, *lines, sep="\n    ")
    print(f"{len(new)} runs, {len(apart)} differ")
    return 1 if (apart or gone) and "--write" not in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
