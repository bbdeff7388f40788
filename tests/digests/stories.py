"""Stories of the digests: what happens in a run, and how its record is made of it."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import noregret as nr
from digests.problems import Problem, points, problem
from digests.record import Record, chosen, hashed, numbers, state

Make = Callable[[Problem], nr.Optimizer]
Story = Callable[[nr.Optimizer, Problem, int], str]


def ordinary(optimizer: nr.Optimizer, p: Problem, i: int) -> str:
    """Ask and tell."""
    batch = optimizer.ask(at_most=12)
    optimizer.tell(batch, p.measure(of_batch(batch), i))
    return chosen(batch)


def failing(optimizer: nr.Optimizer, p: Problem, i: int) -> str:
    """Ask and tell; a third of the domain has no values."""
    batch = optimizer.ask(at_most=4)
    values = p.measure(of_batch(batch), i)
    lost = [x[0] < 0.35 for x in batch]
    told = [nr.FAILED if bad else v for bad, v in zip(lost, values, strict=True)]
    optimizer.tell(batch, told)
    return chosen(batch)


def weighty(optimizer: nr.Optimizer, p: Problem, i: int) -> str:
    """Tell averages of ten thousand evaluations first; later exclude a part of the pool."""
    if not i:
        assert isinstance(p.domain, nr.Pool)
        ids = np.arange(20)
        means = p.measure(p.domain.rows(ids), 99)
        optimizer.tell(p.domain.keys(ids), means=means, counts=np.arange(1, 21) * 60)
    if i == 20:
        optimizer.exclude(np.arange(20, 50))
    return ordinary(optimizer, p, i)


def historic(optimizer: nr.Optimizer, p: Problem, i: int) -> str:
    """Tell a long history first."""
    if not i:
        assert isinstance(p.domain, nr.Pool)
        ids = np.arange(2100)
        optimizer.tell(ids, p.measure(p.domain.rows(ids), 99))
    return ordinary(optimizer, p, i)


def instruments(optimizer: nr.Optimizer, p: Problem, i: int) -> str:
    """Tell by two instruments in turn, a fine one and the usual one; later averages of a third."""
    batch = optimizer.ask(at_most=5)
    values = p.measure(of_batch(batch), i)
    fine = [p.believed if j % 2 else p.believed / 3 for j in range(len(values))]
    optimizer.tell(batch, values, noise_std=None if i % 3 == 2 else fine)
    if i == 4:
        told = list(batch.ids[:1])
        optimizer.tell(told, means=values[:1], counts=[7], noise_std=2 * p.believed)
    return chosen(batch)


def eventful(optimizer: nr.Optimizer, p: Problem, i: int) -> str:
    """Ask as one of three workers, and tell whatever may be told."""
    batch = optimizer.ask(at_most=5, worker="abc"[i % 3])
    values = p.measure(of_batch(batch), i)
    first = batch[:1]
    if i == 1:  # left open until b asks again
        return chosen(batch)
    if i == 2:
        optimizer.tell(first, values[:1])  # and the rest stays open
    elif i == 3:
        optimizer.tell(batch, [nr.FAILED, *values[1:]])
        optimizer.tell(p.elsewhere, p.measure(p.domain.read("x", p.elsewhere), 100 + i))
    elif i == 5:
        optimizer.fail(first)
        optimizer.tell(batch[1:], values[1:])
        optimizer.tell(list(batch.ids[:1]), means=[float(values[0])], counts=[7])
    elif i == 6 and p.told:
        optimizer.tell(batch, values)
        optimizer.tell(list(p.told), means=[float(v) for v in values[:1] * 2], counts=[3, 1])
        optimizer.tell([p.told[0], p.told[1]], [values[0], nr.FAILED])
        optimizer.exclude(list(p.closed))
    else:
        optimizer.tell(batch, values)
    return chosen(batch)


def growing(optimizer: nr.Optimizer, p: Problem, i: int) -> str:
    """Ask as one of two workers; twice candidates are added, one of which was told before."""
    if i == 2 and len(p.elsewhere):
        optimizer.tell(p.elsewhere, p.measure(p.elsewhere, 100))
    if i in (4, 9):
        more = points(20 + i, 30, 2)
        optimizer.extend(np.concatenate([more, p.elsewhere[:1]]))
    batch = optimizer.ask(at_most=6, worker="ab"[i % 2])
    values = p.measure(of_batch(batch), i)
    part = slice(1 if i % 5 == 3 else None)
    optimizer.tell(batch[part], values[part])
    return chosen(batch)


def visited(optimizer: nr.Optimizer, p: Problem, i: int) -> str:
    """Ask as one of two workers under one of three contexts; say what is believed there."""
    context = [(0.1, 0.5, 0.9)[i * i % 3]]
    if i == 3:
        optimizer.tell([5, 17], [0.3, 0.4], context=context)
    batch = optimizer.ask(at_most=6, worker="ab"[i % 2], context=context)
    values = p.measure(of_batch(batch), i)
    part = slice(1 if i % 5 == 3 else None)
    optimizer.tell(batch[part], [value + context[0] for value in values[part]])
    best, certificate = optimizer.best(context=context), optimizer.certificate(context=context)
    believed = numbers(best.mean, best.std, certificate.gap).replace(" ", "/")
    return f"{chosen(batch)} {best.id}/{believed}"


def of_batch(batch: nr.Batch) -> Any:
    return np.repeat(batch.x, batch.repeats, axis=0)


def dimension() -> Record:
    """The effective dimension of a pool."""
    p = problem("plain")
    assert isinstance(p.domain, nr.Pool)
    many = nr.effective_dimension(p.domain, kernel=p.kernel, noise_std=0.1, evaluations=50)
    return {"dimension": numbers(many)}


def drive(make: Make, name: str, story: Story, steps: int, saved: bool = False) -> Record:
    """Tell a story; one that is `saved` is told again, saved in the middle and looked at."""
    p = problem(name)
    optimizer = make(p)
    words = [story(optimizer, p, i) for i in range(steps)]
    record = {"choices": " ".join(words), **state(optimizer)}
    if saved and again(make, p, story, steps) != record:
        raise AssertionError("a run that was saved, loaded and looked at went on differently")
    return record


def again(make: Make, p: Problem, story: Story, steps: int) -> Record:
    optimizer, words = make(p), []
    for i in range(steps):
        if i == steps // 2:
            with tempfile.TemporaryDirectory() as folder:
                optimizer.save(Path(folder) / "run")
                optimizer = nr.load(Path(folder) / "run", pool=p.domain)
        optimizer.peek(at_most=4, worker="abc"[i % 3])
        if i % 3 == 2:
            state(optimizer)
        words.append(story(optimizer, p, i))
    return {"choices": " ".join(words), **state(optimizer)}


def loop(run: Callable[..., nr.Result], name: str, **settings: Any) -> Record:
    """Let `maximize` or `minimize` have the loop."""
    p, count = problem(name), itertools.count()

    def f(x: Any, context: float = 0.0) -> float | Any:
        return p.measure(x[None], next(count))[0] + context

    result = run(f, p.domain, progress=False, **settings)
    told = f"{hashed(result.ids.tolist())} {numbers(len(result.values), result.values.sum())}"
    return {"result": f"{told} {numbers(result.switches)}", **state(result.optimizer)}


def tuned() -> Record:
    """The setting of least regret, of four."""
    p = problem("plain")

    def regret(seed: int, a: float) -> float:
        def f(x: Any) -> float:
            return float(p.f(x[None])[0])

        greedy = nr.epsilon_greedy
        run = nr.maximize(f, p.domain, 30, algorithm=greedy, progress=False, a=a, seed=seed)
        return float(1.0 - run.values.mean())

    best = nr.tune(regret, grid=[{"a": a} for a in (0.1, 0.5, 1.0, 5.0)], seeds=range(3))
    return {"tuned": numbers(*best.setting.values(), best.regret, *best.regrets)}
