"""Pools, settings, parts and kernels that must be refused, with a message that names them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.arrays import Matrix, Vector
from small_optimizers import Kernelish, refused, refused_by

NAN, INF = float("nan"), float("inf")
POOL = nr.Pool(np.linspace(0, 1, 12)[:, None])
NAMED = nr.Pool(np.linspace(0, 1, 3)[:, None], names=["acid", "base", "salt"])
PLANE = nr.Pool(np.random.default_rng(0).random((150, 2)))
KERNEL = nr.RBF(0.3)

BAD_POOLS: dict[str, tuple[Callable[[], object], str]] = {
    "a NaN": (lambda: nr.Pool([[0.0, NAN], [1.0, 2.0]]), r"X=.*1 of 4.*\(0, 1\)"),
    "an infinity": (lambda: nr.Pool([[0.0], [INF]]), r"X=.*1 of 2.*\(1, 0\)"),
    "one axis": (lambda: nr.Pool([0.0, 1.0]), r"X=.*two dimensions.*shape \(2,\)"),
    "three axes": (lambda: nr.Pool(np.zeros((2, 2, 2))), r"X=.*shape \(2, 2, 2\)"),
    "ragged": (lambda: nr.Pool([[0.0], [1.0, 2.0]]), r"X=.*numbers only"),
    "words": (lambda: nr.Pool([["red"], ["green"]]), r"X=.*numbers only.*red"),
    "nothing": (lambda: nr.Pool([]), r"X="),
    "no rows": (lambda: nr.Pool(np.empty((0, 2))), r"X=.*at least one.*\(0, 2\)"),
    "no features": (lambda: nr.Pool(np.empty((2, 0))), r"X=.*at least one.*\(2, 0\)"),
    "too few names": (lambda: nr.Pool([[0.0], [1.0]], names=["a"]), "names=.*1 names for 2"),
    "equal names": (
        lambda: nr.Pool([[0.0], [1.0], [2.0]], names=["a", "b", "a"]),
        "names=.*unique: 'a' occurs 2 times",
    ),
    "fractions as names": (lambda: nr.Pool([[0.0]], names=[0.5]), "names=.*strings or whole"),
    "a table of names": (lambda: nr.Pool([[0.0]], names=[["a"]]), "names=.*flat"),
    "an unknown name": (lambda: NAMED.find(["acd"]), "unknown name 'acd'; did you mean 'acid'"),
    "a row for a name": (lambda: NAMED.find([1]), r"addressed by its names.*acid.*got .*1"),
    "a fraction for a name": (lambda: NAMED.find([1.5]), r"1\.5"),
    "nothing for a name": (lambda: NAMED.find(None), "None"),
    "an object for a name": (lambda: NAMED.find([{"acid"}]), "acid"),
    "ragged names": (lambda: NAMED.find([["acid"], ["acid", "base"]]), "ids"),
}


@pytest.mark.parametrize("what", BAD_POOLS)
def test_a_bad_pool_or_name_is_refused(what: str) -> None:
    """A hole in a table of molecules must be found before the robot starts."""
    make, match = BAD_POOLS[what]
    with refused(f"(?s){match}"):
        make()


WORDS: Any = ["a"]
Maker = Callable[..., nr.Optimizer]
EVERY: list[Maker] = [
    *(nr.gp_ucb, nr.gp_ei, nr.gp_bucb, nr.bkb, nr.bbkb, nr.mini_gp_ucb, nr.mini_gp_ei)
]

BAD_SETTINGS: list[tuple[dict[str, object], str]] = [
    ({"noise_std": 0.0}, r"noise_std must be above 0, got 0\.0"),
    ({"noise_std": -0.1}, r"noise_std must be above 0, got -0\.1"),
    ({"noise_std": NAN}, "noise_std must be a finite number, got nan"),
    ({"noise_std": "0.1"}, r"noise_std must be a finite number, got '0\.1'"),
    ({"ridge": -1.0}, r"ridge must be above 0, got -1\.0"),
    ({"ridge": 0}, "ridge must be above 0, got 0"),
    ({"delta": 0.0}, r"delta must lie strictly between 0 and 1, got 0\.0"),
    ({"delta": 1.0}, r"delta must lie strictly between 0 and 1, got 1\.0"),
    ({"delta": -0.1}, r"delta .*got -0\.1"),
    ({"horizon": 1}, "horizon must be at least 2, got 1"),
    ({"horizon": 10.5}, r"horizon must be a whole number, got 10\.5"),
    ({"norm_bound": 0.0}, r"norm_bound must be above 0, got 0\.0"),
    ({"norm_bound": "halve"}, "norm_bound must be a number, .double. or .grow., got 'halve'"),
    ({"preset": "paper"}, "preset must be one of 'experiments', 'theory', got 'paper'"),
    ({"goal": "maximum"}, "goal must be one of 'max', 'min', got 'maximum'"),
    ({"offset": INF}, "offset must be a finite number, got inf"),
    ({"seed": -1}, "seed must be at least 0, got -1"),
    ({"seed": 0.5}, r"seed must be a whole number, got 0\.5"),
    ({"start": [99]}, "row 99 is outside"),
    ({"start": 16}, "SobolDesign"),
    ({"start": "sobol"}, "SobolDesign"),
    ({"start": 2.0}, "SobolDesign"),
    ({"pool": POOL.X}, "pool must be a noregret.Pool"),
    ({"min_batch": 0}, "min_batch must be at least 1, got 0"),
    ({"width": 2.0}, r"width.*2\.0"),
    ({"width": nr.BayesianWidth}, "width must be a width such as"),
    ({"lenghtscale": 1.0}, "unknown argument 'lenghtscale'"),
    ({"kernel": None}, "kernel must be callable .*got None"),
    ({"kernel": 1.0}, r"kernel must be callable .*got 1\.0"),
    ({"kernel": nr.RBF}, "kernel.*RBF"),
    ({"kernel": nr.RBF((0.1, 0.2))}, "lengthscale has 2 entries for 1 feature;"),
]


@pytest.mark.parametrize("algorithm", EVERY)
@pytest.mark.parametrize(("settings", "match"), BAD_SETTINGS)
def test_a_bad_setting_is_refused(
    algorithm: Maker, settings: dict[str, object], match: str
) -> None:
    """A setting that is silently corrected gives results under a wrong name."""
    with refused(match):
        algorithm(**{"pool": POOL, "kernel": KERNEL, "noise_std": 0.1, **settings})


@pytest.mark.parametrize(
    ("algorithm", "settings", "match"),
    [
        (nr.gp_bucb, {"limit": 0.5}, r"ProductBound\(limit=...\) must be at least 1\.0, got 0\.5"),
        (nr.gp_bucb, {"limit": 0.5, "rule": "global"}, r"GlobalRatio\(limit=.*got 0\.5"),
        (nr.gp_bucb, {"limit": 0.5, "rule": "local"}, r"LocalRatio\(limit=.*got 0\.5"),
        (nr.gp_bucb, {"rule": "total"}, "rule must be one of .*got 'total'"),
        (nr.bbkb, {"limit": 0.99}, r"GlobalRatio\(limit=.*got 0\.99"),
        (nr.bbkb, {"limit": INF}, "GlobalRatio.*finite number, got inf"),
        (nr.bbkb, {"rule": "product"}, "rule must be one of 'global', 'local', got 'product'"),
        (nr.bbkb, {"oversample": 0.0}, r"oversample must be above 0, got 0\.0"),
        (nr.bbkb, {"preset": "theory", "ridge": 0.5}, r"ridge .*theory.*at least 1\.0, got 0\.5"),
        (nr.bbkb, {"limit": 1.0, "min_batch": 4}, "min_batch=4 needs .*limit above 1"),
        (nr.bkb, {"oversample": -2.0}, r"oversample must be above 0, got -2\.0"),
        (nr.bkb, {"min_batch": 4}, "min_batch=4 needs .*: this algorithm evaluates one candidate"),
        (nr.gp_ucb, {"min_batch": 4}, "min_batch=4 needs .* evaluates one candidate at a time"),
        (
            nr.gp_bucb,
            {"min_batch": 4, "rule": nr.FixedSize(3)},
            "min_batch=4 needs .* evaluates 3 candidates at a time",
        ),
        (
            nr.mini_gp_ucb,
            {"min_batch": 4, "switch_cost": lambda _x, _z: 9.0},
            "depends on the pair ends a stay after one .* Give a number above 3, or leave out",
        ),
        (
            nr.mini_gp_ei,
            {"min_batch": 4, "switch_cost": 2.5},
            r"min_batch=4 .* switch_cost=2\.5 ends a stay sooner\. Give a number above 3",
        ),
        (nr.gp_ucb, {"limit": 2.0}, "unknown argument 'limit'"),
        (nr.mini_gp_ucb, {"limit": 1.0}, r"Repeat\(limit=...\) must be above 1\.0, got 1\.0"),
        (nr.mini_gp_ei, {"limit": 0.5}, r"Repeat\(limit=...\) must be above 1\.0, got 0\.5"),
        (nr.mini_gp_ucb, {"switch_cost": -1.0}, r"switch_cost must be at least 0\.0"),
        (nr.mini_gp_ei, {"switch_cost": NAN}, "switch_cost must be a finite number, got nan"),
        (nr.mini_gp_ei, {"switch_cost": -INF}, "switch_cost must be a finite number, got -inf"),
        (nr.mini_gp_ucb, {"switch_cost": True}, "switch_cost must be a finite number, got True"),
        (nr.mini_gp_ucb, {"switch_cost": "3"}, "switch_cost must be a finite number, got '3'"),
        (nr.mini_gp_ucb, {"switch_cost": [3.0, 4.0]}, r"switch_cost must be .*got shape \(2,\)"),
        (nr.mini_gp_ucb, {"switch_cost": 3.0, "limit": 1.0}, r"Stay\(limit=...\) must be above 1"),
        (
            nr.mini_gp_ucb,
            {"switch_cost": 3.0, "min_batch": 4},
            "switch_cost=3 ends a stay sooner.*above 3",
        ),
        (nr.gp_ucb, {"switch_cost": -3.0}, "switch_cost must be at least 0"),
        (nr.mini_gp_ucb, {"limit": "2"}, r"Repeat\(limit=...\) must be a finite number, got '2'"),
        (nr.mini, {"acquisition": nr.UCB}, "acquisition must be one such as noregret.UCB"),
        (nr.lin_ucb, {"bias": -1.0}, "bias"),
        (nr.batch_thompson, {"batch_size": 0}, "size"),
        (nr.batch_thompson, {"posterior": "dense"}, "posterior"),
        (nr.batch_thompson, {"rule": "all"}, "rule"),
        (nr.batch_thompson, {"rule": "global", "limit": 0.5}, "limit"),
        (
            nr.ts_qff,
            {"kernel": nr.Matern(nu=2.5)},
            r"must be RBF\(lengthscale\) or variance \* RBF",
        ),
        (nr.ts_qff, {"kernel": nr.RBF(1.0) + nr.RBF(2.0)}, "must be RBF"),
        (nr.ts_qff, {"kernel": nr.RBF}, "instance"),
        (nr.ts_qff, {"kernel": None}, "kernel must be"),
        (nr.ts_qff, {"kernel": nr.RBF((1.0, 2.0))}, "lengthscale has 2 entries for 1 feature"),
        (nr.ts_qff, {"kernel": nr.RBF(0.01), "pool": PLANE}, "features, more than 4096"),
        (nr.ts_qff, {"nodes": 0}, r"ts_qff\(nodes=...\) must be at least 1"),
        (nr.ts_qff, {"nodes": (3, 4, 5), "pool": PLANE}, "nodes=.* has 3 entries for 2 features"),
        (nr.ts_qff, {"nodes": (3, 2.5), "pool": PLANE}, "must be a whole number, got 2.5"),
        (nr.ts_qff, {"nodes": 65, "pool": PLANE}, "65 × 65 = 4225 features"),
        (nr.ts_qff, {"noise_std": 0.0}, "noise_std must be above 0"),
        (nr.ts_qff, {"noise_std": 1e-5}, "ridge .* at least 1e-08"),
        (nr.ts_qff, {"ridge": -1.0}, "ridge must be above 0"),
        (nr.ts_qff, {"batch_size": 0}, r"ts_qff\(batch_size=...\)"),
        (nr.ts_qff, {"pool": nr.Pool(np.zeros((3, 4)))}, "at most 3 features, got 4"),
        (nr.ts_qff, {"pool": nr.Box([(0, 1)])}, "needs a pool"),
        (nr.auto, {"attitude": "bold"}, "attitude must be one of"),
        (nr.auto, {"workers": 0}, "workers must be at least 1"),
        (nr.auto, {"workers": 2.5}, "workers must be a whole number"),
        (nr.auto, {"switch_cost": -1}, "switch_cost must be at least 0"),
        (nr.auto, {"switch_cost": 5, "workers": 2}, "Give one of the two"),
        (nr.auto, {"switch_cost": 5, "deterministic": True}, "Give one of the two"),
        (nr.auto, {"at_most_each": 0}, "at_most_each must be at least 1, got 0"),
        (nr.uniform, {"at_most_each": 2.5}, "at_most_each must be a whole number, got 2.5"),
        (nr.auto, {"deterministic": "yes"}, "deterministic must be True or False"),
        (nr.auto, {"delta": 1.0}, "delta must lie strictly"),
        (nr.uniform, {"batch_size": 0}, "batch_size=.*at least 1, got 0"),
        (nr.uniform, {"goal": "most"}, "goal must be one of .*got 'most'"),
        (nr.uniform, {"pool": POOL.X}, "must be a noregret.Pool or noregret.Box, got ndarray"),
        (nr.epsilon_greedy, {"batch_size": 1.5}, r"batch_size=.*got 1\.5"),
        (nr.epsilon_greedy, {"a": 0.0}, r"a=.*above 0, got 0\.0"),
        (nr.epsilon_greedy, {"b": -1.0}, r"b=.*at least 0\.0, got -1\.0"),
        (nr.random_search, {"batch_size": 0}, r"random_search\(batch_size=...\)"),
        (nr.random_search, {"batch_size": -1}, r"random_search\(batch_size=...\)"),
        (nr.random_search, {"batch_size": 1.5}, r"random_search\(batch_size=...\)"),
        (nr.random_search, {"batch_size": True}, r"random_search\(batch_size=...\)"),
        (nr.random_search, {"batch_size": "two"}, r"random_search\(batch_size=...\)"),
        (nr.regularized_evolution, {"population": 0}, r"evolution\(population=...\) .* 1, got 0"),
        (nr.regularized_evolution, {"sample": 0}, r"sample=...\) must be at least 1"),
        (nr.regularized_evolution, {"sample": 2.5}, r"sample=...\) .*whole number, got 2.5"),
        (nr.regularized_evolution, {"neighbours": -1}, r"neighbours=...\) must be at least 1"),
        (nr.regularized_evolution, {"batch_size": 0}, r"batch_size=...\) must be at least 1"),
        (nr.regularized_evolution, {"groups": [[0]], "pool": PLANE}, "column 1 stands in 0 groups"),
        (nr.regularized_evolution, {"groups": [0], "pool": nr.Box([(0, 1)])}, "is for pools"),
        (nr.regularized_evolution, {"groups": [0], "pool": POOL.X}, "pool must be"),
        (nr.regularized_evolution, {"goal": "up"}, "goal must be one of"),
    ],
)
def test_a_bad_setting_of_one_algorithm_is_refused(
    algorithm: Maker, settings: dict[str, object], match: str
) -> None:
    """Each rule has a limit below which its theorem says nothing; said before anything is drawn."""
    takes = inspect.signature(algorithm).parameters
    given = {"kernel": KERNEL, "noise_std": 0.1}
    needed = {name: value for name, value in given.items() if name in takes}
    with refused(match):
        algorithm(**{"pool": POOL, **needed, **settings})


BAYESIAN = (nr.BayesianWidth(), 0.5 * (0.5 * nr.BayesianWidth()))
on_a_box = partial(nr.gp_ucb, nr.Box([(0, 1)]), kernel=KERNEL, noise_std=0.1)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: nr.RBF(0.0), r"RBF\(lengthscale=...\) must be above 0, got 0\.0"),
        (lambda: nr.RBF(-1.0), r"RBF\(lengthscale=...\) must be above 0, got -1\.0"),
        (lambda: nr.RBF((0.5, 0.0)), r"lengthscale=.*above 0, got 0\.0"),
        (lambda: nr.RBF(()), "lengthscale=.*not be empty"),
        (lambda: nr.RBF(NAN), "lengthscale=.*finite number, got nan"),
        (lambda: nr.Matern(nu=2), r"nu=...\) must be 0\.5, 1\.5 or 2\.5, got 2"),
        (lambda: nr.Matern(lengthscale=-0.5), r"Matern\(lengthscale=.*got -0\.5"),
        (lambda: nr.Linear(-1.0), r"Linear\(bias=...\) must be at least 0\.0, got -1\.0"),
        (lambda: 0.0 * nr.RBF(), r"Scaled\(variance=...\) must be above 0, got 0\.0"),
        (lambda: nr.RBF() + 1.0, r"kernel must be callable .*got 1\.0"),  # type: ignore[operator]  # what is tested
        (lambda: nr.Product(nr.RBF(), None), "kernel must be callable .*got None"),  # type: ignore[arg-type]  # what is tested
        (lambda: nr.RKHSWidth(0.0), r"RKHSWidth\(delta=.*got 0\.0"),
        (lambda: nr.BBKBWidth(0.1, limit=0.5), r"BBKBWidth\(limit=.*got 0\.5"),
        (lambda: -1.0 * nr.RKHSWidth(), r"factor=.*got -1\.0"),
        (lambda: nr.FixedSize(0), r"FixedSize\(size=.*got 0"),
        (lambda: nr.RBF(WORDS), "finite number, got 'a'"),
        (lambda: nr.load("run", pool=WORDS), "pool must be a noregret.Pool"),
        (lambda: nr.load("nowhere.nr", pool=POOL), "there is no file nowhere.nr"),
        (lambda: nr.uniform(POOL).fail(WORDS), "takes a batch or a slice of one"),
        (lambda: nr.uniform(POOL).save(""), "give the name of a file"),
        *((lambda width=width: on_a_box(width=width).ask(), "finite pool") for width in BAYESIAN),
        (lambda: nr.Target(NAN), r"Target\(value=...\) must be a finite number, got nan"),
        (lambda: nr.Target(INF), r"Target\(value=...\) .*got inf"),
        (lambda: nr.Target("0.9"), r"Target\(value=...\) .*got '0\.9'"),  # type: ignore[arg-type]  # what is tested
        (lambda: nr.Target(True), r"Target\(value=...\) .*got True"),
        (lambda: nr.Target(0.9, -1.0), r"Target\(deviations=...\) must be at least 0\.0, got -1"),
        (lambda: nr.Patience(0), r"Patience\(evaluations=...\) must be at least 1, got 0"),
        (lambda: nr.Patience(2.5), r"Patience\(evaluations=...\) .*whole number, got 2\.5"),  # type: ignore[arg-type]  # what is tested
        (lambda: nr.GapBelow(0.0), r"GapBelow\(gap=...\) must be above 0, got 0\.0"),
        (lambda: nr.GapBelow(-0.1), r"GapBelow\(gap=...\) must be above 0, got -0\.1"),
        (lambda: nr.GapBelow(NAN), r"GapBelow\(gap=...\) .*finite number, got nan"),
    ],
)
def test_a_bad_part_is_refused(make: Callable[[], object], match: str) -> None:
    """At the line where it was written, not an hour later inside a solver."""
    with refused(match):
        make()


@pytest.mark.parametrize("budget", [0, -5, 10.0, True])
@pytest.mark.parametrize("run", [nr.maximize, nr.minimize])
def test_a_bad_budget_is_refused(run: Callable[..., nr.Result], budget: object) -> None:
    """Before the first evaluation, which may cost a day."""

    def never(x: Vector) -> float:
        raise AssertionError(x)

    with refused(f"budget must be .*got {re.escape(repr(budget))}"):
        run(never, POOL, algorithm=nr.uniform, budget=budget)
    with refused("must be callable, got 3"):
        run(3, POOL, algorithm=nr.uniform, budget=5)
    with refused("algorithm must be one of the library's functions"):
        run(never, POOL, algorithm="bbkb", budget=3)


class NoDiagonal:
    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        return np.exp(-np.abs(X - Z.T))


BAD_KERNELS: dict[str, tuple[object, str]] = {
    "squared distances": (Kernelish(lambda X, Z: (X - Z.T) ** 2, 0.0), "not positive definite"),
    "negated": (Kernelish(lambda X, Z: -KERNEL(X, Z), -1.0), "not positive definite"),
    "asymmetric": (
        Kernelish(lambda X, Z: np.exp(np.minimum(X - Z.T, 0)), 1.0),
        r"not symmetric: k\(x, z\)",
    ),
    "another diagonal": (Kernelish(KERNEL, 2.0), r"diagonal\(X\) must equal"),
    "NaN": (Kernelish(lambda X, Z: NAN * X @ Z.T, 1.0), "must be finite"),
    "flat": (Kernelish(lambda X, _: np.ones(len(X)), 1.0), r"shape \(12, 12\).*got \(12,\)"),
    "without diagonal": (NoDiagonal(), r"have diagonal\(X\), got .*NoDiagonal"),
}


@pytest.mark.parametrize("algorithm", EVERY)
@pytest.mark.parametrize("what", BAD_KERNELS)
def test_what_is_no_kernel_is_refused_at_once(algorithm: Maker, what: str) -> None:
    """Somebody's similarity score is not always a covariance; variances would go negative."""
    kernel, match = BAD_KERNELS[what]
    with refused(match):
        algorithm(POOL, kernel=kernel, noise_std=0.1)


