"""What a user would pick instead, on the same pool, kernel, noise and seed.

Each peer is used as its documentation shows, with the kernel and the noise given and nothing to be
fitted where it allows that. Peers are imported only here, inside functions.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any, TypeAlias, final

import numpy as np

import noregret as nr
from evaluation.methods.optuna import Optuna
from evaluation.problems.candidates import Space
from evaluation.problems.speed import DELTA, NOISE_STD, NORM_BOUND, RIDGE, Problem
from noregret.arrays import Indices, Matrix, Vector

# Fits a model to evaluations and returns the place of the highest UCB among choices:
# of a kernel, the rows evaluated, their values, the choices, and beta.
Highest: TypeAlias = Callable[[nr.Kernel, Matrix, Vector, Matrix, float], int]


@final
class Refitted:
    """A peer that is given all evaluations at each ask.

    `load` forgets everything and knows these evaluations; `ask` decides on a row among those
    allowed, by UCB with this beta; `row` says which, and is not timed.
    """

    def __init__(self, problem: Problem, highest: Highest) -> None:
        self._problem, self._highest = problem, highest
        self._rows: list[int] = []
        self._values: list[float] = []
        self._row = -1

    def load(self, rows: Indices, values: Vector) -> None:
        self._rows, self._values = rows.tolist(), values.tolist()

    def tell(self, row: int, value: float) -> None:
        self._rows.append(row)
        self._values.append(value)

    def ask(self, beta: float, allowed: Indices | None = None) -> None:
        k, X = self._problem.kernel, self._problem.X
        choices = X if allowed is None else X[allowed]
        at = self._highest(k, X[self._rows], np.array(self._values), choices, beta)
        self._row = at if allowed is None else int(allowed[at])

    def row(self) -> int:
        return self._row


def botorch(kernel: nr.Kernel, X: Matrix, values: Vector, choices: Matrix, beta: float) -> int:
    """SingleTaskGP with kernel and noise fixed, UCB, `optimize_acqf_discrete` over the pool."""
    import torch
    from botorch.acquisition import UpperConfidenceBound
    from botorch.models import SingleTaskGP
    from botorch.optim import optimize_acqf_discrete
    from gpytorch.means import ZeroMean

    y, among = torch.from_numpy(values)[:, None], torch.from_numpy(choices)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that y is not standardised: the prior is right
        model = SingleTaskGP(
            torch.from_numpy(X),
            y,
            torch.full_like(y, RIDGE),
            covar_module=_gpytorch_kernel(kernel),
            mean_module=ZeroMean(),
            outcome_transform=None,
        )
        model.eval()
        ucb = UpperConfidenceBound(model, beta=beta**2)
        best, _ = optimize_acqf_discrete(ucb, q=1, choices=among)
    return int((among == best).all(dim=1).nonzero()[0, 0])


def _gpytorch_kernel(kernel: nr.Kernel) -> Any:
    import torch
    from gpytorch.kernels import MaternKernel, RBFKernel

    assert isinstance(kernel, nr.RBF | nr.Matern)
    scale = torch.tensor(np.atleast_1d(kernel.lengthscale)[None], dtype=torch.float64)
    several: Any = {"ard_num_dims": scale.shape[1]} if scale.shape[1] > 1 else {}
    made: Any = RBFKernel(**several)
    if isinstance(kernel, nr.Matern):
        made = MaternKernel(nu=kernel.nu, **several)
    made = made.double()
    made.lengthscale = scale
    made.requires_grad_(False)
    return made


def scikit_learn(kernel: nr.Kernel, X: Matrix, values: Vector, choices: Matrix, beta: float) -> int:
    """GaussianProcessRegressor with kernel and noise fixed, UCB over the pool."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, Matern

    assert isinstance(kernel, nr.RBF | nr.Matern)
    shape = RBF if isinstance(kernel, nr.RBF) else lambda scale: Matern(scale, nu=kernel.nu)
    model = GaussianProcessRegressor(shape(kernel.lengthscale), alpha=RIDGE, optimizer=None)
    mean, std = model.fit(X, values).predict(choices, return_std=True)
    return int(np.argmax(mean + beta * std))


@final
class InBox:
    """An Optuna sampler in the pool's box; what it suggests is snapped to the nearest row.

    A pool as a categorical of N values would be unfair to it.
    """

    def __init__(self, problem: Problem, sampler: str) -> None:
        import optuna

        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        self._space = Space.of({f"x{at}": column for at, column in enumerate(problem.X.T)})
        kind: Any = getattr(optuna.samplers, sampler)
        self._sampler: Callable[[], Any] = lambda: kind(seed=problem.seed)
        self._study = Optuna(self._space, self._sampler())

    def load(self, rows: Indices, values: Vector) -> None:
        self._study = Optuna(self._space, self._sampler())
        for row, value in zip(rows.tolist(), values.tolist(), strict=True):
            self._study.add(row, value)

    def tell(self, row: int, value: float) -> None:
        if self._study.asked:
            self._study.tell(np.array([value]))
        else:
            self._study.add(row, value)

    def ask(self, beta: float, allowed: Indices | None = None) -> None:
        """Let the sampler suggest; it has widths of its own, and may suggest what it knows."""
        del beta, allowed
        self._study.ask(1)

    def row(self) -> int:
        return int(self._study.points()[0])


Peer: TypeAlias = Refitted | InBox
PEERS: dict[str, Callable[[Problem], Peer]] = {
    "botorch": lambda problem: Refitted(problem, botorch),
    "scikit-learn": lambda problem: Refitted(problem, scikit_learn),
    "optuna gp": lambda problem: InBox(problem, "GPSampler"),
    "optuna tpe": lambda problem: InBox(problem, "TPESampler"),
}


def rkhs_beta(kernel: nr.Kernel, X: Matrix) -> float:
    """Return GP-UCB's width after evaluations at the rows of X, as the library has it."""
    A = np.eye(len(X)) + kernel(X, X) / NOISE_STD**2
    inside = float(np.linalg.slogdet(A)[1]) + 2 * math.log(1 / DELTA)
    return NORM_BOUND + math.sqrt(inside)
