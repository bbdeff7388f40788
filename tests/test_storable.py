"""What may be saved: the tags in files stand for ever, whatever becomes of the names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

import noregret as nr
from noregret.storable import all_tags, class_of, storable, tag_of

TAGS = """
AutoConstants AutoModel AutoPolicy AutoSettings AutoState BBKBExperimentsWidth BBKBWidth
BKBExperimentsWidth BKBWidth Bandit BayesianWidth Belief CandidateEffect Categorical
ColumnSwitchCosts ConstantWidth EIWidth EpsilonGreedy Evolution ExactPosterior ExpectedImprovement
Factor FarthestDesign FitConstants FittedModel Fixed FixedSize FlatSwitchCost GivenStart GlobalRatio
Grouped GrowingBandit GrowingState GrowingWidth GrownNorm GrowthSchedule GuessAndDouble
InContext Information Joint KnowledgeGradient KnownNorm Ledger Linear LocalRatio MAPEstimate Matern
MatrixSwitchCosts
MostUncertain Nothing NystromBayesianWidth NystromPosterior NystromWidth Observations Oversample
PendingBatch PendingBatches Polynomial Population Product ProductBound PureError QuadratureFeatures
RBF RKHSWidth RandomSearch RarelySwitching Records Repeat RunState Scaled ScaledWidth Settle
SobolDesign StagedWidth Stay Sum Tanimoto Thompson ThompsonQFF UCB UncertaintySampling Uniform
UniformDesign UniformStart Units Weights WithCandidateEffect WithEffect
"""


def test_no_tag_ever_changes() -> None:
    """A tag renamed is a year of saved runs that do not open; new ones are added here."""
    ours = {tag for tag in all_tags() if (class_of(tag) or Any).__module__.startswith("noregret.")}
    assert ours == set(TAGS.split())


def test_a_tag_belongs_to_one_class() -> None:
    """Two classes of one tag, and a run comes back as something else."""
    with pytest.raises(nr.NoRegretError, match=r"RBF.* has this tag"):

        @storable("RBF")
        @dataclass
        class Other:
            size: int

    with pytest.raises(nr.NoRegretError, match="for dataclasses"):
        storable("test.Plain")(type("Plain", (), {}))
    assert isinstance(nr.RBF(), class_of("RBF") or int)


def test_a_class_may_be_defined_again() -> None:
    """A cell of a notebook is run twice; the later class is the one that counts."""

    def define() -> type[Any]:
        @storable("test.Cell")
        @dataclass
        class Cell:
            size: int

        return Cell

    first, again = define(), define()
    assert class_of("test.Cell") is again
    assert tag_of(first(1)) == tag_of(again(1)) == "test.Cell"
