"""From logs to decisions."""

from rotting._log_columns import Columns
from rotting.logs._diagnosis.diagnosing import diagnose
from rotting.logs._diagnosis.diagnosis import Diagnosis, Part
from rotting.logs._fits.fitted import Fit
from rotting.logs._fits.fitting import fit
from rotting.logs._log import Log, Problem
from rotting.logs._read.reader import read
from rotting.logs._replay.replay import replay
from rotting.logs._replay.result import Replay
from rotting.logs._synthetic import synthetic

__all__ = [
    "Columns",
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
