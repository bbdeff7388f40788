"""The policy that is told nothing: model, settings and exploration are learned."""

from noregret.automatic.policy import Learner
from noregret.automatic.settings import Manner

__all__ = ["Learner", "Manner"]
