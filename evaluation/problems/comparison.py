"""The comparison's problems: pools and boxes as they come, more being better."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import TypeAlias, final

import numpy as np

import noregret as nr
from evaluation.data.files import arrays, columns
from evaluation.data.originals import GRID, NAS_DATA, ON_LOG_SCALE, TASKS
from evaluation.problems.base import (
    NOISE,
    GaussianNoise,
    Observations,
    Problem,
    of_values,
    recorded,
    replicated,
)
from evaluation.problems.candidates import (
    Columns,
    Listing,
    Parameter,
    Space,
    blocks,
    coded,
    framed,
    measured,
)
from evaluation.problems.landscapes import LANDSCAPES
from noregret.arrays import Vector

Recorded: TypeAlias = tuple[str, Listing, Vector]  # a title, candidates, and a value each
SHOTS = 1 << 16  # points on which a function's average over its box is taken
DESIGN = ("n", "theta", "r", "t")  # of crossed barrels
ITEMS = 80  # of Open Bandit


def nasbench201(data: str) -> Problem:
    """Validation accuracy in percent of 15 625 cells, two or three trainings each."""
    header, codes, runs = arrays("nasbench201.npz", "header", "op_index", f"val_acc_{data}")
    name = data.split("16")[0]
    title = {"cifar10": "CIFAR-10", "cifar100": "CIFAR-100"}.get(data, "ImageNet-16-120")
    listing = coded(header["edges"], header["ops"], codes)
    return replicated(f"nasbench201-{name}", f"NAS-Bench-201, {title}", listing, runs.astype(float))


def macro() -> Problem:
    """Test accuracy in percent of 6561 networks of eight layers, three trainings each."""
    header, codes, runs = arrays("nasbench_macro.npz", "header", "op_index", "test_acc")
    layers = [f"layer_{at + 1}" for at in range(codes.shape[1])]
    listing = coded(layers, header["ops"], codes)
    return replicated("nasbench-macro", "NAS-Bench-Macro", listing, runs.astype(float))


def fcnet(task: str) -> Problem:
    """Minus the logarithm of the loss of 62 208 settings, four trainings each.

    Losses range over many powers of ten where trainings diverge, hence the logarithm. Settings are
    those of the grid, unscaled; peers that search on a logarithmic scale are told where to.
    """
    codes, losses = arrays("fcnet.npz", "param_index", f"val_loss_{task}")
    table = {}
    for at, (name, values) in enumerate(GRID.items()):
        column = np.array(values)[codes[:, at]]
        words = column.dtype.kind == "U"
        table[name] = column.tolist() if words else column.astype(np.float64)
    listing, runs = framed(table, log=ON_LOG_SCALE), -np.log(losses.astype(float))
    title = f"FCNet, {task.replace('_', ' ')}"
    return replicated(f"fcnet-{task.split('_')[0]}", title, listing, runs)


def crossed_barrel() -> Problem:
    """Toughness of 600 printed structures, three prints each."""
    table = columns("materials_crossed_barrel.csv.gz")
    rows = np.column_stack([floats(table[name]) for name in DESIGN])
    designs, which = np.unique(rows, axis=0, return_inverse=True)
    order = np.argsort(which.ravel(), kind="stable")
    runs = floats(table["toughness"])[order].reshape(len(designs), -1)
    listing = measured(DESIGN, designs, groups=blocks(len(DESIGN)))
    return replicated("crossed-barrel", "Crossed barrel", listing, runs)


def open_bandit() -> Problem:
    """Whether an item is clicked; its click rate in the log of uniformly random choices is true."""
    log = columns("open_bandit_small_random_all.csv.gz")
    shown, clicks = np.array(log["item_id"], dtype=np.int64), floats(log["click"])
    rates = np.bincount(shown, clicks, minlength=ITEMS) / np.bincount(shown, minlength=ITEMS)
    context = columns("open_bandit_small_item_context.csv.gz")
    assert [int(item) for item in context.pop("item_id")] == list(range(ITEMS))
    price = {"item_feature_0": floats(context.pop("item_feature_0"))}
    listing = framed({**price, **context}, mutable=False)
    noise = float(np.percentile(np.sqrt(rates * (1 - rates)), 90))
    feedback = Clicks(rates)
    return of_values(
        "open-bandit", "Open Bandit", listing, rates, feedback=feedback, noise_std=noise
    )


@final
@dataclass(frozen=True, slots=True, eq=False)
class Clicks:
    """1 with an item's probability, else 0."""

    rates: Vector  # (N,)

    def __call__(self, rows: Observations, rng: np.random.Generator) -> Vector:
        clicked: Vector = (rng.random(len(rows)) < self.rates[rows]).astype(np.float64)
        return clicked


# One value per candidate: a problem as recorded, and another with noise.


def gb1() -> Recorded:
    """Fitness of 149 361 variants of four sites of the protein GB1."""
    header, codes, fitness = arrays("gb1.npz", "header", "aa_index", "fitness")
    return "GB1", coded(header["sites"], list(header["alphabet"]), codes), fitness


