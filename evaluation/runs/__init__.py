"""Runs: made, stored, published and read back."""
