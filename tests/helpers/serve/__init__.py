"""Helpers for tests of the service and its client."""
