"""The library held against the papers, against other methods, and against the machine.

`papers`, `comparison`, `coverage` and `speed` are studies, each a command
(`python -m evaluation.papers`);
what they share lies in `data`, `problems`, `methods`, `runs` and `reports`.
"""
