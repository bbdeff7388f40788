"""With what probability a band fails."""

from __future__ import annotations

from noregret.widths.base import ScaledWidth, Width, WidthInputs
from noregret.widths.growth import StagedWidth
from noregret.widths.nystrom import NystromWidth
from noregret.widths.theorems import RKHSWidth


def risk(band: Width, inputs: WidthInputs) -> float:
    """Return δ; 0 where nothing but noise could make the band fail, and there is none.

    For a fixed f and any points told of it, |f − μ| ≤ F·σ, and c·F·σ̃ through a dictionary.
    """
    inner = band
    while isinstance(inner, ScaledWidth | StagedWidth):
        inner = inner.width
    fails_by_noise = isinstance(inner, RKHSWidth | NystromWidth)
    return 0.0 if fails_by_noise and not inputs.posterior.noise_std else band.delta
