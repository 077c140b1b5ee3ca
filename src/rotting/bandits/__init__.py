"""Bandits and scenarios: arms that rot, the noise on their rewards, and how they are drawn.

A *scenario* is a distribution over bandits plus a horizon; every run plays a bandit drawn from it.
The bandits depend on the seed and the run only, never on the policy that plays them.
"""

from rotting.bandits._arms import Arm
from rotting.bandits._audience import Audience, HalfLife, Window
from rotting.bandits._noise import BERNOULLI as BERNOULLI
from rotting.bandits._noise import GAUSSIAN as GAUSSIAN
from rotting.bandits._noise import NONE as NONE
from rotting.bandits._noise import Bernoulli, Gaussian, NoNoise
from rotting.bandits._noise import Noise as Noise
from rotting.bandits._openings import Opening
from rotting.bandits._random_arms import ArmDraw, DrawnArms, RandomArms
from rotting.bandits._scenario import Scenario
from rotting.bandits._world import Bandits, World, world_tables
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
