"""Bandits and scenarios: arms that rot, the noise on their rewards, and where they come from.

A *scenario* is a distribution over bandits plus a horizon; every run plays a fresh bandit of it.
The bandits depend on the seed and the run only, never on the policy that plays them.
"""

from rotting.arrays import FloatArray, IntArray
from rotting.bandits.arms import Arm
from rotting.bandits.noise import BERNOULLI, GAUSSIAN, NONE, Bernoulli, Gaussian, Noise, NoNoise
from rotting.bandits.random_arms import ArmDraw, DrawnArms, RandomArms
from rotting.bandits.scenario import Scenario
from rotting.bandits.world import Bandits, World, world_tables

__all__ = [
    "BERNOULLI",
    "GAUSSIAN",
    "NONE",
    "Arm",
    "ArmDraw",
    "Bandits",
    "Bernoulli",
    "DrawnArms",
    "FloatArray",
    "Gaussian",
    "IntArray",
    "NoNoise",
    "Noise",
    "RandomArms",
    "Scenario",
    "World",
    "world_tables",
]
