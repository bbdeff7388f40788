"""When stops look, and stops of one's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

import noregret as nr
from noregret.run.stopping import Look, Stop
from small_stopping import ALGORITHMS, POOL, Noisy, stopped


def with_history(
    rows: list[int], values: list[float], excluded: Sequence[int] = ()
) -> Callable[..., nr.Optimizer]:
    def make(pool: nr.Pool, **settings: Any) -> nr.Optimizer:
        optimizer = ALGORITHMS["gp_ucb"](pool, **settings)
        optimizer.tell(rows, values)
        optimizer.exclude(excluded)
        return optimizer

    return make


def test_a_history_that_is_enough_ends_the_run_before_it_starts() -> None:
    told = with_history([9] * 50, [0.9] * 50)
    for stop, ended in ((nr.Target(0.7), "target 0.7 reached"), (nr.GapBelow(1e3), "gap ")):
        measure = Noisy()
        result = nr.maximize(measure, POOL, algorithm=told, budget=100, stop_when=stop)
        assert result.ended.startswith(ended)
        assert (measure.calls, len(result.values), result.switches) == (0, 0, 0)
        assert "0 evaluations" in str(result)
    result = nr.maximize(Noisy(), POOL, algorithm=told, budget=100, stop_when=nr.Patience(5))
    assert (result.ended, len(result.values)) == (
        "patience: 5 evaluations without improvement",
        5,
    )  # over the history's own best


def test_what_cannot_be_recommended_meets_no_stop() -> None:
    """All that was told of is excluded: there is no best, and no error either."""
    make = with_history([3], [5.0], excluded=[3])
    none: tuple[Any, ...] = (nr.Target(4.0), nr.GapBelow(1e-3), nr.Patience(50))
    result = nr.maximize(Noisy(), POOL, algorithm=make, budget=6, stop_when=none)
    assert (result.ended, len(result.values)) == ("budget spent", 5)


def test_the_callback_sees_the_last_batch_too_and_comes_first() -> None:
    """A run that saves itself in the callback must not lose its end."""
    seen: list[int] = []

    def note(optimizer: nr.Optimizer, *_: object) -> bool:
        seen.append(optimizer.spent)
        return optimizer.spent >= 4

    def run(stop: Any) -> nr.Result:
        seen.clear()
        algorithm = ALGORITHMS["gp_ucb"]
        return nr.maximize(
            Noisy(), POOL, algorithm=algorithm, budget=9, stop_when=stop, callback=note
        )

    assert (run(nr.Target(-9.0)).ended, seen) == ("target -9 reached", [1])
    assert (run(nr.Target(99.0)).ended, seen) == ("callback", [1, 2, 3, 4])


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[int]]:
    """After how many evaluations each of these was computed."""
    found: dict[str, list[int]] = {"best": [], "certificate": []}
    for name, of in (("best", nr.Optimizer.best), ("certificate", nr.Optimizer.certificate)):

        def noted(self: nr.Optimizer, name: str = name, of: Callable[..., Any] = of) -> Any:
            found[name].append(self.evaluations)
            return of(self)

        monkeypatch.setattr(nr.Optimizer, name, noted)
    return found


def test_a_recommendation_is_computed_once_a_batch_at_most(calls: dict[str, list[int]]) -> None:
    """It costs as much as a choice; without stops that need it, it is not made at all."""
    stopped("gp_ucb", 12, [nr.Target(9.0), nr.Patience(100), nr.Target(8.0)])
    assert calls["best"] == list(range(1, 13))
    calls["best"].clear()
    stopped("gp_ucb", 12, nr.GapBelow(1e-6))
    stopped("gp_ucb", 12, None)
    assert calls["best"] == []


def test_certificates_are_made_on_their_schedule(calls: dict[str, list[int]]) -> None:
    """Each takes a pass over the pool: none at every evaluation of a long run."""
    stopped("gp_ucb", 50, nr.GapBelow(1e-6))
    made = [*range(1, 22), 23, 25, 27, 29, 31, 33, 35, 37, 39, 41, 44, 47, 50]
    assert calls["certificate"] == made


@dataclass
class AtThree:
    """A stop of a user's own."""

    met: Callable[[], str]

    def begin(self, look: Look) -> int:
        return look.spent

    def check(self, look: Look, memory: int) -> tuple[str | None, int]:
        assert memory == max(look.spent - 1, 0)
        return (self.met() if look.spent == 3 else None), look.spent


def test_a_stop_of_one_s_own() -> None:
    hot: Stop[int] = AtThree(lambda: "too hot")
    result = stopped("gp_ucb", 40, hot)
    assert (result.ended, len(result.values)) == ("too hot", 3)


@pytest.mark.parametrize(
    "given_as", [0.9, "target", nr.Target, [nr.Patience], [nr.Target(1.0), 3], lambda _: True]
)
def test_what_is_no_stop_is_refused_before_anything_is_measured(given_as: Any) -> None:
    measure = Noisy()
    with pytest.raises(nr.NoRegretError, match=r"stop_when must be .*Target\(0\.9\).*callback="):
        nr.minimize(measure, POOL, algorithm=nr.uniform, budget=9, stop_when=given_as)
    assert measure.calls == 0


def test_an_error_in_a_stop_keeps_the_values() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        stopped("gp_ucb", 9, AtThree(lambda: str(1 // 0)))
    assert len(caught.value.result.values) == 3  # type: ignore[attr-defined]  # set by the runner
