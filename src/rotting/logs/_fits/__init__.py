"""Curves fitted to a log, and what the rest of the library makes of them."""
