"""What a model can learn of itself from the values told: kernel, scale, mean and noise."""

from noregret.fitting.fitted_model import Lesson, learn, share
from noregret.fitting.kernel_choice import family_for
from noregret.fitting.kernel_families import Family, Fixed, Grouped, Joint, Owned
from noregret.fitting.map_estimate import Learned
from noregret.fitting.marginal_likelihood import Likelihood, Sample
from noregret.fitting.replicate_noise import PureError

__all__ = [
    "Family",
    "Fixed",
    "Grouped",
    "Joint",
    "Learned",
    "Lesson",
    "Likelihood",
    "Owned",
    "PureError",
    "Sample",
    "family_for",
    "learn",
    "share",
]
