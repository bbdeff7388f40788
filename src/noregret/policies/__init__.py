"""What decides, and the baselines beside it."""

from noregret.policies.allowance import Allowance, propose_within
from noregret.policies.bandit import Bandit, BanditView, Belief
from noregret.policies.base import (
    ChoiceDiagnostics,
    Evidence,
    ExtensiblePolicy,
    Policy,
    Proposal,
    Purpose,
    State,
    Uncertified,
    known_noise_std,
    stream,
)
from noregret.policies.baselines import EPSILON_GRID, Baseline, RandomSearch, singles
from noregret.policies.designs import FarthestDesign, SobolDesign, UncertaintyDesign, UniformDesign
from noregret.policies.evolution import Evolution, as_groups
from noregret.policies.fourier_thompson import LEAST_RIDGE, ThompsonQFF
from noregret.policies.growing import GrowingBandit
from noregret.policies.model_view import SCORES, Guarantee, ModelPolicy, ModelView, why_uncertified
from noregret.policies.starts import GivenStart, Start, UncertaintySampling, UniformStart
