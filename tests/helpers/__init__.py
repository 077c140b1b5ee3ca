"""What several tests share; nothing in here is collected as a test."""
