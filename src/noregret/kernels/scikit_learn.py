"""Kernels of scikit-learn, recognised and wrapped; nothing of it is imported here."""

from __future__ import annotations

import copy
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Protocol, TypeGuard, final

import numpy as np

from noregret.arrays import Matrix, Rows, Vector, require_numbers
from noregret.errors import KernelError

MODULE = "sklearn.gaussian_process.kernels"


class Scikit(Protocol):
    """What we use of scikit-learn's kernels."""

    def __call__(self, X: Rows, Y: Rows) -> Matrix: ...
    def diag(self, X: Rows) -> Vector: ...
    def get_params(self) -> Mapping[str, object]: ...


@final
@dataclass(frozen=True, slots=True, eq=False)
class ScikitKernel:
    """A kernel of scikit-learn, as it was when it was given."""

    kernel: Scikit

    def __repr__(self) -> str:
        return f"ScikitKernel({self.kernel})"

    def __call__(self, X: Rows, Z: Rows) -> Matrix:
        if len(X) == 0 or len(Z) == 0:
            return np.zeros((len(X), len(Z)))
        require_numbers(X, Z)
        return np.asarray(self.kernel(X, Z), dtype=np.float64)

    def diagonal(self, X: Rows) -> Vector:
        return np.asarray(self.kernel.diag(X), dtype=np.float64) if len(X) else np.zeros(0)


def is_scikit(value: object) -> TypeGuard[Scikit]:
    """Tell whether `value` is a kernel of scikit-learn; there can be none before it is loaded."""
    module = sys.modules.get(MODULE)
    return module is not None and isinstance(value, module.Kernel)


def parts_of(kernel: Scikit) -> list[object]:
    """Return the kernel and whatever it is made of."""
    return [kernel, *kernel.get_params().values()]


def seen(kernel: Scikit) -> ScikitKernel:
    """Return the kernel, wrapped; raise if it adds noise, which is no part of f."""
    module: ModuleType = sys.modules[MODULE]
    for part in parts_of(kernel):
        if isinstance(part, module.WhiteKernel):
            raise KernelError(
                f"{part} is noise, not part of f: k(X, X) has it and k(X, Z) has not. Leave it out "
                f"of the kernel and give noise_std={part.noise_level**0.5:.3g}, the root of its "
                "level (of a fitted kernel_ = k1 + WhiteKernel, give kernel_.k1)."
            )
    return ScikitKernel(copy.deepcopy(kernel))
