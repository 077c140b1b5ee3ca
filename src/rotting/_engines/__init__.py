"""Engines: the loops that play policies, and their plain, compiled, cluster and GPU forms."""
