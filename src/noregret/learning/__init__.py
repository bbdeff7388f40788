"""What a model can learn of itself from the values told: kernel, scale, mean and noise."""

from noregret.learning.families import Family, Fixed, Grouped, Joint
from noregret.learning.likelihood import Evidence, Likelihood

__all__ = ["Evidence", "Family", "Fixed", "Grouped", "Joint", "Likelihood"]
