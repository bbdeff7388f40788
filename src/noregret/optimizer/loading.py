"""Going on from a run that was saved."""

from __future__ import annotations

import os
from pathlib import Path

from noregret.kernels import Kernel, as_kernel
from noregret.optimizer import storage
from noregret.optimizer.optimizer import Optimizer
from noregret.pools import Domain, require_domain


def load(path: str | os.PathLike[str], *, pool: Domain, kernel: Kernel | None = None) -> Optimizer:
    """Go on from a saved run: the same choices, bit for bit, as the run that was not broken off.

    `pool` must be the pool of the saved run. `kernel` is needed where the run used a kernel that
    is not one of this library's, or a function or matrix.

    >>> from tempfile import TemporaryDirectory
    >>> pool = nr.Pool([[0.0], [0.5], [1.0]])
    >>> opt = nr.uniform(pool)
    >>> opt.tell(opt.ask(), [0.3])
    >>> with TemporaryDirectory() as folder:
    ...     opt.save(f"{folder}/run")
    ...     again = nr.load(f"{folder}/run", pool=pool)
    >>> again.evaluations
    1
    """
    require_domain(pool)
    own = None if kernel is None else as_kernel(kernel)
    return Optimizer._restored(*storage.read(Path(path), pool, own))
