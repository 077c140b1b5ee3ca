"""Bandits and scenarios: arms that rot, the noise on their rewards, and where they come from.

A *scenario* is a distribution over bandits plus a horizon; every run plays a fresh bandit of it.
The bandits depend on the seed and the run only, never on the policy that plays them.
"""

from rotting.bandits.arms import Arm
from rotting.bandits.audience import Audience, HalfLife, Window
from rotting.bandits.noise import BERNOULLI as BERNOULLI
from rotting.bandits.noise import GAUSSIAN as GAUSSIAN
from rotting.bandits.noise import NONE as NONE
from rotting.bandits.noise import Bernoulli, Gaussian, NoNoise
from rotting.bandits.noise import Noise as Noise
from rotting.bandits.openings import Opening
from rotting.bandits.random_arms import ArmDraw, DrawnArms, RandomArms
from rotting.bandits.scenario import Scenario
from rotting.bandits.world import Bandits, World, world_tables
from rotting.kernel.arrays import FloatArray as FloatArray
from rotting.kernel.arrays import IntArray as IntArray

__all__ = [
    "Arm",
    "ArmDraw",
    "Audience",
    "Bandits",
    "Bernoulli",
    "DrawnArms",
    "Gaussian",
    "HalfLife",
    "NoNoise",
    "Opening",
    "RandomArms",
    "Scenario",
    "Window",
    "World",
    "world_tables",
]
