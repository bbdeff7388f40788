"""A box searched uphill against 10⁵ random candidates a step, on functions everybody knows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import final

import numpy as np

import noregret as nr
from benchmarks.case import Case
from benchmarks.goals import Goal, Median, Ratio, seconds
from benchmarks.landscapes import ackley, branin, hartmann6
from benchmarks.meter import Meter
from benchmarks.subjects import Figures, Settings, Sizes, Subject
from noregret.acquisitions import Acquisition
from noregret.arrays import Mask, Matrix, Vector
from noregret.pools import Points
from noregret.posteriors import Posterior
from noregret.search import BoxSearch
from noregret.search.box import BoxRanking
from noregret.search.box_ascent import Hill

CANDIDATES = 100_000
NOISE_STD = 0.01  # f has mean 0 and standard deviation 1 over the box
EVERY = 5  # steps, at which scores are held against those of random candidates
NOBODY = np.zeros(0, dtype=np.bool_)


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


LANDSCAPES = {
    "branin": Landscape(branin, ((-5.0, 10.0), (0.0, 15.0)), -0.397887, 0.3),
    "hartmann6": Landscape(hartmann6, ((0.0, 1.0),) * 6, 3.32237, 0.4),
    "ackley10": Landscape(ackley, ((-5.0, 10.0),) * 10, 0.0, 0.6),
}


@final
class RandomCandidates:
    """A search that looks at points drawn uniformly, anew for every step, and at those met."""

    def __init__(self, points: Points, count: int) -> None:
        self.points, self.count, self.inner = points, count, BoxSearch(points)
        self.steps = 0

    def within(self, points: Points) -> RandomCandidates:
        assert points is self.points
        return self

    def rank(
        self, posterior: Posterior, acquisition: Acquisition, beta: float, excluded: Mask
    ) -> BoxRanking:
        return BoxRanking(
            self, posterior, acquisition, beta, self._best_mean(posterior, acquisition)
        )

    def rank_samples(
        self, posterior: Posterior, beta: float, excluded: Mask, rng: np.random.Generator
    ) -> BoxRanking:
        raise NotImplementedError

    def highest(self, met: Matrix, hill: Hill, starts: int) -> tuple[int | None, Vector]:
        X = self._candidates(met)
        values = np.concatenate([hill.scores(X[at : at + 4096]) for at in range(0, len(X), 4096)])
        best = int(np.argmax(values))
        return (best if best < len(met) else None), X[best]

    def _candidates(self, met: Matrix) -> Matrix:
        self.steps += 1
        rng = np.random.default_rng(self.steps)
        return np.concatenate([met, self.inner.box.sample(self.count, rng)])

    def _best_mean(self, posterior: Posterior, acquisition: Acquisition) -> float:
        means = (
            posterior.mean(self._candidates(self.points.extra))
            if acquisition.uses_best_mean
            else 0.0
        )
        return float(np.max(means))


def box(settings: Settings, seed: int, meter: Meter) -> Figures:
    """Ask and tell on a box, one evaluation at a time; regret is that of the recommendation."""
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
    if settings["search"] == "random":
        count = settings["candidates"]
        assert isinstance(count, int)
        assert isinstance(opt._policy, nr.Bandit)
        opt._policy = replace(opt._policy, search=RandomCandidates(opt._run_state.points, count))
    ahead: list[bool] = []
    while opt.spent < T and not meter.is_over:
        if settings["search"] == "uphill" and opt.spent and opt.spent % EVERY == 0:
            ahead.append(_is_ahead(opt))
        with meter:
            batch = opt.ask()
        x = batch.x
        with meter:
            opt.tell(batch, f(x) + NOISE_STD * rng.standard_normal(len(batch)))
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


def _is_ahead(opt: nr.Optimizer) -> bool:
    """Tell whether what is found uphill scores as high as the best of random candidates."""
    bandit = opt._policy
    assert isinstance(bandit, nr.Bandit)
    assert isinstance(opt.pool, nr.Box)
    posterior = bandit.posterior(opt._state, opt._evidence()).posterior
    ranking = bandit.search.rank(posterior, nr.ExpectedImprovement(), 1.0, NOBODY)
    assert isinstance(ranking, BoxRanking)
    found = ranking.score(ranking.best())
    X = opt.pool.sample(CANDIDATES, np.random.default_rng(opt.spent))
    some = (X[at : at + 4096] for at in range(0, len(X), 4096))
    return found >= max(float(ranking.score_of(part).max()) for part in some) - 1e-9


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
