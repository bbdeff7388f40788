"""The policy without knobs: model, settings and exploration follow from the values."""

from noregret.automatic.constants import AutoConstants
from noregret.automatic.exploration import Exploration
from noregret.automatic.model import AutoModel, AutoState
from noregret.automatic.policy import AutoPolicy
from noregret.automatic.settings import AutoSettings
from noregret.automatic.view import AutoView
