"""What is believed in a run, and why: looks that change nothing."""

from __future__ import annotations

from typing import Any, Final, final

import numpy as np

from noregret.arrays import Vector
from noregret.errors import ArgumentError, CertificateError
from noregret.optimizer import results
from noregret.optimizer.explanation import Explanation, explained
from noregret.optimizer.history import History
from noregret.optimizer.in_context import in_context
from noregret.policies import Evidence, ModelPolicy, ModelView, Policy, why_uncertified
from noregret.pools import ContextPoints
from noregret.threads import in_turn, single_threaded_blas

LAST: Final = object()  # the context that was asked for last


class RunLooks(History):
    """What can be asked of a policy's model: the base of `Optimizer`."""

    _policy: Policy[Any]
    _state: Any
    _seen: tuple[ModelView | None, Evidence, Vector | None] | None

    @property
    @final
    @in_turn
    def evidence(self) -> Evidence:
        """What the policy is shown: all that is known, in its sign and units."""
        return self._look("", LAST)[1]

    @property
    @final
    @in_turn
    def posterior(self) -> results.PosteriorView:
        """What is believed of f now, in your sign and units."""
        view, units = self.look(context=LAST), self._run_state.units
        points = self._run_state.points.under(self._run_state.points.last)
        with single_threaded_blas():
            floor, centred = units.outwards(view.floor), units.centred(view.centre)
            return results.PosteriorView(view.posterior, view.beta, floor, centred, points.domain)

    @final
    @in_turn
    def look(self, *, context: object = None) -> ModelView:
        """Return what the model believes now, in its own sign and units: for code, not people."""
        view, _ = self._look("look(context=...)", context)
        if view is None:
            why = why_uncertified(self._policy) or f"{self._policy!r} has no model."
            raise CertificateError(why)
        return view

    @final
    @in_turn
    def best(self, *, context: object = None) -> results.Best:
        """Return the evaluated candidate of highest posterior mean (of lowest, minimising).

        Under a context, of those that were evaluated under any, as they are believed to be there.
        """
        view, evidence = self._beliefs("best(context=...)", context)
        with single_threaded_blas():
            return results.recommended(view, evidence, self._run_state.units)

    @final
    @in_turn
    def certificate(self, *, context: object = None) -> results.Certificate:
        """Return how far `best()` can be from the true best, and under which assumptions."""
        self.look(context=context)  # which says why, where there is no model
        view, evidence = self._beliefs("certificate(context=...)", context)
        assert view is not None
        with single_threaded_blas():
            return results.certified(view, evidence, self._run_state.units)

    @final
    @in_turn
    def explain(self, id: object, *, context: object = None) -> Explanation:
        """Return what is believed of a candidate, and why it was chosen or why not.

        >>> opt = nr.gp_ucb(nr.Pool([[0.0], [0.5], [1.0]]), kernel=nr.RBF(0.4), noise_std=0.1)
        >>> opt.tell([0, 2], [0.3, 0.8])
        >>> print(opt.explain(2))
        2: estimated at 0.792194 ± 0.1; choices look at 0.323 to 1.26 (± 4.7 standard deviations).
        Evaluated once, average 0.8. Nothing similar to it has been evaluated.
        This run has never asked for it.
        It ranks 2 of 3 as the next choice: its upper bound, 1.26, is below 4.14, that of 1.
        """
        run_state = self._run_state
        rows = run_state.points.find(id)
        if len(rows) != 1:
            raise ArgumentError(f"explain(id) takes one id, got {len(rows)}: {id!r:.80}.")
        view, evidence = self._look("explain(id, context=...)", context)
        with single_threaded_blas():
            return explained(view, evidence, int(rows[0]), run_state.records, run_state.units)

    @final
    @in_turn
    def account(self) -> str:
        """Say what is done and why, what was learned for that, and what it guarantees."""
        view, _ = self._look("", LAST)
        with single_threaded_blas():
            lines = () if view is None else view.account(self._run_state.units.outwards)
        said = "\n".join(lines) or f"No model was learned: this run is by {self._policy!r}."
        return said + self._paid_so_far()

    def _look(self, name: str, context: object) -> tuple[ModelView | None, Evidence]:
        """Return what the policy believes, None without a model, and on what evidence.

        It is kept until something changes, so that several questions in a row compute it once.
        """
        points, policy = self._run_state.points, self._policy
        given = (
            points.last if context is LAST else self._run_state.read_context(name, context, policy)
        )
        if self._seen is None or not _same(self._seen[2], given):
            evidence, state = self._run_state.evidence(context=given), self._state
            if isinstance(policy, ModelPolicy):
                view = policy.look(self._run_state.with_rows(policy, state, given), evidence)
                self._seen = view, evidence, given
            else:
                self._seen = None, evidence, given
        return self._seen[:2]

    def _beliefs(self, name: str, context: object) -> tuple[Any, Evidence]:
        """Return what is believed of points told; under a context, of their candidates there."""
        (view, evidence), points = self._look(name, context), self._run_state.points
        if isinstance(points, ContextPoints):
            assert view is not None
            return in_context(view, evidence, points)
        return view, evidence


def _same(one: Vector | None, other: Vector | None) -> bool:
    return one is other or (one is not None and other is not None and np.array_equal(one, other))
