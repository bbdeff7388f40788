"""auto on points that are alike, far off or whole numbers, or that a dictionary leaves out."""

from __future__ import annotations

import numpy as np
import pytest

import noregret as nr
from noregret.automatic import AutoConstants, AutoPolicy, AutoSettings, AutoView

X = np.random.default_rng(0).random((400, 3))


@pytest.mark.parametrize("seed", range(4))
def test_a_dictionary_forgets_nothing_that_was_measured(seed: int) -> None:
    """Each candidate is off from what features say; the best by far was confirmed five times."""
    rng = np.random.default_rng(seed)
    f = np.sin(4 * X[:, 0]) + X[:, 1] + rng.standard_normal(len(X))
    settings = AutoSettings(enumerates=True, constants=AutoConstants(exact_points=100))
    optimizer = nr.Optimizer(nr.Pool(X), AutoPolicy.of(nr.Pool(X), settings), seed=seed)
    rows = rng.choice(len(X), 150, replace=False)
    top = rows[np.argsort(-f[rows])[:20]]
    optimizer.tell(rows, f[rows])
    optimizer.tell(np.repeat(top, 4), np.repeat(f[top], 4))
    best = optimizer.best()
    assert "dictionary" in optimizer.account()
    assert best.id == top[0]
    assert best.lower <= f[top[0]] <= best.upper
    certificate = optimizer.certificate()
    assert certificate.guaranteed == pytest.approx(best.lower)
    assert "the effect of a candidate" in str(certificate)


def test_candidates_with_the_same_features_are_two() -> None:
    """Told 20 times 0 and 20 times 5, neither of them is 2.5."""
    twins = np.concatenate([X[:1], X[:20]])
    optimizer = nr.auto(nr.Pool(twins))
    optimizer.tell(np.repeat([0, 1], 20), np.repeat([0.0, 5.0], 20))
    optimizer.tell(range(2, 20), np.sin(4 * twins[2:20, 0]))
    best = optimizer.best()
    assert best.id == 1
    assert best.lower <= 5.0 <= best.upper
    assert best.mean == pytest.approx(5.0, abs=0.1)


@pytest.mark.parametrize("workers", [1, 4])
@pytest.mark.parametrize("seed", range(3))
def test_whole_numbers_are_never_evaluated_twice(workers: int, seed: int) -> None:
    box = nr.Box([(0, 9), (0, 9)], integer=[0, 1])
    optimizer = nr.auto(box, deterministic=True, seed=seed, workers=workers)
    met: set[tuple[int, int]] = set()
    for _ in range(40 // workers):
        asked = [optimizer.ask(at_most=workers, worker=f"{at}") for at in range(2)]
        for batch in asked:
            points = [(int(x[0]), int(x[1])) for x in batch]
            assert len(set(points)) == len(points)
            assert not met & set(points)
            met |= set(points)
            optimizer.tell(batch, [-float((x[0] - 3) ** 2 + (x[1] - 7) ** 2) for x in batch])
    assert (3, 7) in met


@pytest.mark.parametrize("far", [1e4, 1e8, 1e10, 1e99])
def test_a_point_far_off_spoils_nothing(far: float) -> None:
    """Whoever tells a value in the wrong unit once can go on."""
    f = np.sin(5 * X[:, 0]) + X[:, 1]
    optimizer = nr.auto(nr.Pool(X))
    optimizer.tell([[far, 0.5, 0.5]], [0.3])
    optimizer.tell(range(40), f[:40])
    optimizer.ask()
    policy, view = optimizer.policy, optimizer.look()
    assert isinstance(policy, AutoPolicy)
    assert isinstance(view, AutoView)
    model = view.model
    estimate, points = model.fitted.estimate, model.belief.posterior.observed.X
    gram = estimate.scale * policy.family.gram(estimate.theta[2:], points)[0]
    np.testing.assert_allclose(gram, estimate.kernel(points, points), atol=1e-6 * estimate.scale)
    assert optimizer.best().mean > 1
    with pytest.raises(nr.NoRegretError, match="too large to be compared"):
        optimizer.tell([[1e101, 0.5, 0.5]], [0.3])
