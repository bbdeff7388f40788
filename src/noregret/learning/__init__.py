"""What a model can learn of itself from the values told: kernel, scale, mean and noise."""

from noregret.learning.families import Family, Fixed, Grouped, Joint
from noregret.learning.likelihood import Likelihood, Sample

__all__ = ["Family", "Fixed", "Grouped", "Joint", "Likelihood", "Sample"]
