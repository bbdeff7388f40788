"""How wide a confidence band is, and what it rests on."""

from noregret.widths.base import (
    ALPHA,
    EPSILON,
    Assumption,
    Assumptions,
    Information,
    ScaledWidth,
    Width,
    WidthBase,
    WidthInputs,
)
from noregret.widths.heuristics import (
    BBKBExperimentsWidth,
    BKBExperimentsWidth,
    ConstantWidth,
    GrowingWidth,
)
from noregret.widths.norm_bound import GuessAndDouble, KnownNorm, NormBound
from noregret.widths.theorems import BayesianWidth, BBKBWidth, BKBWidth, EIWidth, RKHSWidth
