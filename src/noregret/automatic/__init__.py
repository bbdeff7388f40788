"""The policy that is told nothing: model, settings and exploration are learned."""

from noregret.automatic.policy import AutoPolicy
from noregret.automatic.settings import AutoSettings
from noregret.automatic.view import AutoView
