"""A run on disk: one file, no pickle, written all or nothing.

The file is a zip of NumPy arrays and one JSON tree. The tree names the parts by class and field;
only classes listed here are ever built from it.
"""

from __future__ import annotations

import dataclasses
import io
import json
import os
import secrets
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from noregret.acquisitions import UCB, ExpectedImprovement, KnowledgeGradient, Thompson
from noregret.arrays import Mask, Matrix
from noregret.automatic.policy import AutoPolicy, AutoState
from noregret.automatic.settings import AutoModel, AutoSettings
from noregret.batching import (
    FixedSize,
    GlobalRatio,
    LocalRatio,
    ProductBound,
    Repeat,
    Settle,
    Stay,
)
from noregret.errors import SnapshotError
from noregret.fitting import (
    FittedModel,
    Fixed,
    Grouped,
    Joint,
    MAPEstimate,
    PureError,
    WithCandidateEffect,
)
from noregret.kernels import (
    RBF,
    CandidateEffect,
    Categorical,
    Kernel,
    Linear,
    Matern,
    Polynomial,
    Product,
    QuadratureFeatures,
    Scaled,
    Sum,
    Tanimoto,
)
from noregret.optimizer.ledger import Ledger
from noregret.optimizer.pending import PendingBatch, PendingBatches
from noregret.optimizer.results import Units
from noregret.optimizer.trace import Records
from noregret.policies import Policy
from noregret.policies.bandit import Bandit, Belief
from noregret.policies.baselines import EpsilonGreedy, Nothing, RandomSearch, Uniform
from noregret.policies.designs import FarthestDesign, MostUncertain, SobolDesign, UniformDesign
from noregret.policies.evolution import Evolution, Population
from noregret.policies.fourier_thompson import ThompsonQFF, Weights
from noregret.policies.starts import GivenStart, UncertaintySampling, UniformStart
from noregret.pools import Domain, Points
from noregret.posteriors import ExactPosterior, NystromPosterior, Observations, Oversample, cholesky
from noregret.search import BoxSearch, Enumeration, search_of
from noregret.widths import (
    BayesianWidth,
    BBKBExperimentsWidth,
    BBKBWidth,
    BKBExperimentsWidth,
    BKBWidth,
    ConstantWidth,
    EIWidth,
    GrowingWidth,
    GuessAndDouble,
    Information,
    KnownNorm,
    RKHSWidth,
    ScaledWidth,
)

FORMAT = 7


@final
@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """All that an optimizer is, but for the pool."""

    policy: Policy[Any]
    state: Any
    units: Units
    seed: int
    ledger: Ledger
    pending: PendingBatches
    records: Records
    excluded: Mask


KNOWN: dict[str, type[Any]] = {
    known.__name__: known
    for known in (
        *(
            RBF,
            Matern,
            Linear,
            Polynomial,
            Tanimoto,
            Categorical,
            CandidateEffect,
            Scaled,
            Sum,
            Product,
        ),
        *(RKHSWidth, BayesianWidth, EIWidth, BKBWidth, BBKBWidth, ScaledWidth),
        *(ConstantWidth, GrowingWidth, BKBExperimentsWidth, BBKBExperimentsWidth),
        *(Information, KnownNorm, GuessAndDouble),
        *(UCB, ExpectedImprovement, Thompson, KnowledgeGradient),
        *(FixedSize, ProductBound, GlobalRatio, LocalRatio, Repeat, Stay, Settle),
        *(UniformStart, GivenStart, UncertaintySampling),
        *(UniformDesign, SobolDesign, FarthestDesign, MostUncertain),
        *(ExactPosterior, NystromPosterior, Oversample, Observations, cholesky.Factor),
        *(Bandit, Belief, AutoPolicy, AutoState),
        *(
            Grouped,
            Fixed,
            Joint,
            WithCandidateEffect,
            AutoSettings,
            AutoModel,
            FittedModel,
            MAPEstimate,
            PureError,
        ),
        *(Uniform, EpsilonGreedy, Nothing, RandomSearch, Evolution, Population),
        *(ThompsonQFF, QuadratureFeatures, Weights),
        *(Units, Ledger, PendingBatches, PendingBatch, Records, Parts),
    )
}


def write(path: Path, parts: Parts, pool: Points) -> None:
    """Write a run; after a crash the file holds either the old run or the new one, whole."""
    writer = _Writer(pool)
    tree = {
        "format": FORMAT,
        "pool": pool.fingerprint(),
        "extra": writer.encode(pool.extra),
        "parts": writer.encode(parts),
    }
    if not path.name:
        raise SnapshotError(f"cannot save to {str(path)!r}: give the name of a file.")
    name = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    try:
        with name.open("xb") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
                archive.writestr("run.json", json.dumps(tree))
                for key, array in writer.arrays.items():
                    buffer = io.BytesIO()
                    np.save(buffer, array, allow_pickle=False)
                    archive.writestr(f"{key}.npy", buffer.getvalue())
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException as error:
        name.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise SnapshotError(
                f"cannot save to {path}: {error}. What was there before is untouched."
            ) from error
        raise


