"""Replay: what other policies would have earned on a log."""
