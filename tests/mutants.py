"""Plant errors one at a time; each must be caught by the test named with it.

Run by `make mutants`. A test suite that lets a known slip of the papers pass is worth nothing, so
every slip of the papers is planted here among others.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
RATIOS = "tests/properties/test_ratios.py::"
TWINS = "tests/integration/test_twins.py::"
EXACT = "tests/posteriors/test_exact.py::"
NYSTROM = "tests/posteriors/test_nystrom.py::"
SEARCH = "tests/search/test_enumeration.py::"
CONTENDERS = "tests/search/test_pool_ranking.py::"
SURVEY = "tests/posterior_caches/test_exact_cache.py::"
STICKY = "tests/posterior_caches/test_sticky_cache.py::"
EVOLUTION = "tests/policies/test_evolution.py::"
TANIMOTO = "tests/kernels/test_tanimoto.py::"
LAZY = "tests/integration/test_lazy_is_full.py::"
FRAMES = "tests/pools/test_frames.py::"
FILES = "tests/pools/test_files.py::"
MAPPED = "tests/pools/test_mapped.py::"
WIDTHS = "tests/widths/test_theorems.py::test_widths_are_their_formulas"
TRACE = "tests/optimizer/test_trace.py::"
EXPLAINED = "tests/optimizer/test_explanation.py::"
STAYS = "tests/batching/test_repeat_rules.py::"
STOPPING = "tests/run/test_stopping.py::"
AUTO = "tests/automatic/test_auto.py::"
LESSONS = "tests/fitting/test_fitted_model.py::"
DOUBTS = "tests/automatic/test_exploration.py::"
STEPS = TWINS + "test_bbkb_is_its_pseudo_code_step_by_step"


@dataclass(frozen=True)
class Mutant:
    """One error: what it says, where it goes, and the test that must fail."""

    slip: str
    file: str
    old: str
    new: str
    test: str


MUTANTS = (
    Mutant(
        "BBKB Lemma 3 as printed: k̃ alone",
        "batching/local_bound.py",
        "share = np.maximum(model, whole) / spread",
        "share = whole / spread",
        RATIOS + "test_each_bound_is_safe_and_they_are_ordered_for_nystrom",
    ),
    Mutant(
        "the local bound by c̃ alone, which does not bound the exact ratio",
        "batching/local_bound.py",
        "share = np.maximum(model, whole) / spread",
        "share = model / spread",
        RATIOS + "test_each_bound_is_safe_and_they_are_ordered_for_nystrom",
    ),
    Mutant(
        "local sums count a choice again that a row has seen",
        "batching/local_bound.py",
        "np.add.at(w[at], place[since:], self.counts[levels[0] + since :])",
        "np.add.at(w[at], place, self.counts[levels[0] :])",
        RATIOS + "test_each_bound_is_safe_and_they_are_ordered_for_nystrom",
    ),
    Mutant(
        "the local bound is not tested at the switch from global",
        "batching/ratio_rules.py",
        "over = bound > limit and fill.local.exceed(limit, bound)",
        "over = fill.bound > limit and fill.local.exceed(limit, bound)",
        RATIOS + "test_the_local_rule_is_its_bound_checked_at_every_step",
    ),
    Mutant(
        "local rows are not looked at again as the batch grows",
        "batching/local_bound.py",
        "self.slack[doubtful] = bounds - g",
        "self.slack[doubtful] = bounds - 2 * g",
        RATIOS + "test_the_local_rule_is_its_bound_checked_at_every_step",
    ),
    Mutant(
        "the largest eigenvalue forgets how often a choice was taken",
        "batching/local_bound.py",
        "K = np.sqrt(w)[:, None] * self.among * np.sqrt(w)",
        "K = self.among",
        RATIOS + "test_the_chosen_alone_bound_every_candidate",
    ),
    Mutant(
        "the local bound is taken as passed where it need not be",
        "batching/local_bound.py",
        "sums = self.among[known] ** 2 @ w",
        "sums = np.abs(self.among[known]) @ w * np.diag(self.among).max()",
        RATIOS + "test_the_chosen_alone_bound_every_candidate",
    ),
    Mutant(
        "MINI Eq. 4 with sums in place of averages",
        "optimizer/ledger.py",
        "return self.firsts + self.sums / self.counts",
        "return self.firsts + self.sums",
        "tests/optimizer/test_optimizer.py::test_any_history_gives_the_textbook_posterior",
    ),
    Mutant(
        "MINI Eq. 1 with an extra K before y",
        "posteriors/exact.py",
        "alpha=cholesky.solve(L, points.y),",
        "alpha=cholesky.solve(L, self.kernel(points.X, points.X) @ points.y),",
        EXACT + "test_incremental_is_refactorised",
    ),
    Mutant(
        "repeats by the scaled variance: λ forgotten",
        "batching/repeat_rules.py",
        "np.float64((self.limit - fill.bound) * fill.ridge)",
        "np.float64(self.limit - fill.bound)",
        RATIOS + "test_repeats_keep_every_variance_within_the_limit",
    ),
    Mutant(
        "repeats by C in place of C²: the limit is squared",
        "batching/repeat_rules.py",
        "np.float64((self.limit - fill.bound) * fill.ridge)",
        "np.float64((self.limit**2 - fill.bound) * fill.ridge)",
        RATIOS + "test_repeats_keep_every_variance_within_the_limit",
    ),
    Mutant(
        "repeats may be none",
        "batching/repeat_rules.py",
        "count = max(1, math.floor(min(stays, choice.room)))",
        "count = math.floor(min(stays, choice.room))",
        RATIOS + "test_repeats_keep_every_variance_within_the_limit",
    ),
    Mutant(
        "repeats of a known point are not held to what was asked for",
        "batching/repeat_rules.py",
        "math.floor(min(stays, choice.room))",
        "math.floor(min(stays, 10**6))",
        RATIOS + "test_a_known_point_is_repeated_as_often_as_asked_for",
    ),
    Mutant(
        "log det taken for the information gain, which is half of it",
        "widths/theorems.py",
        "inside = inputs.posterior.log_det + 2 * math.log(1 / self.delta)",
        "inside = inputs.posterior.log_det / 2 + 2 * math.log(1 / self.delta)",
        WIDTHS,
    ),
    Mutant(
        "BKB's mean as printed: the history is not counted",
        "posteriors/nystrom.py",
        "            solved += z @ (told.w[some] * told.y[some])",
        "            solved += z @ told.y[some]",
        NYSTROM + "test_equals_the_equations_of_bbkb",
    ),
    Mutant(
        "a member's own z not transposed",
        "posteriors/nystrom.py",
        "Z[:, members] = LS.T",
        "Z[:, members] = LS",
        NYSTROM + "test_equals_the_equations_of_bbkb",
    ),
    Mutant(
        "BKB's width as printed: log(κ²t), 0 at t = 1",
        "widths/theorems.py",
        "growth = 1 + math.log1p(self.kappa_squared * inputs.evaluations / p.ridge)",
        "growth = math.log(max(1.0, self.kappa_squared * inputs.evaluations))",
        WIDTHS,
    ),
    Mutant(
        "BBKB Theorem 1 as printed: q̄ from 8 log(4t/δ) in place of 72",
        "algorithms/papers.py",
        "p.nystrom(oversample, per_log=72 * limit, sticky",
        "p.nystrom(oversample, per_log=8 * limit, sticky",
        "tests/algorithms/test_presets.py::test_theory_takes_the_theorems_constants",
    ),
    Mutant(
        "BBKB Algorithm 1 as printed: a start before the dictionary holds it",
        "posteriors/dictionary.py",
        "    if drawn.size or not len(probabilities):",
        "    if True:",
        NYSTROM + "test_an_empty_draw_keeps_the_most_probable_point",
    ),
    Mutant(
        "BBKB Algorithm 1 as printed: x₁ is selected twice",
        "policies/starts.py",
        "        return evidence.points.sample(evidence.excluded, 0 if begun else 1, rng)",
        "        one = evidence.points.sample(evidence.excluded, 0 if begun else 1, rng)\n"
        "        return Picks(one.rows.repeat(2), one.X.repeat(2, axis=0))",
        STEPS,
    ),
    Mutant(
        "the choice that crosses the limit is left out",
        "policies/bandit.py",
        "            runs.add(row, count, choice.stale)\n",
        "            if runs.rows and self.batching.is_full(fill):\n"
        "                return runs.proposal(ranking, self.batching.reason, footing)\n"
        "            runs.add(row, count, choice.stale)\n",
        STEPS,
    ),
    Mutant(
        "BBKB Lemma 1 as printed: the sum starts one too early",
        "batching/base.py",
        "    bound: float = 1.0\n",
        "    bound: float = 2.0\n",
        RATIOS + "test_each_bound_is_safe_and_they_are_ordered_for_nystrom",
    ),
    Mutant(
        "minimum batch as printed: 1/P in place of (limit − 1)/P",
        "batching/base.py",
        "return (self.limit - 1) / batch",
        "return 1 / batch",
        "tests/policies/test_starts.py::test_uncertainty_sampling_ends_when_batches_hold_enough",
    ),
    Mutant(
        "minimum batch for Nyström without its factor 3",
        "algorithms/settings.py",
        "safety = 3.0 if isinstance(prior, NystromPosterior) else 1.0",
        "safety = 1.0",
        "tests/policies/test_starts.py::test_nystrom_asks_for_three_times_as_much",
    ),
    Mutant(
        "Proposition 1 as printed: the product bounds standard deviations",
        "batching/ratio_rules.py",
        "bound = fill.bound * (1 + count * share)  # (1)",
        "bound = fill.bound * (1 + count * share) ** 0.5  # (1)",
        RATIOS + "test_each_bound_is_safe_and_they_are_ordered_for_the_exact_posterior",
    ),
    Mutant(
        "a Bernoulli draw per evaluation",
        "posteriors/dictionary.py",
        "return np.minimum(1.0, w * oversample * stale_variance / ridge)",
        "return 1 - (1 - np.minimum(1.0, oversample * stale_variance / ridge)) ** w",
        NYSTROM + "test_inclusion_probability_of_a_repeated_point",
    ),
    Mutant(
        "inclusion without today's counts",
        "posteriors/nystrom.py",
        "p = inclusion_probabilities(everyone.w, self._stale",
        "p = inclusion_probabilities(1.0 + 0 * everyone.w, self._stale",
        NYSTROM + "test_conditioning_draws_by_stale_variance_and_new_count",
    ),
    Mutant(
        "inclusion by fresh variances in place of stale ones",
        "posteriors/nystrom.py",
        "p = inclusion_probabilities(everyone.w, self._stale(everyone), self.ridge, q)",
        "p = inclusion_probabilities(\n"
        "            everyone.w, self.rebuilt(told, everyone).variance(everyone.X), self.ridge, q)",
        NYSTROM + "test_conditioning_draws_by_stale_variance_and_new_count",
    ),
    Mutant(
        "variances divided by λ, as BKB and BBKB write them",
        "posteriors/nystrom.py",
        "np.maximum(residual, 0.0) + model",
        "(np.maximum(residual, 0.0) + model) / ridge",
        NYSTROM + "test_equals_the_equations_of_bbkb",
    ),
    Mutant(
        "subset of regressors: the residual is dropped",
        "posteriors/nystrom.py",
        "np.maximum(residual, 0.0) + model",
        "0.0 * residual + model",
        NYSTROM + "test_equals_the_equations_of_bbkb",
    ),
    Mutant(
        "BBKB's width forgets its limit",
        "widths/theorems.py",
        "stretch = 1.0 if self.fresh else self.limit",
        "stretch = 1.0",
        WIDTHS,
    ),
    Mutant(
        "MINI's width carries the limit",
        "algorithms/papers.py",
        "p.exact(), acquisition, width, batching, band=band",
        "p.exact(), acquisition, limit**0.5 * width, batching, band=band",
        "tests/algorithms/test_presets.py::test_widths_carry_the_limit_only_inside_batches",
    ),
    Mutant(
        "repeats told without an ask count as separate evaluations",
        "policies/bandit.py",
        "information = information.plus(int(count) * float(variance) / ridge, times=1)",
        "information = information.plus(float(variance) / ridge, times=int(count))",
        "tests/algorithms/test_presets.py::test_history_adds_what_its_repeats_can_teach",
    ),
    Mutant(
        "expected improvement in plain numbers underflows to a tie",
        "acquisitions.py",
        "return np.log(scale) + _log_h((mean - best_mean) / scale)  # (1)",
        "return scale * np.exp(_log_h((mean - best_mean) / scale))",
        "tests/test_acquisitions.py::test_log_improvement_keeps_its_digits_far_below_the_best",
    ),
    Mutant(
        "excluded candidates are searched",
        "search/pool_ranking.py",
        "            self._bound[excluded] = -np.inf\n",
        "            pass\n",
        LAZY + "test_lazy_runs_are_full_runs",
    ),
    Mutant(
        "lazy search trusts a score that was decided before variances shrank",
        "search/pool_ranking.py",
        "        if self._active.steps:\n            now",
        "        if not self._active.steps:\n            now",
        LAZY + "test_lazy_runs_are_full_runs",
    ),
    Mutant(
        "points that are not members bring no surprise",
        "posterior_caches/sticky.py",
        "self._exact.extra = max(rest, 0.0) + ROOM * p.gain",
        "self._exact.extra = 0.0",
        STICKY + "test_bounds_hold_and_refreshed_rows_are_the_posterior",
    ),
    Mutant(
        "points that are not members shrink no variance",
        "posterior_caches/sticky.py",
        'variance = variance - np.einsum("ij,ij->i", Y, Y)',
        'variance = variance - 0 * np.einsum("ij,ij->i", Y, Y)',
        STICKY + "test_bounds_hold_and_refreshed_rows_are_the_posterior",
    ),
    Mutant(
        "a row that is behind is bounded as if it had missed nothing",
        "posterior_caches/exact.py",
        "gain = self._gain * (1 + ROOM) + self.extra - self._since[rows]",
        "gain = 0.0 * self._since[rows]",
        SURVEY + "test_bounds_hold_for_all_rows_at_every_moment",
    ),
    Mutant(
        "the gain of an update is not added up",
        "posterior_caches/exact.py",
        "        self._gain += float(posterior.gains[before:].sum())\n",
        "",
        SURVEY + "test_bounds_hold_for_all_rows_at_every_moment",
    ),
    Mutant(
        "gains by the surprise of the average over all values, old and new",
        "posteriors/exact.py",
        "surprise = average - mean",
        "surprise = told.y[j] - mean",
        EXACT + "test_incremental_is_refactorised",
    ),
    Mutant(
        "a row takes in its last update twice",
        "posterior_caches/exact.py",
        "        self._stamp[rows] = self._now\n",
        "        self._stamp[rows] = self._now - 1\n",
        SURVEY + "test_a_survey_that_follows_equals_one_made_afresh",
    ),
    Mutant(
        "a row takes in updates that it has seen, since its neighbour had not",
        "posterior_caches/exact.py",
        "            T *= np.arange(oldest, self._now) >= stamps[:, None]\n",
        "            pass\n",
        SURVEY + "test_bounds_hold_where_what_is_kept_ends_in_the_middle",
    ),
    Mutant(
        "a row keeps the time of its last look, whose gains are then counted in",
        "posterior_caches/exact.py",
        "        self._since[rows] = self._gain\n",
        "        self._since[rows] = 2 * self._gain\n",
        SURVEY + "test_bounds_hold_for_all_rows_at_every_moment",
    ),
    Mutant(
        "the tail is left out of the variance",
        "posteriors/exact.py",
        'np.einsum("ij,ij->j", V, V) + np.einsum("ij,ij->i", T, T)',
        'np.einsum("ij,ij->j", V, V)',
        EXACT + "test_incremental_is_refactorised",
    ),
    Mutant(
        "the information of an update is forgotten",
        "posteriors/exact.py",
        "            log_det += math.log1p(more * variance / self.ridge)\n",
        "",
        EXACT + "test_incremental_is_refactorised",
    ),
    Mutant(
        "a survey takes any posterior for one that goes on from the last",
        "posterior_caches/exact.py",
        "        missed = self._missed(posterior)\n",
        "        missed = 0 if self._last else None\n",
        SURVEY + "test_a_survey_starts_again_when_the_run_is_another",
    ),
    Mutant(
        "ties go to the highest row",
        "search/pool_ranking.py",
        "at = int(best[np.argmin(self._active.rows[best])])",
        "at = int(best[np.argmax(self._active.rows[best])])",
        SEARCH + "test_ties_go_to_the_lowest_row_however_rows_are_grouped",
    ),
    Mutant(
        "a candidate stays once more than it leads",
        "search/pool_ranking.py",
        "        return wrong\n",
        "        return min(wrong + 1, most)\n",
        CONTENDERS + "test_a_candidate_stays_no_longer_than_it_wins",
    ),
    Mutant(
        "rounding that was seen is not repaired",
        "search/pool_ranking.py",
        "        if off <= cache.slack and relative <= cache.relative:\n",
        "        if True:\n",
        CONTENDERS + "test_rounding_is_found_repaired_and_logged",
    ),
    Mutant(
        "minimising, the certificate keeps our sign",
        "optimizer/results.py",
        "return self.sign * values + self.offset",
        "return values + self.offset",
        "tests/optimizer/test_optimizer.py::test_minimising_mirrors_maximising",
    ),
    Mutant(
        "minimum batch by the sum where the rule is the product",
        "batching/ratio_rules.py",
        "return math.log(self.limit) / batch",
        "return (self.limit - 1) / batch",
        "tests/policies/test_starts.py::test_the_product_rule_holds_its_minimum_too",
    ),
    Mutant(
        "a refresh broken off in the middle goes on as if it were whole",
        "posterior_caches/exact.py",
        "stamps, self._stamp[rows] = self._stamp[rows], 0",
        "stamps = self._stamp[rows]; self._stamp[rows] = self._now",
        SURVEY + "test_a_survey_broken_off_starts_again",
    ),
    Mutant(
        "a survey broken off while starting again goes on as if it had",
        "posterior_caches/exact.py",
        "last, self._last = self._last, None  # broken off",
        "last, self._last = self._last, posterior  # broken off",
        SURVEY + "test_a_survey_broken_off_while_starting_again",
    ),
    Mutant(
        "MINI forgets what other workers are evaluating",
        "batching/repeat_rules.py",
        "np.float64((self.limit - fill.bound) * fill.ridge)",
        "np.float64((self.limit - 1) * fill.ridge)",
        "tests/policies/test_starts.py::test_repeats_count_what_is_open_elsewhere",
    ),
    Mutant(
        "hallucination changes nothing",
        "posteriors/nystrom.py",
        "V = self.V + (Z * counts) @ Z.T",
        "V = self.V + (0 * Z * counts) @ Z.T",
        NYSTROM + "test_hallucination_is_more_evaluations_with_the_mean_as_value",
    ),
    Mutant(
        "a saved run forgets what was told since the last batch",
        "optimizer/storage.py",
        "fields = [field.name for field in dataclasses.fields(value) if field.init]",
        "fields = [field.name for field in dataclasses.fields(value)\n"
        '                      if field.init and field.name != "asked"]',
        "tests/optimizer/test_storage.py",
    ),
    Mutant(
        "Matheron's rule without the noise of the values",
        "posteriors/exact.py",
        "        return self.solved(F + noise)",
        "        return self.solved(F)",
        "tests/search/test_function_ranking.py::test_a_few_draws_have_them_nearly",
    ),
    Mutant(
        "a sparse draw whose weights are those of a subset of regressors",
        "posteriors/nystrom.py",
        "cholesky.solve_lower(self.LS, F) - u)",
        "-u)",
        "tests/search/test_function_ranking.py::test_a_few_draws_have_them_nearly",
    ),
    Mutant(
        "a sum of kernels whose features are not made larger",
        "kernels/random_features.py",
        "        out *= np.float32(2**0.5)",
        "        out *= np.float32(1.0)",
        "tests/search/test_function_ranking.py::test_random_features_are_the_kernel_on_average",
    ),
    Mutant(
        "members of a level not weighted by their probabilities",
        "posteriors/leverage_scores.py",
        "w[u[kept]] / p[kept]",
        "w[u[kept]]",
        "tests/posteriors/test_leverage_scores.py::test_scores_are_those_of_dense_algebra_up_to_a_factor",
    ),
    Mutant(
        "the slope of a variance without that of k(x, x)",
        "search/box.py",
        "+= weight * diagonal_gradient(kernel, X)",
        "+= 0.0 * weight",
        "tests/search/test_box.py::test_gradients_are_those_of_the_score",
    ),
    Mutant(
        "the slope of a product with its own factor in place of the other",
        "kernels/algebra.py",
        "kernel_gradient(self.left, X, Z, C * b)",
        "kernel_gradient(self.left, X, Z, C * a)",
        "tests/search/test_box.py::test_a_kernel_knows_its_pull",
    ),
    Mutant(
        "slopes of other distances than the values'",
        "kernels/stationary.py",
        "        _SLOPE[self.nu](slope)\n",
        "        _MATERN[self.nu](slope)\n",
        "tests/search/test_box.py::test_a_kernel_knows_its_pull",
    ),
    Mutant(
        "starts of one glance that are close to those of the last",
        "search/box_ascent.py",
        "            for one in chosen:\n",
        "            for one in chosen[:0]:\n",
        "tests/search/test_box.py::test_starts_are_the_highest_that_are_apart",
    ),
    Mutant(
        "rounding of a difference taken for a kernel that is none",
        "posteriors/pathwise.py",
        "pivoted(C, float(posterior.kernel.diagonal(X).max(initial=0.0)))",
        "pivoted(C)",
        DOUBTS + "test_functions_are_drawn_where_nearly_all_is_known",
    ),
    Mutant(
        "points of a box held back by the leeway in place of let in",
        "search/box.py",
        "(1.0 + leeway) ** 2",
        "(1.0 - leeway) ** 2",
        "tests/search/test_box.py::test_a_point_met_is_taken_again_within_its_leeway",
    ),
    Mutant(
        "one half of an inverse in place of both",
        "fitting/marginal_likelihood.py",
        "lower + lower.T",
        "lower",
        "tests/fitting/test_marginal_likelihood.py::test_slopes_are_those_of_differences",
    ),
    Mutant(
        "points of a box that are told again are new points",
        "pools/points.py",
        "            if row is None:\n                row = self._known[key]",
        "            if True:\n                row = self._known[key + b'again']",
        "tests/search/test_box.py::test_a_point_told_again_is_the_same_point",
    ),
    Mutant(
        "values off the pool are recommended",
        "policies/base.py",
        "(rows < N) & ~self.excluded",
        "~self.excluded",
        "tests/pools/test_points.py::test_values_off_the_pool_are_believed_but_not_recommended",
    ),
    Mutant(
        "the youngest leave a population, not the oldest",
        "policies/evolution.py",
        "np.concatenate([self.members, joined])[-most:]",
        "np.concatenate([self.members, joined])[:most]",
        EVOLUTION + "test_it_is_the_papers_loop",
    ),
    Mutant(
        "a tournament is lost by the best",
        "policies/evolution.py",
        "best = drawn[told.y[drawn] == told.y[drawn].max()]",
        "best = drawn[told.y[drawn] == told.y[drawn].min()]",
        EVOLUTION + "test_it_is_the_papers_loop",
    ),
    Mutant(
        "of candidates alike the last told is recommended",
        "optimizer/results.py",
        "return int(np.argmax(np.where(allowed, mean, -np.inf)))",
        "return len(mean) - 1 - int(np.argmax(np.where(allowed, mean, -np.inf)[::-1]))",
        "tests/optimizer/test_optimizer.py::test_of_candidates_that_are_alike_the_first_told_is_recommended",
    ),
    Mutant(
        "kin remembered whoever is excluded",
        "policies/evolution.py",
        "free = not excluded.any()",
        "free = True",
        "tests/policies/test_mutations.py::test_kin_that_was_found_before_is_found_again",
    ),
    Mutant(
        "a mutation changes one group or more",
        "policies/evolution.py",
        "(differences == 1) & ~excluded",
        "(differences >= 1) & ~excluded",
        EVOLUTION + "test_it_is_the_papers_loop",
    ),
    Mutant(
        "random search forgets what is under way",
        "policies/baselines.py",
        "for points in (evidence.told, evidence.open_):",
        "for points in (evidence.told,):",
        "tests/algorithms/test_baselines.py::test_random_search_minds_what_is_open_excluded_or_failed",
    ),
    Mutant(
        "frequencies without the √2 between e^(−s²) and a standard normal",
        "kernels/quadrature_features.py",
        "waves.append(np.sqrt(2.0) / lengthscale * s)",
        "waves.append(s / lengthscale)",
        "tests/policies/test_fourier_thompson.py::test_the_error_falls_faster_than_exponentially",
    ),
    Mutant(
        "draws with the covariance of the wrong factor",
        "policies/fourier_thompson.py",
        "cholesky.solve_upper(L, np.asfortranarray(luck.T))",
        "cholesky.solve_lower(L, np.asfortranarray(luck.T))",
        "tests/policies/test_fourier_thompson.py::test_draws_have_the_posteriors_mean_and_covariance",
    ),
    Mutant(
        "weights learn a value again each time one more comes",
        "policies/fourier_thompson.py",
        "(totals - sums)[changed] / ridge",
        "totals[changed] / ridge",
        "tests/policies/test_fourier_thompson.py::test_weights_told_in_parts_are_those_of_all_evaluations",
    ),
    Mutant(
        "farthest points keep away from the last one only",
        "policies/designs.py",
        "np.minimum(part, scales.standard_squares(X, x), out=part)",
        "part[:] = scales.standard_squares(X, x)",
        "tests/policies/test_designs.py::test_designs_are_what_brute_force_finds",
    ),
    Mutant(
        "two quasi-random points take the same candidate",
        "policies/designs.py",
        "            taken[row] = True\n            yield row",
        "            yield row",
        "tests/policies/test_designs.py::test_designs_are_what_brute_force_finds",
    ),
    Mutant(
        "a design drawn anew at every step",
        "policies/designs.py",
        "return stream(evidence.seed, Purpose.START, part)",
        "return evidence.rng(Purpose.START)",
        "tests/policies/test_designs.py::test_a_design_in_parts_is_the_design",
    ),
    Mutant(
        "a byte takes 256 common bits for none",
        "kernels/tanimoto.py",
        "a.max() > 255",
        "a.max() > 1 << 20",
        TANIMOTO + "test_more_than_255_common_bits_are_counted",
    ),
    Mutant(
        "two empty fingerprints have nothing in common",
        "kernels/tanimoto.py",
        "(common + (joined == 0))",
        "common",
        TANIMOTO + "test_either_way_counts_what_sets_have_in_common",
    ),
    Mutant(
        "bits behind the last one are taken in",
        "pools/bits.py",
        "if beyond.any():",
        "if beyond.all() and beyond.size > 99:",
        "tests/pools/test_bit_pool.py::test_what_are_no_bits_is_refused",
    ),
    Mutant(
        "noise inside a kernel of scikit-learn is taken for f",
        "kernels/scikit_learn.py",
        "if isinstance(part, module.WhiteKernel):",
        "if part is None:",
        "tests/kernels/test_scikit_learn.py::test_noise_in_the_kernel_is_refused",
    ),
    Mutant(
        "what a function returns is written to",
        "kernels/custom.py",
        "np.array(self._function(X, Z), dtype=np.float64)",
        "np.asarray(self._function(X, Z), dtype=np.float64)",
        "tests/kernels/test_function_kernel.py::test_what_the_function_returns_is_not_written_to",
    ),
    Mutant(
        "one-hot blocks read as sums, not as numbers",
        "kernels/categorical.py",
        "2.0 ** np.arange(width)",
        "1.0 ** np.arange(width)",
        "tests/kernels/test_categorical.py::test_one_hot_blocks_are_their_codes",
    ),
    Mutant(
        "rows that miss something are encoded before they are left out",
        "pools/tables/scan.py",
        "part = part.filter(arrow().array(kept))",
        "keys = keys",
        FRAMES + "test_blocks_of_any_size_give_one_pool",
    ),
    Mutant(
        "rows are numbered anew where some were dropped",
        "pools/tables/scan.py",
        "if self.name is None and self.kept == self.rows:",
        "if self.name is None:",
        FRAMES + "test_dropped_rows_leave_ids_as_they_were",
    ),
    Mutant(
        "levels in the order in which they come",
        "pools/tables/scan.py",
        "tuple(sorted(self.levels))",
        "tuple(sorted(self.levels, reverse=True))",
        FRAMES + "test_categories_are_the_levels_that_occur_sorted",
    ),
    Mutant(
        "an unknown level is a row of zeros",
        "pools/tables/encoding.py",
        "if len(unknown):",
        "if len(unknown) > len(given):",
        FRAMES + "test_rows_that_do_not_fit_are_refused",
    ),
    Mutant(
        "pandas' row labels become a feature",
        "pools/tables/feature_spec.py",
        "left_out = {self.name, *(entry for entry in index if isinstance(entry, str))}",
        "left_out = {self.name, *index[:0]}",
        FRAMES + "test_pandas_row_labels_are_no_feature",
    ),
    Mutant(
        "whole numbers above 2^53 are rounded in silence",
        "pools/tables/encoding.py",
        "if abs(end) > EXACT]",
        "if abs(end) > EXACT**2]",
        FRAMES + "test_bad_frames_are_refused",
    ),
    Mutant(
        "a Parquet file is buffered whole",
        "pools/tables/sources.py",
        ", pre_buffer=False",
        ", pre_buffer=True",
        FILES + "test_memory_does_not_grow_with_the_file",
    ),
    Mutant(
        "types of a CSV file are those of its first block",
        "pools/tables/sources.py",
        "types[name] = _fitting(types[name], batch.column(name))",
        "_fitting(types[name], batch.column(name))",
        FILES + "test_types_are_settled_by_the_whole_file",
    ),
    Mutant(
        "a mapped file may hold infinities",
        "pools/mapped.py",
        "np.argwhere(~np.isfinite(X))",
        "np.argwhere(np.isnan(X))",
        MAPPED + "test_bad_arrays_are_refused",
    ),
    Mutant(
        "a mapped file is read in its own precision",
        "pools/mapped.py",
        "yield start, np.asarray(self._map[start : start + size], dtype=np.float64)",
        "yield start, np.asarray(self._map[start : start + size])",
        MAPPED + "test_it_is_the_pool_in_memory",
    ),
    Mutant(
        "the trace takes log det for the information gain",
        "optimizer/trace.py",
        "diagnostics.log_det / 2",
        "diagnostics.log_det",
        TRACE + "test_width_information_and_dictionary_are_those_of_the_choice",
    ),
    Mutant(
        "the trace counts every batch as a switch",
        "optimizer/trace.py",
        "int(rows[0] != self.last)",
        "1",
        TRACE + "test_a_repeat_across_batches_is_no_switch",
    ),
    Mutant(
        "the trace forgets the switch from one batch to the next",
        "optimizer/trace.py",
        "int(rows[0] != self.last)",
        "0",
        TRACE + "test_the_trace_is_what_a_notebook_would_say",
    ),
    Mutant(
        "a candidate is explained by itself",
        "optimizer/explanation.py",
        "np.flatnonzero(told.rows != row)",
        "np.arange(len(told))",
        EXPLAINED + "test_the_nearest_are_those_of_largest_prior_correlation",
    ),
    Mutant(
        "a rank counts excluded candidates",
        "policies/model_view.py",
        "scores = acquisition.score(mean, variance, beta, top)[~excluded]",
        "scores = acquisition.score(mean, variance, beta, top)",
        EXPLAINED + "test_the_rank_is_that_of_a_full_sort",
    ),
    Mutant(
        "a dear switch buys a stay beyond the bound",
        "batching/repeat_rules.py",
        "count, taken = self._repeat.take(fill, replace(choice, room=room))",
        "count, taken = room, replace(fill, size=room)",
        STAYS + "test_no_cost_buys_a_stay_that_the_theorem_does_not_cover",
    ),
    Mutant(
        "a stay is rounded down: a switch costs more than what it brings",
        "batching/repeat_rules.py",
        "max(1, math.ceil(cost))",
        "max(1, math.floor(cost))",
        STAYS + "test_a_stay_is_as_long_as_trying_would_make_it",
    ),
    Mutant(
        "a stay that was worth the switch goes on as another choice",
        "batching/repeat_rules.py",
        "over=taken.over or most <= choice.room",
        "over=taken.over",
        STAYS + "test_a_stay_is_as_long_as_trying_would_make_it",
    ),
    Mutant(
        "a target is a target for luck",
        "run/stopping.py",
        "surely = look.sign * best.mean - away",
        "surely = look.sign * best.mean + away",
        STOPPING + "test_a_lucky_value_does_not_end_a_run",
    ),
    Mutant(
        "a target keeps its sign, minimising",
        "run/stopping.py",
        "reached = surely >= look.sign * self.value",
        "reached = surely >= self.value",
        STOPPING + "test_minimising_mirrors_maximising",
    ),
    Mutant(
        "a mean that creeps up is an improvement",
        "run/stopping.py",
        "if mean - std > level.mean:",
        "if mean > level.mean:",
        STOPPING + "test_what_an_improvement_is",
    ),
    Mutant(
        "a certificate is made after every batch",
        "run/stopping.py",
        "if told < memory or not told:",
        "if not told:",
        STOPPING + "test_certificates_are_made_on_their_schedule",
    ),
    Mutant(
        "kernel values of another kernel are kept",
        "posterior_caches/kernel_values.py",
        "known = _alike(points, self._points) if core is self._kernel else 0",
        "known = _alike(points, self._points)",
        SURVEY + "test_a_survey_starts_again_when_the_kernel_is_another",
    ),
    Mutant(
        "rows that are far behind count as those least behind",
        "posterior_caches/kernel_values.py",
        "first = int(self._known[group].min())",
        "first = int(self._known[group].max())",
        "tests/posterior_caches/test_kernel_values.py::test_values_are_those_of_the_kernel",
    ),
    Mutant(
        "lengthscales are independent a priori",
        "fitting/map_estimate.py",
        "    gradient[2 : 2 + d] = lengths - ALIKE / (1.0 - ALIKE + d * ALIKE) * lengths.sum()\n"
        "    gradient[2 : 2 + d] /= 1.0 - ALIKE\n",
        "",
        "tests/fitting/test_map_estimate.py::test_a_dozen_values_do_not_single_out_a_feature",
    ),
    Mutant(
        "doubts that paid are as rare as before",
        "automatic/policy.py",
        "(2 if paid else 1)",
        "1",
        "tests/automatic/test_auto.py::test_doubts_that_pay_come_sooner_again",
    ),
    Mutant(
        "doubts that come together count as one",
        "automatic/policy.py",
        "state.explorations + self.settings.together(model)",
        "state.explorations + 1",
        AUTO + "test_late_doubts_come_several_at_once",
    ),
    Mutant(
        "doubts that come together wait for one",
        "automatic/settings.py",
        "slow = self.together(model) * (2.0",
        "slow = (2.0",
        AUTO + "test_late_doubts_come_several_at_once",
    ),
    Mutant(
        "a leader is given up for any that seems better",
        "automatic/exploration.py",
        "<= CLEAR * np.sqrt",
        "<= 0 * np.sqrt",
        "tests/automatic/test_exploration.py::test_a_leader_stays_until_another_is_clearly_better",
    ),
    Mutant(
        "a long upper tail widens nothing",
        "fitting/leave_one_out.py",
        "max(covered, highest, 1.0)",
        "max(covered, 1.0)",
        "tests/fitting/test_leave_one_out.py::test_a_long_upper_tail_widens_and_a_lower_one_does_not",
    ),
    Mutant(
        "what is each candidate's own has no slope",
        "fitting/kernel_families.py",
        "float(np.trace(M) - np.vdot(M, K))",
        "float(np.trace(M))",
        "tests/fitting/test_marginal_likelihood.py::test_slopes_are_those_of_differences",
    ),
    Mutant(
        "a knowledge gradient that takes noise for knowledge",
        "acquisitions.py",
        "v / np.sqrt(v + rest)",
        "np.sqrt(v)",
        "tests/test_acquisitions.py::test_a_knowledge_gradient_is_what_the_best_mean_gains",
    ),
    Mutant(
        "the ceiling of a knowledge gradient forgets that means move",
        "acquisitions.py",
        "np.sqrt(np.maximum(behind - moved, 0.0)) * np.sqrt(",
        "np.sqrt(np.maximum(behind + moved, 0.0)) * np.sqrt(",
        "tests/test_acquisitions.py::"
        "test_a_missed_update_cannot_lift_a_knowledge_gradient_past_its_ceiling",
    ),
    Mutant(
        "hope counts from above",
        "fitting/leave_one_out.py",
        "averages - self.error - mean.max()",
        "mean.max() - averages + self.error",
        "tests/fitting/test_leave_one_out.py::test_hope_is_by_how_many_were_expected_above_the_best",
    ),
    Mutant(
        "hope takes noise for what f may be",
        "fitting/leave_one_out.py",
        "np.maximum(self.std**2 - noise, LEAST * self.std**2)",
        "self.std**2",
        "tests/fitting/test_leave_one_out.py::test_choices_and_noise_do_not_spoil_hope",
    ),
    Mutant(
        "hope that nothing bears out counts in full",
        "automatic/settings.py",
        "AHEAD[self.attitude] * fitted.optimism * (",
        "AHEAD[self.attitude] * (",
        AUTO + "test_a_candidate_is_worth_what_it_gains_in_thrice_the_evaluations_and_fifty",
    ),
    Mutant(
        "what noise hides counts against hope",
        "fitting/fitted_model.py",
        "1.0 if self.is_tentative else self.optimism_found",
        "self.optimism_found",
        AUTO + "test_where_all_may_be_noise_hope_stays",
    ),
    Mutant(
        "rows that became points are not recognised",
        "posterior_caches/kernel_values.py",
        "self._is_met |= np.isin(self._hashes, new)  #",
        "pass  #",
        "tests/posterior_caches/test_kernel_values.py::test_values_are_those_of_the_kernel",
    ),
    Mutant(
        "kept values without what is each candidate's own",
        "posterior_caches/kernel_values.py",
        "            K[same] += own * np.equal.outer(self._hashes[rows[same]], self._met)\n",
        "",
        "tests/posterior_caches/test_kernel_values.py::test_values_are_those_of_the_kernel",
    ),
    Mutant(
        "every doubt is of the best known's flank",
        "automatic/exploration.py",
        "values = values[:, _promising(values.max(axis=0), float(mean.max()))]",
        "pass",
        "tests/automatic/test_exploration.py::test_a_function_that_promises_more_is_not_spent_beside_the_best",
    ),
    Mutant(
        "failures tell nothing",
        "automatic/settings.py",
        "        if len(lost):\n",
        "        if False:\n",
        AUTO + "test_where_evaluations_fail_it_stops_looking",
    ),
    Mutant(
        "a value that many share is not taken for a ceiling",
        "fitting/fitted_model.py",
        "return tied if others and tied >= max(TIED, CROWD * others) else 0",
        "return 0",
        AUTO + "test_at_a_ceiling_only_doubt_goes_on",
    ),
    Mutant(
        "a fit is only ever a step from the last",
        "fitting/fitted_model.py",
        "widely = last is None or len(averages) >= WIDER * last.searched",
        "widely = last is None",
        LESSONS + "test_other_starts_are_tried_once_points_are_many_more",
    ),
    Mutant(
        "a learned model is never doubted",
        "automatic/policy.py",
        "if idle and state.idle >= pause:",
        "if False:",
        AUTO + "test_a_model_that_is_sure_and_wrong_is_doubted",
    ),
    Mutant(
        "the learned mean is not given back",
        "automatic/policy.py",
        "return replace(outlook, centre=model.mean, floor=model.fitted.floor)",
        "return outlook",
        AUTO + "test_the_posterior_is_where_the_values_are",
    ),
    Mutant(
        "deterministic values are evaluated again",
        "automatic/policy.py",
        "rows += [evidence.told.rows, evidence.open_.rows]",
        "pass",
        AUTO + "test_a_deterministic_run_ends_when_all_is_known",
    ),
    Mutant(
        "models are learned at every batch",
        "automatic/policy.py",
        "if points < due and values < 2 * last.values and not early:",
        "if False:",
        AUTO + "test_models_are_learned_on_a_geometric_schedule",
    ),
    Mutant(
        "equal values make bounds sure",
        "automatic/reported_bounds.py",
        "std, lower, upper = std + math.inf, lower - math.inf, upper + math.inf",
        "pass",
        AUTO + "test_equal_values_leave_everything_open",
    ),
    Mutant(
        "a dictionary forgets what was measured",
        "automatic/reported_bounds.py",
        "np.full(len(told), True) if model.is_sparse else _twins(evidence)",
        "_twins(evidence)",
        "tests/test_oddities.py::test_a_dictionary_forgets_nothing_that_was_measured",
    ),
    Mutant(
        "candidates with the same features are one",
        "automatic/reported_bounds.py",
        "twins: Mask = counts[which] > 1",
        "twins: Mask = counts[which] > 2",
        "tests/test_oddities.py::test_candidates_with_the_same_features_are_two",
    ),
    Mutant(
        "what is under way counts as never met",
        "automatic/exploration.py",
        "_first_of(rows, _met(seen))",
        "_first_of(rows, seen.told.rows)",
        "tests/test_oddities.py::test_whole_numbers_are_never_evaluated_twice",
    ),
    Mutant(
        "one point far off takes the middle along",
        "fitting/kernel_families.py",
        "np.clip(U - np.median(U, axis=0), -BEYOND, BEYOND)",
        "U - U.mean(axis=0)",
        "tests/test_oddities.py::test_a_point_far_off_spoils_nothing",
    ),
    Mutant(
        "a kernel centred on whatever comes first",
        "kernels/stationary.py",
        "np.sort(Z[[0, len(Z) // 2, -1]], axis=0)[1]",
        "Z[0]",
        "tests/test_oddities.py::test_a_point_far_off_spoils_nothing",
    ),
    Mutant(
        "what is added for rounding has no slope",
        "fitting/marginal_likelihood.py",
        " + JITTER * math.exp(theta[0]) * float(np.trace(M))",
        "",
        "tests/test_oddities.py::test_slopes_count_what_rounding_needs",
    ),
    Mutant(
        "a point is known as if its noise were none",
        "posteriors/exact.py",
        "variance = r * (1.0 - r * self._inverse_diagonal())",
        "variance = r * (1.0 - self._inverse_diagonal())",
        "tests/posteriors/test_exact.py::test_what_is_known_at_points_needs_no_kernel",
    ),
    Mutant(
        "bounds of few points as if they were many",
        "fitting/fitted_model.py",
        "freedom = max(self.points - 1, 1)",
        "freedom = 1000",
        "tests/automatic/test_reported_bounds.py::test_few_points_widen_what_was_learned_from_them",
    ),
    Mutant(
        "what may be noise is taken for structure",
        "fitting/fitted_model.py",
        "return self.structure < CLEARLY",
        "return False",
        "tests/automatic/test_reported_bounds.py::test_what_may_be_noise_reaches_to_the_average",
    ),
    Mutant(
        "a constant is known as well as if averages were single values",
        "automatic/reported_bounds.py",
        "freedom = max(float(evidence.entries.sum()) - 1.0, 1.0)",
        "freedom = max(float(evidence.evaluations) - 1.0, 1.0)",
        "tests/automatic/test_reported_bounds.py::test_replicates_count_as_what_they_are",
    ),
    Mutant(
        "averages told count as replicates that agree",
        "optimizer/ledger.py",
        "np.add.at(self.entries, place, 1)",
        "np.add.at(self.entries, place, counts)",
        AUTO + "test_noise_is_learned_of_averages_too",
    ),
    Mutant(
        "a diverged run is learned from as it is",
        "fitting/fitted_model.py",
        "seen = np.maximum(averages, floor)",
        "seen = averages",
        LESSONS + "test_a_diverged_run_counts_from_a_floor_up",
    ),
    Mutant(
        "a constant's density forgets the counts",
        "fitting/marginal_likelihood.py",
        "n * (math.log(noise) + LOG_2PI) - float(np.log(w).sum())",
        "n * (math.log(noise) + LOG_2PI)",
        LESSONS + "test_the_density_of_a_constant_is_the_best_of_all_noises",
    ),
    Mutant(
        "the top is that of old bounds",
        "search/enumeration.py",
        "bound[rows] = acquisition.score(cache.mean[rows], cache.variance[rows], beta, 0.0)",
        "pass",
        DOUBTS + "test_the_top_is_that_of_all_scores",
    ),
    Mutant(
        "functions are drawn with half their spread",
        "posteriors/pathwise.py",
        "root.T @ rng.standard_normal((len(kept), size))",
        "0.5 * root.T @ rng.standard_normal((len(kept), size))",
        DOUBTS + "test_functions_drawn_have_the_posterior_s_moments",
    ),
    Mutant(
        "low values surprise too",
        "automatic/exploration.py",
        "return bool((average - mean > room).any())",
        "return bool((abs(average - mean) > room).any())",
        DOUBTS + "test_a_value_far_too_high_is_a_surprise",
    ),
    Mutant(
        "a floor keeps its sign, minimising",
        "optimizer/optimizer.py",
        "units.outwards(outlook.floor)",
        "outlook.floor",
        "tests/plot/test_plot.py::test_averages_that_count_as_a_floor_are_hollow",
    ),
    Mutant(
        "threads walk into a run together",
        "threads.py",
        "        with shared.turn:\n            return method(shared, *args, **named)",
        "        return method(shared, *args, **named)",
        "tests/optimizer/test_shared_by_threads.py::test_who_looks_waits_for_who_tells",
    ),
    Mutant(
        "neighbours below the floor are shown as if they counted",
        "optimizer/explanation.py",
        "if average < appraisal.floor else np.nan",
        "if average < -np.inf else np.nan",
        EXPLAINED + "test_neighbours_say_what_they_count_as",
    ),
    Mutant(
        "one value makes all others certain",
        "automatic/policy.py",
        "unknown = math.inf if model.fitted.is_constant else 0.0",
        "unknown = 0.0",
        EXPLAINED + "test_nothing_is_certain_while_all_values_are_the_same",
    ),
    Mutant(
        "features that never change matter",
        "automatic/account.py",
        "lengths[~family.varies] = math.inf",
        "lengths[:0] = math.inf",
        "tests/automatic/test_auto.py::test_features_that_never_change_do_not_matter",
    ),
    Mutant(
        "regret keeps its sign, minimising",
        "plot/regret_curves.py",
        'best - values if goal == "max" else values - best',
        "best - values",
        "tests/plot/test_plot.py::test_regret_is_the_distance_to_the_best",
    ),
)


def caught(mutant: Mutant) -> tuple[bool, str]:
    """Plant the error in a copy of the source and run its test."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("*.egg-info"))
        path = source / "noregret" / mutant.file
        text = path.read_text()
        if text.count(mutant.old) != 1:
            return False, f"its place is gone: {mutant.old!r} stands {text.count(mutant.old)} times"
        path.write_text(text.replace(mutant.old, mutant.new))
        run = subprocess.run(
            [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", mutant.test],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(source), "NOREGRET_CASES": "unshrunk"},
            capture_output=True,
            text=True,
        )
        last = (run.stdout.strip().splitlines() or [run.stderr.strip()[-200:]])[-1]
        return run.returncode == 1 and " failed" in last, last


def main() -> int:
    tests = sorted({mutant.test for mutant in MUTANTS})
    clean = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *tests], cwd=ROOT, capture_output=True, text=True
    )
    if clean.returncode:
        print(clean.stdout[-2000:])
        print("the tests do not pass without any planted error")
        return 1
    escaped = 0
    with ThreadPoolExecutor(2) as pool:
        for mutant, (ok, last) in zip(MUTANTS, pool.map(caught, MUTANTS), strict=True):
            escaped += not ok
            print(
                f"{'caught ' if ok else 'ESCAPED'} {mutant.slip}\n        by {mutant.test}: {last}"
            )
    print(f"{len(MUTANTS) - escaped} of {len(MUTANTS)} planted errors caught")
    return 1 if escaped else 0


if __name__ == "__main__":
    sys.exit(main())
