"""What we believe."""

from noregret.posteriors import cholesky
from noregret.posteriors.base import Observations, Posterior, renumbered, subset
from noregret.posteriors.cholesky import EPS
from noregret.posteriors.dictionary import Oversample
from noregret.posteriors.exact import ExactPosterior
from noregret.posteriors.leverage_scores import bless, effective_dimension
from noregret.posteriors.nystrom import NystromPosterior
from noregret.posteriors.pathwise import Paths, sample_functions
from noregret.posteriors.residual import ProjectionResidual, mean_shift, projection_residual
