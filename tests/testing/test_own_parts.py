"""Every part of the library passes the suite that parts of others are asked to pass."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.gaussian_process import kernels as theirs

import noregret as nr
from noregret.batching import BatchRule, BatchRuleBase
from noregret.kernels import CandidateEffect, KernelBase, WithEffect, as_kernel, probe, quadrature
from noregret.pools import Candidates, Domain, Points
from noregret.pools.stored import StoredPool
from noregret.testing import (
    BatchRuleSuite,
    DomainSuite,
    KernelSuite,
    PolicySuite,
    PoolSuite,
    Suite,
    WidthSuite,
)
from noregret.widths import StagedWidth, Width, WidthBase
from strategies import MODELS

RNG = np.random.default_rng(4)
NUMBERS, CODES, BITS = RNG.random((30, 2)), RNG.integers(0, 3, (30, 2)), RNG.random((30, 40)) < 0.3
HOT = np.hstack([np.eye(3)[CODES[:, 0]], CODES[:, 1:] == [0, 1], CODES[:, 1:]])
FILES = Path(tempfile.mkdtemp())
np.save(FILES / "X.npy", NUMBERS)
(FILES / "X.csv").write_text(
    "entry,a,word\n" + "".join(f"r{i},{i * 7 % 30},w{i % 3}\n" for i in range(30))
)
pd.read_csv(FILES / "X.csv").to_parquet(FILES / "X.parquet")
FACTOR = RNG.standard_normal((30, 9))
ON_NUMBERS: dict[str, Callable[[], object]] = {
    "RBF": lambda: nr.RBF(0.5),
    "RBF, by feature": lambda: nr.RBF((0.5, 2.0)),
    "Matern 1/2": lambda: nr.Matern(nu=0.5, lengthscale=0.7),
    "Matern 3/2": lambda: nr.Matern(nu=1.5, lengthscale=0.7),
    "Matern 5/2": lambda: nr.Matern(nu=2.5, lengthscale=(0.7, 0.2)),
    "Linear": nr.Linear,
    "Polynomial, degree 1": lambda: nr.Polynomial(degree=1),
    "Polynomial, degree 2": lambda: nr.Polynomial(degree=2, bias=1.0),
    "Polynomial, degree 3": lambda: nr.Polynomial(degree=3),
    "Polynomial, degree 5": lambda: nr.Polynomial(degree=5, bias=0.5),
    "Scaled": lambda: 4.0 * nr.Matern(lengthscale=0.4),
    "Sum": lambda: nr.RBF(0.4) + nr.Linear(bias=0.2),
    "Product": lambda: nr.RBF(0.4) * nr.Linear(bias=0.2),
    "nested": lambda: 2.0 * nr.FunctionKernel(nr.Matern(0.5, 0.3)) * nr.RBF(0.3) + nr.Linear(),
    "FunctionKernel": lambda: nr.FunctionKernel(lambda X, Z: X @ Z.T),
    "scikit-learn": lambda: as_kernel(2.0 * theirs.RationalQuadratic()),
    "quadrature": lambda: quadrature(nr.RBF(0.5), Points(nr.Pool(NUMBERS)), 9),
}
KERNELS: dict[str, tuple[Callable[[], object], Callable[[], Domain]]] = {
    **{name: (make, partial(nr.Pool, NUMBERS)) for name, make in ON_NUMBERS.items()},
    "Categorical": (nr.Categorical, partial(nr.Pool, CODES)),
    "Categorical, by group": (
        lambda: nr.Categorical((0.5, 0.0, 2.0), groups=(3, 2, 1)),
        partial(nr.Pool, HOT),
    ),
    "WithEffect": (lambda: WithEffect(nr.RBF(0.5), 0.3), partial(nr.Pool, CODES)),
    "CandidateEffect": (CandidateEffect, partial(nr.Pool, CODES)),
    "Tanimoto": (nr.Tanimoto, partial(nr.BitPool, BITS)),
    "Precomputed": (lambda: nr.Precomputed(FACTOR @ FACTOR.T), partial(nr.Pool.numbered, 30)),
}
WIDTHS: dict[str, Callable[[], Width]] = {
    "RKHS": nr.RKHSWidth,
    "Bayesian": nr.BayesianWidth,
    "EI": nr.EIWidth,
    "BKB": nr.BKBWidth,
    "BBKB": lambda: nr.BBKBWidth(limit=2.0),
    "Nyström": nr.NystromWidth,
    "Nyström, Bayesian": nr.NystromBayesianWidth,
    "BKB, experiments": nr.BKBExperimentsWidth,
    "BBKB, experiments": nr.BBKBExperimentsWidth,
    "constant": lambda: nr.ConstantWidth(2.0),
    "growing": nr.GrowingWidth,
    "scaled": lambda: 0.3 * nr.RKHSWidth(delta=0.01),
    "at a stage": lambda: StagedWidth(nr.RKHSWidth(), 3),
}
RULES: dict[str, Callable[[], BatchRule]] = {
    "one": nr.FixedSize,
    "five": lambda: nr.FixedSize(5),
    "product": lambda: nr.ProductBound(3.0),
    "global": lambda: nr.GlobalRatio(2.0),
    "local": lambda: nr.LocalRatio(1.5),
    "repeat": lambda: nr.Repeat(4.0),
    "stay": lambda: nr.Stay(limit=4.0, switch_cost=3.5),
    "rarely switching": lambda: nr.RarelySwitching(4.0),
    "settle": lambda: nr.Settle(short=1.5, long=4.0, switch_cost=3.0),
}
POOLS: dict[str, Callable[[Path], Candidates]] = {
    "rows": lambda _: nr.Pool(NUMBERS[[*range(30), 3, 3]]),
    "names": lambda _: nr.Pool(NUMBERS, names=[f"c{i}" for i in range(30)]),
    "numbers for names": lambda _: nr.Pool(NUMBERS, names=np.arange(30) * 7),
    "one": lambda _: nr.Pool([[1.0]]),
    "bits": lambda _: nr.BitPool(BITS, names=[f"m{i}" for i in range(30)]),
    "mapped": lambda folder: nr.MappedPool(folder / "X.npy", progress=False),
    "table": lambda folder: nr.read_pool(folder / "X.csv", name="entry"),
    "table, on disk": lambda folder: nr.read_pool(
        folder / "X.parquet", name="entry", into=folder / "encoded.npy"
    ),
}
BOXES: dict[str, Callable[[], Domain]] = {
    "box": lambda: nr.Box([(-5.0, 10.0), (0.0, 15.0)]),
    "box, log and whole numbers": lambda: nr.Box([(1e-4, 1.0), (1, 9)], log=[0], integer=[1]),
}
MODELLED = {name: partial(make, kernel=nr.RBF(0.4), noise_std=0.5) for name, make in MODELS.items()}
UCB = MODELLED["gp_ucb"]
POLICIES: dict[str, Callable[..., nr.Optimizer]] = MODELLED | {
    "uniform design": partial(UCB, start=nr.UniformDesign(7)),
    "Sobol design": partial(UCB, start=nr.SobolDesign(7)),
    "farthest design": partial(UCB, start=nr.FarthestDesign(7)),
    "uncertainty design": partial(UCB, start=nr.UncertaintyDesign(7)),
    "minimum batch": partial(MODELLED["bbkb-global"], min_batch=3),
    "norm that grows": partial(MODELLED["mini_gp_ucb"], norm_bound="grow"),
    "norm that grows, sparse": partial(MODELLED["bbkb-global"], norm_bound="grow"),
    "uniform": partial(nr.uniform, batch_size=3),
    "random_search": partial(nr.random_search, batch_size=3),
    "epsilon_greedy": partial(nr.epsilon_greedy, batch_size=2),
    "evolution": partial(nr.regularized_evolution, population=5, sample=3, batch_size=2),
    "lin_ucb": partial(nr.lin_ucb, noise_std=0.5, bias=1.0),
    "ts_qff": partial(nr.ts_qff, kernel=nr.RBF(0.5), noise_std=0.5),
    "auto": nr.auto,
    "auto, safe": partial(nr.auto, attitude="safe", workers=2),
    "auto, greedy": partial(nr.auto, attitude="greedy", switch_cost=2.0),
    "auto, deterministic": partial(nr.auto, deterministic=True),
}
NOT_ON_BOXES = {"ts_qff", "bkb"}


def suite(kind: type, make: Callable[..., object], **hooks: object) -> Suite[Any]:
    """Return a suite of this kind for one part."""
    given = {"make": make, **hooks}
    return type(kind.__name__, (kind,), given)()  # type: ignore[no-any-return]  # made here


def suites() -> Iterator[tuple[str, Suite[Any]]]:
    for name, (kernel, pool) in KERNELS.items():
        yield (
            name,
            suite(KernelSuite, lambda _, k=kernel: as_kernel(k()), domain=lambda _, p=pool: p()),
        )
    for name, width in WIDTHS.items():
        yield name, suite(WidthSuite, lambda _, w=width: w())
    for name, rule in RULES.items():
        limit = {"limit": lambda _: 4.0} if name == "settle" else {}
        yield name, suite(BatchRuleSuite, lambda _, r=rule: r(), **limit)
    for name, pool_of in POOLS.items():
        yield name, suite(PoolSuite, lambda _, p=pool_of: p(FILES))
    for name, box in BOXES.items():
        yield name, suite(DomainSuite, lambda _, b=box: b())
    for name, algorithm in POLICIES.items():
        yield name, suite(PolicySuite, lambda self, a=algorithm: a(self.domain()).policy)
        if name not in NOT_ON_BOXES:
            make, box = (lambda self, a=algorithm: a(self.domain()).policy), BOXES["box"]
            yield f"{name} on a box", suite(PolicySuite, make, domain=lambda _, b=box: b())


def cases() -> Iterator[Any]:
    for name, of in suites():
        for rule in [rule for rule in dir(of) if rule.startswith("test_")]:
            yield pytest.param(of, rule, id=f"{name}: {rule.removeprefix('test_')}")


@pytest.mark.parametrize(("kernel", "pool"), KERNELS.values(), ids=KERNELS)
def test_kernels_of_the_library_keep_all_digits(
    kernel: Callable[[], object], pool: Callable[[], Domain]
) -> None:
    """The suite lets single precision pass; in here nothing is lost to it, at no block size."""
    k, X = as_kernel(kernel()), Points(pool()).some(30, np.random.default_rng(0))
    probe(k, X)
    K = k(X, X)
    np.testing.assert_allclose(K, K.T, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(np.diag(K), k.diagonal(X), rtol=1e-12)
    np.testing.assert_allclose(k(X[:4], X[4:]), K[:4, 4:], rtol=1e-10, atol=1e-12)
    assert np.linalg.eigvalsh(K)[0] > -1e-12 * np.abs(K).max()


@pytest.mark.parametrize(("of", "rule"), list(cases()))
def test_a_part_of_the_library_keeps_the_rule(of: Suite[Any], rule: str) -> None:
    """A rule that the library's own parts do not keep could be asked of nobody."""
    getattr(of, rule)()


def test_every_public_part_is_here() -> None:
    """A part that is added passes the suite of its kind, or is not added."""
    public = [getattr(nr, name) for name in nr.__all__]
    parts = {type(of.make()) for _, of in suites() if not isinstance(of, PolicySuite)}
    kinds = (KernelBase, WidthBase, BatchRuleBase, StoredPool)
    wanted = {part for part in public if isinstance(part, type) and issubclass(part, kinds)}
    assert len(wanted) > 25
    assert wanted - parts == set()
    tried = {part.func if isinstance(part, partial) else part for part in POLICIES.values()}
    algorithms = {part for part in public if part in vars(nr.algorithms).values()}
    assert len(algorithms) >= 16
    assert algorithms - tried == set()
