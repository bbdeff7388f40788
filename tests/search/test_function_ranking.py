"""Functions drawn from priors and posteriors, and the candidates chosen by them."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import binom

import noregret as nr
from noregret.kernels import Kernel, random_features
from noregret.pools import Points
from noregret.posteriors import NystromPosterior, Observations, Oversample, Paths, Posterior
from noregret.posteriors.pathwise import Landmarks
from noregret.search.function_ranking import ODDS, BestRows
from strategies import Scene, no_rng, scenes

KERNELS: tuple[Kernel, ...] = (
    nr.RBF(0.5),
    nr.RBF((0.3, 0.9)),
    nr.Matern(0.5, 0.5),
    nr.Matern(1.5, (0.4, 0.8)),
    nr.Matern(2.5, 0.5),
    nr.Linear(0.3),
    3.0 * nr.RBF(0.5),
    nr.RBF(0.5) + 0.5 * nr.Linear(0.3),
    nr.RBF(0.5) * nr.Matern(2.5, 0.5),
    (nr.RBF(0.5) + nr.Linear(0.2)) * (nr.Matern(1.5, 0.4) + 0.3 * nr.Linear(1.0)),
)
# A kernel of nobody's making, without random features.
BROWNIAN = nr.FunctionKernel(
    lambda X, Z: np.minimum(X[:, None], Z[None]).prod(axis=2) + 0.1,
    diagonal=lambda X: X.prod(axis=1) + 0.1,
)
X = np.random.default_rng(7).random((9, 2))
GRID = np.random.default_rng(8).random((500, 2))
TOO_FAR = 5.0  # standard errors: by chance once in some 10⁴ of the few hundred numbers compared


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_random_features_are_the_kernel_on_average(kernel: Kernel) -> None:
    """Each feature by itself is unbiased, so draws have the prior's covariance exactly."""
    count = 60_000
    features = random_features(kernel, np.array([0.3, -2.0]), count, np.random.default_rng(1))
    assert features is not None
    phi = features(X, np.complex64).astype(np.complex128)
    products = phi[:, None] * phi[None].conj()
    error = products.std(axis=2) / count**0.5
    off = np.abs(products.mean(axis=2) - kernel(X, X))
    assert (off <= TOO_FAR * error + 1e-6).all()


def test_a_kernel_without_features_says_so() -> None:
    assert random_features(BROWNIAN, np.zeros(2), 8, no_rng()) is None
    assert random_features(2.0 * nr.RBF(1.0) + BROWNIAN, np.zeros(2), 8, no_rng()) is None


def believed(kernel: Kernel, sparse: bool) -> Posterior:
    rng = np.random.default_rng(11)
    points = Observations(
        np.arange(6), rng.random((6, 2)), np.arange(1.0, 7.0), rng.standard_normal(6)
    )
    scene = Scene(kernel, 0.05, points, X)
    return scene.nystrom(3) if sparse else scene.exact()


@pytest.mark.parametrize("sparse", [False, True], ids=["exact", "nystrom"])
@pytest.mark.parametrize(
    ("kernel", "draws"),
    [
        *[(kernel, 600) for kernel in KERNELS[::3]],
        *[pytest.param(kernel, 4000, marks=pytest.mark.slow) for kernel in KERNELS],
    ],
    ids=repr,
)
def test_draws_have_the_moments_of_the_posterior(kernel: Kernel, sparse: bool, draws: int) -> None:
    """Thompson sampling is only as right as its samples, each with features of its own."""
    posterior, places = believed(kernel, sparse), Points(nr.Pool(X))
    rng = np.random.default_rng(5)
    S = np.array(
        [Paths.sampled(posterior, places, 1, 2.0, rng).values(X)[:, 0] for _ in range(draws)]
    )
    mean, covariance = posterior.mean(X), 4.0 * posterior.covariance(X, X)
    off = (S - mean).mean(axis=0) / (S.std(axis=0) / draws**0.5)
    assert np.abs(off).max() < TOO_FAR
    products = (S - mean)[:, :, None] * (S - mean)[:, None, :]
    error = products.std(axis=0) / draws**0.5
    assert (np.abs(products.mean(axis=0) - covariance) / error).max() < TOO_FAR


