"""From logs to decisions."""
