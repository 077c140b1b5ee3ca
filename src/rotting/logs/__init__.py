"""From logs to decisions."""

from rotting.logs.diagnosis.diagnosing import diagnose
from rotting.logs.diagnosis.diagnosis import Diagnosis, Part
from rotting.logs.fits.fitted import Fit
from rotting.logs.fits.fitting import fit
from rotting.logs.log import Log, Problem
from rotting.logs.synthetic import synthetic
from rotting.logs.tables.reading import read
from rotting.logs.tapes.replay import replay
from rotting.logs.tapes.replayed import Replay

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
