"""BoTorch: a SingleTaskGP fitted again at every step, and log expected improvement.

All settings of model and fit are the defaults; a fit starts where the last one ended, as BoTorch's
tutorial of a closed loop does to speed it up (from the defaults 40 fits took 1.4 to 2.7 times as
long on four problems). Features are scaled to [0, 1], as the model's documentation wants; a box is
searched with `optimize_acqf`. A pool is enumerated with the model's own means and variances;
`LogExpectedImprovement` gives the same numbers, but takes every candidate as a problem of its own,
much slower. It starts with ten points drawn uniformly, as Optuna's samplers do. Expected
improvement is over the best value seen where evaluations are exact, and where they are not over the
highest posterior mean of the points seen; it recommends the point of that value.
"""

from __future__ import annotations

import warnings
from typing import Any, final

import numpy as np
from scipy.special import erfcx

from evaluation.methods.players import Advice
from evaluation.problems.base import Observations, Problem
from noregret.arrays import Matrix, Vector

START = 10
TOGETHER = 2048  # candidates of a block
LEAST = 1e-12  # variance, as in BoTorch
FAR = 1e4  # below −FAR the series of Φ(u)/φ(u) is as good as rounding lets the rest be
RESTARTS, RAW = 10, 512  # of `optimize_acqf`


@final
class LogEI:
    """Chooses one point at a time."""

    def __init__(self, problem: Problem, seed: int) -> None:
        import torch

        torch.manual_seed(seed)
        torch.set_num_threads(1)
        self._torch, self._exact = torch, problem.noise_std == 0
        self._rng = np.random.default_rng(seed)
        self._box = problem.candidates is None
        if self._box:
            numbers = problem.space.parameters
            self._low = np.array([one.low for one in numbers])
            self._span = np.array([one.high for one in numbers]) - self._low
            self.U: Matrix = np.empty((0, len(numbers)))
        else:
            self.U = _unit(problem.numbers)
        self.seen: list[Vector] = []  # in the unit cube
        self._points: list[Observations] = []
        self.values: list[float] = []
        self._fit: dict[str, Any] = {}  # parameters at the last step

    def ask(self, at_most: int) -> None:
        del at_most  # one at a time
        few = len(self.values) < START
        if self._box:
            drawn: Vector = self._rng.random((1, self.U.shape[1]))[0]
            x = drawn if few else self._climbed()
            self.seen.append(x)
            self._points.append((self._low + self._span * x)[None])
        else:
            self.take(int(self._rng.integers(len(self.U))) if few else self._highest())

    def take(self, row: int) -> None:
        """Have a member of the pool evaluated."""
        self.seen.append(self.U[row])
        self._points.append(np.array([row]))

    def points(self) -> Observations:
        return self._points[-1]

    def tell(self, values: Vector) -> None:
        self.values.extend(values.tolist())

    def advise(self) -> Advice:
        worth = self._worth(None if self._exact else self.fitted())
        return Advice(self._points[int(np.argmax(worth))])

    def _worth(self, model: Any) -> Vector:
        """Return what each point seen is worth: its value, or where values scatter its mean."""
        if self._exact:
            return np.array(self.values)
        with self._torch.no_grad():
            mean: Vector = model.posterior(self._train()[0]).mean.numpy()[:, 0]
        return mean

    def _train(self) -> tuple[Any, Any]:
        X = self._torch.from_numpy(np.array(self.seen[: len(self.values)]))
        return X, self._torch.tensor(self.values, dtype=self._torch.float64)[:, None]

    def fitted(self) -> Any:
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from gpytorch.mlls import ExactMarginalLogLikelihood

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of fits that were tried again, and of equal values
            model = SingleTaskGP(*self._train())
            with self._torch.no_grad():
                for name, parameter in model.named_parameters() if self._fit else ():
                    parameter.copy_(self._fit[name])
            fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        self._fit = {name: one.detach().clone() for name, one in model.named_parameters()}
        return model

    def _highest(self) -> int:
        """Return the row of a pool where the acquisition is highest, the first of equals."""
        model = self.fitted()
        best = float(self._worth(model).max())
        mean, variance = marginals(model, self.U)
        return int(np.argmax(log_ei(mean, np.sqrt(np.maximum(variance, LEAST)), best)))

    def _climbed(self) -> Vector:
        from botorch.acquisition import LogExpectedImprovement
        from botorch.optim import optimize_acqf

        model = self.fitted()
        best = self._torch.tensor(self._worth(model).max())  # a float would be rounded to float32
        corners = self._torch.tensor([[0.0], [1.0]], dtype=self._torch.float64)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of climbs that did not converge
            found, _ = optimize_acqf(
                LogExpectedImprovement(model, best_f=best),
                bounds=corners.expand(2, self.U.shape[1]),
                q=1,
                num_restarts=RESTARTS,
                raw_samples=RAW,
            )
        highest: Vector = found.numpy()[0]
        return highest


