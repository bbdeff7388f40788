"""maximize and minimize: the loop that people start and leave alone."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

import noregret as nr
from noregret import progress as bars
from noregret.arrays import Vector
from noregret.optimizer import Failed
from small_loops import POOL, Counted, X, f


def modelled(
    algorithm: Callable[..., nr.Optimizer], **settings: object
) -> Callable[..., nr.Optimizer]:
    return partial(algorithm, kernel=nr.RBF(0.2), noise_std=0.3, **settings)


ALGORITHMS: dict[str, Callable[..., nr.Optimizer]] = {
    "auto": nr.auto,
    "gp_ucb": modelled(nr.gp_ucb),
    "gp_bucb": modelled(nr.gp_bucb, limit=20.0),
    "bbkb": modelled(nr.bbkb, limit=20.0),
    "mini_gp_ucb": modelled(nr.mini_gp_ucb, limit=20.0),
    "uniform": partial(nr.uniform, batch_size=7),
}
every_algorithm = pytest.mark.parametrize("name", ALGORITHMS)


@every_algorithm
@pytest.mark.parametrize("budget", [1, 2, 17, 40])
def test_the_budget_is_kept_exactly(name: str, budget: int) -> None:
    """Each evaluation may cost a day: not one more, and not one less."""
    measure = Counted()
    result = nr.maximize(measure, POOL, algorithm=ALGORITHMS[name], budget=budget)
    assert measure.calls == len(result.ids) == len(result.values) == budget
    assert result.optimizer.spent == result.optimizer.evaluations == budget
    assert result.ended == "budget spent"
    np.testing.assert_array_equal(result.values, [f(X[row]) for row in result.ids])
    assert result.best().id in result.ids


@every_algorithm
def test_it_is_the_loop_by_hand(name: str) -> None:
    result = nr.maximize(f, POOL, algorithm=ALGORITHMS[name], budget=25, seed=4)
    optimizer, rows = ALGORITHMS[name](POOL, seed=4), list[int]()
    while optimizer.spent < 25:
        batch = optimizer.ask(at_most=25 - optimizer.spent)
        optimizer.tell(batch, [f(x) for x in batch])
        rows += batch.sequence.tolist()
    assert result.ids.tolist() == rows
    assert result.best().mean == optimizer.best().mean


@every_algorithm
def test_minimize_mirrors_maximize(name: str) -> None:
    up = nr.maximize(f, POOL, algorithm=ALGORITHMS[name], budget=25, seed=2)
    down = nr.minimize(lambda x: -f(x), POOL, algorithm=ALGORITHMS[name], budget=25, seed=2)
    np.testing.assert_array_equal(up.ids, down.ids)
    np.testing.assert_array_equal(up.values, -down.values)
    assert (down.best().id, down.best().mean) == (up.best().id, -up.best().mean)
    if name != "uniform":
        assert down.certificate().gap == up.certificate().gap
        assert down.best().mean < -0.8


def test_a_goal_against_the_function_called_is_refused() -> None:
    """minimize(goal="max") must not quietly maximise."""
    with pytest.raises(nr.NoRegretError, match="goal"):
        nr.minimize(f, POOL, algorithm=nr.uniform, budget=3, goal="max")


@every_algorithm
def test_the_callback_sees_every_batch(name: str) -> None:
    """Logging and saving hang on it."""
    seen = list[tuple[int, int]]()
    rows = list[int]()

    def note(optimizer: nr.Optimizer, batch: nr.Batch, values: list[float | Failed]) -> None:
        assert values == [f(x) for x in batch]
        rows.extend(batch.sequence.tolist())
        assert optimizer.evaluations == len(rows)  # called after the batch was told
        seen.append((batch.ticket, len(batch)))

    result = nr.maximize(f, POOL, algorithm=ALGORITHMS[name], budget=20, callback=note)
    assert [ticket for ticket, _ in seen] == list(range(result.optimizer.batches))
    assert rows == result.ids.tolist()


@every_algorithm
def test_failures_count_towards_the_budget(name: str) -> None:
    """A function that always fails must not be called forever."""
    calls = list[int]()

    def unlucky(x: Vector) -> float | Failed:
        calls.append(1)
        return nr.FAILED if len(calls) % 3 == 0 else f(x)

    result = nr.maximize(unlucky, POOL, algorithm=ALGORITHMS[name], budget=21)
    assert len(calls) == result.optimizer.spent == len(result.values) == 21
    assert result.optimizer.evaluations == 14
    assert np.flatnonzero(np.isnan(result.values)).tolist() == list(range(2, 21, 3))
    assert result.ended == "budget spent"


@every_algorithm
def test_a_function_that_only_fails_comes_to_an_end(name: str) -> None:
    """And says what happened, without a best candidate that never was."""
    result = nr.maximize(lambda _: nr.FAILED, POOL, algorithm=ALGORITHMS[name], budget=12)
    assert (result.optimizer.spent, result.optimizer.evaluations) == (12, 0)
    assert np.isnan(result.values).all()
    with pytest.raises(nr.NoRegretError, match="no value was told"):
        _ = result.best()
    assert "12 evaluations (12 failed; budget spent)" in str(result)


@every_algorithm
@pytest.mark.parametrize("at", [1, 2, 10, 16])
def test_ctrl_c_keeps_every_value(name: str, at: int) -> None:
    """Whoever stops a run at noon wants the morning's measurements."""
    measure = Counted(at, KeyboardInterrupt())
    result = nr.maximize(measure, POOL, algorithm=ALGORITHMS[name], budget=30)
    assert result.ended == "interrupted"
    assert f"{at - 1} evaluation" in str(result)
    assert "(interrupted)" in str(result)
    assert len(result.values) == len(result.ids) == result.optimizer.evaluations == at - 1
    np.testing.assert_array_equal(result.values, [f(X[row]) for row in result.ids])
    plain = nr.maximize(f, POOL, algorithm=ALGORITHMS[name], budget=30)
    np.testing.assert_array_equal(result.ids, plain.ids[: at - 1])
    rest = list[int]()
    while result.optimizer.spent < 30:  # going on is the unbroken run
        batch = result.optimizer.ask(at_most=30 - result.optimizer.spent)
        result.optimizer.tell(batch, [f(x) for x in batch])
        rest += batch.sequence.tolist()
    assert rest == plain.ids[at - 1 :].tolist()


