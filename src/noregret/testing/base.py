"""What the suites share: rules found by their names, and small runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Generic, TypeVar, final

import numpy as np
import numpy.typing as npt

from noregret.kernels import Kernel
from noregret.optimizer import Batch, Optimizer
from noregret.pools import Domain, Pool

Part = TypeVar("Part")


class Suite(ABC, Generic[Part]):
    """Rules that the library relies on in a part: methods `test_...`, which pytest finds and runs.

    `make` says which part is tried. Where its rules need something else than is given here, such
    as candidates that a kernel can compare, override the method that gives it.
    """

    @abstractmethod
    def make(self) -> Part:
        """Return the part to try: a new object at each call, always the same part."""

    @abstractmethod
    def optimizer(self) -> Optimizer:
        """Return a run that uses the part."""

    def domain(self) -> Domain:
        """Return candidates for runs: 27 of two features, three of them twice."""
        X = np.random.default_rng(0).random((24, 2))
        return Pool(np.concatenate([X, X[:3]]))

    def kernel(self) -> Kernel | None:
        """Return the kernel that `load` needs, where runs use one that cannot be saved."""
        return None

    @final
    def broken(self) -> dict[str, str]:
        """Return the rules that the part breaks, by name: what was found, and why it matters."""
        found = {}
        for rule in (name for name in dir(self) if name.startswith("test_")):
            try:
                getattr(self, rule)()
            except Exception as error:  # a part may fail in any way
                found[rule] = f"{error!r}\n    {getattr(type(self), rule).__doc__}"
        return found

    @final
    def run(self) -> None:
        """Check every rule, and raise an AssertionError that lists those broken."""
        lines = [f"{rule}: {found}" for rule, found in self.broken().items()]
        assert not lines, f"{type(self).__name__}, rules broken:\n" + "\n".join(lines)

    def test_a_run_is_saved_and_goes_on(self) -> None:
        """Parts marked `@storable(tag)` come back equal: a run of a month must not be lost."""
        unbroken, saved = self.optimizer(), self.optimizer()
        assert play(unbroken, 3) == play(saved, 3), "two runs choose otherwise"
        with TemporaryDirectory() as folder:
            path = Path(folder) / "run"
            saved.save(path)
            again = Optimizer.load(path, pool=self.domain(), kernel=self.kernel())
        assert play(again, 3) == play(unbroken, 3), "a loaded run chooses otherwise"


def play(optimizer: Optimizer, batches: int, at_most: int = 4) -> list[tuple[Any, Any, Any]]:
    """Ask for so many batches and tell their values; return ids, repeats and features."""
    asked = []
    for _ in range(batches):
        batch = optimizer.ask(at_most=at_most)
        optimizer.tell(batch, measured(batch))
        asked.append((batch.ids.tolist(), batch.repeats.tolist(), batch.x.tolist()))
    return asked


def measured(batch: Batch) -> list[float]:
    """Return a value for each evaluation of a batch: a smooth function of the features."""
    return [float(np.sin(4.0 * np.asarray(x, dtype=np.float64)).mean()) for x in batch]


def agree(
    found: npt.ArrayLike, expected: npt.ArrayLike, what: str, *, within: float = 1e-6
) -> None:
    """Raise unless arrays are the same up to rounding, in parts of the largest entry."""
    a, b = np.asarray(found), np.asarray(expected)
    assert a.shape == b.shape, f"{what} have the shapes {a.shape} and {b.shape}"
    off = float(np.abs(a - b).max(initial=0.0) / (np.abs(b).max(initial=0.0) or 1.0))
    assert off <= within, f"{what} differ by {off:.3g} of the largest entry"