def marginals(model: Any, U: Matrix) -> tuple[Vector, Vector]:
    """Return posterior means and variances at the rows of U: those of `model.posterior(U)`.

    With m, k and the noise of the model, y as its transform of outcomes left them, and
    C = K + noise = L Lᵀ at the points seen,

        μ(x) = m(x) + k(x)ᵀ C⁻¹ (y − m),        σ²(x) = k(x, x) − ‖L⁻¹ k(x)‖²

    in the units of the outcomes; a variance is at least what GPyTorch lets it be. It costs
    O(N n (d + n)), where `posterior` also takes the covariances of all pairs of a block.
    """
    import torch
    from gpytorch.settings import min_variance
    from linear_operator.utils.cholesky import psd_safe_cholesky

    model.eval()
    (seen,), k, m = model.train_inputs, model.covar_module, model.mean_module
    mean, variance = torch.empty(2, len(U), 1, dtype=seen.dtype)
    with torch.no_grad():
        noisy = model.likelihood(model.forward(seen))
        L = psd_safe_cholesky(noisy.covariance_matrix)
        weights = torch.cholesky_solve((model.train_targets - noisy.mean)[:, None], L)
        for at, x in enumerate(torch.from_numpy(U).split(TOGETHER)):
            part = slice(at * TOGETHER, at * TOGETHER + len(x))
            K = k(x, seen).to_dense()
            V = torch.linalg.solve_triangular(L, K.mT, upper=False)
            mean[part] = m(x)[:, None] + K @ weights
            variance[part] = (k(x, diag=True) - V.square().sum(dim=0))[:, None]
        mean, variance = model.outcome_transform.untransform(mean, variance)
    least = min_variance.value(variance.dtype)
    return mean[:, 0].numpy(), variance[:, 0].clamp_min(least).numpy()


def log_ei(mean: Vector, std: Vector, best: float) -> Vector:
    """Return the logarithm of the expected improvement over `best`, without underflow.

    With u = (mean − best)/std,  log EI = log std + log φ(u) + log(1 + u Φ(u)/φ(u)).

    Source: Ament et al., NeurIPS 2023, equation 9.
    """
    u = (mean - best) / std
    mills = np.sqrt(np.pi / 2) * erfcx(-np.clip(u, -FAR, 25.0) / np.sqrt(2))  # Φ(u)/φ(u)
    rest = np.where(
        u < -FAR, -2 * np.log(np.maximum(-u, 1.0)), np.log1p(np.maximum(u, -FAR) * mills)
    )
    log_density = -0.5 * (u**2 + np.log(2 * np.pi))
    with np.errstate(divide="ignore", invalid="ignore"):
        plain: Vector = np.where(u > 20, np.log(np.maximum(u, 1.0)), log_density + rest)
    return np.log(std) + plain


def _unit(X: Matrix) -> Matrix:
    """Scale every column to [0, 1]; a constant one is 0."""
    low, span = X.min(axis=0), np.ptp(X, axis=0)
    scaled: Matrix = (X - low) / np.where(span > 0, span, 1.0)
    return scaled
