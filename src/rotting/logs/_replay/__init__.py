"""Replay: offline evaluation of policies on a log."""