@every_algorithm
@pytest.mark.parametrize("at", [1, 9, 12])
def test_an_error_in_f_propagates_and_keeps_the_values(name: str, at: int) -> None:
    """A bug in the user's code is his to see, and costs him no measurement."""
    measure = Counted(at, ZeroDivisionError("no current"))
    with pytest.raises(ZeroDivisionError, match="no current") as caught:
        nr.maximize(measure, POOL, algorithm=ALGORITHMS[name], budget=30)
    assert len(caught.value.__notes__) == 1
    assert "noregret.FAILED" in caught.value.__notes__[0]
    result = getattr(caught.value, "result", None)
    assert isinstance(result, nr.Result)
    assert result.ended == "error"
    assert len(result.values) == result.optimizer.evaluations == at - 1
    if at > 1:
        assert result.best().evaluations >= 1


@every_algorithm
def test_a_nan_is_said_at_once(name: str) -> None:
    """Not after the rest of the batch, which may take the night; values before it are kept."""
    measure = Counted(9, float("nan"))
    with pytest.raises(nr.NoRegretError, match="nan") as caught:
        nr.maximize(measure, POOL, algorithm=ALGORITHMS[name], budget=30)
    assert measure.calls == 9
    assert caught.value.result.optimizer.evaluations == 8  # type: ignore[attr-defined]  # set by the runner


