"""What decides, and the baselines beside it."""

from noregret.policies.bandit import Bandit, Belief
from noregret.policies.base import (
    Accountable,
    Appraisal,
    ChoiceDiagnostics,
    Estimates,
    Evidence,
    Gap,
    Outlook,
    Policy,
    Proposal,
    State,
    Uncertified,
)
from noregret.policies.baselines import EPSILON_GRID, RandomSearch, anything, singles
from noregret.policies.designs import FarthestDesign, SobolDesign, UncertaintyDesign, UniformDesign
from noregret.policies.evolution import Evolution, as_groups
from noregret.policies.fourier_thompson import LEAST_RIDGE, ThompsonQFF
from noregret.policies.model_view import appraised
from noregret.policies.random_streams import Purpose
from noregret.policies.starts import GivenStart, Start, UncertaintySampling, UniformStart

__all__ = [
    "EPSILON_GRID",
    "LEAST_RIDGE",
    "Accountable",
    "Appraisal",
    "Bandit",
    "Belief",
    "ChoiceDiagnostics",
    "Estimates",
    "Evidence",
    "Evolution",
    "FarthestDesign",
    "Gap",
    "GivenStart",
    "Outlook",
    "Policy",
    "Proposal",
    "Purpose",
    "RandomSearch",
    "SobolDesign",
    "Start",
    "State",
    "ThompsonQFF",
    "UncertaintyDesign",
    "UncertaintySampling",
    "Uncertified",
    "UniformDesign",
    "UniformStart",
    "anything",
    "appraised",
    "as_groups",
    "singles",
]
