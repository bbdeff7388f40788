"""Runs of every algorithm, and what happens to them."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

import noregret as nr

X = np.random.default_rng(2).random((50, 2))
POOL = nr.Pool(X)
F = np.sin(5 * X[:, 0]) * np.cos(4 * X[:, 1])
KERNEL = nr.Matern(nu=2.5, lengthscale=0.4)


def modelled(
    algorithm: Callable[..., nr.Optimizer], **settings: object
) -> Callable[..., nr.Optimizer]:
    return partial(algorithm, **{"kernel": KERNEL, "noise_std": 0.5, **settings})


ALGORITHMS: dict[str, Callable[..., nr.Optimizer]] = {
    "gp_ucb": modelled(nr.gp_ucb),
    "gp_ei": modelled(nr.gp_ei),
    "gp_bucb-product": modelled(nr.gp_bucb, limit=9.0),
    "gp_bucb-global": modelled(nr.gp_bucb, rule="global", limit=9.0),
    "gp_bucb-local": modelled(nr.gp_bucb, rule="local", limit=4.0),
    "bkb": modelled(nr.bkb),
    "bbkb-global": modelled(nr.bbkb, limit=9.0),
    "bbkb-local": modelled(nr.bbkb, rule="local", limit=4.0),
    "bbkb-theory": modelled(nr.bbkb, preset="theory", horizon=60),
    "bbkb-start": modelled(nr.bbkb, min_batch=2, start=[4, 9], limit=9.0),
    "gp_ucb-uniform": modelled(nr.gp_ucb, start=nr.UniformDesign(12)),
    "gp_bucb-sobol": modelled(nr.gp_bucb, start=nr.SobolDesign(14), limit=9.0),
    "bbkb-farthest": modelled(nr.bbkb, start=nr.FarthestDesign(11), min_batch=2, limit=9.0),
    "mini-uncertain": modelled(nr.mini_gp_ucb, start=nr.UncertaintyDesign(13), limit=9.0),
    "mini_gp_ucb": modelled(nr.mini_gp_ucb, limit=9.0),
    "mini_gp_ei": modelled(nr.mini_gp_ei, limit=9.0),
    "mini-gradient": modelled(
        nr.mini,
        acquisition=nr.KnowledgeGradient(50.0, 0.25),
        width=nr.ConstantWidth(1.0),
        limit=9.0,
    ),
    "mini-switch": modelled(nr.mini_gp_ucb, limit=9.0, switch_cost=2.5),
    "mini-ei-switch": modelled(nr.mini_gp_ei, limit=9.0, switch_cost=float("inf")),
    "mini-bayesian": modelled(
        nr.mini_gp_ucb, width=0.5 * nr.BayesianWidth(0.2), norm_bound="double"
    ),
    "uniform": partial(nr.uniform, batch_size=5),
    "lin_ucb": partial(nr.lin_ucb, noise_std=0.5, bias=1.0),
    "ts_qff": modelled(nr.ts_qff, kernel=2.0 * nr.RBF((0.3, 0.5)), batch_size=3),
    "epsilon_greedy": partial(nr.epsilon_greedy, batch_size=5),
    "random_search": partial(nr.random_search, batch_size=5),
    "evolution": partial(nr.regularized_evolution, batch_size=5, population=7, sample=3),
    "evolution-groups": partial(
        nr.regularized_evolution, batch_size=5, population=4, groups=[[0], 1]
    ),
}


def event(optimizer: nr.Optimizer, i: int) -> tuple[object, ...]:
    """Something happens to the run; returns what a user could see of it, to the last bit."""
    batch = optimizer.ask(at_most=5, worker="ab"[i % 2])
    noise = np.random.default_rng(i).standard_normal(len(batch))
    values = F[batch.sequence.astype(np.int64)] + 0.5 * noise
    part = batch[: 1 + i % 4]
    if i % 6 == 4:
        optimizer.fail(batch[len(part) :])
    optimizer.tell(part, values[: len(part)])
    if i % 5 == 3:
        optimizer.tell([i, i + 1], [F[i], nr.FAILED])
    if i % 7 == 2:
        optimizer.exclude([2 * i])
    seen = (batch.ticket, batch.start, batch.sequence.tolist(), batch.reason, optimizer.spent)
    if not isinstance(optimizer.policy, nr.Bandit):  # without a certificate
        return (*seen, optimizer.best().id, optimizer.best().mean)
    posterior, certificate = optimizer.posterior, optimizer.certificate()
    bits = (posterior.mean(X).tobytes(), posterior.variance(X).tobytes())
    return (*seen, *bits, certificate.gap, certificate.beta, optimizer.best().lower)


def run(optimizer: nr.Optimizer, start: int, stop: int) -> list[tuple[object, ...]]:
    return [event(optimizer, i) for i in range(start, stop)]


def rewritten(path: Path, old: bytes, new: bytes) -> Path:
    """Change what a file says."""
    with zipfile.ZipFile(path) as archive:
        entries = {entry: archive.read(entry) for entry in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for entry, content in entries.items():
            archive.writestr(entry, content.replace(old, new))
    return path
