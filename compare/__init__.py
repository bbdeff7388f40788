"""Default settings against what one would run instead, on many pools: docs/comparison.md."""
