"""What we believe."""

from noregret.posteriors import cholesky
from noregret.posteriors.base import Points, Posterior, subset
from noregret.posteriors.dictionary import Oversample
from noregret.posteriors.exact import ExactPosterior
from noregret.posteriors.nystrom import NystromPosterior

__all__ = [
    "ExactPosterior",
    "NystromPosterior",
    "Oversample",
    "Points",
    "Posterior",
    "cholesky",
    "subset",
]
