"""Studies share what lies beside them, and know nothing of each other."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import evaluation

ROOT = Path(evaluation.__file__).parent
STUDIES = ("papers", "comparison", "plates", "coverage", "speed")
ROOMS = sorted(one.parent.name for one in ROOT.glob("*/__init__.py"))


def imported(path: Path) -> set[str]:
    """Return the modules that a file imports, at its top or inside functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


@pytest.mark.parametrize(
    "room", [one.name for one in ROOT.iterdir() if (one / "__init__.py").exists()]
)
def test_nobody_imports_a_study_but_itself(room: str) -> None:
    """What two studies need, and what they are made of, must not be a part of one of them."""
    others = tuple(f"evaluation.{study}." for study in STUDIES if study != room)
    for path in (ROOT / room).rglob("*.py"):
        assert not [name for name in imported(path) if f"{name}.".startswith(others)], path
