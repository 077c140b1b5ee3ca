"""The policies: one module each, found by name.

`POLICIES` maps the key of each policy to its class; defining a `Policy` subclass adds it there.
"""

from rotting.online.player import Decision, Player
from rotting.policies.base import POLICIES, Policy, Verbs
from rotting.policies.ccto import CCTO
from rotting.policies.cto import CTO
from rotting.policies.dcto import DCTO
from rotting.policies.dcto_ucb import DCTO_UCB
from rotting.policies.ducb import DUCB
from rotting.policies.eff import EFFFEWA, EFFRAWUCB
from rotting.policies.exp3s import EXP3S
from rotting.policies.fewa import FEWA
from rotting.policies.glr import GLRUCB
from rotting.policies.greedy import GreedyLast
from rotting.policies.guarded import Guarded
from rotting.policies.lcto import LCTO, LDCTO
from rotting.policies.oracle import Oracle
from rotting.policies.posterior import Posterior
from rotting.policies.rawucb import RAWUCB, RAWUCBPP
from rotting.policies.recommend import recommended
from rotting.policies.simple import RoundRobin, Uniform
from rotting.policies.steady import SteadyUCB
from rotting.policies.swa import SWA
from rotting.policies.swucb import SWUCB
from rotting.policies.thompson import DTS, SWTS
from rotting.policies.ucb1 import UCB1
from rotting.policies.wswa import WSWA

__all__ = [
    "CCTO",
    "CTO",
    "DCTO",
    "DCTO_UCB",
    "DTS",
    "DUCB",
    "EFFFEWA",
    "EFFRAWUCB",
    "EXP3S",
    "FEWA",
    "GLRUCB",
    "LCTO",
    "LDCTO",
    "POLICIES",
    "RAWUCB",
    "RAWUCBPP",
    "SWA",
    "SWTS",
    "SWUCB",
    "UCB1",
    "WSWA",
    "Decision",
    "GreedyLast",
    "Guarded",
    "Oracle",
    "Player",
    "Policy",
    "Posterior",
    "RoundRobin",
    "SteadyUCB",
    "Uniform",
    "Verbs",
    "recommended",
]
