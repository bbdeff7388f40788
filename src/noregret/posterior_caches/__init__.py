"""What is known of every row of a pool: the caches behind search."""

from noregret.posterior_caches.base import PosteriorCache, Work
from noregret.posterior_caches.context_values import ContextValues, glance
from noregret.posterior_caches.exact import ExactCache
from noregret.posterior_caches.nystrom import NystromCache
from noregret.posterior_caches.sticky import StickyCache
