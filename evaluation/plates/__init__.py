"""Many at a time, by default settings and by others: docs/results/plates.md."""