def lies_about(rows: Vector) -> Kernelish:
    """A kernel, but for pairs of the given features: k(x, z) = 2 > 1 = k(x, x)."""

    def gram(X: Matrix, Z: Matrix) -> Matrix:
        both = np.isin(X, rows) & np.isin(Z, rows).T
        return np.where(both & (X != Z.T), 2.0, nr.RBF(0.001)(X, Z))

    return Kernelish(gram, 1.0)


@pytest.mark.parametrize("algorithm", EVERY)
def test_a_kernel_that_fails_late_leaves_the_run_as_it_was(
    algorithm: Maker, tmp_path: Path
) -> None:
    """Only on evaluated rows does it show; what was measured must stay saved and safe."""
    X = np.linspace(0, 1, 200)
    optimizer = algorithm(nr.Pool(X[:, None]), kernel=lies_about(X[1:3]), noise_std=0.1)
    optimizer.tell([0, 1], [0.1, 0.2])
    optimizer.tell(optimizer.ask(at_most=1), [0.0])
    optimizer.tell([2], [0.3])
    told = optimizer.evaluations
    for act in (optimizer.ask, optimizer.best, optimizer.ask):
        with refused_by(optimizer, tmp_path, "not positive definite"):
            act()
    assert optimizer.evaluations == told
