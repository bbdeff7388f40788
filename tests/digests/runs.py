"""Runs of the digests: every algorithm on every kind of domain, and options on one or two."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import noregret as nr
from digests.problems import Problem
from digests.record import Record, rounding
from digests.stories import (
    Make,
    dimension,
    drive,
    eventful,
    failing,
    growing,
    historic,
    instruments,
    loop,
    ordinary,
    tuned,
    visited,
    weighty,
)

Run = Callable[[], Record]


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


def gradient(algorithm: Callable[..., nr.Optimizer]) -> Make:
    """The knowledge gradient, which is told the noise."""
    one = nr.ConstantWidth(1.0)
    return lambda p: model(
        algorithm, acquisition=nr.KnowledgeGradient(20.0, noise=p.believed**2), width=one
    )(p)


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
    "bbkb-incremental": model(nr.bbkb, dictionary="incremental", oversample=1.0),
    "bbkb-ei": model(nr.bbkb, acquisition=nr.ExpectedImprovement()),
    "bbkb-gradient": gradient(nr.bbkb),
    "bbkb-thompson": model(nr.bbkb, acquisition=nr.Thompson(), rule="local"),
    "mini-thompson": model(nr.mini, acquisition=nr.Thompson()),
    "mini-ucb": model(nr.mini, acquisition=nr.UCB(leeway=0.1), limit=4.0),
    "mini-gradient": gradient(nr.mini),
    "mini-nystrom": model(nr.mini, acquisition=nr.ExpectedImprovement(), posterior="nystrom"),
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
WEIGHED = ("mini_gp_ucb", "gp_bucb-local", "bkb", "bbkb-global", "bbkb-sticky")
NOT_ON = {("ts_qff", "box"), ("ts_qff", "bits"), ("ts_qff", "table"), ("lin_ucb", "bits")}
DOMAINS = ("plain", "named", "twins", "bits", "box", "table", "mapped")


ucb, sparse = partial(model, nr.mini_gp_ucb), partial(model, nr.bbkb, oversample=1.0)
thompson = partial(model, nr.batch_thompson, batch_size=2)
OPTIONS: dict[str, Make] = {
    "switch_cost": ucb(switch_cost=3.0, limit=6.0),
    "switch_cost-ei": model(nr.mini_gp_ei, switch_cost=2.0, limit=6.0),
    "norm_bound-double": ucb(norm_bound="double", kernel=0.02 * nr.RBF(0.3)),
    "norm_bound": ucb(norm_bound=3.0, horizon=200),
    "norm_bound-grow": ucb(norm_bound="grow", kernel=nr.Matern(lengthscale=2.0)),
    "norm_bound-grow-ei": model(nr.gp_ei, norm_bound="grow"),
    "norm_bound-grow-bkb": model(nr.bkb, norm_bound="grow"),
    "norm_bound-grow-bbkb": model(nr.bbkb, norm_bound="grow", preset="theory"),
    "theory": ucb(preset="theory", delta=0.05),
    "theory-ei": model(nr.gp_ei, preset="theory"),
    "theory-bkb": model(nr.bkb, preset="theory"),
    "theory-bbkb": model(nr.bbkb, preset="theory"),
    "width-bayesian": ucb(width=nr.BayesianWidth()),
    "width-growing": ucb(width=nr.GrowingWidth(0.5)),
    "width-tenth": ucb(width=0.1 * nr.RKHSWidth(), offset=0.3),
    "width-constant": ucb(width=nr.ConstantWidth(2.0)),
    "width-ei": ucb(width=nr.EIWidth()),
    "ridge": ucb(ridge=0.2),
    "min_batch": model(nr.gp_bucb, min_batch=3),
    "min_batch-bbkb": model(nr.bbkb, min_batch=2),
    "rule-settle": model(nr.gp_bucb, rule=nr.Settle()),
    "rule-stay": model(nr.gp_bucb, rule=nr.Stay(limit=8.0, switch_cost=4.0)),
    "rule-rarely": model(nr.gp_bucb, rule=nr.RarelySwitching(5.0)),
    "rule-repeat": model(nr.gp_bucb, rule=nr.Repeat(5.0)),
    "rule-local-wide": model(nr.gp_bucb, rule="local", limit=6.0),
    "oversample-bkb": model(nr.bkb, oversample=1.0),
    "incremental-bkb": model(nr.bkb, dictionary="incremental", oversample=1.0),
    "incremental-mini": model(
        nr.mini, acquisition=nr.UCB(), posterior="nystrom", dictionary="incremental"
    ),
    "incremental-theory": model(nr.bbkb, dictionary="incremental", preset="theory"),
    "oversample-global": sparse(limit=4.0),
    "oversample-local": sparse(rule="local", limit=4.0),
    "oversample-sticky": sparse(dictionary="sticky"),
    "oversample-sticky-local": sparse(dictionary="sticky", rule="local", limit=4.0),
    "mini-nystrom-thompson": model(
        nr.mini, acquisition=nr.Thompson(), posterior="nystrom", oversample=1.0, limit=4.0
    ),
    "thompson-product": model(nr.batch_thompson, rule="product"),
    "thompson-width": thompson(width=0.1 * nr.RKHSWidth()),
    "thompson-oversample": thompson(posterior="nystrom", oversample=1.0),
    "greedy-min": bare(nr.epsilon_greedy, a=1.0, b=1.0, goal="min"),
    "start-ids": ucb(start=[7, 11, 13]),
    "at_most_each": ucb(limit=6.0, at_most_each=3),
    "at_most_each-ei": model(nr.gp_ei, at_most_each=1),
    "at_most_each-plate": model(nr.gp_bucb, rule=nr.FixedSize(6), at_most_each=1),
    "at_most_each-bbkb": model(nr.bbkb, limit=4.0, at_most_each=2),
    "at_most_each-thompson": model(nr.batch_thompson, batch_size=6, at_most_each=1),
    "at_most_each-uniform": bare(nr.uniform, batch_size=6, at_most_each=1),
    "at_most_each-greedy": bare(nr.epsilon_greedy, batch_size=6, a=2.0, at_most_each=2),
    "at_most_each-evolution": bare(nr.regularized_evolution, population=5, at_most_each=1),
    "switch_cost-plate": model(nr.gp_bucb, rule=nr.FixedSize(6), switch_cost={0: 60.0, 1: 5.0}),
    "switch_cost-pairs": ucb(limit=6.0, switch_cost=lambda x, z: 20 * abs(x[0] - z[0])),
    "switch_cost-stays": ucb(limit=9.0, switch_cost=lambda x, z: 6 * abs(x[0] - z[0])),
    "deterministic": ucb(noise_std=0, deterministic=True),
    "deterministic-plate": model(nr.gp_bucb, rule=nr.FixedSize(6), noise_std=0, deterministic=True),
    "deterministic-bbkb": model(nr.bbkb, noise_std=0, deterministic=True),
    "at_most_each-qff": model(nr.ts_qff, kernel=nr.RBF(0.4), batch_size=5, at_most_each=1),
}
within = partial(model, context_kernel=nr.RBF(0.5))
CONTEXTS: dict[str, Make] = {
    "gp_ucb": within(nr.gp_ucb),
    "gp_bucb": within(nr.gp_bucb, rule="local"),
    "mini": within(nr.mini_gp_ucb),
    "mini-ei": within(nr.mini_gp_ei),
    "bkb": within(nr.bkb),
    "bbkb": within(nr.bbkb),
    "bbkb-local": within(nr.bbkb, rule="local"),
    "bbkb-incremental": within(nr.bbkb, dictionary="incremental"),
    "thompson": within(nr.batch_thompson, batch_size=2),
}
KERNELS: dict[str, nr.Kernel] = {
    "linear": nr.Linear(0.5),
    "polynomial": 0.3 * nr.Polynomial(3, 0.5),
    "rough": nr.Matern(nu=0.5, lengthscale=0.6),
    "sum": nr.RBF(0.2) + 0.5 * nr.Matern(nu=1.5, lengthscale=0.6),
    "product": nr.Matern(nu=1.5, lengthscale=0.5) * (nr.Linear(1.0) + nr.RBF(0.3)),
    "function": nr.FunctionKernel(lambda X, Z: np.exp(-3 * np.abs(X[:, :1] - Z[:, 0]))),
}
WAYS = {"ucb": ucb, "bbkb": sparse, "thompson": thompson}
DESIGNS = (nr.UniformDesign, nr.SobolDesign, nr.FarthestDesign, nr.UncertaintyDesign)
AUTO: dict[str, tuple[Make, str, int]] = {
    "long": (auto(), "plain", 90),
    "safe": (auto(attitude="safe"), "plain", 16),
    "greedy": (auto(attitude="greedy"), "plain", 50),
    "workers": (auto(workers=4, seed=2), "plain", 24),
    "workers-safe": (auto(attitude="safe", workers=3), "plain", 10),
    "switch_cost": (auto(switch_cost=5.0), "plain", 40),
    "min": (auto(goal="min", delta=0.05), "plain", 40),
    "deterministic": (auto(deterministic=True), "certain", 30),
    "deterministic-workers": (auto(deterministic=True, workers=3), "certain", 14),
    "noise-free": (auto(), "certain", 40),
    "constant": (auto(), "still", 24),
    "ceiling": (auto(), "ceiling", 40),
    "at_most_each": (auto(at_most_each=3), "plain", 40),
    "at_most_each-ceiling": (auto(at_most_each=2, workers=3), "ceiling", 20),
    "wholes-at_most_each": (auto(at_most_each=2), "wholes", 24),
    "named": (auto(), "named", 50),
    "bits": (auto(), "bits", 50),
    "table": (auto(workers=2), "table", 20),
    "twins": (auto(attitude="greedy"), "twins", 40),
    "wholes": (auto(), "wholes", 24),
    "wholes-deterministic": (auto(deterministic=True, workers=2), "wholes", 12),
    "box": (auto(), "box", 24),
    "box-workers": (auto(workers=3, goal="min"), "box", 10),
    "box-safe": (auto(attitude="safe"), "box", 8),
    "box-greedy": (auto(attitude="greedy"), "box", 20),
    "box-deterministic": (auto(deterministic=True), "box", 14),
    "box-switch_cost": (auto(switch_cost=4.0), "box", 16),
}
MANY: dict[str, Make] = {
    "auto": auto(),
    "bbkb-incremental": model(nr.bbkb, dictionary="incremental", oversample=1.0),
    "auto-workers": auto(workers=4),
    "auto-safe": auto(attitude="safe"),
    "auto-switch_cost": auto(switch_cost=3.0),
    "auto-deterministic": auto(deterministic=True),
    "bbkb": model(nr.bbkb),
    "bbkb-sticky": model(nr.bbkb, dictionary="sticky"),
}


def runs() -> dict[str, Run]:
    """Return every run by its name."""
    found: dict[str, Run] = {"rounding": rounding, "loop/tune": tuned, "dimension": dimension}
    for domain in DOMAINS:
        for name, make in MODELS.items():
            if (name, domain) not in NOT_ON:
                found[f"{domain}/{name}"] = partial(drive, make, domain, eventful, 12, saved=True)
        for design in DESIGNS:
            make = ucb(start=design(9))
            found[f"start/{domain}-{design.__name__}"] = partial(drive, make, domain, ordinary, 6)
    for name, make in MODELS.items():
        found[f"long/{name}"] = partial(drive, make, "plain", ordinary, 30)
        found[f"failing/{name}"] = partial(drive, make, "twins", failing, 15)
        found[f"growing/{name}"] = partial(drive, make, "plain", growing, 14)
        found[f"weighty/{name}"] = partial(drive, make, "plain", weighty, 40)
    for name in WEIGHED:
        for domain in ("plain", "named", "box"):
            make = MODELS[name]
            found[f"noise/{domain}-{name}"] = partial(drive, make, domain, instruments, 10, True)
    for name, make in OPTIONS.items():
        found[f"options/{name}"] = partial(drive, make, "plain", ordinary, 20)
    for name, kernel in KERNELS.items():
        for way, algorithm in WAYS.items():
            make = algorithm(kernel=kernel)
            found[f"kernels/{name}-{way}"] = partial(drive, make, "plain", ordinary, 8)
            found[f"kernels/box-{name}-{way}"] = partial(drive, make, "box", ordinary, 3)
    for name, make in CONTEXTS.items():
        found[f"contexts/{name}"] = partial(drive, make, "plain", visited, 14)
    for name, (make, domain, steps) in AUTO.items():
        found[f"auto/{name}"] = partial(drive, make, domain, ordinary, steps)
    grows = ucb(norm_bound="grow")
    for domain in ("plain", "box"):
        found[f"{domain}/grow"] = partial(drive, grows, domain, eventful, 12, saved=True)
    found["weighty/grow"] = partial(drive, grows, "plain", weighty, 40)
    for name, make in MANY.items():
        found[f"many/{name}"] = partial(drive, make, "many", historic, 6)
    groups = bare(nr.regularized_evolution, groups=range(6), population=5)
    words = ucb(kernel=nr.Categorical((0.5, 2.0, 1.0), groups=(3, 2, 1)) * nr.RBF(1.0))
    gram = nr.Precomputed(nr.RBF(6.0)(np.arange(40.0)[:, None], np.arange(40.0)[:, None]))
    found["options/groups"] = partial(drive, groups, "table", ordinary, 12)
    found["kernels/words"] = partial(drive, words, "table", ordinary, 10)
    found["kernels/gram"] = partial(drive, ucb(kernel=gram), "line", ordinary, 10)
    found["long/line"] = partial(drive, model(nr.ts_qff, nodes=30), "line", ordinary, 10)
    return dict(sorted((found | loops()).items()))


def loops() -> dict[str, Run]:
    """Return the runs of `maximize` and `minimize`."""
    target, patience, gap = nr.Target(0.8, deviations=0.5), nr.Patience(12), nr.GapBelow(3.0)
    ask = {"kernel": nr.RBF(0.3), "noise_std": 0.3, "budget": 90}
    most, least = partial(loop, nr.maximize), partial(loop, nr.minimize)
    visitors = [(0.1, 0.5, 0.9)[i * i % 3] for i in range(90)]
    seeing = {"contexts": visitors, "context_kernel": nr.RBF(0.5), **ask}
    return {
        "loop/contexts": partial(most, "named", algorithm=nr.mini_gp_ucb, **seeing),
        "loop/contexts-min": partial(least, "plain", algorithm=nr.bbkb, **seeing),
        "loop/target": partial(most, "plain", budget=60, stop_when=target),
        "loop/patience": partial(least, "plain", budget=60, stop_when=patience),
        "loop/gap": partial(most, "plain", algorithm=nr.mini_gp_ucb, stop_when=gap, **ask),
        "loop/box": partial(most, "box", algorithm=nr.gp_ei, stop_when=[target, patience], **ask),
        "loop/exhausted": partial(most, "wholes", budget=60, deterministic=True),
    }


def is_delicate(name: str) -> bool:
    """Whether rounding decides: on a box, between candidates all the same, in drawing hundreds."""
    return "box" in name or name in ("auto/constant", "many/bbkb-sticky")


def is_elsewhere(name: str, kept: dict[str, Record]) -> bool:
    """Whether a run hangs on rounding, and this machine rounds otherwise than the record's."""
    return name == "rounding" or (is_delicate(name) and kept.get("rounding") != rounding())
