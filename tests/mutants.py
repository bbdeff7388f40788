"""Plant errors one at a time; each must be caught by the test named with it.

Run by `make mutants`. A test suite that lets a known slip of the papers pass is worth nothing, so
every slip that the design lists is planted here among others.
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
WIDTHS = "tests/test_confidence.py::test_widths_are_their_formulas"
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
        "batching.py",
        "share = np.maximum(c, k) / (stale.ridge * var)",
        "share = k / (stale.ridge * var)",
        RATIOS + "test_each_bound_is_safe_and_they_are_ordered_for_nystrom",
    ),
    Mutant(
        "the local bound by c̃ alone, which does not bound the exact ratio",
        "batching.py",
        "share = np.maximum(c, k) / (stale.ridge * var)",
        "share = c / (stale.ridge * var)",
        RATIOS + "test_each_bound_is_safe_and_they_are_ordered_for_nystrom",
    ),
    Mutant(
        "the local bound is not tested at the switch from global",
        "batching.py",
        "over = bound > self.limit and fill.local.exceed(self.limit, bound)",
        "over = fill.bound > self.limit and fill.local.exceed(self.limit, bound)",
        RATIOS + "test_the_local_rule_is_its_bound_checked_at_every_step",
    ),
    Mutant(
        "local rows are not looked at again as the batch grows",
        "batching.py",
        "self.slack[rows] = bound - g",
        "self.slack[rows] = bound - 2 * g",
        RATIOS + "test_the_local_rule_is_its_bound_checked_at_every_step",
    ),
    Mutant(
        "MINI Eq. 4 with sums in place of averages",
        "ledger.py",
        "return self.sums / self.counts",
        "return self.sums",
        "tests/test_optimizer.py::test_any_history_gives_the_textbook_posterior",
    ),
    Mutant(
        "MINI Eq. 1 with an extra K before y",
        "posteriors/exact.py",
        "alpha = cholesky.solve(L, told.y)\n",
        "alpha = cholesky.solve(L, self.kernel(told.X, told.X) @ told.y)\n",
        EXACT + "test_counts_are_repeated_rows",
    ),
    Mutant(
        "repeats by the scaled variance: λ forgotten",
        "batching.py",
        "np.float64((self.limit - fill.bound) * fill.ridge)",
        "np.float64(self.limit - fill.bound)",
        RATIOS + "test_repeats_keep_every_variance_within_the_limit",
    ),
    Mutant(
        "repeats by C in place of C²: the limit is squared",
        "batching.py",
        "np.float64((self.limit - fill.bound) * fill.ridge)",
        "np.float64((self.limit**2 - fill.bound) * fill.ridge)",
        RATIOS + "test_repeats_keep_every_variance_within_the_limit",
    ),
    Mutant(
        "repeats may be none",
        "batching.py",
        "count = max(1, math.floor(min(stays, choice.room)))",
        "count = math.floor(min(stays, choice.room))",
        RATIOS + "test_repeats_keep_every_variance_within_the_limit",
    ),
    Mutant(
        "repeats of a known point are not held to what was asked for",
        "batching.py",
        "math.floor(min(stays, choice.room))",
        "math.floor(min(stays, 10**6))",
        RATIOS + "test_a_known_point_is_repeated_as_often_as_asked_for",
    ),
    Mutant(
        "log det taken for the information gain, which is half of it",
        "confidence.py",
        "inside = standing.posterior.log_det + 2 * math.log(1 / self.delta)",
        "inside = standing.posterior.log_det / 2 + 2 * math.log(1 / self.delta)",
        WIDTHS,
    ),
    Mutant(
        "BKB's mean as printed: the history is not counted",
        "posteriors/nystrom.py",
        "theta = cholesky.solve(R, Z @ (told.w * told.y))",
        "theta = cholesky.solve(R, Z @ told.y)",
        NYSTROM + "test_equals_the_equations_of_bbkb",
    ),
    Mutant(
        "BKB's width as printed: log(κ²t), 0 at t = 1",
        "confidence.py",
        "growth = 1 + math.log1p(self.kappa_squared * standing.evaluations / p.ridge)",
        "growth = math.log(max(1.0, self.kappa_squared * standing.evaluations))",
        WIDTHS,
    ),
    Mutant(
        "BBKB Theorem 1 as printed: q̄ from 8 log(4t/δ) in place of 72",
        "algorithms.py",
        "per_log=72 * limit",
        "per_log=8 * limit",
        "tests/test_presets.py::test_theory_takes_the_theorems_constants",
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
        "starts.py",
        "return uniform_rows(evidence.excluded, 1, evidence.rng(Purpose.START))",
        "return uniform_rows(evidence.excluded, 1, evidence.rng(Purpose.START)).repeat(2)",
        STEPS,
    ),
    Mutant(
        "the choice that crosses the limit is left out",
        "bandit.py",
        "            runs.add(row, count, choice.stale)\n",
        "            if runs.rows and self.batching.is_full(fill):\n"
        "                return runs.proposal(self.batching.reason)\n"
        "            runs.add(row, count, choice.stale)\n",
        STEPS,
    ),
    Mutant(
        "BBKB Lemma 1 as printed: the sum starts one too early",
        "batching.py",
        "    bound: float = 1.0\n",
        "    bound: float = 2.0\n",
        RATIOS + "test_each_bound_is_safe_and_they_are_ordered_for_nystrom",
    ),
    Mutant(
        "minimum batch as printed: 1/P in place of (limit − 1)/P",
        "batching.py",
        "return (self.limit - 1) / batch",
        "return 1 / batch",
        "tests/test_starts.py::test_uncertainty_sampling_ends_when_batches_hold_enough",
    ),
    Mutant(
        "minimum batch for Nyström without its factor 3",
        "plans.py",
        "safety = 3.0 if isinstance(prior, NystromPosterior) else 1.0",
        "safety = 1.0",
        "tests/test_starts.py::test_nystrom_asks_for_three_times_as_much",
    ),
    Mutant(
        "Proposition 1 as printed: the product bounds standard deviations",
        "batching.py",
        "        bound = fill.bound * (1 + choice.now / fill.ridge)  # (1)\n",
        "        bound = fill.bound * (1 + choice.now / fill.ridge) ** 0.5  # (1)\n",
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
        "p = inclusion_probabilities(everyone.w, self.variance",
        "p = inclusion_probabilities(1.0 + 0 * everyone.w, self.variance",
        NYSTROM + "test_conditioning_draws_by_stale_variance_and_new_count",
    ),
    Mutant(
        "inclusion by fresh variances in place of stale ones",
        "posteriors/nystrom.py",
        "p = inclusion_probabilities(everyone.w, self.variance(everyone.X), self.ridge, q)",
        "p = inclusion_probabilities(\n"
        "            everyone.w, self.rebuilt(told, everyone).variance(everyone.X), self.ridge, q)",
        NYSTROM + "test_conditioning_draws_by_stale_variance_and_new_count",
    ),
    Mutant(
        "variances divided by λ, as BKB and BBKB write them",
        "posteriors/nystrom.py",
        "np.maximum(residual, 0.0) + self.ridge * np.einsum",
        "np.maximum(residual, 0.0) / self.ridge + np.einsum",
        NYSTROM + "test_equals_the_equations_of_bbkb",
    ),
    Mutant(
        "subset of regressors: the residual is dropped",
        "posteriors/nystrom.py",
        "np.maximum(residual, 0.0) + self.ridge * np.einsum",
        "0.0 * residual + self.ridge * np.einsum",
        NYSTROM + "test_equals_the_equations_of_bbkb",
    ),
    Mutant(
        "BBKB's width forgets its limit",
        "confidence.py",
        "stretch = 1.0 if self.fresh else self.limit",
        "stretch = 1.0",
        WIDTHS,
    ),
    Mutant(
        "MINI's width carries the limit",
        "algorithms.py",
        "p.exact(), acquisition, width, Repeat(limit), band=width",
        "p.exact(), acquisition, limit**0.5 * width, Repeat(limit), band=width",
        "tests/test_presets.py::test_widths_carry_the_limit_only_inside_batches",
    ),
    Mutant(
        "repeats told without an ask count as separate evaluations",
        "bandit.py",
        "information = information.plus(int(count) * float(variance) / ridge, times=1)",
        "information = information.plus(float(variance) / ridge, times=int(count))",
        "tests/test_presets.py::test_history_adds_what_its_repeats_can_teach",
    ),
    Mutant(
        "expected improvement in plain numbers underflows to a tie",
        "acquisitions.py",
        "return np.log(scale) + _log_h((mean - top) / scale)  # (1)",
        "return scale * np.exp(_log_h((mean - top) / scale))",
        "tests/test_acquisitions.py::test_log_improvement_keeps_its_digits_far_below_the_best",
    ),
    Mutant(
        "excluded candidates are searched",
        "search.py",
        "        self._bound[excluded] = -np.inf\n",
        "",
        "tests/test_search.py::test_lazy_search_is_full_search",
    ),
    Mutant(
        "lazy search trusts a score that was decided before variances shrank",
        "search.py",
        "if self._decided.get(row) == self._version:",
        "if self._decided.get(row) is not None:",
        "tests/test_search.py::test_lazy_search_is_full_search",
    ),
    Mutant(
        "a survey forgets how often an old point was seen before",
        "surveys.py",
        "        gained[is_old] -= old.points.w[changed[is_old]]\n",
        "",
        "tests/test_search.py::test_a_survey_that_follows_equals_one_made_afresh",
    ),
    Mutant(
        "minimising, the certificate keeps our sign",
        "answers.py",
        "return self.sign * values + self.offset",
        "return values + self.offset",
        "tests/test_optimizer.py::test_minimising_mirrors_maximising",
    ),
    Mutant(
        "minimum batch by the sum where the rule is the product",
        "batching.py",
        "return math.log(self.limit) / batch",
        "return (self.limit - 1) / batch",
        "tests/test_starts.py::test_the_product_rule_holds_its_minimum_too",
    ),
    Mutant(
        "a survey broken off in the middle goes on as if it were whole",
        "surveys.py",
        "last, self._last = self._last, None",
        "last = self._last",
        "tests/test_search.py::test_a_survey_broken_off_starts_again",
    ),
    Mutant(
        "MINI forgets what other workers are evaluating",
        "batching.py",
        "np.float64((self.limit - fill.bound) * fill.ridge)",
        "np.float64((self.limit - 1) * fill.ridge)",
        "tests/test_starts.py::test_repeats_count_what_is_open_elsewhere",
    ),
    Mutant(
        "hallucination changes nothing",
        "posteriors/nystrom.py",
        "V = self.V + count * np.outer(z, z)",
        "V = self.V + 0 * np.outer(z, z)",
        NYSTROM + "test_hallucination_is_more_evaluations_with_the_mean_as_value",
    ),
    Mutant(
        "a saved run forgets what was told since the last batch",
        "snapshot.py",
        "fields = [field.name for field in dataclasses.fields(value) if field.init]",
        "fields = [field.name for field in dataclasses.fields(value)\n"
        '                      if field.init and field.name != "asked"]',
        "tests/test_snapshot.py",
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
