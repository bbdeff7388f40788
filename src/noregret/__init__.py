"""Find the best of very many candidates from noisy evaluations, with regret guarantees.

>>> import noregret as nr
>>> pool = nr.Pool([[0.1], [0.4], [0.9]])
>>> optimizer = nr.mini_gp_ucb(pool, kernel=nr.RBF(0.5), noise_std=0.1, seed=0)
>>> batch = optimizer.ask(at_most=10)
>>> optimizer.tell(batch, [x[0] for x in batch])
"""

from noregret import plot
from noregret.acquisitions import UCB, ExpectedImprovement, KnowledgeGradient, Thompson
from noregret.algorithms import (
    auto,
    batch_thompson,
    bbkb,
    bkb,
    epsilon_greedy,
    gp_bucb,
    gp_ei,
    gp_ucb,
    lin_ucb,
    mini,
    mini_gp_ei,
    mini_gp_ucb,
    random_search,
    regularized_evolution,
    ts_qff,
    uniform,
)
from noregret.batching import (
    FixedSize,
    GlobalRatio,
    LocalRatio,
    ProductBound,
    RarelySwitching,
    Repeat,
    Settle,
    Stay,
)
from noregret.errors import NoRegretError
from noregret.kernels import (
    RBF,
    Categorical,
    FunctionKernel,
    Kernel,
    Linear,
    Matern,
    Polynomial,
    Precomputed,
    Product,
    Scaled,
    Sum,
    Tanimoto,
)
from noregret.optimizer import (
    FAILED,
    Batch,
    Best,
    Certificate,
    Evaluated,
    Explanation,
    Optimizer,
    Trace,
    load,
)
from noregret.policies import Bandit, FarthestDesign, SobolDesign, UncertaintyDesign, UniformDesign
from noregret.pools import BitPool, Box, MappedPool, Pool, read_pool
from noregret.posteriors import ExactPosterior, NystromPosterior, effective_dimension
from noregret.run import GapBelow, Patience, Result, Target, Tuned, maximize, minimize, tune
from noregret.widths import (
    BayesianWidth,
    BBKBExperimentsWidth,
    BBKBWidth,
    BKBExperimentsWidth,
    BKBWidth,
    ConstantWidth,
    EIWidth,
    GrowingWidth,
    NystromBayesianWidth,
    NystromWidth,
    RKHSWidth,
)

__version__ = "0.1.0"

__all__ = [
    "FAILED",
    "RBF",
    "UCB",
    "BBKBExperimentsWidth",
    "BBKBWidth",
    "BKBExperimentsWidth",
    "BKBWidth",
    "Bandit",
    "Batch",
    "BayesianWidth",
    "Best",
    "BitPool",
    "Box",
    "Categorical",
    "Certificate",
    "ConstantWidth",
    "EIWidth",
    "Evaluated",
    "ExactPosterior",
    "ExpectedImprovement",
    "Explanation",
    "FarthestDesign",
    "FixedSize",
    "FunctionKernel",
    "GapBelow",
    "GlobalRatio",
    "GrowingWidth",
    "Kernel",
    "KnowledgeGradient",
    "Linear",
    "LocalRatio",
    "MappedPool",
    "Matern",
    "NoRegretError",
    "NystromBayesianWidth",
    "NystromPosterior",
    "NystromWidth",
    "Optimizer",
    "Patience",
    "Polynomial",
    "Pool",
    "Precomputed",
    "Product",
    "ProductBound",
    "RKHSWidth",
    "RarelySwitching",
    "Repeat",
    "Result",
    "Scaled",
    "Settle",
    "SobolDesign",
    "Stay",
    "Sum",
    "Tanimoto",
    "Target",
    "Thompson",
    "Trace",
    "Tuned",
    "UncertaintyDesign",
    "UniformDesign",
    "auto",
    "batch_thompson",
    "bbkb",
    "bkb",
    "effective_dimension",
    "epsilon_greedy",
    "gp_bucb",
    "gp_ei",
    "gp_ucb",
    "lin_ucb",
    "load",
    "maximize",
    "mini",
    "mini_gp_ei",
    "mini_gp_ucb",
    "minimize",
    "plot",
    "random_search",
    "read_pool",
    "regularized_evolution",
    "ts_qff",
    "tune",
    "uniform",
]


def __dir__() -> list[str]:
    """Show what is public, and nothing else, to who types `nr.<tab>`."""
    return sorted([*__all__, "__version__"])
