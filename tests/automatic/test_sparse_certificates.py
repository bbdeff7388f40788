"""What `auto` certifies beyond its exact posterior."""

from __future__ import annotations

import numpy as np
import pytest

import noregret as nr
from noregret.automatic import AutoConstants, AutoPolicy, AutoSettings
from noregret.automatic.settings import Attitude
from noregret.automatic.view import AutoView
from noregret.widths import BBKBWidth, NystromWidth, ScaledWidth

X = np.random.default_rng(0).random((80, 2))
F = np.sin(4 * X[:, 0]) * X[:, 1]


def sparse(attitude: Attitude = "balanced", own: float = 0.0) -> nr.Optimizer:
    """A run that sees points through a dictionary; `own` is how large effects of candidates are."""
    settings = AutoSettings(
        enumerates=True, attitude=attitude, constants=AutoConstants(exact_points=12)
    )
    optimizer = nr.Optimizer(nr.Pool(X), AutoPolicy.of(nr.Pool(X), settings), seed=1)
    rng = np.random.default_rng(2)
    f = F + own * rng.standard_normal(len(F))
    optimizer.tell(
        np.repeat(np.arange(40), 2), np.repeat(f[:40], 2) + 0.1 * rng.standard_normal(80)
    )
    batch = optimizer.ask(at_most=4)
    optimizer.tell(batch, f[batch.sequence])
    return optimizer


@pytest.mark.parametrize("attitude", ["balanced", "safe"])
def test_bounds_are_those_of_any_dictionary_whatever_steers(attitude: Attitude) -> None:
    """BBKB's theorem wants λ ≥ 1 and a q̄ of hundreds, which `auto` never has."""
    optimizer = sparse(attitude)
    view = optimizer.look()
    assert isinstance(view, AutoView)
    assert view.model.is_sparse
    assert isinstance(optimizer.policy, AutoPolicy)
    bandit = optimizer.policy.builder.bandit(view.model, 84)
    assert isinstance(bandit.band, ScaledWidth)
    assert isinstance(bandit.band.width, NystromWidth)
    certificate = optimizer.certificate()
    assert "for any dictionary" in certificate.theorem
    assert not any("oversample" in one.statement for one in certificate.assumptions)
    if attitude == "safe":
        assert isinstance(bandit.width, ScaledWidth)
        assert isinstance(bandit.width.width, BBKBWidth)
    true = F[int(certificate.id)]
    assert certificate.guaranteed <= true
    assert certificate.reachable >= F.max()


@pytest.mark.parametrize(("own", "sound"), [(0.0, True), (0.5, False)])
def test_repeats_of_candidates_with_effects_of_their_own_are_not_covered(
    own: float, sound: bool
) -> None:
    """A dictionary counts them as noise, and noise that comes back is none: that must be said."""
    certificate = sparse(own=own).certificate()
    said = [one for one in certificate.assumptions if "do not explain" in one.statement]
    assert all(one.holds is None for one in said) is sound
    assert sound or ("NOT TO BE RELIED ON" in str(certificate))
