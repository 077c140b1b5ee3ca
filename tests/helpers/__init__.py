"""Helpers that several test modules share; none of them is a test."""
