"""Experiments: simulations, comparisons, grid searches, and their results."""
