"""What is known of every row of a pool: the caches behind search."""

from noregret.posterior_caches.base import PlainSurvey, Survey, Work
from noregret.posterior_caches.exact import ExactSurvey
from noregret.posterior_caches.nystrom import NystromSurvey
from noregret.posterior_caches.sticky import StickySurvey

__all__ = ["ExactSurvey", "NystromSurvey", "PlainSurvey", "StickySurvey", "Survey", "Work"]