def enamine(library: str = "50k") -> Recorded:
    """Minus the docking score of 49 706 (or 10 449) molecules, by fingerprints of 2048 bits.

    Methods that cannot take bits search thirteen descriptors instead.
    """
    header, described, bits, scores = arrays(
        f"enamine{library}_docking.npz", "header", "desc", "fp", "y"
    )
    listing = measured(header["descriptors"], described.astype(np.float64))
    pool = nr.BitPool(bits[listing.order], packed=True)
    return (
        f"Enamine {library}",
        Listing(pool, listing.space, listing.order),
        -scores.astype(np.float64),
    )


def cadata() -> Recorded:
    """Median value of houses in 20 640 census blocks, by eight numbers."""
    header, X, values = arrays("cadata.npz", "header", "X", "y")
    return "Cadata", measured(header["features"], X), values


def abalone() -> Recorded:
    """Rings of 4177 shells, by sex and seven measures."""
    table = columns("abalone.csv.gz")
    rings = floats(table.pop("rings"))
    mixed = {name: text if name == "sex" else floats(text) for name, text in table.items()}
    return "Abalone", framed(mixed, mutable=False), rings


def oer() -> Recorded:
    """Minus the overpotential of 8481 catalysts: fractions of eleven elements, and the plate.

    The four plates are one problem, each a category, since a composition may be on several of them
    with another outcome, and so that this experiment does not count four times among the others.
    """
    table = columns("oer_plates.csv.gz")
    values = -floats(table.pop("overpotential"))
    plates = [f"plate {plate}" for plate in table.pop("plate")]
    mixed: Columns = {"plate": plates, **{name: floats(text) for name, text in table.items()}}
    # Fractions sum to one: no two candidates differ in one column alone.
    return "OER plates", framed(mixed, mutable=False), values


def reaction(name: str, title: str, numbers: tuple[str, ...] = ()) -> Recorded:
    """Yield in percent of a reaction, by what goes into it: words, and some numbers."""
    table = columns(f"{name.replace('-', '_')}.csv.gz")
    yields = floats(table.pop("yield"))
    del table["entry"]
    mixed = {key: floats(text) if key in numbers else text for key, text in table.items()}
    return title, framed(mixed), yields


def floats(column: list[str]) -> Vector:
    return np.array(column, dtype=np.float64)


RECORDED: dict[str, Callable[[], Recorded]] = {
    "gb1": gb1,
    "buchwald-hartwig": partial(reaction, "buchwald-hartwig", "Buchwald–Hartwig"),
    "suzuki": partial(reaction, "suzuki", "Suzuki–Miyaura"),
    "direct-arylation": partial(
        reaction, "direct-arylation", "Direct arylation", ("Concentration", "Temp_C")
    ),
    "oer": oer,
    "enamine": enamine,
    "abalone": abalone,
    "cadata": cadata,
}


def as_recorded(name: str) -> Problem:
    return recorded(name, *RECORDED[name]())


def with_noise(name: str) -> Problem:
    """The values as recorded, with Gaussian noise of 5 % of their range."""
    title, listing, values = RECORDED[name]()
    title = f"{title}, noise of {NOISE:.0%}"
    return recorded(f"{name}-noisy", title, listing, values, noise=NOISE)


def box(name: str) -> Problem:
    """A function on a box, with Gaussian noise of 5 % of its range over the box.

    The lowest value is that of many points drawn, which is near enough for a size of noise.
    """
    at = LANDSCAPES[name]
    low, high = np.array(at.bounds).T
    drawn = at.f(low + (high - low) * np.random.default_rng(0).random((SHOTS, len(at.bounds))))
    worst = float(drawn.min())
    std = NOISE * (at.best - worst)
    return Problem(
        name=name,
        title=f"{at.title}, noise of {NOISE:.0%}",
        domain=nr.Box(at.bounds),
        truth=at.f,
        best=at.best,
        worst=worst,
        uniform=at.best - float(drawn.mean()),
        feedback=GaussianNoise(at.f, std),
        noise_std=std,
        space=Space(tuple(Parameter(f"x{i}", *pair) for i, pair in enumerate(at.bounds))),
    )


PROBLEMS: dict[str, Callable[[], Problem]] = {
    **{f"nasbench201-{data.split('16')[0]}": partial(nasbench201, data) for data in NAS_DATA},
    **{f"fcnet-{task.split('_')[0]}": partial(fcnet, task) for task in TASKS},
    "nasbench-macro": macro,
    "crossed-barrel": crossed_barrel,
    "open-bandit": open_bandit,
    **{name: partial(as_recorded, name) for name in RECORDED},
    **{f"{name}-noisy": partial(with_noise, name) for name in RECORDED},
    **{name: partial(box, name) for name in LANDSCAPES},
}


@cache
def problem(name: str) -> Problem:
    """Return a problem, its data loaded once."""
    return PROBLEMS[name]()
