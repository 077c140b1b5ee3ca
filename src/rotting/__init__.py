"""Rotting bandits: choosing among options whose reward falls each time they are used."""

from rotting import bandits, models, policies, provenance
from rotting.bandits import (
    Arm,
    Audience,
    Bernoulli,
    Gaussian,
    HalfLife,
    NoNoise,
    RandomArms,
    Scenario,
    Window,
)
from rotting.experiments import stats
from rotting.experiments.comparison import Comparison, compare
from rotting.experiments.results import Result
from rotting.experiments.simulation import simulate
from rotting.experiments.tuning import Tuning, tune
from rotting.online.audience import AudiencePlayer
from rotting.online.curves import Curves
from rotting.online.decisions import (
    Assigned,
    AssignedShowing,
    Decision,
    Decisions,
    Showing,
    Showings,
)
from rotting.online.lift import Lift
from rotting.online.player import Player

__version__ = provenance.VERSION

__all__ = [
    "Arm",
    "Assigned",
    "AssignedShowing",
    "Audience",
    "AudiencePlayer",
    "Bernoulli",
    "Comparison",
    "Curves",
    "Decision",
    "Decisions",
    "Gaussian",
    "HalfLife",
    "Lift",
    "NoNoise",
    "Player",
    "RandomArms",
    "Result",
    "Scenario",
    "Showing",
    "Showings",
    "Tuning",
    "Window",
    "bandits",
    "compare",
    "models",
    "policies",
    "simulate",
    "stats",
    "tune",
]
