"""Show each kind of visitor the ad that it clicks on most, among 80 ads.

`python -m examples.ads`: contexts, regret against the best of each (picture: examples/out/ads.png).

The rates of clicks are MADE UP, on the pattern of a log. The sample of Open Bandit has 20 000
showings and 80 clicks; a run replayed on what was shown at random would keep one round in eighty,
125 of 10 000. So rates are fitted: logistic regression on what the log says of visitor and ad, and
on all products of both, each effect with a normal prior of standard deviation 0.3. The log does not
say that ads differ at all: held out, one rate for all predicts it better (the program prints by how
much). Visitors, ads and the average rate are the log's; how much ads differ, and for whom, is
mostly the prior's. It shows what contexts are worth where there are such differences, and nothing
about these ads. A round is a thousand showings to visitors of one kind.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import expit

import noregret as nr
from evaluation.data.files import columns

Array = npt.NDArray[Any]
OUT = Path(__file__).parent / "out"
LOGS = ("open_bandit_small_random_all.csv.gz", "open_bandit_small_bts_all.csv.gz")
ITEMS = "open_bandit_small_item_context.csv.gz"
VISITOR = ("user_feature_2", "user_feature_3")  # the other two are nearly the same for all
SHOWN = 1000  # times in a round
PRIOR = 0.3  # standard deviation of every effect, on the logarithm of odds
EACH, ONE, RANDOM = "an ad for each", "one for all", "random"


@dataclass(frozen=True)
class World:
    """Kinds of visitors, ads, and how many of a thousand showings are clicked."""

    visitors: Array  # (kinds, c)
    ads: Array  # (80, d)
    rates: Array  # (kinds, 80), clicks per thousand
    came: Array  # the kind of each visitor of the random log, in order
    thompson: float  # what the ads that the other log shows would have on average
    held_out: tuple[float, float]  # log-likelihood of the log: one rate, and a rate for each pair

    def truth(self, visitor: Array) -> Array:
        return np.asarray(self.rates[np.flatnonzero((self.visitors == visitor).all(axis=1))[0]])


def make_world() -> World:
    """Fit rates of clicks to both logs."""
    logs, items = [columns(name) for name in LOGS], columns(ITEMS)
    seen = np.concatenate([np.array([log[name] for name in VISITOR]).T for log in logs])
    kinds, kind = np.unique(seen, axis=0, return_inverse=True)
    ad = np.array([log["item_id"] for log in logs], dtype=np.int64).ravel()
    clicked = np.array([log["click"] for log in logs], dtype=np.float64).ravel()
    number = np.array(items["item_feature_0"], dtype=np.float64)
    words = [items[f"item_feature_{i}"] for i in (1, 2, 3)]
    ads = np.column_stack([(number - number.mean()) / number.std(), codes(*words)])
    visitors, cell = codes(*kinds.T), kind.ravel() * len(ads) + ad
    products = visitors[:, None, :, None] * ads[None, :, None, :]
    pairs = np.concatenate(
        [
            np.repeat(visitors, len(ads), axis=0),
            np.tile(ads, (len(visitors), 1)),
            products.reshape(len(visitors) * len(ads), -1),
        ],
        axis=1,
    )
    rates = fitted(pairs, cell, clicked)
    first = len(logs[0]["click"])
    return World(
        visitors=visitors,
        ads=ads,
        rates=SHOWN * rates.reshape(len(visitors), len(ads)),
        came=kind.ravel()[:first],
        thompson=float(SHOWN * rates[cell[first:]].mean()),
        held_out=held_out(pairs, cell, clicked),
    )


def codes(*words: Any) -> Array:
    """One column per word."""
    levels = [np.unique(column, return_inverse=True) for column in words]
    return np.column_stack([np.eye(len(level))[place] for level, place in levels])


def fitted(pairs: Array, cell: Array, clicked: Array) -> Array:
    """Most probable rates of all pairs: logistic regression with a normal prior."""
    shown = np.bincount(cell, minlength=len(pairs))
    clicks = np.bincount(cell, weights=clicked, minlength=len(pairs))
    X, rate = PRIOR * pairs, clicked.mean()

    def loss(w: Array) -> tuple[float, Array]:
        e = w[0] + X @ w[1:]
        short = shown * expit(e) - clicks
        slope = np.concatenate([[short.sum()], short @ X + w[1:]])
        return float(shown @ np.logaddexp(0, e) - clicks @ e + w[1:] @ w[1:] / 2), slope

    start = np.zeros(1 + X.shape[1])
    start[0] = np.log(rate / (1 - rate))
    w = minimize(loss, start, jac=True, method="L-BFGS-B").x
    return np.asarray(expit(w[0] + X @ w[1:]))


def held_out(pairs: Array, cell: Array, clicked: Array, parts: int = 5) -> tuple[float, float]:
    """Log-likelihood of showings by what was fitted without them: one rate, and that of pairs."""
    part, found = np.random.default_rng(0).integers(parts, size=len(cell)), np.zeros(2)
    for each in range(parts):
        out, rest = part == each, part != each
        one = np.full(int(out.sum()), clicked[rest].mean())
        own = fitted(pairs, cell[rest], clicked[rest])[cell[out]]
        for i, p in enumerate((one, own)):
            found[i] += np.log(np.where(clicked[out] == 1, p, 1 - p)).sum()
    return float(found[0]), float(found[1])


def play(world: World, budget: int, seed: int) -> tuple[Array, dict[str, nr.Result]]:
    """Return the kinds of visitors that came, and what each way showed them."""
    rng = np.random.default_rng(seed)
    kinds = world.came[np.sort(rng.choice(len(world.came), budget, replace=False))]
    came, pool = world.visitors[kinds], nr.Pool(world.ads)

    def clicks(ad: Any, visitor: Array) -> float:
        return float(rng.binomial(SHOWN, world.truth(visitor)[ad] / SHOWN))

    def unseen() -> Callable[[Any], float]:
        visitors = iter(came)
        return lambda ad: clicks(ad, next(visitors))

    how: dict[str, Any] = {"budget": budget, "by_id": True, "seed": seed, "progress": False}
    model: dict[str, Any] = {
        "algorithm": nr.gp_ucb,
        "kernel": 1.5**2 * nr.RBF(2.0),
        "offset": 4.0,
        "width": nr.ConstantWidth(3.0),
    }
    similar = nr.RBF(2.0)  # visitors
    return kinds, {
        EACH: nr.maximize(
            clicks, pool, contexts=came, context_kernel=similar, noise_std=2.0, **model, **how
        ),
        # to which the differences between visitors are noise
        ONE: nr.maximize(unseen(), pool, noise_std=3.0, **model, **how),
        RANDOM: nr.maximize(unseen(), pool, algorithm=nr.uniform, **how),
    }


def regret(world: World, kinds: Array, result: nr.Result) -> Array:
    """Clicks lost in each round, against the best ad of its visitors."""
    if result.contexts is not None:
        return result.regret(world.truth)
    rates = world.rates[kinds]  # of ads that were chosen without knowing for whom
    return np.asarray(rates.max(axis=1) - rates[np.arange(len(kinds)), result.ids])


def main(budget: int = 1200, seeds: int = 4) -> dict[str, float]:
    """Return the clicks per thousand showings of each way, in the last quarter of its rounds."""
    world = make_world()
    one, own = world.held_out
    print(
        f"Rates are made up: held out, the log has log-likelihood {one:.1f} with one rate for all, "
        f"{own:.1f} with these.\nIt shows what contexts are worth, not which ad is good."
    )
    share = np.bincount(world.came, minlength=len(world.visitors)) / len(world.came)
    print(
        f"clicks per thousand: best ad of each kind {share @ world.rates.max(axis=1):.1f}, best ad "
        f"for all {(share @ world.rates).max():.1f}, any ad {(share @ world.rates).mean():.1f}, "
        f"those of the log by Thompson sampling {world.thompson:.1f}"
    )
    runs, late = [play(world, budget, seed) for seed in range(seeds)], slice(-(budget // 4), None)
    found, lost = dict[str, float](), dict[str, list[Array]]()
    for way in (EACH, ONE, RANDOM):
        lost[way] = [regret(world, kinds, results[way]) for kinds, results in runs]
        best = [world.rates[kinds].max(axis=1) for kinds, _ in runs]
        got = [(b - r)[late].mean() for b, r in zip(best, lost[way], strict=True)]
        found[way] = float(np.mean(got))
        print(f"{way}: {', '.join(f'{value:.1f}' for value in got)} in the last quarter")
    _draw(world, share, lost, runs[0])
    return found


def _draw(
    world: World,
    share: Array,
    lost: dict[str, list[Array]],
    run: tuple[Array, dict[str, nr.Result]],
) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(13, 4.8), width_ratios=(1, 1.3))
    curves = {way: [-each for each in several] for way, several in lost.items()}
    nr.plot.regret(curves, best=0.0, unit="clicks per thousand", ax=left)
    left.set_title("Behind the best ad of each visitor", loc="left", fontsize=11)
    left.legend(frameon=False, loc="upper right")
    kinds, results = run
    ids = np.asarray(results[EACH].ids, dtype=np.int64)
    often = np.argsort(-share)[:16]
    ads = np.argsort(-np.bincount(ids, minlength=len(world.ads)))[:16]
    counts = np.array([[np.sum((kinds == kind) & (ids == ad)) for ad in ads] for kind in often])
    shades = right.imshow(world.rates[np.ix_(often, ads)], cmap="YlOrBr", aspect="auto")
    figure.colorbar(shades, ax=right, label="clicks per thousand (made up)")
    rows, places = np.nonzero(counts)
    right.scatter(places, rows, s=4 * counts[rows, places], color="#0b6141", ec="white", lw=0.5)
    one = int(np.argmax(share @ world.rates))
    right.set_xticks(range(len(ads)), [f"{ad}" + ("*" if ad == one else "") for ad in ads])
    right.set_yticks(range(len(often)), [f"{share[kind]:.0%}" for kind in often])
    right.set(xlabel="ad (* the best one for all)", ylabel="kind of visitor, by its share")
    right.set_title("Dots: what was shown to whom, with contexts", loc="left", fontsize=11)
    said = "Rates are made up: fitted to 80 clicks, in how they differ they are mostly the prior's."
    figure.text(0.01, 0.015, said, fontsize=9)
    figure.tight_layout(rect=(0, 0.03, 1, 1))
    OUT.mkdir(exist_ok=True)
    figure.savefig(OUT / "ads.png", dpi=100)
    plt.close(figure)


if __name__ == "__main__":
    main()
