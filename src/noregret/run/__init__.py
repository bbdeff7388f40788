"""Loops around an optimizer: maximize, stop, tune."""

from noregret.run.loop import Result, maximize, minimize
from noregret.run.stopping import GapBelow, Patience, Target
from noregret.run.tuning import Tuned, tune
