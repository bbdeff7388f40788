"""A run on disk: one file, no pickle, written all or nothing.

The file is a zip of NumPy arrays and one JSON tree. The tree names the parts by tag and field;
only classes marked `storable` are ever built from it.
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

from noregret.arrays import Matrix
from noregret.errors import SnapshotError
from noregret.kernels import InContext, Kernel
from noregret.optimizer.run_state import RunState
from noregret.policies import Policy
from noregret.pools import ContextPoints, Domain, MatrixSwitchCosts, Points, SwitchCosts
from noregret.pools.switch_costs import SwitchCostFunction
from noregret.search import BoxSearch, Enumeration, search_of
from noregret.storable import class_of, tag_of

FORMAT = 8
LAST_READERS = {7: "4270a93"}  # a commit that reads a format of before


def write(path: Path, policy: Policy[Any], state: object, run_state: RunState) -> None:
    """Write a run; after a crash the file holds either the old run or the new one, whole."""
    points = run_state.points
    writer = _Writer(points)
    tree = {
        "format": FORMAT,
        "pool": points.domain.fingerprint(),
        "extra": writer.encode(points.extra),
        "run": writer.encode((policy, state, run_state)),
    }
    if isinstance(points, ContextPoints):
        tree["contexts"] = writer.encode(points.saved())
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


def read(
    path: Path, pool: Domain, kernel: Kernel | None = None, costs: SwitchCosts | None = None
) -> tuple[Policy[Any], Any, RunState]:
    """Read policy, state and run state; the pool, and functions and matrices, are given again."""
    try:
        return _read(path, pool, kernel, costs)
    except SnapshotError:
        raise
    except FileNotFoundError as error:
        raise SnapshotError(f"there is no file {path}.") from error
    except Exception as error:  # whatever a damaged file may lead to
        raise SnapshotError(f"{path} is not a run saved by noregret: {error!r}.") from error


def _read(
    path: Path, pool: Domain, kernel: Kernel | None, costs: SwitchCosts | None
) -> tuple[Policy[Any], Any, RunState]:
    with zipfile.ZipFile(path) as archive:
        tree = json.loads(archive.read("run.json"))
        arrays = {
            entry.removesuffix(".npy"): np.load(io.BytesIO(archive.read(entry)), allow_pickle=False)
            for entry in archive.namelist()
            if entry.endswith(".npy")
        }
    if tree.get("format") != FORMAT:
        raise SnapshotError(_other_format(path, tree.get("format")))
    if tree["pool"] != pool.fingerprint():
        raise SnapshotError(
            f"{path} was saved with another pool: rows, their order or names differ. "
            "Give the pool of that run, unchanged; where candidates were added, "
            "pool.extended(more) is what it was then."
        )
    extra = arrays[tree["extra"]["array"]]
    kind = ContextPoints if "contexts" in tree else Points
    points = kind(pool, extra if len(extra) else None)
    reader = _Reader(points, arrays, kernel, costs)
    if isinstance(points, ContextPoints):
        points.restore(*reader.decode(tree["contexts"]))
    policy, state, run_state = reader.decode(tree["run"])
    assert isinstance(run_state, RunState)
    if costs is not None and run_state.switch_costs is not costs:
        raise SnapshotError(
            "this run has no switch_cost, or one that was saved with it, and keeps to that: leave "
            "out load(switch_cost=...)."
        )
    return policy, state, run_state


def _other_format(path: Path, found: object) -> str:
    reader = "An older or newer version of noregret reads it."
    if isinstance(found, int) and found in LAST_READERS:
        commit = LAST_READERS[found]
        reader = f"noregret at commit {commit} reads it: finish the run there, or start again."
    return f"{path} has format {found!r}; this version reads {FORMAT}. {reader}"


@final
class _Writer:
    """Turns parts into a JSON tree, setting arrays aside."""

    def __init__(self, points: Points) -> None:
        self.points = points
        self.arrays: dict[str, np.ndarray[Any, Any]] = {}
        self._kernel: Kernel | None = None

    def encode(self, value: Any) -> Any:
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, Points):
            return {"points": True}
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
        if isinstance(value, InContext) and not _ours(value.context_kernel):
            raise SnapshotError("a run whose context_kernel is not this library's cannot be saved.")
        if isinstance(value, Kernel) and not (_ours(value) or isinstance(value, InContext)):
            return self._foreign(value)
        if isinstance(value, MatrixSwitchCosts | SwitchCostFunction):
            return {"given_costs": self.encode(value.mark(self.points))}
        tag = tag_of(value)
        if tag is None:
            raise SnapshotError(
                f"a {type(value).__name__} cannot be saved: only this library's parts and kernels "
                "can, and dataclasses that you mark @storable(tag)."
            )
        fields = [field.name for field in dataclasses.fields(value) if field.init]
        return {"tag": tag, "fields": {name: self.encode(getattr(value, name)) for name in fields}}

    def _foreign(self, kernel: Kernel) -> Any:
        if self._kernel is not None and self._kernel is not kernel:
            raise SnapshotError(
                "a run with two different kernels that are not this library's cannot be saved; "
                "make one kernel object of them."
            )
        self._kernel = kernel
        return {"given": self.encode(_sample(kernel, self.points))}


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Reader:
    """Builds parts from a JSON tree and arrays."""

    points: Points
    arrays: dict[str, np.ndarray[Any, Any]]
    kernel: Kernel | None
    costs: SwitchCosts | None

    def decode(self, node: Any) -> Any:
        if not isinstance(node, dict):
            return node
        if "tag" in node:
            part = class_of(node["tag"])
            if part is None:
                raise SnapshotError(
                    f"this run holds a part that is not known here, {node['tag']!r}. If its class "
                    "is yours, import it first."
                )
            return part(**{name: self.decode(child) for name, child in node["fields"].items()})
        if "array" in node:
            return self.arrays[node["array"]]
        if "list" in node:
            return [self.decode(child) for child in node["list"]]
        if "tuple" in node:
            return tuple(self.decode(child) for child in node["tuple"])
        if "dict" in node:
            return {self.decode(k): self.decode(v) for k, v in node["dict"]}
        if "points" in node:
            return self.points
        if "search" in node:
            return search_of(self.points)
        if "given_costs" in node:
            return self._given_costs(self.decode(node["given_costs"]))
        return self._given(self.decode(node["given"]))

    def _given_costs(self, saved: Any) -> SwitchCosts:
        if self.costs is None:
            raise SnapshotError(
                "this run used a switch_cost that is a function or matrix of yours, which are not "
                "saved: give it again, load(path, pool=pool, switch_cost=your_costs)."
            )
        match self.costs:
            case MatrixSwitchCosts() | SwitchCostFunction() as costs:
                if np.array_equal(costs.mark(self.points), saved):
                    return costs
        raise SnapshotError(
            "load(switch_cost=...) is not that of the saved run: its costs between candidates "
            "differ. Give the very function or matrix that the algorithm was given."
        )

    def _given(self, saved: Any) -> Kernel:
        if self.kernel is None:
            raise SnapshotError(
                "this run used a kernel that is not one of this library's, or a function or matrix "
                "of yours, which are not saved: give it again, "
                "load(path, pool=pool, kernel=your_kernel)."
            )
        if not np.array_equal(_sample(self.kernel, self.points), saved):
            raise SnapshotError(
                "load(kernel=...) is not the kernel of the saved run: it differs on rows of the "
                "pool. Give the very kernel that the algorithm was given."
            )
        return self.kernel


def _ours(kernel: Kernel) -> bool:
    """Tell whether a kernel is this library's down to its leaves."""
    if tag_of(kernel) is None:
        return False
    parts = [getattr(kernel, field.name) for field in dataclasses.fields(kernel)]  # type: ignore[arg-type]  # storable
    return all(_ours(part) for part in parts if isinstance(part, Kernel))


def _sample(kernel: Kernel, points: Points) -> Matrix:
    """Return the kernel on a few rows, by which it is recognised."""
    X = points.glance(8)
    return np.asarray(kernel(X, X), dtype=np.float64)
