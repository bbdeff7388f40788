"""What a model can learn of itself from the values told: kernel, scale, mean and noise."""

from noregret.fitting.fitted_model import FittedModel, learn, share
from noregret.fitting.kernel_choice import family_for
from noregret.fitting.kernel_families import Family, Fixed, Grouped, Joint, WithCandidateEffect
from noregret.fitting.map_estimate import MAPEstimate
from noregret.fitting.marginal_likelihood import Likelihood, Sample
from noregret.fitting.replicate_noise import PureError
