"""What is known of every row of a pool: the caches behind search."""

from noregret.surveys.base import Survey
from noregret.surveys.exact import ExactSurvey
from noregret.surveys.nystrom import NystromSurvey
from noregret.surveys.plain import PlainSurvey
from noregret.surveys.sticky import StickySurvey

__all__ = ["ExactSurvey", "NystromSurvey", "PlainSurvey", "StickySurvey", "Survey"]
