"""Policies, scenarios and models by name, and experiment files."""
