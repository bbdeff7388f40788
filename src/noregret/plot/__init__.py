"""Figures of a run, on Matplotlib axes (needs the extra `plot`).

Every function draws on `ax`, or on a new figure, and returns the axes: title, labels and limits are
yours to change. Nothing is shown, and no global style is touched.
"""

from noregret.plot.beliefs import posterior1d
from noregret.plot.curves import regret
from noregret.plot.planes import pool2d
from noregret.plot.progress import batches

__all__ = ["batches", "pool2d", "posterior1d", "regret"]
