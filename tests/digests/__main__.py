"""Digest what every algorithm chooses, and compare with what it chose before.

    python tests/digests              compare every run with the record, digests.json
    python tests/digests auto/ box    only those with one of these words in their names
    python tests/digests --write      record again what has changed

Choices must be the same, numbers the same up to rounding. A change that means to choose otherwise
writes the record again, in a commit of its own with a `numerics` fragment.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # where the package of the digests lies

from digests.record import Record, differences, recorded, write
from digests.runs import Run, is_elsewhere, runs


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
