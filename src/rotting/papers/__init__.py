"""Papers: one module each, with its scenarios, its policies, its tables and figures."""

from rotting.papers import levine2017

__all__ = ["levine2017"]
