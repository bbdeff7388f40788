"""Rules for a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from noregret.algorithms import gp_ucb
from noregret.arrays import Rows
from noregret.kernels import DifferentiableKernel, Kernel
from noregret.optimizer import Optimizer
from noregret.pools import Points
from noregret.posteriors import ExactPosterior, NystromPosterior, Observations, Oversample
from noregret.testing.base import Suite, agree


class KernelSuite(Suite[Kernel]):
    """What posteriors, searches and saved runs rely on in a kernel, on the rows of `domain`."""

    def kernel(self) -> Kernel:
        return self.make()

    def optimizer(self) -> Optimizer:
        return gp_ucb(self.domain(), kernel=self.make(), noise_std=0.3)

    def rows(self) -> Rows:
        """Return the features of 20 candidates."""
        return Points(self.domain()).some(20, np.random.default_rng(0))

    def test_every_pair_of_rows_has_a_number(self) -> None:
        """Blocks of any size come, empty ones too: nothing may have been evaluated yet."""
        kernel, X = self.make(), self.rows()
        for n, m in ((7, 5), (1, 3), (0, 4), (4, 0)):
            K, diagonal = np.asarray(kernel(X[:n], X[7 : 7 + m])), kernel.diagonal(X[:n])
            assert K.shape == (n, m), f"k(X, Z) of {n} and {m} rows has the shape {K.shape}"
            assert np.shape(diagonal) == (n,), f"diagonal(X): {np.shape(diagonal)} of {n} rows"
            assert np.isfinite(K).all(), "k(X, Z) is NaN or infinite somewhere"

    def test_it_is_symmetric(self) -> None:
        """A covariance is; a Cholesky factor reads one half of it only."""
        kernel, X = self.make(), self.rows()
        agree(kernel(X[:9], X[5:]), kernel(X[5:], X[:9]).T, "k(X, Z) and k(Z, X) transposed")

    def test_its_diagonal_is_that_of_its_blocks(self) -> None:
        """Prior variances come from `diagonal`, covariances from blocks."""
        kernel, X = self.make(), self.rows()
        agree(kernel.diagonal(X), np.diag(kernel(X, X)), "diagonal(X) and the diagonal of k(X, X)")

    def test_it_is_positive_semidefinite(self) -> None:
        """Else some sum of values would have a negative variance."""
        K = self.make()(self.rows(), self.rows())
        least = float(np.linalg.eigvalsh((K + K.T) / 2)[0])
        assert least >= -1e-8 * np.abs(K).max(), f"k(X, X) has the eigenvalue {least:.3g}"

    def test_a_pair_has_the_same_number_in_any_block(self) -> None:
        """Pools are passed over in pieces, so that k(x, z) must not depend on other rows."""
        kernel, X = self.make(), self.rows()
        agree(kernel(X[3:6], X[4:]), kernel(X, X)[3:6, 4:], "a block and the same in a larger one")

    def test_it_leaves_its_arguments_alone(self) -> None:
        """They are the pool itself, not a copy."""
        kernel, X, before = self.make(), self.rows(), self.rows()
        kernel(X, X[:3])
        kernel.diagonal(X)
        assert np.array_equal(before, X), "the kernel writes into the rows that it is given"

    def test_it_says_the_same_again(self) -> None:
        """Blocks are kept: a later call must neither contradict nor overwrite them."""
        kernel, X = self.make(), self.rows()
        block = kernel(X, X[:4])
        kept = block.copy()
        kernel(X[::-1], X[4:8])
        assert np.array_equal(kept, block), "a later call overwrites an earlier block"
        assert np.array_equal(kept, kernel(X, X[:4])), "a later call gives other numbers"
        assert np.array_equal(kept, self.make()(X, X[:4])), "equal kernels give other numbers"

    def test_its_slopes_are_those_of_its_values(self) -> None:
        """A box is searched uphill by them, where a kernel has `slopes`."""
        kernel, X, Z = self.make(), self.rows()[:5], self.rows()[9:15]
        if not isinstance(kernel, DifferentiableKernel) or X.dtype != np.float64:
            return
        values, gradient = kernel.slopes(X, Z)
        agree(values, kernel(X, Z), "values of slopes(X, Z) and k(X, Z)")
        C, expected = np.random.default_rng(0).standard_normal(values.shape), np.empty_like(X)
        for j, step in enumerate(1e-6 * np.eye(X.shape[1])):
            expected[:, j] = (C * (kernel(X + step, Z) - kernel(X - step, Z))).sum(axis=1) / 2e-6
        agree(gradient(C), expected, "slopes and differences", within=1e-4)

    def test_posteriors_on_it_are_those_of_dense_algebra(self) -> None:
        """Exact, and Nyström with every point in its dictionary."""
        kernel, X, rng = self.make(), self.rows(), np.random.default_rng(0)
        told = Observations(np.arange(8), X[:8], np.arange(1.0, 9.0), rng.standard_normal(8))
        ridge, dim = 0.1 * float(kernel.diagonal(X).max()), X.shape[1]
        k, A = kernel(told.X, X), np.asarray(kernel(told.X, told.X)) + np.diag(ridge / told.w)
        means, inside = k.T @ np.linalg.solve(A, told.y), (k * np.linalg.solve(A, k)).sum(axis=0)
        every: dict[str, Any] = {"oversample": Oversample(1e12)}
        for posterior, more in ((ExactPosterior, {}), (NystromPosterior, every)):
            prior = posterior.prior(kernel, noise_std=1.0, ridge=ridge, dim=dim, **more)
            found = prior.condition(told, Observations.none(dim), rng).marginals(X)
            name = posterior.__name__
            agree(found[0], means, f"means of {name} and of dense algebra")
            agree(
                found[1], kernel.diagonal(X) - inside, f"variances of {name} and of dense algebra"
            )
