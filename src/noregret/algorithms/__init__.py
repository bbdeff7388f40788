"""The algorithms, each a sentence: a posterior, an acquisition, a batch rule."""

from noregret.algorithms.auto import auto
from noregret.algorithms.baselines import (
    epsilon_greedy,
    lin_ucb,
    random_search,
    regularized_evolution,
    ts_qff,
    uniform,
)
from noregret.algorithms.papers import (
    batch_thompson,
    gp_bucb,
    gp_ei,
    gp_ucb,
    mini,
    mini_gp_ei,
    mini_gp_ucb,
)
from noregret.algorithms.sparse import bbkb, bkb
