"""Compilation of the loops and the verbs, and the cache of compiled code."""
