"""Policies and scenarios by name, and experiments in files."""
