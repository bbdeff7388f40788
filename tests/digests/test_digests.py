"""What every algorithm chooses, and answers, is what is recorded in digests.json."""

from __future__ import annotations

import pytest

from digests.record import differences, recorded
from digests.runs import is_elsewhere, runs

RUNS = runs()


@pytest.mark.parametrize("name", RUNS)
def test_runs_are_as_recorded(name: str) -> None:
    """A change that means to leave choices alone must not move somebody's run."""
    kept = recorded()
    found = differences(kept.get(name, {}), RUNS[name]())
    if found and is_elsewhere(name, kept):
        pytest.skip("this machine rounds otherwise than that of the record")
    assert not found


def test_every_record_has_its_run() -> None:
    """A run that is no longer made is compared with nothing."""
    assert recorded().keys() == RUNS.keys()
