"""From logs to decisions."""

from rotting.logs.diagnosing import diagnose
from rotting.logs.diagnosis import Diagnosis, Part
from rotting.logs.log import Log, Problem
from rotting.logs.reading import read
from rotting.logs.synthetic import synthetic

__all__ = ["Diagnosis", "Log", "Part", "Problem", "diagnose", "read", "synthetic"]
