"""What a user would pick instead, on the same pool, kernel, noise and seed.

Each peer is used as its documentation shows, with the kernel and the noise given and nothing to be
fitted where it allows that. Peers are imported only here, inside functions.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any, Protocol, final

import numpy as np

import noregret as nr
from evaluation.problems.speed import DELTA, NOISE_STD, NORM_BOUND, RIDGE, Problem
from noregret.arrays import Indices, Matrix, Vector


class Peer(Protocol):
    """Chooses rows of a pool, one at a time."""

    def load(self, rows: Indices, values: Vector) -> None:
        """Forget everything and know these evaluations."""
        ...

    def tell(self, row: int, value: float) -> None: ...

    def ask(self, beta: float, allowed: Indices | None = None) -> int:
        """Return the row to evaluate next, of those allowed."""
        ...


@final
class RunState:
    """Evaluations in order, for peers that are given all of them at every ask."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.values: list[float] = []

    def load(self, rows: Indices, values: Vector) -> None:
        self.rows, self.values = rows.tolist(), values.tolist()

    def tell(self, row: int, value: float) -> None:
        self.rows.append(row)
        self.values.append(value)


@final
class BoTorch:
    """SingleTaskGP with kernel and noise fixed, UCB, `optimize_acqf_discrete` over the pool."""

    def __init__(self, problem: Problem) -> None:
        import torch

        self._torch = torch
        self._X = torch.from_numpy(problem.X)
        self._kernel = problem.kernel
        self._run_state = RunState()
        self.load, self.tell = self._run_state.load, self._run_state.tell

    def ask(self, beta: float, allowed: Indices | None = None) -> int:
        from botorch.acquisition import UpperConfidenceBound
        from botorch.models import SingleTaskGP
        from botorch.optim import optimize_acqf_discrete
        from gpytorch.means import ZeroMean

        torch = self._torch
        y = torch.tensor(self._run_state.values, dtype=torch.float64)[:, None]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that y is not standardised: the prior is right
            model = SingleTaskGP(
                self._X[self._run_state.rows],
                y,
                torch.full_like(y, RIDGE),
                covar_module=_gpytorch_kernel(self._kernel),
                mean_module=ZeroMean(),
                outcome_transform=None,
            )
            model.eval()
            choices = self._X if allowed is None else self._X[allowed]
            best, _ = optimize_acqf_discrete(
                UpperConfidenceBound(model, beta=beta**2), q=1, choices=choices
            )
        at = int((choices == best).all(dim=1).nonzero()[0, 0])
        return at if allowed is None else int(allowed[at])


def _gpytorch_kernel(kernel: nr.Kernel) -> Any:
    import torch
    from gpytorch.kernels import MaternKernel, RBFKernel

    assert isinstance(kernel, nr.RBF | nr.Matern)
    scale = torch.tensor(np.atleast_1d(kernel.lengthscale)[None], dtype=torch.float64)
    several = scale.shape[1] if scale.shape[1] > 1 else None
    made: Any = (
        RBFKernel(ard_num_dims=several)
        if isinstance(kernel, nr.RBF)
        else MaternKernel(nu=kernel.nu, ard_num_dims=several)
    )
    made = made.double()
    made.lengthscale = scale
    made.requires_grad_(False)
    return made


@final
class ScikitLearn:
    """GaussianProcessRegressor with kernel and noise fixed, and its UCB over the pool."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._run_state = RunState()
        self.load, self.tell = self._run_state.load, self._run_state.tell

    def ask(self, beta: float, allowed: Indices | None = None) -> int:
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import RBF, Matern

        k, X = self._problem.kernel, self._problem.X
        assert isinstance(k, nr.RBF | nr.Matern)
        shape = RBF if isinstance(k, nr.RBF) else lambda scale: Matern(scale, nu=k.nu)
        model = GaussianProcessRegressor(shape(k.lengthscale), alpha=RIDGE, optimizer=None)
        model.fit(X[self._run_state.rows], np.array(self._run_state.values))
        choices = X if allowed is None else X[allowed]
        mean, std = model.predict(choices, return_std=True)
        at = int(np.argmax(mean + beta * std))
        return at if allowed is None else int(allowed[at])


@final
class Optuna:
    """An Optuna sampler in the pool's box; what it suggests is snapped to the nearest row.

    A pool as a categorical of N values would be unfair to it. Snapping is not timed.
    """

    def __init__(self, problem: Problem, sampler: str) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        self._optuna, self._problem, self._sampler = optuna, problem, sampler
        X = problem.X
        self._box = {
            f"x{i}": optuna.distributions.FloatDistribution(X[:, i].min(), X[:, i].max())
            for i in range(X.shape[1])
        }
        self._trial: Any = None
        self._study = self._fresh()

    def _fresh(self) -> Any:
        made = {
            "gp": self._optuna.samplers.GPSampler,
            "tpe": self._optuna.samplers.TPESampler,
        }[self._sampler](seed=self._problem.seed)
        return self._optuna.create_study(direction="maximize", sampler=made)

    def load(self, rows: Indices, values: Vector) -> None:
        self._study, self._trial = self._fresh(), None
        for row, value in zip(rows, values, strict=True):
            self._add(int(row), float(value))

    def _add(self, row: int, value: float) -> None:
        x = self._problem.X[row]
        trial = self._optuna.trial.create_trial(
            params={name: float(x[i]) for i, name in enumerate(self._box)},
            distributions=self._box,
            value=value,
        )
        self._study.add_trial(trial)

    def tell(self, row: int, value: float) -> None:
        if self._trial is None:
            self._add(row, value)
        else:
            self._study.tell(self._trial, value)

    def ask(self, beta: float, allowed: Indices | None = None) -> int:
        """Let the sampler suggest; it has widths of its own, and may suggest what it knows."""
        del beta, allowed
        self._trial = self._study.ask(self._box)
        return -1  # `snapped` says which row, outside of the time measured

    def snapped(self) -> int:
        """Return the row nearest to what was suggested."""
        x = np.array([self._trial.params[name] for name in self._box])
        return int(np.argmin(((self._problem.X - x) ** 2).sum(axis=1)))


PEERS: dict[str, Callable[[Problem], Peer]] = {
    "botorch": BoTorch,
    "scikit-learn": ScikitLearn,
    "optuna gp": lambda problem: Optuna(problem, "gp"),
    "optuna tpe": lambda problem: Optuna(problem, "tpe"),
}


def rkhs_beta(kernel: nr.Kernel, X: Matrix) -> float:
    """Return GP-UCB's width after evaluations at the rows of X, as the library has it."""
    A = np.eye(len(X)) + kernel(X, X) / NOISE_STD**2
    inside = float(np.linalg.slogdet(A)[1]) + 2 * math.log(1 / DELTA)
    return NORM_BOUND + math.sqrt(inside)
