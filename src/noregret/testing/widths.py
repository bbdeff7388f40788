"""Rules for a width."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from noregret.algorithms import gp_ucb
from noregret.kernels import RBF
from noregret.optimizer import Optimizer
from noregret.posteriors import ExactPosterior, Observations
from noregret.testing.base import Suite
from noregret.widths import Assumption, Information, ScaledWidth, Width, WidthInputs

MODEL, NOISE = RBF(0.4), 0.5


class WidthSuite(Suite[Width]):
    """What acquisitions, certificates and saved runs rely on in a width."""

    grows = True  # whether beta never falls while evaluations come in, as a theorem's does not

    def optimizer(self) -> Optimizer:
        return gp_ucb(self.domain(), kernel=MODEL, noise_std=NOISE, width=self.make())

    def stages(self) -> list[WidthInputs]:
        """Return what a width is shown as a run goes on, from no evaluation to 24 of 12 points."""
        rng, information = np.random.default_rng(0), Information()
        X, y = rng.random((12, 2)), rng.standard_normal(12)
        posterior = prior = ExactPosterior.prior(MODEL, noise_std=NOISE, ridge=NOISE**2, dim=2)
        stages = [WidthInputs(prior, 40, 0, 1.0, information)]
        for n in range(1, 13):
            stale = float(posterior.variance(X[n - 1 : n])[0])
            information = information.plus(stale / NOISE**2, times=2)
            told = Observations(np.arange(n), X[:n], np.full(n, 2.0), y[:n])
            posterior = prior.condition(told, Observations.none(2), rng)
            stages.append(WidthInputs(posterior, 40, 2 * n, 1.0, information))
        return stages

    def test_beta_is_a_positive_number(self) -> None:
        """It multiplies deviations: at 0 nothing is explored (and before any value, all is new)."""
        for stage in self.stages():
            beta = self.make().beta(stage)
            least = 0 if stage.evaluations else -1e-300
            assert least < beta < math.inf, (
                f"beta is {beta!r} after {stage.evaluations} evaluations"
            )

    def test_beta_does_not_fall_as_a_run_goes_on(self) -> None:
        """A band that is to hold at all times together widens. Say `grows = False` where not."""
        betas = [self.make().beta(stage) for stage in self.stages()]
        falls = [step for step in pairwise(betas) if step[1] < step[0] * (1 - 1e-9)]
        assert not (self.grows and falls), f"beta falls with more evaluations: {falls[:1]}"

    def test_beta_depends_on_its_inputs_alone(self) -> None:
        """It is asked for by who looks too, in any order, and looking must change nothing."""
        width, stages = self.make(), self.stages()
        first = [width.beta(stage) for stage in stages]
        again = [width.beta(stage) for stage in stages[::-1]][::-1]
        assert first == again, "beta is another one when it is asked for again"
        assert first == [self.make().beta(stage) for stage in stages], "equal widths differ"

    def test_it_says_how_often_it_fails_and_by_which_theorem(self) -> None:
        """A certificate prints both; where there is no theorem it says that."""
        width = self.make()
        assert isinstance(width, Width), "a width has delta, theorem, beta and assumptions"
        assert 0 < width.delta < 1, f"delta is a probability, got {width.delta!r}"
        assert width.theorem.strip(), "theorem is empty: name one, or say that there is none"

    def test_its_assumptions_are_sentences(self) -> None:
        """A certificate lists them, and says which of them is seen not to hold."""
        for found in self.make().assumptions(self.stages()[-1]):
            assert isinstance(found, Assumption), f"assumptions are Assumptions, got {found!r}"
            assert found.statement.strip(), "an assumption has no statement"
            assert found.holds in (True, False, None), f"holds is {found.holds!r}"

    def test_it_can_be_scaled(self) -> None:
        """`0.5 * width` is half as wide, fails as often, and names the theorem."""
        width, stage = self.make(), self.stages()[-1]
        scaled = getattr(width, "__mul__", lambda factor: ScaledWidth(width, factor))(0.5)
        assert scaled.beta(stage) == 0.5 * width.beta(stage), "0.5 * width is not half as wide"
        assert scaled.delta == width.delta, "0.5 * width has another delta"
        assert width.theorem in scaled.theorem, "0.5 * width forgets its theorem"
