"""What a model can learn of itself from the values told: kernel, scale, mean and noise."""

from noregret.learning.choice import family_for
from noregret.learning.families import Family, Fixed, Grouped, Joint, Owned
from noregret.learning.fit import Learned
from noregret.learning.lessons import Lesson, learn, share
from noregret.learning.likelihood import Likelihood, Sample
from noregret.learning.replicates import PureError

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
