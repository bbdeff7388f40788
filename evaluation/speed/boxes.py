"""A box searched uphill against 10⁵ random candidates a step, on functions everybody knows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

import noregret as nr
from evaluation.problems.landscapes import ackley, branin, hartmann6
from evaluation.problems.speed import exact_posterior
from evaluation.speed.case import Case
from evaluation.speed.goals import Goal, Median, Ratio, seconds
from evaluation.speed.meter import Meter
from evaluation.speed.subjects import Figures, Setting, Settings, Sizes, Subject
from noregret.arrays import Matrix, Vector

CANDIDATES = 100_000
NOISE_STD = 0.01  # f has mean 0 and standard deviation 1 over the box
EVERY = 5  # steps, at which scores are held against those of random candidates
PIECE = 4096  # candidates scored together


@final
@dataclass(frozen=True, slots=True)
class Landscape:
    """A function on a box, what is best there, and a kernel to match."""

    f: Callable[[Matrix], Vector]
    bounds: tuple[tuple[float, float], ...]
    best: float
    lengthscale: float

    def scaled(self) -> tuple[Callable[[Matrix], Vector], float]:
        """Return f with mean 0 and standard deviation 1 over the box, and its best value."""
        low, high = np.array(self.bounds).T
        some = self.f(np.random.default_rng(0).uniform(low, high, (20_000, len(low))))
        mean, std = float(some.mean()), float(some.std())
        return lambda X: (self.f(X) - mean) / std, (self.best - mean) / std

    def unit(self, X: Matrix) -> Matrix:
        """Return points on the unit cube, where the kernel compares them."""
        low, high = np.array(self.bounds).T
        return np.asarray((X - low) / (high - low))


LANDSCAPES = {
    "branin": Landscape(branin, ((-5.0, 10.0), (0.0, 15.0)), -0.397887, 0.3),
    "hartmann6": Landscape(hartmann6, ((0.0, 1.0),) * 6, 3.32237, 0.4),
    "ackley10": Landscape(ackley, ((-5.0, 10.0),) * 10, 0.0, 0.6),
}


def box(settings: Settings, seed: int, meter: Meter) -> Figures:
    """Evaluate one point at a time on a box; regret is that of the recommendation."""
    landscape, T = LANDSCAPES[str(settings["function"])], settings["T"]
    assert isinstance(T, int)
    f, best = landscape.scaled()
    rng = np.random.default_rng(seed)
    opt = nr.gp_ei(
        nr.Box(landscape.bounds),
        kernel=nr.Matern(2.5, landscape.lengthscale),
        noise_std=NOISE_STD,
        width=nr.ConstantWidth(1.0),  # expected improvement as everybody has it
        seed=seed,
    )
    count = settings.get("candidates")  # drawn for a step, where nothing is searched uphill
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


def _drawn(landscape: Landscape, opt: nr.Optimizer, count: Setting) -> Matrix:
    """Return points drawn uniformly, anew for every step, behind those evaluated before."""
    assert isinstance(count, int)
    low, high = np.array(landscape.bounds).T
    drawn = np.random.default_rng(opt.spent).uniform(low, high, (count, len(low)))
    return np.concatenate([opt.evaluated.x, drawn])


def _best_drawn(landscape: Landscape, opt: nr.Optimizer, count: Setting) -> Matrix:
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


def box_cases(sizes: Sizes) -> list[Case]:
    """Return one case a function: uphill and random, seconds and what was recommended."""
    return [
        _case(sizes, name, T) for name, T in (("branin", 60), ("hartmann6", 120), ("ackley10", 200))
    ]


def _case(sizes: Sizes, name: str, T: int) -> Case:
    uphill = sizes.subject("gp_ei, uphill", "box", function=name, search="uphill", T=T)
    random = sizes.subject(
        "gp_ei, 10⁵ random candidates a step",
        "box",
        function=name,
        search="random",
        candidates=CANDIDATES,
        T=T,
    )
    return Case(
        f"box-{name}",
        f"a box: {name}, {T} evaluations",
        (uphill, random),
        (
            Goal("times as fast", Ratio(seconds(random), seconds(uphill)), "≥", 1, "×"),
            Goal(
                "steps at which no random candidate scores higher",
                Median(uphill, lambda figures: figures.get("ahead")),
                "≥",
                95,
                "%",
            ),
            Goal(
                "regret of the recommendation over that of random",
                Ratio(_regret(uphill), _regret(random)),
                "≤",
                1,
                "×",
            ),
        ),
        note="Regret is that of the recommendation, f having standard deviation 1 over the box.",
    )


def _regret(subject: Subject) -> Median:
    return Median(subject, lambda figures: figures.get("regret"))
