"""From logs to decisions."""

from rotting.logs.log import Log, Problem
from rotting.logs.reading import read
from rotting.logs.synthetic import synthetic

__all__ = ["Log", "Problem", "read", "synthetic"]
