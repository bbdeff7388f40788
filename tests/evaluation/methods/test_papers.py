"""From a setting, which is data, to an optimizer."""

from __future__ import annotations

import pytest

from evaluation.methods.papers import optimizer
from evaluation.runs.cells import Setting
from small_runs import cell, small

SETTINGS: tuple[Setting, ...] = (
    {"algorithm": "bbkb", "rule": "global", "limit": 2.0},
    {"algorithm": "gp_ucb"},
    {"algorithm": "gp_bucb", "limit": 2.0},
)


def beta(setting: Setting) -> float:
    made = optimizer(small(), cell({**setting, "bandwidth": 0.3}))
    made.tell([3, 9, 9], [0.2, 0.1, 0.4])
    return float(made.posterior.beta)


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda one: str(one["algorithm"]))
def test_a_width_is_divided_and_is_otherwise_the_methods_own(setting: Setting) -> None:
    """√C̃ included: what is compared is a factor alone."""
    own = beta(setting)
    assert beta({**setting, "width_divided_by": 1.0}) == pytest.approx(own)
    assert beta({**setting, "width_divided_by": 2.0}) == pytest.approx(own / 2)


def test_a_bandwidth_may_be_given_as_its_square() -> None:
    squared = optimizer(small(), cell({"algorithm": "gp_ucb", "bandwidth_squared": 0.09}))
    plain = optimizer(small(), cell({"algorithm": "gp_ucb", "bandwidth": 0.3}))
    for one in (squared, plain):
        one.tell([3, 9], [0.2, 0.1])
    rows = small().numbers
    assert squared.posterior.mean(rows) == pytest.approx(plain.posterior.mean(rows))
