"""What a digest says: words of a run, of which choices must be equal and numbers close."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import lapack

import noregret as nr

FILE = Path(__file__).with_name("digests.json")
Record = dict[str, str]  # of a run, by what is told; words with blanks between them
CLOSE, TINY = 1e-6, 1e-9  # relative and absolute, of numbers: other machines round otherwise
LOOKED_AT = 4  # candidates of whom the posterior is recorded


def hashed(thing: object) -> str:
    """Return a short word that is not a number."""
    return "#" + hashlib.sha256(repr(thing).encode()).hexdigest()[:5]


def chosen(batch: nr.Batch) -> str:
    """Return a word for the candidates of a batch, in order, and how often each."""
    x = [[f"{number:.9g}" for number in row] for row in batch.x.tolist()]
    return hashed((batch.ids.tolist(), batch.repeats.tolist(), x))


def numbers(*of: Any) -> str:
    return " ".join(f"{float(number):.7g}" for number in of)


def rounding() -> Record:
    """Say in a word how this machine rounds: by its matrix products, factors and functions."""
    A = np.random.default_rng(0).random((40, 40))
    K = A @ A.T + np.eye(40)
    parts = (K, np.linalg.cholesky(K), lapack.dpotrf(K)[0], A[:, :7].T @ A, np.exp(A), np.sin(A))
    return {"word": hashed(b"".join(np.ascontiguousarray(part).tobytes() for part in parts))}


def state(optimizer: nr.Optimizer) -> Record:
    """Say what an optimizer answers, in numbers; the name of the error where it answers none."""
    answers: dict[str, Callable[[nr.Optimizer], str]] = {
        "counts": counts,
        "best": best,
        "certificate": certificate,
        "posterior": posterior,
        "explain": explanation,
        "trace": trace,
    }
    return {name: answered(answer, optimizer) for name, answer in answers.items()}


def answered(answer: Callable[[nr.Optimizer], str], optimizer: nr.Optimizer) -> str:
    try:
        return answer(optimizer)
    except nr.NoRegretError as error:
        return type(error).__name__


def counts(o: nr.Optimizer) -> str:
    told = o.evaluated
    order = hashed((told.ids, told.evaluations.tolist(), o.sequence.tolist()))
    return f"{order} {numbers(o.spent, o.unique, o.batches, o.switches, told.averages.sum())}"


def best(o: nr.Optimizer) -> str:
    b = o.best()
    return f"{b.id} {numbers(b.mean, b.std, b.lower, b.upper, b.evaluations)}"


def certificate(o: nr.Optimizer) -> str:
    c = o.certificate()
    holds = "".join({True: "+", False: "-", None: "?"}[a.holds] for a in c.assumptions)
    return f"{c.id} {numbers(c.gap, c.guaranteed, c.reachable, c.beta, c.delta)} {holds}"


def posterior(o: nr.Optimizer) -> str:
    view, X = o.posterior, o.evaluated.x[:LOOKED_AT]
    whole = numbers(view.beta, view.floor, view.log_det, view.effective_dimension())
    return f"{whole} {numbers(*view.mean(X), *view.variance(X), *view.covariance(X[:1], X)[0])}"


def explanation(o: nr.Optimizer) -> str:
    """Explain the candidate that was told first; of those known, seldom the best."""
    first = next(id for id in o.evaluated.ids if id is not None)
    e = o.explain(first)
    near = " ".join(f"{n.id} {numbers(n.correlation, n.counts_as)}" for n in e.nearest[:3])
    leader = "-" if e.leader is None else f"{e.leader.id} {numbers(e.leader.mean, e.leader.std)}"
    own = numbers(e.mean, e.std, e.beta, e.lower, e.upper, e.average, e.counts_as)
    history = hashed((e.rank, e.failed, e.under_way, e.excluded, e.candidates, e.evaluations))
    return f"{first} {own} {history} | {near} | {leader}"


def trace(o: nr.Optimizer) -> str:
    """Add up the columns of the batches; baselines have neither beta nor information."""
    columns = ("size", "runs", "unique", "told", "dictionary", "beta", "information")
    return numbers(*(np.nansum(o.trace[column]) for column in columns))


def differences(old: Record, new: Record) -> list[str]:
    """Return a line for every field of a run that is not as it was."""
    lines = []
    for name in sorted(old.keys() | new.keys()):
        was, now = old.get(name, "").split(), new.get(name, "").split()
        pairs = list(zip_longest(was, now, fillvalue=""))
        apart = [i for i, (a, b) in enumerate(pairs) if not alike(a, b)]
        if apart:
            at = apart[0]
            lines.append(
                f"{name}: {len(apart)} of {len(pairs)} words differ, from word {at} on: "
                f"{' '.join(was[at : at + 3])} became {' '.join(now[at : at + 3])}"
            )
    return lines


def alike(a: str, b: str) -> bool:
    """Whether two words are equal, or numbers that differ by rounding."""
    if a == b:
        return True
    try:
        return math.isclose(float(a), float(b), rel_tol=CLOSE, abs_tol=TINY)
    except ValueError:
        return False


def recorded() -> dict[str, Record]:
    """Return the record of every run by its name."""
    if not FILE.exists():
        return {}
    kept: dict[str, Record] = json.loads(FILE.read_text())
    return kept


def write(records: dict[str, Record]) -> None:
    lines = [f"{json.dumps(name)}: {json.dumps(records[name])}" for name in sorted(records)]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
