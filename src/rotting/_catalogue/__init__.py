"""Policies, scenarios and models by name, and experiments in files."""
