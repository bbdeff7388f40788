"""maximize and minimize: the loop, with progress and a clean way out."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, TypeAlias, final

import numpy as np

from noregret.algorithms import auto
from noregret.arrays import Matrix, Vector
from noregret.errors import ArgumentError, ExhaustedError, TellError, require_count
from noregret.optimizer import MOST_VALUE, Batch, Best, Certificate, Failed, Goal, Optimizer
from noregret.optimizer.feedback import Feedback
from noregret.policies import known_noise_std
from noregret.pools import Domain, Keys
from noregret.progress import Display
from noregret.run.regret import regrets
from noregret.run.rounds import Contexts, Rounds
from noregret.run.stopping import Stop, Watch, as_stops
from noregret.text import counted

Value: TypeAlias = "float | tuple[float, float] | Failed"
Objective: TypeAlias = Callable[..., Value]  # of a candidate, and of a context where there is one
ValueAndNoise: TypeAlias = "tuple[float | Failed, float | None]"  # None where it was not said
Callback: TypeAlias = Callable[[Optimizer, Batch, "list[float | Failed]"], "bool | None"]
Arguments = ParamSpec("Arguments")


@final
@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """What a run found, and the optimizer to go on with.

    `ids` and `values` hold every evaluation in order, NaN where it failed; `switches` counts how
    often one was of another candidate than the one before, `paid` is what that cost by the run's
    `switch_cost`. `ended` says why the run stopped: the budget, a stop (and which), the callback,
    or Ctrl-C. In a run with contexts, `contexts` holds that of each evaluation, and `best` and
    `certificate` are asked for one.

    >>> result = nr.maximize(lambda x: x[0], nr.Pool([[0.0], [0.5], [1.0]]), budget=20)
    >>> result.ended, len(result.values), result.best().id, result.certificate().gap < 1.0
    ('budget spent', 20, 2, True)
    >>> result.account().partition(";")[0]
    'Exact posterior on 3 unique points'
    >>> bool(result.regret([0.0, 0.5, 1.0])[-1] == 0.0)
    True
    """

    optimizer: Optimizer
    ids: Keys
    values: Vector
    ended: str
    switches: int
    contexts: Matrix | None = None  # (T, c), by name in the order of `optimizer.context_names`
    paid: float = 0.0

    def best(self, *, context: object = None) -> Best:
        """Return the recommended candidate, under a context where the run has some."""
        return self.optimizer.best(context=context)

    def certificate(self, *, context: object = None) -> Certificate:
        """Return how far the recommendation can be from the true best."""
        return self.optimizer.certificate(context=context)

    def regret(self, truth: object) -> Vector:
        """Return how far each evaluation fell short of the best candidate, NaN where it failed.

        `truth` is one true value per candidate of the pool. In a run with contexts it is a function
        that returns these under a context, given as numbers in order or by name as the run's were;
        each evaluation is held against the best candidate of its own context, and `truth` called
        once for each that differs.

        >>> result = nr.maximize(lambda x, c: -abs(x[0] - c), nr.Pool([[0.0], [1.0]]), budget=30,
        ...                      contexts=[0, 1] * 15, algorithm=nr.gp_ucb, kernel=nr.RBF(0.1),
        ...                      noise_std=0.1, context_kernel=nr.RBF(0.1))
        >>> result.regret(lambda c: [-c[0], c[0] - 1.0])[-4:]
        array([0., 0., 0., 0.])
        >>> result.best(context=[1]).id
        1
        """
        found = regrets("regret(truth)", truth, self.optimizer, self.ids, self.contexts)
        return np.where(np.isnan(self.values), np.nan, found)

    def account(self) -> str:
        """Say what was done and why, what was learned for that, and what it guarantees."""
        return self.optimizer.account()

    def explain(self) -> str:
        """Return `account()`, under its name of before (deprecated)."""
        warnings.warn("use result.account()", DeprecationWarning, stacklevel=2)
        return self.account()

    def __str__(self) -> str:
        found = "nothing measured"
        if self.optimizer.evaluations:
            by_context = self.optimizer.takes_contexts
            found = f"best {'depends on the context' if by_context else self.best()}"
        spent = counted(len(self.values), "evaluation")
        failed = int(np.isnan(self.values).sum())
        ended = f"{failed} failed; {self.ended}" if failed else self.ended
        switches = counted(self.switches, "switch", "switches")
        cost = f" that cost {self.paid:g}" if self.paid else ""
        return f"{spent} ({ended}), {switches}{cost}; {found}"


def _optimize(
    goal: Goal,
    /,
    f: Objective,
    pool: Domain,
    budget: int,
    *,
    algorithm: Callable[..., Optimizer] = auto,
    stop_when: Stop[Any] | Sequence[Stop[Any]] | None = None,
    callback: Callback | None = None,
    progress: bool = True,
    by_id: bool = False,
    contexts: Contexts | None = None,
    **settings: object,
) -> Result:
    stops = as_stops(stop_when)
    if not callable(f):
        raise ArgumentError(f"the function to optimise must be callable, got {f!r}.")
    if not callable(algorithm):
        raise ArgumentError(
            f"algorithm must be one of the library's functions, such as noregret.mini_gp_ucb, "
            f"got {algorithm!r}."
        )
    if "goal" in settings:
        raise ArgumentError(
            f"goal={settings['goal']!r}: maximize and minimize set the goal themselves; the "
            "smallest value is found by noregret.minimize."
        )
    require_count("budget", budget)
    optimizer = algorithm(pool, goal=goal, **settings)
    rounds = Rounds(contexts, optimizer, budget - optimizer.spent)
    history, watch = _History(optimizer), Watch(stops, optimizer)
    with Display("evaluations", total=budget, shown=progress) as display:
        try:
            ended = watch.ended()  # a history may be enough
            while ended is None and optimizer.spent < budget:
                batch = rounds.ask(budget - optimizer.spent)
                if batch is None:
                    return history.result("no more contexts")
                found = list[ValueAndNoise]()
                try:
                    _evaluate(rounds.measure(f), batch, by_id, found, history, display)
                finally:  # what was measured is kept, whatever ended it
                    told = history.tell(batch[: len(found)], found)
                if callback is not None and callback(optimizer, batch, told):
                    return history.result("callback")
                ended = watch.ended()
        except KeyboardInterrupt:
            return history.result("interrupted")
        except ExhaustedError:
            ended = "every candidate evaluated"
        except Exception as error:
            error.result = history.result("error")  # type: ignore[attr-defined]  # for the caller
            raise
    return history.result(ended or "budget spent")


def _with_its_signature(
    whole: Callable[Concatenate[Goal, Arguments], Result],
) -> Callable[[Callable[..., Result]], Callable[Arguments, Result]]:
    """Give a function the arguments of another, less the goal, for help, editors and types."""
    _, *rest = inspect.signature(whole).parameters.values()

    def given(function: Callable[..., Result]) -> Callable[Arguments, Result]:
        function.__signature__ = inspect.Signature(rest, return_annotation="Result")  # type: ignore[attr-defined]  # functions take any
        return function

    return given


@_with_its_signature(_optimize)
def maximize(*given: Any, **settings: Any) -> Result:
    """Find the candidate of largest f, by noisy evaluations.

    `f` is given the features of one candidate (its id, with `by_id=True`) and returns a value, a
    pair of a value and its `noise_std` where instruments differ, or FAILED. `settings` go to the
    algorithm. `stop_when` ends the run before the budget is spent: a `Target`, `Patience` or
    `GapBelow`, or several, of which the first that is met ends it; they are looked at after every
    batch, and before the first where values were told. A `callback(optimizer, batch, values)` is
    called after every batch and ends the run by returning True. Ctrl-C ends it too, keeping every
    value told; an exception in `f` carries what was found as `error.result`.

    Where what is best depends on a context that is given and not chosen (a visitor, a machine),
    `contexts` says it of each evaluation, in order: an array, any iterable, or a function from the
    round (0, 1, …) to its context. f is then called with candidate and context. Every round is
    a question of its own, among all candidates under its context: of an algorithm that is given a
    `context_kernel`.

    >>> pool = nr.Pool([[x / 100] for x in range(101)])
    >>> result = nr.maximize(lambda x: -((x[0] - 0.7) ** 2), pool, algorithm=nr.mini_gp_ucb,
    ...                      budget=60, kernel=nr.RBF(0.2), noise_std=0.01)
    >>> bool(abs(result.best().x[0] - 0.7) < 0.1)
    True
    """
    return _optimize("max", *given, **settings)


@_with_its_signature(_optimize)
def minimize(*given: Any, **settings: Any) -> Result:
    """Find the candidate of smallest f, by noisy evaluations; the rest is as in `maximize`.

    >>> nr.minimize(lambda x: (x[0] - 3) ** 2, nr.Box([(-5, 10)]), budget=20).best().x.round(1)
    array([3.])
    """
    return _optimize("min", *given, **settings)


@final
class _History:
    """Every evaluation of a run, in order."""

    def __init__(self, optimizer: Optimizer) -> None:
        self._optimizer = optimizer
        self._ids: list[Keys] = []  # one array per tell
        self._contexts: list[Matrix] = []  # that of each tell, where there are some
        self._values: list[float] = []
        self._switches, self._paid = 0, 0.0
        self._usual = known_noise_std(optimizer.policy)  # of an evaluation of which none is said
        self._last: Keys = np.empty(0, dtype=np.int64)  # the candidate evaluated last, if any

    def require_noise(self, noise: float | None) -> None:
        """Raise, before more is measured, where a value cannot be told with this noise."""
        told, one = Feedback([0.0], noise_std=noise, usual=self._usual), np.zeros(1, dtype=np.bool_)
        told.weights(one, deterministic=self._optimizer.deterministic)

    def tell(self, part: Batch, found: list[ValueAndNoise]) -> list[float | Failed]:
        """Tell the optimizer; return the values alone."""
        told = [value for value, _ in found]
        noise: list[float | None] | None = None
        if not self._optimizer.deterministic and any(said is not None for _, said in found):
            noise = [self._usual if said is None else said for _, said in found]
        self._optimizer.tell(part, told, noise_std=noise)
        runs = np.concatenate([self._last, part.ids]) if self._last.size else part.ids
        self._switches += int(np.count_nonzero(runs[1:] != runs[:-1]))
        self._paid += self._optimizer.cost_of(runs)
        self._last = runs[-1:]
        self._ids.append(part.sequence)
        if part.context is not None:
            self._contexts.append(np.tile(part.context, (len(part), 1)))
        self._values.extend(math.nan if isinstance(value, Failed) else value for value in told)
        return told

    def result(self, ended: str) -> Result:
        none: Keys = np.empty(0, dtype=np.int64)
        keys: Keys = np.concatenate(self._ids) if self._ids else none  # type: ignore[assignment]  # of one kind
        contexts = np.empty((0, 0)) if self._optimizer.takes_contexts else None
        if self._contexts:
            contexts = np.concatenate(self._contexts)
        values = np.array(self._values)
        return Result(self._optimizer, keys, values, ended, self._switches, contexts, self._paid)


def _evaluate(
    f: Callable[..., float | tuple[float, float] | Failed],
    batch: Batch,
    by_id: bool,
    found: list[ValueAndNoise],
    history: _History,
    display: Display,
) -> None:
    what = batch.sequence.tolist() if by_id else batch
    for argument in what:
        try:
            value, noise = _value_and_noise(f(argument))
            history.require_noise(noise)
            found.append((value, noise))
        except Exception as error:
            error.add_note(
                "raised by the function being optimised; what was found before is in .result of "
                "this exception. If an evaluation may fail, return noregret.FAILED from it."
            )
            raise
        display.advance()


def _value_and_noise(given: object) -> ValueAndNoise:
    """Return the value that f gave, and its noise if it did; raise before more is measured."""
    if isinstance(given, Failed):
        return given, None
    value, noise = given if isinstance(given, tuple) and len(given) == 2 else (given, None)
    try:
        number = float(np.asarray(value, dtype=np.float64).item())
    except (TypeError, ValueError):
        number = math.nan
    if not abs(number) <= MOST_VALUE:  # NaN included
        raise TellError(
            f"the function returned {given!r}; it must return a number of at most {MOST_VALUE:g}, "
            "or noregret.FAILED."
        )
    return number, noise
