"""What a function may say of the noise of its values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.arrays import Vector
from noregret.errors import TellError
from noregret.optimizer import Failed
from small_loops import POOL, Counted, f


def by_two_instruments(x: Vector) -> float | tuple[float, float] | Failed:
    """A fine one on the right, which fails at its end; elsewhere the usual one."""
    if x[0] > 0.95:
        return nr.FAILED
    return (f(x), 0.05) if x[0] > 0.5 else f(x)


def test_a_function_may_say_how_noisy_its_value_is() -> None:
    """Each value is weighed by its own instrument, as it would be by hand."""
    settings: dict[str, Any] = {
        "kernel": nr.RBF(0.3),
        "noise_std": 0.2,
        "start": nr.UniformDesign(9),
    }
    result = nr.maximize(
        by_two_instruments, POOL, algorithm=nr.mini_gp_ucb, budget=25, progress=False, **settings
    )
    optimizer = nr.mini_gp_ucb(POOL, **settings)
    while optimizer.spent < 25:
        batch = optimizer.ask(at_most=25 - optimizer.spent)
        told = [by_two_instruments(x) for x in batch]
        noise = [each[1] if isinstance(each, tuple) else 0.2 for each in told]
        values = [each[0] if isinstance(each, tuple) else each for each in told]
        optimizer.tell(batch, values, noise_std=noise)
    assert result.ids.tolist() == optimizer.sequence.tolist()
    weights = result.optimizer.evaluated.weights
    assert weights.tolist() == optimizer.evaluated.weights.tolist()
    assert {1.0, 16.0} <= set(np.round(weights / result.optimizer.evaluated.evaluations, 9))


def test_deterministic_values_may_be_said_to_have_no_noise() -> None:
    """As tell() takes them; one that is said to have some is refused before more is measured."""
    settings: dict[str, Any] = {"kernel": nr.RBF(0.3), "noise_std": 0, "deterministic": True}

    def run(f: Callable[[Vector], Any]) -> nr.Result:
        return nr.maximize(f, POOL, algorithm=nr.gp_ucb, budget=6, progress=False, **settings)

    plain, said = run(lambda x: x[0]), run(lambda x: (x[0], 0.0))
    assert said.ids.tolist() == plain.ids.tolist()
    calls = Counted()
    with pytest.raises(TellError, match="must be 0 where deterministic=True") as caught:
        run(lambda x: (0.3, 0.1) if calls.calls == 3 else calls(x))
    assert len(caught.value.result.values) == 3  # type: ignore[attr-defined]  # set by maximize


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((0.3, 0.0), "must be above 0"),
        ((0.3, "fine"), "must be a number"),
        ((0.3, [0.1, 0.2]), "noise_std"),
        ((0.3, 0.1, 0.2), "the function returned"),
        (("high", 0.1), "the function returned"),
    ],
)
def test_a_pair_that_is_none_is_refused_at_once(given: Any, words: str) -> None:
    """What was measured before it is kept."""
    calls = Counted()

    def measure(x: Vector) -> Any:
        return given if calls.calls == 3 else calls(x)

    with pytest.raises(TellError, match=words) as caught:
        nr.maximize(measure, POOL, algorithm=nr.gp_ucb, budget=9, kernel=nr.RBF(0.3), noise_std=0.2)
    assert len(caught.value.result.values) == 3  # type: ignore[attr-defined]  # set by maximize


def test_noise_is_told_to_no_algorithm_that_fits_it() -> None:
    with pytest.raises(TellError, match="was given none"):
        nr.maximize(lambda x: (f(x), 0.1), POOL, budget=9, progress=False)
