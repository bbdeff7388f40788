"""A box searched uphill, or by random candidates at each step, on functions everybody knows."""

from __future__ import annotations

import numpy as np

import noregret as nr
from evaluation.problems.landscapes import LANDSCAPES, Landscape
from evaluation.problems.speed import exact_posterior
from evaluation.speed.meter import Meter
from evaluation.speed.subjects import Figures, Settings
from noregret.arrays import Matrix, Vector

CANDIDATES = 100_000
NOISE_STD = 0.01  # f has mean 0 and standard deviation 1 over the box
EVERY = 5  # steps, at which scores are held against those of random candidates
PIECE = 4096  # candidates scored together


def box(settings: Settings, seed: int, meter: Meter) -> Figures:
    """Evaluate one point at a time on a box; regret is that of the recommendation."""
    landscape, T = LANDSCAPES[settings["function"]], settings["T"]
    f, best = landscape.scaled()
    rng = np.random.default_rng(seed)
    opt = nr.gp_ei(
        nr.Box(landscape.bounds),
        kernel=nr.Matern(2.5, landscape.lengthscale),
        noise_std=NOISE_STD,
        width=nr.ConstantWidth(1.0),  # expected improvement as everybody has it
        seed=seed,
    )
    count = settings.get("candidates")  # drawn per step, where nothing is searched uphill
    ahead: list[bool] = []
    while opt.spent < T and not meter.is_over:
        with meter:
            X = opt.ask().x if count is None else _best_drawn(landscape, opt, count)
        if count is None and opt.spent and opt.spent % EVERY == 0:
            ahead.append(_is_ahead(landscape, opt, X))
        with meter:
            opt.tell(X, f(X) + NOISE_STD * rng.standard_normal(len(X)))
    figures: Figures = {
        **meter.figures(),
        "regret": best - float(f(opt.best().x[None])[0]),
        "evaluations": opt.evaluations,
        "unique": opt.unique,
    }
    if ahead:
        figures["ahead"] = 100 * float(np.mean(ahead))
    if opt.spent < T:
        figures["stopped"] = opt.spent
    return figures


def _drawn(landscape: Landscape, opt: nr.Optimizer, count: int) -> Matrix:
    """Return points drawn uniformly, others at each step, behind those evaluated before."""
    low, high = np.array(landscape.bounds).T
    drawn = np.random.default_rng(opt.spent).uniform(low, high, (count, len(low)))
    return np.concatenate([opt.evaluated.x, drawn])


def _best_drawn(landscape: Landscape, opt: nr.Optimizer, count: int) -> Matrix:
    """Return the point of highest expected improvement, the first of equals."""
    X = _drawn(landscape, opt, count)
    return X[[int(np.argmax(_scores(landscape, opt, X)))]]


def _scores(landscape: Landscape, opt: nr.Optimizer, X: Matrix) -> Vector:
    """Return expected improvements over the highest mean of these points."""
    known, kernel = opt.evaluated, nr.Matern(2.5, landscape.lengthscale)
    posterior = exact_posterior(known, landscape.unit(known.x), kernel, NOISE_STD)
    U = landscape.unit(X)
    parts = [posterior.marginals(U[at : at + PIECE]) for at in range(0, len(U), PIECE)]
    mean, variance = map(np.concatenate, zip(*parts, strict=True))
    return nr.ExpectedImprovement().score(mean, variance, 1.0, float(mean.max()))


def _is_ahead(landscape: Landscape, opt: nr.Optimizer, found: Matrix) -> bool:
    """Tell whether what is found uphill scores as high as the best of random candidates."""
    drawn = _drawn(landscape, opt, CANDIDATES)
    scores = _scores(landscape, opt, np.concatenate([found, drawn]))
    return bool(scores[0] >= scores.max() - 1e-9)
