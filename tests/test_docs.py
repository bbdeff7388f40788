"""Every example in the documentation runs."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import noregret
from noregret.optimizer import PosteriorView

SOURCE = Path(noregret.__file__).parent
ROOT = SOURCE.parents[1]
MODULES = sorted(
    ".".join(("noregret", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(
        ".__init__"
    )
    for path in SOURCE.rglob("*.py")
)


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_run(name: str) -> None:
    """An example that fails is worse than none; `nr` and `np` are at hand, as in the README."""
    at_hand = {"nr": noregret, "np": np}
    assert doctest.testmod(importlib.import_module(name), extraglobs=at_hand).failed == 0


# Classes that people hold in their hands: every method and property has an example of its own, or
# is shown in that of its class or of another method.
IN_HAND = (
    *(noregret.Optimizer, noregret.Batch, noregret.Result, noregret.Pool, noregret.Box),
    *(noregret.Best, noregret.Certificate, noregret.Evaluated, noregret.Explanation),
    *(noregret.Trace, PosteriorView),
)


def public_names() -> Iterator[tuple[str, object]]:
    """Everything that `import noregret` offers, and methods of what is held in hand."""
    for module, prefix in ((noregret, ""), (noregret.plot, "plot.")):
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                yield prefix + name, thing
    for kind in IN_HAND:
        every = {name: thing for part in kind.__mro__[-2::-1] for name, thing in vars(part).items()}
        members = {name: thing for name, thing in every.items() if not name.startswith("_")}
        shown = "".join(map(_example, (kind, *members.values())))
        for name, thing in members.items():
            method = inspect.isroutine(thing) or isinstance(thing, property)
            old = "(deprecated)" in (inspect.getdoc(thing) or "")
            if not method or inspect.ismemberdescriptor(thing) or old:
                continue
            if _example(thing) or not re.search(rf"\.{name}\b", shown):
                yield f"{kind.__name__}.{name}", thing


def _example(thing: object) -> str:
    """What is typed in the examples of a docstring."""
    examples = doctest.DocTestParser().get_examples(inspect.getdoc(thing) or "")
    return "".join(example.source for example in examples)


PUBLIC = dict(public_names())


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_has_an_example(name: str) -> None:
    """People read the example first, and often nothing else."""
    assert _example(PUBLIC[name]), f"{name} has no >>> example"


def test_the_walk_finds_what_people_use() -> None:
    """A walk that finds nothing fails nobody."""
    expected = {"bbkb", "RBF", "plot.regret", "Optimizer.tell", "Optimizer.load", "NoRegretError"}
    assert expected | {"Pool.from_frame", "Trace", "Batch"} <= set(PUBLIC)


README = (ROOT / "README.md").read_text()


def test_the_readme_runs_as_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """A newcomer copies these lines first, and looks whether the same comes out."""
    code = re.findall(r"```python\n(.*?)```", README, flags=re.S)
    names: dict[str, object] = {}
    exec(code[0], names)
    printed = capsys.readouterr().out
    shown = re.findall(r"```text\n(.*?)```", README, flags=re.S)[0]
    number = r"-?\d+(?:\.\d+)?"
    assert re.sub(number, "#", printed) == re.sub(number, "#", shown)
    assert_close(re.findall(number, printed), re.findall(number, shown))
    exec(code[1], names)
    assert "evaluated" in capsys.readouterr().out


def assert_close(numbers: list[str], others: list[str]) -> None:
    """Rounding differs between machines, in the last digits."""
    assert np.allclose(np.array(numbers, float), np.array(others, float), rtol=0.02)


def test_the_first_screen_is_short_and_in_order() -> None:
    """What it is, how to have it, what it does; then what it promises, and what it is not for."""
    assert len(README.split()) <= 1100
    assert re.findall(r"^## (.*)", README, flags=re.M) == [
        *("Install", "Ten lines", "What is guaranteed", "Which algorithm", "Against others"),
        *("What it is not for", "Where to look"),
    ]


PAGES = sorted(path.name for path in (ROOT / "docs").glob("*.md"))


@pytest.mark.parametrize("page", PAGES)
def test_every_page_runs_as_printed(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From top to bottom, as somebody would who tries it out."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    text = (ROOT / "docs" / page).read_text()
    for block in re.findall(r"```python\n(.*?)```", text, flags=re.S):
        exec(block, names)
    for name in re.findall(r"\bnr\.(\w+)", text):
        assert hasattr(noregret, name), name


def test_the_index_lists_every_page() -> None:
    """A page that is on no list is read by nobody."""
    docs, index = ROOT / "docs", (ROOT / "docs" / "index.md").read_text()
    pages = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")} - {"index.md"}
    assert {page for page in pages if f"]({page})" not in index} == set()


def test_the_readme_lists_every_algorithm() -> None:
    """What is not in the table does not exist for a reader."""
    papers = ("noregret.algorithms.papers", "noregret.algorithms.sparse")
    for name in noregret.algorithms.__dict__:
        thing = getattr(noregret, name, None)
        if callable(thing) and getattr(thing, "__module__", "") in papers:
            assert f"`{name}`" in README, name
