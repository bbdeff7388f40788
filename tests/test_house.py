"""The house itself: folders, imports, sizes, and the words that code and pages use."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import noregret
from mutants import MUTANTS

SOURCE = Path(noregret.__file__).parent
ROOT = SOURCE.parents[1]
TESTS = ROOT / "tests"

# From the ground up: a folder or file may import only those before it in this list.
MAP = (
    *("errors", "text", "storable", "arrays", "threads", "progress"),
    *("pools", "kernels", "posteriors", "fitting"),
    *("acquisitions", "widths", "batching"),
    *("posterior_caches", "search"),
    *("policies", "automatic"),
    *("optimizer", "algorithms", "run", "plot", "testing"),
)


def rooms() -> dict[str, Path]:
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path
    del found["__init__"]
    return found


def imports_of(path: Path) -> set[str]:
    """Rooms that a file imports, at its top or inside functions."""
    tree, found, known = ast.parse(path.read_text()), set(), set(rooms())
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("noregret"):
            module = (node.module or "").removeprefix("noregret").removeprefix(".")
            names = [f"{module}.{alias.name}".removeprefix(".") for alias in node.names]
            found |= {name if name in known else module for name in names}
        elif isinstance(node, ast.Import):
            found |= {a.name.removeprefix("noregret.") for a in node.names if "noregret." in a.name}
    return found


def test_every_room_is_on_the_map() -> None:
    """The folder is the table of contents: short, and no drawer in a drawer."""
    assert {name.split(".")[0] for name in rooms()} == set(MAP)
    assert len([path for path in SOURCE.iterdir() if path.name != "__pycache__"]) <= 24
    for path in SOURCE.rglob("*.py"):
        depth = len(path.relative_to(SOURCE).parts)
        assert depth <= (3 if "tables" in path.parts else 2), path


def test_imports_follow_the_map() -> None:
    """A room that imports from below it will one day be a circle."""
    for name, path in rooms().items():
        inside = name.split(".")[0]
        for other in imports_of(path):
            assert other.split(".")[0] in MAP, f"{name} imports {other!r}"
            if other.split(".")[0] != inside:
                assert MAP.index(other.split(".")[0]) < MAP.index(inside), f"{name} → {other}"


def test_no_room_imports_itself_on_the_way_round() -> None:
    """Inside a folder too, what a file builds on is there before it."""
    inside = {
        name: {other for other in imports_of(path) if other != name and "." in other}
        for name, path in rooms().items()
        if "." in name
    }
    while inside:
        ground = [name for name, others in inside.items() if not others & set(inside)]
        assert ground, f"a circle among {sorted(inside)}"
        for name in ground:
            del inside[name]


def test_importing_loads_numpy_and_scipy_only() -> None:
    """A library that drags in a plotting stack is slow before it starts."""
    code = (
        "import sys, noregret; tops = {m.partition('.')[0] for m in sys.modules};"
        "print(sorted(t for t in tops if not t.startswith('_')))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(ast.literal_eval(run.stdout))
    foreign = loaded - set(sys.stdlib_module_names) - {"numpy", "scipy", "noregret"}
    editable = {name for name in foreign if name.startswith(("__editable__", "sitecustomize"))}
    known_to_start = {"distutils_hack", "google", "mpl_toolkits"}  # from .pth files, not from us
    by_numpy = {"cython_runtime", "charset_normalizer"}  # its f2py takes the latter if installed
    assert foreign - editable - known_to_start <= by_numpy


def test_completion_shows_public_names_only() -> None:
    """`nr.<tab>` is the first table of contents that a newcomer sees."""
    assert set(dir(noregret)) == {*noregret.__all__, "__version__"}


def test_public_names_exist_and_say_what_they_do() -> None:
    """help() is the first thing a newcomer tries."""
    for name in noregret.__all__:
        thing = getattr(noregret, name)
        assert name == "FAILED" or (thing.__doc__ or "").strip(), name
    assert "seed" in str(noregret.bbkb.__doc__) or "seed" in _signature(noregret.bbkb)


def _signature(function: object) -> str:
    import inspect

    assert callable(function)
    return str(inspect.signature(function))


def test_the_notation_names_what_the_code_has() -> None:
    """docs/notation.md maps every symbol to a name; a renamed name must be renamed there."""
    table = (ROOT / "docs" / "notation.md").read_text()
    names = re.findall(r"^\|[^|]*\| `([^`]+)`", table, flags=re.M)
    assert len(names) >= 20
    text = "\n".join(path.read_text() for path in rooms().values())
    for name in names:
        word = name.split("(")[0].split(".")[-1]
        assert re.search(rf"\b{re.escape(word)}\b", text), f"notation.md names {name!r}"


def test_every_mutant_still_has_its_place() -> None:
    """`make mutants` plants errors by text; a changed line must not make one vanish."""
    for mutant in MUTANTS:
        text = (SOURCE / mutant.file).read_text()
        assert text.count(mutant.old) == 1, f"{mutant.slip}: {mutant.old!r} in {mutant.file}"
        file, _, test = mutant.test.partition("::")
        named = f"def {test}(" if test else "def test_"
        assert named in (ROOT / file).read_text(), mutant.test


def test_files_stay_small_enough_to_hold_one_noun() -> None:
    """A file of more than 350 lines usually holds two."""
    for path in (*SOURCE.rglob("*.py"), *TESTS.rglob("*.py")):
        assert len(path.read_text().splitlines()) <= 350, path


def test_pools_and_boxes_are_told_apart_in_few_places() -> None:
    """`Points` and `Search` know which of the two a domain is, so that nobody else has to ask."""
    asking = re.compile(r"isinstance\([^()]*(\([^()]*\))?[^()]*\bBox\b")
    for name, path in rooms().items():
        if name.split(".")[0] not in ("pools", "search", "plot"):
            assert not asking.search(path.read_text()), name


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("_")


def private_names_of_others(path: Path) -> Iterator[str]:
    """Yield private names that a file takes from a module or from an object."""
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Attribute(value=ast.Name(id="self" | "cls")):
                continue
            case ast.Attribute(attr=name) | ast.alias(name=name) if is_private(name):
                yield name
            case ast.Call(
                func=ast.Attribute(attr="setattr"), args=[_, ast.Constant(str(name)), *_]
            ):
                if is_private(name):
                    yield name


OUTSIDE = ("tests", "evaluation", "examples")
FOREIGN = {"_exit", "_evalfull", "_randn", "_california_housing"}  # of Python, cma and scikit-learn


@pytest.mark.parametrize("folder", OUTSIDE)
def test_nobody_outside_reads_private_names(folder: str) -> None:
    """What only a private name tells, no user could find out."""
    for path in sorted((ROOT / folder).rglob("*.py")):
        assert set(private_names_of_others(path)) <= FOREIGN, path


# Words of an earlier language of this house's own; nobody would search for them.
FORMER = re.compile(
    r"\b(grasps?|lessons?|manners?|doubts?|candour|youth|footing|outlook|appraisals?|surveys?|"
    r"contenders?|owes?|pulls?|recipes?|rivals?|mended|anew|dear(er)?|doubting|oddit(y|ies))\b",
    flags=re.IGNORECASE,
)


def test_words_are_those_of_the_trade() -> None:
    """A reader who knows Bayesian optimisation searches for the words of its books."""
    folders = (*OUTSIDE, "src", "docs", "README.md", "CONTRIBUTING.md")
    listed = subprocess.run(
        ["git", "ls-files", *folders], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    texts = [name for name in listed if name.endswith((".py", ".md", ".txt", ".toml"))]
    assert len(texts) > 200
    for name in texts:
        if name != "tests/test_house.py" and not name.startswith("docs/results/"):
            found = FORMER.search((ROOT / name).read_text())
            assert not found, f"{name}: {found}"
