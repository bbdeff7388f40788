"""Optional packages: absent, they are named with the way to get them."""

from __future__ import annotations

import pytest

from noregret.errors import MissingExtraError, NoRegretError, require_extra


def test_an_absent_package_is_named_with_its_extra() -> None:
    """`No module named x` tells nobody what to install."""
    with pytest.raises(
        MissingExtraError, match=r'reading y needs nowhere.*pip install nowhere.*extra "tables"'
    ) as caught:
        require_extra("nowhere.inside", extra="tables", what="reading y")
    assert isinstance(caught.value, NoRegretError)
    assert isinstance(caught.value, ImportError)


def test_a_module_that_is_there_is_given() -> None:
    """The way in for all that is installed."""
    import numpy.linalg

    assert require_extra("numpy.linalg", extra="tables", what="sums") is numpy.linalg
