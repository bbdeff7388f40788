"""Any two options mean both what they say, or are refused by an error that names both."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.errors import ArgumentError

POOL = nr.Pool(np.random.default_rng(0).random((12, 2)))
GRADIENT = nr.KnowledgeGradient(ahead=9.0, noise=0.25)
VALUES: dict[str, tuple[Any, ...]] = {
    "at_most_each": (1, 2),
    "deterministic": (True,),
    "switch_cost": (5.0, {0: 5.0}),
    "context_kernel": (nr.RBF(0.4),),
    "norm_bound": ("grow",),
    "dictionary": ("sticky", "incremental"),
    "posterior": ("nystrom",),
    "acquisition": (nr.ExpectedImprovement(), nr.Thompson(), GRADIENT),
    "width": (nr.ConstantWidth(1.0), nr.BayesianWidth()),
    "min_batch": (3,),
    "start": ([1, 2],),
    "rule": ("local", nr.Stay(3.0)),
    "limit": (3.0,),
    "oversample": (3.0,),
    "batch_size": (3,),
    "workers": (2,),
    "attitude": ("safe",),
}
ALGORITHMS: dict[str, Callable[..., nr.Optimizer]] = {
    "bkb": nr.bkb,
    "bbkb": nr.bbkb,
    "mini": nr.mini,
    "mini_gp_ucb": nr.mini_gp_ucb,
    "gp_bucb": nr.gp_bucb,
    "batch_thompson": nr.batch_thompson,
    "auto": nr.auto,
}
BOTH: dict[frozenset[str], str] = {  # what does not go together, with some values at least
    frozenset(names.split()): says
    for names, says in {
        "at_most_each deterministic": "Give one of the two",
        "at_most_each context_kernel": "for runs without contexts",
        "deterministic context_kernel": "for runs without contexts",
        "norm_bound context_kernel": "for runs without contexts",
        "min_batch context_kernel": "for runs without contexts",
        "start context_kernel": "for runs without contexts",
        "norm_bound min_batch": "Give one of the two",
        "norm_bound acquisition": "follow no bound",
        "norm_bound width": "says nothing of a kernel that is wrong",
        "acquisition width": "give width=",
        "dictionary posterior": "about a dictionary",
        "oversample posterior": "about a dictionary",
        "at_most_each min_batch": "Give one of the two",
        "deterministic min_batch": "Give one of the two",
        "deterministic switch_cost": "Give one of the two",
        "switch_cost workers": "Give one of the two",
        "switch_cost min_batch": "needs a batch rule",
        "rule min_batch": "needs a batch rule",
        "rule batch_size": "Give one of the two",
        "rule limit": "leave limit out",
    }.items()
}
SHOWN = {"width": "(?:BayesianWidth|width=)", "acquisition": "acquisition="}  # as messages have it


def told(name: str, settings: dict[str, Any]) -> list[list[int]]:
    """Ask three times, and return what was asked for."""
    own = {} if name == "auto" else {"kernel": nr.RBF(0.3), "noise_std": 0.5}
    if name == "mini":
        own["acquisition"] = nr.UCB()
    optimizer = ALGORITHMS[name](POOL, **{**own, **settings})
    context: dict[str, Any] = {"context": [0.3]} if "context_kernel" in settings else {}
    batches = []
    for _ in range(3):
        batch = optimizer.ask(at_most=6, **context)
        batches.append(np.asarray(batch.sequence).tolist())
        optimizer.tell(batch, [float(np.sin(5 * x[0])) for x in batch])
    return batches


def refusal(name: str, settings: dict[str, Any]) -> str:
    """Return why settings are refused, nothing where they are not."""
    try:
        told(name, settings)
    except ArgumentError as error:
        return str(error)
    return ""


def singles(name: str) -> Iterator[tuple[str, Any]]:
    """Yield the options of an algorithm that need no other."""
    for option in inspect.signature(ALGORITHMS[name]).parameters:
        for value in VALUES.get(option, ()):
            if not refusal(name, {option: value}):
                yield option, value


@pytest.mark.parametrize("name", ALGORITHMS)
def test_any_two_options_work_or_are_refused_by_name(name: str) -> None:
    """Who says both means both; one that is silently dropped is found out after the budget."""
    for (one, a), (other, b) in combinations(list(singles(name)), 2):
        if one == other:
            continue
        says = refusal(name, {one: a, other: b})
        if says:
            expected = BOTH.get(frozenset((one, other)))
            assert expected, f"{name}({one}={a!r}, {other}={b!r}): {says}"
            assert re.search(expected, says)
            for option in (one, other):
                assert re.search(SHOWN.get(option, option), says), (option, says)


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("bbkb", {"acquisition": GRADIENT}, r"acquisition=.*width=noregret\.ConstantWidth\(1\.0\)"),
    ("mini", {"acquisition": GRADIENT}, r"acquisition=.*width=noregret\.ConstantWidth\(1\.0\)"),
    (
        "bbkb",
        {"acquisition": nr.KnowledgeGradient(9.0), "width": nr.ConstantWidth(1.0)},
        r"KnowledgeGradient\(noise=0\).*noise_std=0\.5 says.*noise=noise_std\*\*2",
    ),
    ("mini", {"at_most_each": 2, "min_batch": 3}, "min_batch=3 .* at_most_each=2 allows"),
    ("mini_gp_ucb", {"deterministic": True, "min_batch": 3}, "min_batch=3 .* deterministic=True"),
    ("mini", {"deterministic": True, "switch_cost": 5.0}, "switch_cost=5 .* deterministic=True"),
    ("gp_bucb", {"rule": nr.Repeat(3.0), "at_most_each": 2, "min_batch": 3}, "min_batch=3 .*=2"),
    ("auto", {"deterministic": True, "switch_cost": 5.0}, "switch_cost=5 .* deterministic=True"),
    ("batch_thompson", {"batch_size": 3, "rule": "local"}, "batch_size=3 and rule='local'"),
    ("batch_thompson", {"limit": 3.0}, "limit=3 .* give rule="),
    (
        "batch_thompson",
        {"limit": 3.0, "rule": nr.Stay(3.0)},
        r"limit=3 .* rule=Stay\(.*leave limit",
    ),
]


@pytest.mark.parametrize(("name", "settings", "match"), WRONG, ids=[w[2][:40] for w in WRONG])
def test_what_would_be_dropped_is_refused(name: str, settings: dict[str, Any], match: str) -> None:
    """Each of these ran, by one of the two or by what the algorithm takes for others."""
    assert re.search(match, refusal(name, settings))


def test_what_goes_together_all_the_same() -> None:
    """A cost by pair orders batches, whatever repeats; a gradient without noise needs none told."""
    by_pair = {"switch_cost": {0: 5.0}, "deterministic": True}
    assert told("mini", by_pair)
    exact = {"acquisition": nr.KnowledgeGradient(9.0), "width": nr.ConstantWidth(1.0)}
    assert told("bbkb", {**exact, "noise_std": 0, "deterministic": True})
    assert [len(ids) for ids in told("batch_thompson", {"batch_size": 3})] == [3, 3, 3]
    assert told("gp_bucb", {"rule": nr.FixedSize(4), "min_batch": 3, "at_most_each": 1})
