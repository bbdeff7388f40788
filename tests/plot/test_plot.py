"""Figures hold the right numbers, whatever they look like."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

import noregret as nr
from drawn import ALGORITHMS, KERNEL, LINE, F, X, labelled, result, xy
from noregret.arrays import Vector
from noregret.plot import batch_sizes, style
from noregret.testing.base import play

pytestmark = pytest.mark.usefixtures("closed")

PLOT: Any = nr.plot  # of which wrong things are asked


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: PLOT.regret([1.0, 2.0]), "needs best="),
        (lambda: PLOT.regret({}, best=1.0), "no run"),
        (lambda: PLOT.regret("abc", best=1.0), "takes a Result"),
        (lambda: PLOT.regret(3.0, best=1.0), "takes a Result"),
        (lambda: PLOT.regret([], best=1.0), "no evaluation yet"),
        (lambda: PLOT.regret([np.nan], best=1.0), "must be finite"),
        (lambda: PLOT.regret(nr.uniform(LINE), best=1.0), "no evaluation yet"),
        (lambda: PLOT.regret([1.0], best=np.inf), r"best=\.\.\.\) must be a finite"),
        (lambda: PLOT.regret([1.0], best=1.0, kind="total"), "must be one of 'average'"),
        (lambda: PLOT.regret([1.0], best=1.0, goal="up"), "must be one of 'max'"),
        (lambda: PLOT.regret(result("uniform"), truth=F[:9]), r"50 of them, got shape \(9,\)"),
        (
            lambda: PLOT.regret([result("uniform"), result("uniform", goal="min")], best=1.0),
            "maximise and others minimise",
        ),
        (lambda: PLOT.regret(result("uniform"), best=1.0, goal="min"), "others minimise"),
        (lambda: PLOT.regret([1.0], best=1.0, ax=3), "ax must be Matplotlib axes"),
        (lambda: PLOT.batches([1.0]), "draws an Optimizer or a Result"),
        (lambda: PLOT.posterior1d(nr.uniform(nr.Pool(X))), "this domain has 2"),
        (lambda: PLOT.posterior1d(None), "draws an Optimizer or a Result"),
        (lambda: PLOT.pool2d(nr.uniform(LINE)), "posterior1d"),
        (lambda: PLOT.pool2d(nr.uniform(nr.Box([(0, 1)] * 3))), "this has 3"),
        (lambda: PLOT.pool2d(nr.uniform(nr.Pool(X)), projection=(0, 2)), "from 0 to 1"),
        (lambda: PLOT.pool2d(nr.uniform(nr.Pool(X)), projection="tsne"), "components"),
        (lambda: PLOT.pool2d(nr.uniform(nr.Pool(X)), features=["a"]), "names 1 features"),
    ],
)
def test_what_cannot_be_drawn_is_refused(call: Callable[[], object], match: str) -> None:
    """With the argument's name and the way out, and without an empty figure left behind."""
    with pytest.raises(nr.NoRegretError, match=match):
        call()
    assert not plt.get_fignums()


@pytest.mark.parametrize("name", ALGORITHMS)
def test_batches_are_drawn_from_the_trace(name: str) -> None:
    run = result(name, budget=80)
    ax, sizes, ids = nr.plot.batches(run), run.optimizer.trace["size"], run.ids.tolist()
    ends = np.cumsum(sizes).tolist()
    np.testing.assert_array_equal(xy(labelled(ax, "batch size")), np.stack([ends, sizes], axis=1))
    switches = [sum(a != b for a, b in itertools.pairwise(ids[:end])) for end in ends]
    unique = [len(set(ids[:start])) for start in (0, *ends)]
    for label, x, y in (("switches", ends, switches), ("candidates", [0, *ends], unique)):
        drawn = labelled(ax, label)
        np.testing.assert_array_equal(drawn.get_xdata(), x)
        np.testing.assert_array_equal(np.nan_to_num(drawn.get_ydata()), y)
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert ax.get_xlim()[1] >= 80


