"""Figures of a run, on Matplotlib axes (needs the extra `plot`).

Every function draws on `ax`, or on a new figure, and returns the axes: title, labels and limits are
yours to change. Nothing is shown, and no global style is touched.
"""

from noregret.plot.batch_sizes import batches
from noregret.plot.pool import pool2d
from noregret.plot.posterior import posterior1d
from noregret.plot.regret_curves import regret

__all__ = ["batches", "pool2d", "posterior1d", "regret"]