@pytest.mark.parametrize("kernel", [nr.RBF(0.7) + nr.Linear(0.1), 2.0 * nr.RBF(0.9)], ids=repr)
def test_draws_lie_where_the_posterior_does_beside_points_that_nearly_coincide(
    kernel: Kernel,
) -> None:
    """Solved with points so close, the last digits of single precision count ten million times."""
    told = np.vstack([X[:4], X[:4] + 2e-7])
    y, rng = np.random.default_rng(3).standard_normal(8), np.random.default_rng(6)
    posterior = Scene(kernel, 0.3, Observations(np.arange(8), told, np.ones(8), y), X).nystrom(8)
    drawn = Paths.sampled(posterior, Points(nr.Pool(X)), 2000, 1.0, rng).values(X)
    spread = (drawn - posterior.mean(X)[:, None]).std(axis=1)
    assert spread == pytest.approx(np.sqrt(posterior.variance(X)), rel=0.1)


def test_functions_drawn_together_are_independent() -> None:
    """A batch of equal functions would be one evaluation thirty times."""
    posterior, places = believed(nr.RBF(0.5), False), Points(nr.Pool(X))
    rng, total = np.random.default_rng(2), np.zeros((9, 9))
    for _ in range(400):
        F = Paths.sampled(posterior, places, 2, 1.0, rng).values(X) - posterior.mean(X)[:, None]
        total += np.outer(F[:, 0], F[:, 1])
    spread = np.sqrt(np.outer(posterior.variance(X), posterior.variance(X)) / 400)
    assert (np.abs(total / 400) < TOO_FAR * spread).all()


def test_landmarks_have_prior_variances_and_covariances_with_landmarks() -> None:
    """What stands for a prior without random features, and exactly what it keeps of it."""
    kernel, marks, rng = BROWNIAN, X[:4], np.random.default_rng(3)
    drawn = np.concatenate(
        [Landmarks.sampled(kernel, marks, 50, rng).values(X).T for _ in range(200)]
    )
    C, n = drawn.T @ drawn / len(drawn), len(drawn)
    K = kernel(X, X)
    error = np.sqrt((np.outer(np.diag(K), np.diag(K)) + K**2) / n)
    off = np.abs(C - K) / error
    assert off[:4].max() < TOO_FAR
    assert np.diag(off).max() < TOO_FAR


@pytest.mark.parametrize("sparse", [False, True], ids=["exact", "nystrom"])
def test_draws_through_landmarks_have_the_posteriors_mean_and_variance(sparse: bool) -> None:
    """With too little likeness between prior and points, a draw would be all exploration.

    The pool is far larger than the landmarks, so that most of it lies between them.
    """
    rng, kernel = np.random.default_rng(6), BROWNIAN
    pool = rng.random((3000, 2))
    points = Observations(np.arange(40), pool[:40], np.ones(40), rng.standard_normal(40))
    scene = Scene(kernel, 0.01, points, pool)
    posterior: Posterior = scene.nystrom(25) if sparse else scene.exact()
    Q, places = pool[100:160], Points(nr.Pool(pool))
    S = np.concatenate(
        [Paths.sampled(posterior, places, 32, 1.0, rng).values(Q).T for _ in range(40)]
    )
    off = (S.mean(axis=0) - posterior.mean(Q)) / np.sqrt(posterior.variance(Q) / len(S))
    ratio = S.var(axis=0) / posterior.variance(Q)
    assert np.abs(off).max() < TOO_FAR
    assert np.abs(ratio - 1).max() < TOO_FAR * (2 / len(S)) ** 0.5


def test_a_function_has_one_value_at_a_point() -> None:
    """White parts are made of the bits of a point, whichever rows it is asked with."""
    for kernel in (BROWNIAN, nr.Matern(0.5, 0.2)):
        posterior = believed(kernel, False)
        paths = Paths.sampled(posterior, Points(nr.Pool(X)), 2, 1.0, np.random.default_rng(1))
        whole = paths.values(X)
        for at in range(9):
            np.testing.assert_allclose(paths.values(X[at : at + 1])[0], whole[at], atol=1e-5)


