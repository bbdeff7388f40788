"""Runs of the digests: every algorithm on every kind of domain, and options on one or two."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import noregret as nr
from digest_problems import Problem
from digest_stories import Make, drive, eventful, failing, historic, loop, ordinary, tuned
from digest_words import Record


def model(algorithm: Callable[..., nr.Optimizer], **settings: Any) -> Make:
    """An algorithm that is told a kernel and a noise."""
    return lambda p: algorithm(
        p.domain, **{"kernel": p.kernel, "noise_std": p.believed, **p.settings, **settings}
    )


def bare(algorithm: Callable[..., nr.Optimizer], **settings: Any) -> Make:
    """One that is told neither."""
    return lambda p: algorithm(p.domain, **{**p.settings, **settings})


def auto(**settings: Any) -> Make:
    """It learns its mean, so that there is no offset to tell."""
    return lambda p: nr.auto(
        p.domain, **{**{k: v for k, v in p.settings.items() if k != "offset"}, **settings}
    )


def linear(p: Problem) -> nr.Optimizer:
    return nr.lin_ucb(p.domain, noise_std=0.3, bias=1.0, **p.settings)


def gradient(p: Problem) -> nr.Optimizer:
    knowledge, one = nr.KnowledgeGradient(20.0, noise=p.believed**2), nr.ConstantWidth(1.0)
    return model(nr.mini, acquisition=knowledge, width=one)(p)


MODELS: dict[str, Make] = {
    "gp_ucb": model(nr.gp_ucb),
    "gp_ei": model(nr.gp_ei),
    "gp_bucb-product": model(nr.gp_bucb),
    "gp_bucb-global": model(nr.gp_bucb, rule="global"),
    "gp_bucb-local": model(nr.gp_bucb, rule="local", limit=1.5),
    "gp_bucb-fixed": model(nr.gp_bucb, rule=nr.FixedSize(4)),
    "bkb": model(nr.bkb),
    "bbkb-global": model(nr.bbkb),
    "bbkb-local": model(nr.bbkb, rule="local"),
    "bbkb-sticky": model(nr.bbkb, dictionary="sticky"),
    "mini-thompson": model(nr.mini, acquisition=nr.Thompson()),
    "mini-ucb": model(nr.mini, acquisition=nr.UCB(leeway=0.1), limit=4.0),
    "mini-gradient": gradient,
    "mini_gp_ucb": model(nr.mini_gp_ucb),
    "mini_gp_ei": model(nr.mini_gp_ei),
    "thompson-exact": model(nr.batch_thompson, batch_size=3),
    "thompson-nystrom": model(nr.batch_thompson, rule="local", posterior="nystrom"),
    "lin_ucb": linear,
    "ts_qff": model(nr.ts_qff, kernel=nr.RBF(0.4), batch_size=2),
    "uniform": bare(nr.uniform, batch_size=3),
    "random_search": bare(nr.random_search, batch_size=3),
    "epsilon_greedy": bare(nr.epsilon_greedy, a=2.0, batch_size=2),
    "evolution": bare(nr.regularized_evolution, population=6, sample=3, neighbours=4),
    "auto": auto(),
}
NOT_ON = {("ts_qff", "box"), ("ts_qff", "bits"), ("ts_qff", "table"), ("lin_ucb", "bits")}
DOMAINS = ("plain", "named", "twins", "bits", "box", "table", "mapped")


ucb = partial(model, nr.mini_gp_ucb)
OPTIONS: dict[str, Make] = {
    "switch_cost": ucb(switch_cost=3.0, limit=6.0),
    "ei-switch_cost": model(nr.mini_gp_ei, switch_cost=2.0, limit=6.0),
    "double": ucb(norm_bound="double"),
    "norm": ucb(norm_bound=3.0, horizon=200),
    "theory": ucb(preset="theory", delta=0.05),
    "bayesian": ucb(width=nr.BayesianWidth()),
    "growing": ucb(width=nr.GrowingWidth(0.5)),
    "tenth": ucb(width=0.1 * nr.RKHSWidth(), offset=0.3),
    "constant": ucb(width=nr.ConstantWidth(2.0)),
    "ridge": ucb(ridge=0.2),
    "min_batch": model(nr.gp_bucb, min_batch=3),
    "bbkb-min_batch": model(nr.bbkb, min_batch=2),
    "settle": model(nr.gp_bucb, rule=nr.Settle()),
    "stay": model(nr.gp_bucb, rule=nr.Stay(limit=8.0, switch_cost=4.0)),
    "repeat": model(nr.gp_bucb, rule=nr.Repeat(5.0)),
    "bkb-theory": model(nr.bkb, preset="theory"),
    "bkb-oversample": model(nr.bkb, oversample=1.0),
    "bbkb-theory": model(nr.bbkb, preset="theory"),
    "bbkb-oversample": model(nr.bbkb, oversample=1.0, limit=4.0),
    "bbkb-local-oversample": model(nr.bbkb, oversample=1.0, rule="local", limit=4.0),
    "bbkb-sticky-oversample": model(nr.bbkb, oversample=1.0, dictionary="sticky"),
    "thompson-product": model(nr.batch_thompson, rule="product"),
    "thompson-oversample": model(nr.batch_thompson, posterior="nystrom", oversample=1.0),
    "greedy-min": bare(nr.epsilon_greedy, a=1.0, b=1.0, goal="min"),
    "linear": ucb(kernel=nr.Linear(0.5)),
    "polynomial": ucb(kernel=0.3 * nr.Polynomial(3, 0.5)),
    "sum": ucb(kernel=nr.RBF(0.2) + 0.5 * nr.Matern(nu=0.5, lengthscale=0.6)),
    "product": model(nr.bbkb, kernel=nr.Matern(nu=1.5, lengthscale=0.5) * nr.RBF((0.3, 0.9))),
    "function": ucb(kernel=nr.FunctionKernel(lambda X, Z: np.exp(-5 * np.abs(X[:, :1] - Z[:, 0])))),
    "start-ids": ucb(start=[7, 11, 13]),
}
DESIGNS = (nr.UniformDesign, nr.SobolDesign, nr.FarthestDesign, nr.UncertaintyDesign)
AUTO: dict[str, tuple[Make, str, int]] = {
    "long": (auto(), "plain", 30),
    "safe": (auto(attitude="safe"), "plain", 12),
    "greedy": (auto(attitude="greedy"), "plain", 16),
    "workers": (auto(workers=4, seed=2), "plain", 14),
    "safe-workers": (auto(attitude="safe", workers=3), "plain", 8),
    "switch_cost": (auto(switch_cost=5.0), "plain", 16),
    "min": (auto(goal="min", delta=0.05), "plain", 16),
    "deterministic": (auto(deterministic=True), "certain", 24),
    "deterministic-workers": (auto(deterministic=True, workers=3), "certain", 10),
    "noise-free": (auto(), "certain", 20),
    "constant": (auto(), "still", 16),
    "box": (auto(), "box", 14),
    "box-workers": (auto(workers=3, goal="min"), "box", 8),
    "box-safe": (auto(attitude="safe"), "box", 8),
    "box-greedy": (auto(attitude="greedy"), "box", 10),
    "box-deterministic": (auto(deterministic=True), "box", 12),
    "box-switch_cost": (auto(switch_cost=4.0), "box", 10),
}


def runs() -> dict[str, Callable[[], Record]]:
    """Return every run by its name."""
    found: dict[str, Callable[[], Record]] = {}
    for domain in DOMAINS:
        for name, make in MODELS.items():
            if (name, domain) not in NOT_ON:
                found[f"{domain}/{name}"] = partial(drive, make, domain, eventful, 12, saved=True)
    for name, make in MODELS.items():
        found[f"long/{name}"] = partial(drive, make, "plain", ordinary, 20)
        found[f"failures/{name}"] = partial(drive, make, "plain", failing, 10)
    for name, make in OPTIONS.items():
        found[f"options/{name}"] = partial(drive, make, "plain", ordinary, 10)
    for domain in ("plain", "twins", "box"):
        for design in DESIGNS:
            make = ucb(start=design(9))
            found[f"start/{domain}-{design.__name__}"] = partial(drive, make, domain, ordinary, 6)
    for name, (make, domain, steps) in AUTO.items():
        found[f"auto/{name}"] = partial(drive, make, domain, ordinary, steps)
    found["options/groups"] = partial(
        drive, bare(nr.regularized_evolution, groups=range(6), population=5), "table", ordinary, 12
    )
    for name, make in (("auto", auto()), ("auto-workers", auto(workers=4))):
        found[f"many/{name}"] = partial(drive, make, "many", historic, 4)
    target, patience = nr.Target(0.8, deviations=0.5), nr.Patience(12)
    told = {"kernel": nr.RBF(0.3), "noise_std": 0.3}
    found["loop/target"] = partial(loop, nr.maximize, "plain", budget=60, stop_when=target)
    found["loop/patience"] = partial(loop, nr.minimize, "plain", budget=60, stop_when=patience)
    found["loop/gap"] = partial(
        loop,
        nr.maximize,
        "plain",
        budget=90,
        algorithm=nr.mini_gp_ucb,
        stop_when=nr.GapBelow(3.0),
        **told,
    )
    found["loop/several"] = partial(
        loop,
        nr.maximize,
        "box",
        budget=30,
        algorithm=nr.gp_ei,
        stop_when=[target, patience],
        **told,
    )
    found["loop/tune"] = tuned
    return dict(sorted(found.items()))
