"""Plant errors one at a time; each must be caught by the test named with it.

    python tests/mutants.py                       plant all of them
    python tests/mutants.py batching/ posterior   only those in files with one of these words

A test suite that lets a known slip of the papers pass is worth nothing, so every slip of the papers
is planted, among others. `planted_errors.txt` lies beside the tests of each package: below the name
of a file of the package come its errors, each of what it says (*), the lines that go (-), those
that come in their place (+), and the test that must fail (>), in that folder or another.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).parent
ROOT = TESTS.parent


@dataclass
class Mutant:
    """One error: what it says, where it goes, and the test that must fail."""

    file: str
    slip: str
    old: str = ""
    new: str = ""
    test: str = ""


def planted(path: Path) -> Iterator[Mutant]:
    """Yield the errors of one `planted_errors.txt`, in its order."""
    folder = path.parent.relative_to(TESTS)
    file = ""
    for line in path.read_text().splitlines():
        mark, rest = line[:2], line[2:]
        if mark == "* ":
            one = Mutant(file, rest)
        elif mark == "- ":
            one.old += f"\n{rest}" if one.old else rest
        elif mark == "+ ":
            one.new += f"\n{rest}" if one.new else rest
        elif mark == "> ":
            beside = (TESTS / folder / rest.partition("::")[0]).exists()
            one.test = str(Path("tests") / (folder if beside else "") / rest)
            yield one
        else:
            file = str(folder / line)


MUTANTS = tuple(m for path in sorted(TESTS.rglob("planted_errors.txt")) for m in planted(path))


def pytest(*arguments: str, source: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *arguments]
    where = {"PYTHONPATH": str(source), "NOREGRET_CASES": "unshrunk"}
    env = {**os.environ, **where}
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)


def caught(mutant: Mutant) -> tuple[bool, str]:
    """Plant the error in a copy of the source and run its test."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("*.egg-info"))
        path = source / "noregret" / mutant.file
        text = path.read_text()
        if text.count(mutant.old) != 1:
            return False, f"its place is gone: {mutant.old!r} stands {text.count(mutant.old)} times"
        path.write_text(text.replace(mutant.old, mutant.new))
        run = pytest(mutant.test, source=source)
        last = (run.stdout.strip().splitlines() or [run.stderr.strip()[-200:]])[-1]
        return run.returncode == 1 and " failed" in last, last


def main(words: list[str]) -> int:
    mutants = [m for m in MUTANTS if any(word in m.file for word in words or [""])]
    clean = pytest(*sorted({mutant.test for mutant in mutants}), source=ROOT / "src")
    if clean.returncode:
        print(clean.stdout[-2000:])
        print("the tests do not pass without any planted error")
        return 1
    escaped = 0
    with ThreadPoolExecutor(2) as pool:
        for mutant, (ok, last) in zip(mutants, pool.map(caught, mutants), strict=True):
            escaped += not ok
            sign = "caught " if ok else "ESCAPED"
            print(f"{sign} {mutant.slip}\n        by {mutant.test}: {last}")
    print(f"{len(mutants) - escaped} of {len(mutants)} planted errors caught")
    return 1 if escaped else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
