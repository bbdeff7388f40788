"""How large a problem is, before anything is measured."""

from __future__ import annotations

import numpy as np

from noregret.errors import PoolError, require_count, require_positive
from noregret.kernels import Kernel, as_kernel, probe
from noregret.pools import Candidates, Places
from noregret.posteriors import Points
from noregret.posteriors.bless import bless
from noregret.threads import steady

OVERSAMPLE = 8.0  # members over the effective dimension: the estimate is then within some 10 %


def effective_dimension(
    pool: Candidates, *, kernel: Kernel, noise_std: float, evaluations: int = 1, seed: int = 0
) -> float:
    """Estimate how many parameters evaluations of a whole pool would in effect determine.

        d_eff = Σ_x w·σ²(x)/λ = trace(K (K + λ/w·I)⁻¹),        λ = noise_std²                (1)

    every candidate being evaluated w times (`evaluations`). It bounds how many members a
    dictionary needs and, up to a logarithm, how much can be learned at all: a kernel for which it
    is near the size of the pool says that candidates tell nothing of each other. Scores from
    coarse to fine (`bless`): O(N·m²) with m a few times d_eff, and no N × N matrix.

    Source: BKB 2019, §2, for d_eff; Rudi et al. 2018 for the estimate.

    >>> import noregret as nr
    >>> pool = nr.Pool([[x / 500] for x in range(500)])
    >>> smooth = nr.effective_dimension(pool, kernel=nr.RBF(0.5), noise_std=0.1)
    >>> rough = nr.effective_dimension(pool, kernel=nr.RBF(0.01), noise_std=0.1)
    >>> smooth < 10 < 50 < rough
    True
    """
    if not isinstance(pool, Candidates):
        raise PoolError(f"effective_dimension(pool) takes a finite pool, got {pool!r:.80}.")
    ridge = require_positive("noise_std", noise_std) ** 2
    w = np.full(len(pool), float(require_count("evaluations", evaluations)))
    kernel = as_kernel(kernel)
    probe(kernel, Places(pool).glance(64))
    rows = np.arange(len(pool))
    points = Points(rows, pool.rows(rows), w, np.zeros(len(pool)))
    with steady():
        levels = bless(kernel, points, ridge, OVERSAMPLE, np.random.default_rng(seed))
    return levels[-1].effective_dimension
