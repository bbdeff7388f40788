"""The papers' experiments: `python -m experiments --list` names the figures that can be made."""
