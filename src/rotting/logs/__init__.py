"""From logs to decisions."""

from rotting.logs.diagnosing import diagnose
from rotting.logs.diagnosis import Diagnosis, Part
from rotting.logs.fitted import Fit
from rotting.logs.fitting import fit
from rotting.logs.log import Log, Problem
from rotting.logs.reading import read
from rotting.logs.replay import replay
from rotting.logs.replayed import Replay
from rotting.logs.synthetic import synthetic

__all__ = [
    "Diagnosis",
    "Fit",
    "Log",
    "Part",
    "Problem",
    "Replay",
    "diagnose",
    "fit",
    "read",
    "replay",
    "synthetic",
]
