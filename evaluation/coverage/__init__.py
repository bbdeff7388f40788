"""How often certificates of sparse posteriors hold: many small runs, and what their bands said.

And what a lengthscale that is guessed too long costs, where it stays and where it shrinks.

Command: `python -m evaluation.coverage [case ...] [--quick]`. Page: docs/results/coverage.md.
"""