@given(scenes(), st.integers(0, 100))
def test_where_all_is_known_draws_are_the_mean(scene: Scene, seed: int) -> None:
    """Millions of repeats leave nothing to draw: cancellation must not bring noise back."""
    p = scene.points
    sure = Observations(p.rows, p.X, np.full(len(p), 1e9), p.y)
    posterior = scene.prior().condition(sure, Observations.none(p.X.shape[1]), no_rng())
    places = Points(nr.Pool(scene.pool))
    values = Paths.sampled(posterior, places, 1, 1.0, np.random.default_rng(seed)).values(p.X)[:, 0]
    room = 1e-3 * float(scene.kernel.diagonal(p.X).max()) ** 0.5
    assert (np.abs(values - posterior.mean(p.X)) < room + 1e-3 * np.abs(p.y).max()).all()


def test_the_cut_is_met_as_rarely_as_it_says() -> None:
    """A cut that bit often would be another algorithm."""
    posterior, pool = believed(nr.RBF(0.3), False), Points(nr.Pool(GRID))
    cut = -float(ndtri(ODDS / len(GRID)))
    mean, std = posterior.mean(GRID), np.sqrt(posterior.variance(GRID))
    rng, passed = np.random.default_rng(4), 0
    for _ in range(60):
        values = Paths.sampled(posterior, pool, 32, 1.0, rng).values(GRID)
        passed += int((values > (mean + cut * std)[:, None]).any(axis=0).sum())
    assert passed <= binom.ppf(1 - 1e-6, 60 * 32, ODDS)


def test_a_batch_holds_different_draws_and_the_prefix_stays() -> None:
    """Asking for fewer must give the first of the same."""
    pool = nr.Pool(np.random.default_rng(0).random((300, 2)))
    make = partial(nr.batch_thompson, pool, kernel=nr.RBF(0.1), noise_std=0.1, batch_size=40)
    one, other = make(seed=1), make(seed=1)
    assert one.ask().sequence.tolist() == other.ask().sequence.tolist()  # from the prior
    for optimizer in (one, other):
        optimizer.tell(optimizer.ask(), [0.0] * 40)
    whole, part = one.ask(), other.ask(at_most=7)
    assert len(whole) == 40
    assert len(set(whole.sequence.tolist())) > 20
    assert part.sequence.tolist() == whole.sequence[:7].tolist()


def test_a_width_scales_the_draws() -> None:
    """The papers ran it with a tenth of a theorem's width, to explore less."""
    pool = nr.Pool(np.linspace(0, 1, 200)[:, None])
    chosen = {}
    for width in (1e-6, 5.0):
        optimizer = nr.batch_thompson(
            pool, kernel=nr.RBF(0.1), noise_std=0.1, batch_size=20, width=nr.ConstantWidth(width)
        )
        optimizer.tell([50, 150], [1.0, 0.0])
        chosen[width] = len(set(optimizer.ask().sequence.tolist()))
    assert chosen[1e-6] == 1 < 10 < chosen[5.0]


def test_the_dictionary_of_a_sparse_draw_is_drawn_too() -> None:
    optimizer = nr.batch_thompson(
        nr.Pool(X), kernel=nr.RBF(0.5), noise_std=0.1, posterior="nystrom", batch_size=2
    )
    optimizer.tell(optimizer.ask(), [0.0, 0.0])
    optimizer.ask()
    assert isinstance(optimizer.state.posterior, NystromPosterior)
    assert optimizer.state.posterior.oversample == Oversample(2.0)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=12), st.integers(0, 99))
def test_rows_come_to_a_race_in_any_order(steps: list[int], seed: int) -> None:
    """Values 0.4 ties apart: as good as the best is no chain of one as good as the next."""
    values = 0.4 * np.array(steps, dtype=float)
    order = np.random.default_rng(seed).permutation(len(steps))
    best_rows = BestRows(1, tie=1.0)
    for at in range(0, len(order), 3):
        rows = order[at : at + 3]
        best_rows.add(rows, values[rows, None])
    ((row, best),) = best_rows.found
    assert best == values.max()
    assert row == np.flatnonzero(values >= values.max() - 1.0 - 1e-5)[0]
