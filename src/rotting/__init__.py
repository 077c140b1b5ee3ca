"""Rotting bandits: choosing among options whose reward falls each time they are used."""

from rotting import bandits, models, policies, provenance
from rotting.bandits import Arm, Bernoulli, Gaussian, NoNoise, RandomArms, Scenario
from rotting.experiments import stats
from rotting.experiments.comparison import Comparison, compare
from rotting.experiments.results import Result
from rotting.experiments.simulation import simulate
from rotting.experiments.tuning import Tuning, tune
from rotting.online.decisions import Assigned, Decision, Decisions
from rotting.online.player import Player

__version__ = provenance.VERSION

__all__ = [
    "Arm",
    "Assigned",
    "Bernoulli",
    "Comparison",
    "Decision",
    "Decisions",
    "Gaussian",
    "NoNoise",
    "Player",
    "RandomArms",
    "Result",
    "Scenario",
    "Tuning",
    "bandits",
    "compare",
    "models",
    "policies",
    "simulate",
    "stats",
    "tune",
]
