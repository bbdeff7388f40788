"""How often certificates of sparse posteriors hold: many small runs, and what their bands said.

Command: `python -m evaluation.coverage [case ...] [--quick]`. Page: docs/results/coverage.md.
"""
