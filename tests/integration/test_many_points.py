"""More unique points than an exact posterior can hold: `mini(posterior="nystrom")` at 10⁵ of them.

pytest -m slow -s tests/integration/test_many_points.py        prints processor seconds per ask
"""

from __future__ import annotations

import resource
import time
from typing import Literal

import numpy as np
import pytest

import noregret as nr
from noregret.acquisitions import Acquisition

UNIQUE = 100_000
HOW: dict[str, Acquisition | nr.Thompson] = {
    "ucb": nr.UCB(),
    "improvement": nr.ExpectedImprovement(),
    "gradient": nr.KnowledgeGradient(ahead=1000.0, noise=0.01),
    "thompson": nr.Thompson(),
}


@pytest.mark.slow
@pytest.mark.parametrize("dictionary", ["fresh", "incremental"])
@pytest.mark.parametrize("how", HOW)
def test_a_run_goes_on_beyond_a_hundred_thousand_unique_points(
    how: str, dictionary: Literal["fresh", "incremental"]
) -> None:
    """The exact factor of so many would take 80 GB; here it is some hundred members."""
    rng = np.random.default_rng(0)
    X = rng.random((2 * UNIQUE, 2))
    f = np.sin(5 * X[:, 0]) * X[:, 1] + 0.3 * np.cos(7 * X[:, 1])
    optimizer = nr.mini(
        nr.Pool(X),
        kernel=nr.RBF(0.3),
        noise_std=0.1,
        acquisition=HOW[how],
        posterior="nystrom",
        dictionary=dictionary,
        width=nr.ConstantWidth(1.0) if how == "gradient" else None,
    )
    told = rng.permutation(2 * UNIQUE)[: UNIQUE - 2]
    optimizer.tell(told, f[told] + 0.1 * rng.standard_normal(len(told)))
    seconds: list[float] = []
    while optimizer.unique <= UNIQUE and len(seconds) < 40:
        start = time.process_time()
        batch = optimizer.ask(at_most=50)
        seconds.append(time.process_time() - start)
        assert len(batch.ids) == 1
        rows = np.asarray(batch.sequence)
        optimizer.tell(batch, f[rows] + 0.1 * rng.standard_normal(len(rows)))
        if len(seconds) % 5 == 0:  # some that nobody would ask for, so that the number is reached
            some = rng.integers(0, 2 * UNIQUE, size=1)
            optimizer.tell(some, f[some])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"\n{how}, {dictionary}: {optimizer.unique} unique points, "
        f"{optimizer.trace['dictionary'][-1]} members, first ask {seconds[0]:.1f} s, then "
        f"{np.mean(seconds[1:]):.2f} s per ask (processor), {peak:.1f} GB"
    )
    assert optimizer.unique > UNIQUE
    assert optimizer.trace["dictionary"][-1] < 400
    best = optimizer.best()
    true = float(f[int(best.id)])
    assert true > np.sort(f)[-2000]
    assert best.lower <= true <= best.upper
    assert peak < 8
