"""Measures the library against the machine's limit, the papers and what else one would use.

`make bench` runs all of it; `python -m evaluation.speed --list` names the cases, and
`--quick --against OTHER/src` compares this source tree with another.
"""