def test_many_batches_are_thinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_sizes, "MOST_DOTS", 10)
    run = result("uniform", budget=100)
    dots = xy(labelled(nr.plot.batches(run), "batch size"))
    assert len(dots) <= 10
    assert dots[-1].tolist() == [100.0, 5.0]


def test_everything_excluded_has_no_next_choice() -> None:
    optimizer = nr.gp_ucb(nr.Pool(X), kernel=KERNEL, noise_std=0.1)
    optimizer.tell([1, 2], [1.0, 2.0])
    optimizer.exclude(range(50))
    ax = nr.plot.pool2d(optimizer)
    assert ax.get_legend_handles_labels()[1] == ["evaluated"]


def test_drawing_changes_no_choice() -> None:
    """A picture a day keeps nobody away."""
    plain, drawn = (nr.mini_gp_ucb(nr.Pool(X), kernel=KERNEL, noise_std=0.3) for _ in range(2))
    for _ in range(6):
        nr.plot.pool2d(drawn)
        nr.plot.batches(drawn)
        assert play(plain, 1) == play(drawn, 1)


def test_axes_given_are_drawn_on_and_returned() -> None:
    figure, (left, right) = plt.subplots(1, 2)
    assert nr.plot.regret([1.0, 2.0], best=2.0, ax=left) is left
    assert nr.plot.batches(result("uniform"), ax=right) is right
    assert plt.get_fignums() == [figure.number]


def test_the_legend_stands_above_the_data() -> None:
    """Whatever the curves do, nothing is hidden, and nothing sticks out of the picture."""
    runs = {name: result(name) for name in ALGORITHMS}
    line_run = ALGORITHMS["mini_gp_ucb"](LINE)
    line_run.tell([3, 20], [1.0, 2.0])
    for ax in (
        nr.plot.regret(runs, truth=F),
        nr.plot.batches(runs["bbkb"]),
        nr.plot.pool2d(runs["mini_gp_ucb"]),
        nr.plot.posterior1d(line_run),
    ):
        figure = ax.figure
        figure.canvas.draw()
        legend, frame = ax.get_legend(), ax.get_window_extent()
        assert legend is not None
        box = legend.get_window_extent()
        assert box.y0 >= frame.y1 - 1
        whole = figure.get_tightbbox().transformed(figure.dpi_scale_trans)
        assert (np.subtract(whole.min, figure.bbox.min) >= -1).all()
        assert (np.subtract(whole.max, figure.bbox.max) <= 1).all()


SIGHT = {  # Machado, Oliveira & Fernandes 2009, full severity, on linear RGB
    "normal": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
               [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
               [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
               [0.004733, 0.691367, 0.303900]],
}  # fmt: skip


def seen(colour: str, sight: str) -> Vector:
    """A colour in CIELAB, as some eyes see it."""
    c = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    linear = np.clip(np.asarray(SIGHT[sight]) @ linear, 0, 1)
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    xyz = to_xyz @ linear / np.array([0.9505, 1.0, 1.089])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("sight", SIGHT)
def test_colours_differ_for_all_eyes(sight: str) -> None:
    """One man in twelve does not tell red from green; 15 is a difference seen at a glance."""
    for one, other in itertools.combinations((*style.COLOURS, style.GREY), 2):
        assert np.linalg.norm(seen(one, sight) - seen(other, sight)) > 15, (one, other)


def test_shades_grow_darker_evenly() -> None:
    """Printed in grey, better must still be darker."""
    shades = [mpl.colors.to_hex(style.shades("max")(at)) for at in np.linspace(0, 1, 21)]
    assert (np.diff([seen(shade, "normal")[0] for shade in shades]) < -1.0).all()


def test_many_curves_get_another_dash() -> None:
    """Colours come round again; lines do not."""
    looks = style.looks(["uniform", *(f"run {i}" for i in range(12))])
    assert looks[0] == (style.GREY, "-")
    assert len(set(looks)) == 13


def test_matplotlib_is_loaded_by_drawing_only() -> None:
    code = "import sys, noregret as nr; nr.plot.regret; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
