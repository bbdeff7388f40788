"""How wide a confidence band is, and what it rests on."""

from noregret.widths.base import (
    ALPHA,
    EPSILON,
    Assumption,
    Assumptions,
    GuessAndDouble,
    Information,
    KnownNorm,
    NormBound,
    ScaledWidth,
    Width,
    WidthBase,
    WidthInputs,
)
from noregret.widths.growth import GrowthSchedule, StagedWidth, at_stage
from noregret.widths.heuristics import (
    BBKBExperimentsWidth,
    BKBExperimentsWidth,
    ConstantWidth,
    GrowingWidth,
)
from noregret.widths.nystrom import NystromBayesianWidth, NystromWidth
from noregret.widths.risk import risk
from noregret.widths.theorems import (
    BayesianWidth,
    BBKBWidth,
    BKBWidth,
    EIWidth,
    RKHSWidth,
    with_prior_variance,
)