def read(path: Path, pool: Domain, kernel: Kernel | None) -> tuple[Points, Parts]:
    """Read a run back, with the points it has met; pool and kernels of others are given again."""
    try:
        return _read(path, pool, kernel)
    except SnapshotError:
        raise
    except FileNotFoundError as error:
        raise SnapshotError(f"there is no file {path}.") from error
    except Exception as error:  # whatever a damaged file may lead to
        raise SnapshotError(f"{path} is not a run saved by noregret: {error!r}.") from error


def _read(path: Path, pool: Domain, kernel: Kernel | None) -> tuple[Points, Parts]:
    with zipfile.ZipFile(path) as archive:
        tree = json.loads(archive.read("run.json"))
        arrays = {
            entry.removesuffix(".npy"): np.load(io.BytesIO(archive.read(entry)), allow_pickle=False)
            for entry in archive.namelist()
            if entry.endswith(".npy")
        }
    if tree.get("format") != FORMAT:
        raise SnapshotError(
            f"{path} has format {tree.get('format')!r}; this version reads {FORMAT}."
        )
    if tree["pool"] != pool.fingerprint():
        raise SnapshotError(
            f"{path} was saved with another pool: rows, their order or names differ. "
            "Give the pool of that run, unchanged."
        )
    extra = arrays[tree["extra"]["array"]]
    points = Points(pool, extra if len(extra) else None)
    parts = _Reader(points, arrays, kernel).decode(tree["parts"])
    assert isinstance(parts, Parts)
    return points, parts


@final
class _Writer:
    """Turns parts into a JSON tree, setting arrays aside."""

    def __init__(self, pool: Points) -> None:
        self.pool = pool
        self.arrays: dict[str, np.ndarray[Any, Any]] = {}
        self._kernel: Kernel | None = None

    def encode(self, value: Any) -> Any:
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, Enumeration | BoxSearch):
            return {"search": True}
        if isinstance(value, np.ndarray):
            key = f"a{len(self.arrays)}"
            self.arrays[key] = value
            return {"array": key}
        if isinstance(value, list | tuple):
            return {type(value).__name__: [self.encode(entry) for entry in value]}
        if isinstance(value, dict):
            return {"dict": [[self.encode(k), self.encode(v)] for k, v in value.items()]}
        if isinstance(value, Kernel) and not _ours(value):
            return self._foreign(value)
        if KNOWN.get(type(value).__name__) is type(value):
            fields = [field.name for field in dataclasses.fields(value) if field.init]
            parts = {name: self.encode(getattr(value, name)) for name in fields}
            return {"class": type(value).__name__, "fields": parts}
        raise SnapshotError(
            f"a {type(value).__name__} cannot be saved: only this library's parts and kernels can."
        )

    def _foreign(self, kernel: Kernel) -> Any:
        if self._kernel is not None and self._kernel is not kernel:
            raise SnapshotError(
                "a run with two different kernels that are not this library's cannot be saved; "
                "make one kernel object of them."
            )
        self._kernel = kernel
        return {"given": self.encode(_sample(kernel, self.pool))}


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Reader:
    """Builds parts from a JSON tree and arrays."""

    pool: Points
    arrays: dict[str, np.ndarray[Any, Any]]
    kernel: Kernel | None

    def decode(self, node: Any) -> Any:
        if not isinstance(node, dict):
            return node
        if "class" in node:
            fields = {name: self.decode(child) for name, child in node["fields"].items()}
            return KNOWN[node["class"]](**fields)
        if "array" in node:
            return self.arrays[node["array"]]
        if "list" in node:
            return [self.decode(child) for child in node["list"]]
        if "tuple" in node:
            return tuple(self.decode(child) for child in node["tuple"])
        if "dict" in node:
            return {self.decode(k): self.decode(v) for k, v in node["dict"]}
        if "search" in node:
            return search_of(self.pool)
        return self._given(self.decode(node["given"]))

    def _given(self, saved: Any) -> Kernel:
        if self.kernel is None:
            raise SnapshotError(
                "this run used a kernel that is not one of this library's, or a function or matrix "
                "of yours, which are not kept: give it again, "
                "load(path, pool=pool, kernel=your_kernel)."
            )
        if not np.array_equal(_sample(self.kernel, self.pool), saved):
            raise SnapshotError(
                "load(kernel=...) is not the kernel of the saved run: it differs on rows of the "
                "pool. Give the very kernel that the algorithm was given."
            )
        return self.kernel


def _ours(kernel: Kernel) -> bool:
    """Tell whether a kernel is this library's down to its leaves."""
    if KNOWN.get(type(kernel).__name__) is not type(kernel):
        return False
    parts = [getattr(kernel, field.name) for field in dataclasses.fields(kernel)]  # type: ignore[arg-type]  # known
    return all(_ours(part) for part in parts if isinstance(part, Kernel))


def _sample(kernel: Kernel, pool: Points) -> Matrix:
    """Return the kernel on a few rows, by which it is recognised."""
    X = pool.glance(8)
    return np.asarray(kernel(X, X), dtype=np.float64)
