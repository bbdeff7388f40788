"""Pages lead where they say: links exist, and names of code are the code's own.

The pages of `docs/papers` walk the papers line by line beside our source. A name that is renamed
there must be renamed here, or a reader with the paper open is sent to nothing.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import noregret
from evaluation.papers.command import PLATES

SOURCE = Path(noregret.__file__).parent
ROOT = SOURCE.parents[1]
DOCS = ROOT / "docs"
PAPERS = [DOCS / "papers" / f"{paper}.md" for paper in ("bkb", "bbkb", "mini")]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
HEADINGS = ("Figures", "Line by line", "What the code rests on", "Where we differ and why")


class Link(NamedTuple):
    """`[label](target)`, or a picture."""

    label: str
    target: str


def prose(text: str) -> str:
    """Return a page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)


def links(text: str) -> list[Link]:
    """Return the links of a page that lead to files of ours."""
    found = re.findall(r"\[((?:`[^`]*`|[^\]`])*)\]\(([^)\s]+)\)", prose(text))
    return [Link(*pair) for pair in found if not re.match(r"[a-z]+:", pair[1])]


def headings(text: str) -> set[str]:
    """Return the anchors of a page's headings."""
    titles = re.findall(r"^#+ +(.+)$", prose(text), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def broken(text: str, folder: Path) -> list[str]:
    """Return what links of a page in this folder do not lead to."""
    wrong = []
    for _, target in links(text):
        name, _, anchor = target.partition("#")
        there = not name or (folder / name).exists()
        if there and anchor:
            there = anchor in headings((folder / name).read_text() if name else text)
        if not there:
            wrong.append(target)
    return wrong


@cache
def defined(path: Path) -> frozenset[str]:
    """Return the classes, functions and constants of a file, and what its classes hold."""
    tree = ast.parse(path.read_text())
    names = set(_names(tree.body))
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{name}" for name in _names(node.body)}
    return frozenset(names)


def _names(body: list[ast.stmt]) -> list[str]:
    found: list[str] = []
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found.append(node.name)
        elif isinstance(node, ast.AnnAssign | ast.Assign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found += [target.id for target in targets if isinstance(target, ast.Name)]
    return found


def named(text: str) -> list[Link]:
    """Return the links to Python files whose label is a name of code."""
    return [
        Link(label.strip("`"), target)
        for label, target in links(text)
        if target.partition("#")[0].endswith(".py") and label.startswith("`")
    ]


def unknown(text: str, folder: Path) -> list[str]:
    """Return the names of a page in this folder that the files they lead to do not define."""
    return [
        f"{name} in {target}"
        for name, target in named(text)
        if name not in defined((folder / target).resolve())
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    """A dead link is the end of a reader's patience."""
    assert broken(page.read_text(), page.parent) == []


@pytest.mark.parametrize("page", PAPERS, ids=lambda page: page.name)
def test_every_name_is_defined_where_its_link_leads(page: Path) -> None:
    """Classes, functions, constants, and methods or fields as `Class.name`."""
    assert unknown(page.read_text(), page.parent) == []


@pytest.mark.parametrize("page", PAPERS, ids=lambda page: page.name)
def test_the_walk_sees_every_name(page: Path) -> None:
    """A check that sees no names, or that takes any, checks nothing."""
    text = page.read_text()
    names = {link.label for link in named(text)}
    assert len(names) > 30
    assert {name for name in names if name.startswith("test_")}
    assert {name for name in names if "." in name}
    for name in names:
        renamed = text.replace(f"[`{name}`]", f"[`{name}_once`]")
        assert unknown(renamed, page.parent), name


def test_a_name_renamed_in_the_code_is_missed(tmp_path: Path) -> None:
    """As when somebody tidies up a class and forgets the page."""
    code = "LIMIT = 1\nclass Rule:\n    size: int = 2\n    def take(self): ...\ndef draw(): ...\n"
    page = "".join(f"[`{name}`](a.py) " for name in ("LIMIT", "Rule.size", "Rule.take", "draw"))
    for old, missing in (("", 0), ("LIMIT", 1), ("Rule", 2), ("size", 1), ("take", 1), ("draw", 1)):
        (tmp_path / "a.py").write_text(code.replace(old, "another") if old else code)
        defined.cache_clear()
        assert len(unknown(page, tmp_path)) == missing, old


def test_dead_links_are_found(tmp_path: Path) -> None:
    """Files, anchors and pictures; not addresses, and not what looks like a link in code."""
    (tmp_path / "there.md").write_text("# A title, of *some* kind\n")
    fine = "[a](there.md) [b](there.md#a-title-of-some-kind) [c](https://x.org/no) [`d`](#here)\n"
    code = "```python\nrows[x](gone.md)\n```\n## Here\n"
    assert broken(fine + code, tmp_path) == []
    dead = ["gone.md", "there.md#no-title", "gone.png", "#nowhere"]
    text = "[a](gone.md) [b](there.md#no-title) ![c d](gone.png) [`e`](#nowhere)"
    assert broken(text, tmp_path) == dead


@pytest.mark.parametrize("page", PAPERS, ids=lambda page: page.name)
def test_every_page_has_its_parts_in_order(page: Path) -> None:
    """Figures are written between the markers, by a program that must find both."""
    text = page.read_text()
    assert re.findall(r"^## (.+)$", prose(text), flags=re.M) == list(HEADINGS)
    figures = text.partition("## Figures")[2].partition("## Line by line")[0]
    opened = re.findall(r"^<!-- ([\w-]+) -->$", figures, flags=re.M)
    closed = re.findall(r"^<!-- /([\w-]+) -->$", figures, flags=re.M)
    assert opened == closed == [name for name in PLATES if PLATES[name].paper == page.stem]


@pytest.mark.parametrize("page", PAPERS, ids=lambda page: page.name)
def test_tables_have_as_many_cells_in_every_row(page: Path) -> None:
    """A stray | in a formula shifts all that stands behind it."""
    tables = re.findall(r"(?:^\|.*\n)+", page.read_text(), flags=re.M)
    assert len(tables) >= 3
    for table in tables:
        cells = {row.replace(r"\|", "").count("|") for row in table.splitlines()}
        assert len(cells) == 1, table.splitlines()[0]


@pytest.mark.parametrize("page", PAPERS, ids=lambda page: page.name)
def test_what_a_page_shows_runs(page: Path) -> None:
    """A counter-example that is none would send the reader back to the printed rule."""
    names: dict[str, object] = {}
    for block in re.findall(r"^```python\n(.*?)^```", page.read_text(), flags=re.S | re.M):
        exec(block, names)


def test_every_departure_in_the_code_is_on_a_page() -> None:
    """A comment `Differs:` is for who reads the code; who reads the papers looks here."""
    told = {
        (page.parent / target).resolve() for page in PAPERS for _, target in links(page.read_text())
    }
    code = [*SOURCE.rglob("*.py"), *(ROOT / "evaluation").rglob("*.py")]
    departing = [path for path in code if "Differs:" in path.read_text()]
    assert len(departing) >= 10
    assert [path.name for path in departing if path.resolve() not in told] == []
