"""Kernel, scale, mean and noise, fitted to the values told."""

from noregret.fitting.constants import FitConstants
from noregret.fitting.fitted_model import FittedModel, learn, share
from noregret.fitting.kernel_choice import family_for
from noregret.fitting.kernel_families import Family, Fixed, Grouped, Joint, WithCandidateEffect
from noregret.fitting.map_estimate import MAPEstimate, parameter_prior
from noregret.fitting.marginal_likelihood import Likelihood, Sample
from noregret.fitting.replicate_noise import PureError
