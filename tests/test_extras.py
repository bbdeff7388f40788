"""Optional packages: absent, they are named with the way to get them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import noregret as nr
from noregret.errors import MissingExtraError, NoRegretError, require_extra


def test_an_absent_package_is_named_with_its_extra() -> None:
    """`No module named x` tells nobody what to install."""
    with pytest.raises(
        MissingExtraError, match=r'reading y needs nowhere.*pip install nowhere.*extra "tables"'
    ) as caught:
        require_extra("nowhere.inside", extra="tables", what="reading y")
    assert isinstance(caught.value, NoRegretError)
    assert isinstance(caught.value, ImportError)


@pytest.mark.parametrize(
    ("package", "extra", "use"),
    [
        ("pandas", "pandas", lambda: nr.uniform(nr.Pool([[0.0]])).trace.to_pandas()),
        ("pyarrow", "tables", lambda: nr.uniform(nr.Pool([[0.0]])).trace.__arrow_c_stream__()),
        ("pyarrow", "tables", lambda: nr.Pool.from_frame(pl.DataFrame({"x": [1.0]}))),
        ("pyarrow", "tables", lambda: nr.read_pool("x.csv")),
        ("matplotlib", "plot", lambda: nr.plot.regret([1.0], best=1.0)),
    ],
)
def test_what_to_install_is_in_the_message(
    package: str,
    extra: str,
    use: Callable[[], object],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Most people install the core alone, which needs none of these."""
    (tmp_path / "x.csv").write_text("x\n1\n")
    monkeypatch.chdir(tmp_path)
    absent = "matplotlib.pyplot" if package == "matplotlib" else package
    monkeypatch.setitem(sys.modules, absent, None)  # as if it were not there
    with pytest.raises(MissingExtraError, match=rf'pip install {package}.*extra "{extra}"'):
        use()


def test_a_module_that_is_there_is_given() -> None:
    """The way in for all that is installed."""
    import numpy.linalg

    assert require_extra("numpy.linalg", extra="tables", what="sums") is numpy.linalg
