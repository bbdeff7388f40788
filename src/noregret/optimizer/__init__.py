"""ask, tell, best: the one owner of state, and what it writes down."""

from noregret.optimizer.batch import FAILED, Batch, Failed
from noregret.optimizer.deterministic import at_most
from noregret.optimizer.explanation import Explanation
from noregret.optimizer.ledger import MOST_VALUE
from noregret.optimizer.optimizer import Goal, Optimizer
from noregret.optimizer.results import Best, Certificate, Evaluated, PosteriorView
from noregret.optimizer.trace import Trace

load = Optimizer.load