def test_by_id_hands_over_names_and_rows() -> None:
    """Where f is a robot that knows samples by number."""
    names = [f"s{i}" for i in range(30)]
    seen = list[object]()

    def measure(key: object) -> float:
        seen.append(key)
        row = names.index(key) if isinstance(key, str) else key
        assert isinstance(row, int)
        return f(X[row])

    named = nr.Pool(X, names=names)
    algorithm = ALGORITHMS["mini_gp_ucb"]
    by_name = nr.maximize(measure, named, algorithm=algorithm, budget=20, by_id=True)
    assert by_name.ids.tolist() == seen
    assert by_name.best().id in names
    seen.clear()
    by_row = nr.maximize(measure, POOL, algorithm=algorithm, budget=20, by_id=True)
    assert by_row.ids.tolist() == seen
    assert [names[row] for row in by_row.ids] == by_name.ids.tolist()
    np.testing.assert_array_equal(by_row.values, by_name.values)


def test_settings_reach_the_algorithm() -> None:
    result = nr.maximize(f, POOL, algorithm=modelled(nr.gp_ucb), budget=4, start=[3, 1, 2])
    assert result.ids[:3].tolist() == [3, 1, 2]
    with pytest.raises(nr.NoRegretError, match="unknown argument 'colour'"):
        nr.maximize(f, POOL, algorithm=modelled(nr.gp_ucb), budget=4, colour="red")


def test_a_result_says_what_was_found() -> None:
    result = nr.maximize(f, POOL, algorithm=ALGORITHMS["gp_ucb"], budget=12)
    switches = sum(a != b for a, b in pairwise(result.ids))
    assert 1 < result.switches == switches == result.optimizer.switches
    assert (
        str(result) == f"12 evaluations (budget spent), {switches} switches; best {result.best()}"
    )
    assert result.certificate().id == result.best().id


@pytest.fixture(name="terminal")
def shown_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bars, "SILENT_SECONDS", 0)
    monkeypatch.setenv("FORCE_COLOR", "1")  # what is captured counts as a terminal
    monkeypatch.setenv("TERM", "xterm")


@pytest.mark.usefixtures("terminal")
def test_progress_is_shown_on_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """On stderr, so that a pipe of results stays clean."""
    nr.maximize(f, POOL, algorithm=nr.uniform, budget=10, progress=True)
    shown = capsys.readouterr()
    assert "evaluations" in shown.err
    assert "10/10" in shown.err
    assert shown.out == ""


@pytest.mark.usefixtures("terminal")
def test_progress_ends_with_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    """The cursor and the terminal must come back."""
    with pytest.raises(ZeroDivisionError):
        nr.maximize(Counted(4, ZeroDivisionError()), POOL, algorithm=nr.uniform, budget=10)
    shown = capsys.readouterr().err
    assert shown.rfind("\x1b[?25h") > shown.rfind("\x1b[?25l") >= 0  # shown after it was hidden


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("progress", [True, False])
def test_nothing_is_written_where_nothing_was_asked_for(
    progress: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bars, "SILENT_SECONDS", 1e9 if progress else 0)
    nr.maximize(f, POOL, algorithm=nr.uniform, budget=10, progress=progress)
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "")


def test_account_took_the_place_of_explain() -> None:
    """Scripts of last year still run, and say what to change."""
    result = nr.maximize(f, POOL, budget=5)
    with pytest.warns(DeprecationWarning, match=r"use result\.account\(\)"):
        assert result.explain() == result.account() == result.optimizer.account()


def test_both_take_the_same_arguments() -> None:
    """Editors and help() list them, each with its default."""
    names = ["f", "pool", "budget", "algorithm", "stop_when", "callback", "progress", "by_id"]
    for run in (nr.maximize, nr.minimize):
        parameters = inspect.signature(run).parameters
        assert list(parameters) == [*names, "contexts", "settings"]
        assert [parameters[name].kind.name for name in names[:4]] == [
            *["POSITIONAL_OR_KEYWORD"] * 3,
            "KEYWORD_ONLY",
        ]
        defaults = {name: parameters[name].default for name in [*names[3:], "contexts"]}
        assert defaults == {
            "algorithm": nr.auto,
            "stop_when": None,
            "callback": None,
            "progress": True,
            "by_id": False,
            "contexts": None,
        }
