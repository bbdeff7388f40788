"""docs/extending.md: each kind of part in twenty lines that run, and pass their suite."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from noregret import testing
from noregret.testing import Suite

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.S)
CODE = "\n".join(BLOCKS)
KINDS = (
    *(testing.KernelSuite, testing.WidthSuite, testing.BatchRuleSuite),
    *(testing.PoolSuite, testing.PolicySuite),
)
MOST = 20  # lines of code of a part


@pytest.fixture(name="names", scope="module")
def _names() -> dict[str, object]:
    names: dict[str, object] = {}
    exec(CODE, names)
    return names


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_each_kind_of_part_has_one_that_passes(kind: type, names: dict[str, object]) -> None:
    """What is printed is copied; a part that its own suite refuses teaches the wrong thing."""
    (suite,) = (of for of in names.values() if isinstance(of, type) and issubclass(of, kind))
    made = suite()
    assert isinstance(made, Suite)
    assert made.broken() == {}


def lines_of(part: ast.ClassDef) -> int:
    """Return how many lines of code a class takes, without its docstring and blank lines."""
    code = ast.get_source_segment(CODE, part) or ""
    told = ast.get_docstring(part, clean=False) or ""
    return sum(bool(line.strip()) for line in code.replace(f'"""{told}"""', "").splitlines())


def test_parts_are_short() -> None:
    """A part that takes a page is a part that nobody writes."""
    parts = (node for node in ast.parse(CODE).body if isinstance(node, ast.ClassDef))
    sizes = {part.name: lines_of(part) for part in parts if not part.name.startswith("Test")}
    assert len(sizes) == len(KINDS)
    assert max(sizes.values()) <= MOST, sizes
