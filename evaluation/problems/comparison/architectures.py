"""Trainings of networks, with the seeds that were really run: NAS-Bench-201, -Macro and FCNet."""

from __future__ import annotations

import json

import numpy as np

from evaluation.data.files import path_of
from evaluation.data.originals import GRID, ON_LOG_SCALE
from evaluation.problems.comparison.base import Problem, replicated
from evaluation.problems.comparison.listing import coded, framed

NAS_TITLES = {
    "cifar10": "NAS-Bench-201, CIFAR-10",
    "cifar100": "NAS-Bench-201, CIFAR-100",
    "imagenet16_120": "NAS-Bench-201, ImageNet-16-120",
}


def nasbench201(data: str) -> Problem:
    """Validation accuracy in percent of 15 625 cells, two or three trainings each."""
    with np.load(path_of("nasbench201.npz"), allow_pickle=False) as held:
        header = json.loads(str(held["header"]))
        listing = coded(header["edges"], header["ops"], held["op_index"])
        runs = held[f"val_acc_{data}"].astype(np.float64)
    name = data.split("16")[0]
    return replicated(f"nasbench201-{name}", NAS_TITLES[data], listing, runs)


def macro() -> Problem:
    """Test accuracy in percent of 6561 networks of eight layers, three trainings each."""
    with np.load(path_of("nasbench_macro.npz"), allow_pickle=False) as held:
        ops, codes = json.loads(str(held["header"]))["ops"], held["op_index"]
        runs = held["test_acc"].astype(np.float64)
    layers = [f"layer_{at + 1}" for at in range(codes.shape[1])]
    return replicated("nasbench-macro", "NAS-Bench-Macro", coded(layers, ops, codes), runs)


def fcnet(task: str) -> Problem:
    """Minus the logarithm of the loss of 62 208 settings, four trainings each.

    Losses range over many powers of ten where trainings diverge, hence the logarithm. Settings are
    those of the grid, unscaled; peers that search on a logarithmic scale are told where to.
    """
    with np.load(path_of("fcnet.npz"), allow_pickle=False) as held:
        codes = held["param_index"]
        runs = -np.log(held[f"val_loss_{task}"].astype(np.float64))
    columns = {}
    for at, (name, values) in enumerate(GRID.items()):
        column = np.array(values)[codes[:, at]]
        words = column.dtype.kind == "U"
        columns[name] = column.tolist() if words else column.astype(np.float64)
    listing = framed(columns, log=ON_LOG_SCALE)
    word = task.split("_")[0]
    return replicated(f"fcnet-{word}", f"FCNet, {task.replace('_', ' ')}", listing, runs)
