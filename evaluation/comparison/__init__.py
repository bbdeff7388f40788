"""Default settings against other methods, on many pools: docs/results/comparison.md."""
