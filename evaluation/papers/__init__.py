"""The papers' figures: `python -m evaluation.papers --list` names those that can be made."""
