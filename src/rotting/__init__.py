"""Rotting bandits: choosing among options whose reward falls each time they are used."""

__version__ = "0.1.0"

from rotting import bandits, models, policies
from rotting.bandits import Arm, Bernoulli, Gaussian, NoNoise, RandomArms, Scenario
from rotting.experiments.comparison import Comparison, compare
from rotting.experiments.results import Result
from rotting.experiments.simulation import simulate
from rotting.experiments.tuning import Tuning, tune

__all__ = [
    "Arm",
    "Bernoulli",
    "Comparison",
    "Gaussian",
    "NoNoise",
    "RandomArms",
    "Result",
    "Scenario",
    "Tuning",
    "bandits",
    "compare",
    "models",
    "policies",
    "simulate",
    "tune",
]
