"""The variants of appendix A.4: one of them is BBKB, and the others differ from it as they say."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.papers.bbkb import freezing
from evaluation.papers.bbkb.freezing import BBKB, BKB, FIRST, SECOND, Embedding, Problem, run
from slow_references import DenseNystrom, StepByStepBBKB


@pytest.mark.parametrize("seed", range(3))
def test_with_both_frozen_it_is_bbkb_step_by_step(seed: int) -> None:
    """Else what is compared with the naive variants would be something else than BBKB."""
    p, limit = Problem.of(seed), freezing.LIMITS[0]
    record = run(p, BBKB, limit, horizon=70)
    noise = iter(p.noise)
    twin = StepByStepBBKB(
        kernel=freezing.KERNEL,
        ridge=freezing.RIDGE,
        noise_std=freezing.NOISE_STD,
        limit=limit,
        oversample=freezing.OVERSAMPLE,
        norm_bound=1.0,
        delta=freezing.DELTA,
        pool=p.X,
        draws=lambda step, n: p.draws(step)[:n],
    )
    batches = twin.run(p.first, lambda row: float(p.f[row] + next(noise)), 70)
    assert [row for batch in batches for row in batch] == record.rows
    starts = np.cumsum([0, *map(len, batches[:-1])])
    assert np.flatnonzero(record.opened).tolist() == starts.tolist()
    assert record.dictionaries[-1] == len(batches)


def test_an_embedding_is_the_posterior_by_dense_algebra() -> None:
    p, rng = Problem.of(0), np.random.default_rng(0)
    w = np.where(rng.random(freezing.CANDIDATES) < 0.1, rng.integers(1, 4, freezing.CANDIDATES), 0)
    sums, S = w * rng.standard_normal(freezing.CANDIDATES), np.array([3, 50, 90, 130])
    rows = np.repeat(np.arange(freezing.CANDIDATES), w)
    values = np.repeat(sums / np.maximum(w, 1), w)
    dense = DenseNystrom(freezing.KERNEL, freezing.RIDGE, p.X[S], p.X[rows], values)
    seen = Embedding.of(p.K, S)
    np.testing.assert_allclose(seen.mean(w.astype(float), sums), dense.mean(p.X), atol=1e-6)
    np.testing.assert_allclose(seen.variance(w.astype(float)), dense.variance(p.X), atol=1e-6)


def test_the_variants_freeze_what_they_say() -> None:
    p = Problem.of(1)
    records = {v: run(p, v, 8.0, horizon=80) for v in freezing.VARIANTS}
    for variant in (FIRST, BKB):
        assert records[variant].dictionaries[-1] == 79
    for variant in (BBKB, SECOND):
        record = records[variant]
        assert record.dictionaries[-1] == sum(record.opened) < 40
        assert max(record.passed) <= freezing.ROUNDING  # Lemma 1 holds while the dictionary stays
    assert all(records[BKB].opened)
    assert not records[BKB].passed
    risen = [any(records[variant].risen) for variant in (BBKB, FIRST, SECOND)]
    assert risen == [False, True, True]
    mean, variance, drawn, less = freezing.orthogonal()
    assert (mean, variance) == (0.0, 1.0)
    assert drawn == pytest.approx(9 / 9.09)
    assert less == pytest.approx(0.09 / 9.09)
