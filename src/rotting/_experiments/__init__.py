"""Experiments: simulating, comparing, tuning, and the statistics of their results."""
