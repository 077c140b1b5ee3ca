"""The policies: one module each, found by name.

`POLICIES` maps the key of each policy to its class; defining a `Policy` subclass adds it there.
"""

from rotting.kernel.verbs import Verbs
from rotting.policies.base import POLICIES, Policy
from rotting.policies.capped import Capped
from rotting.policies.ccto import CCTO
from rotting.policies.cellucb import CellUCB
from rotting.policies.cto import CTO
from rotting.policies.dcto import DCTO
from rotting.policies.dcto_ucb import DCTO_UCB
from rotting.policies.dts import DTS
from rotting.policies.ducb import DUCB
from rotting.policies.eff_fewa import EFFFEWA
from rotting.policies.eff_rawucb import EFFRAWUCB
from rotting.policies.exp3s import EXP3S
from rotting.policies.fatigue import Fatigue
from rotting.policies.fewa import FEWA
from rotting.policies.glr_ucb import GLRUCB
from rotting.policies.greedy import GreedyLast
from rotting.policies.guarded import Guarded
from rotting.policies.lcto import LCTO
from rotting.policies.ldcto import LDCTO
from rotting.policies.mixture import Mixture
from rotting.policies.oracle import Oracle
from rotting.policies.per_key import PerKey
from rotting.policies.posterior import Posterior
from rotting.policies.rawucb import RAWUCB, RAWUCBPP
from rotting.policies.recommend import recommended
from rotting.policies.round_robin import RoundRobin
from rotting.policies.steady import SteadyUCB
from rotting.policies.swa import SWA
from rotting.policies.swts import SWTS
from rotting.policies.swucb import SWUCB
from rotting.policies.thompson import Thompson
from rotting.policies.ucb1 import UCB1
from rotting.policies.uniform import Uniform
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
    "Capped",
    "CellUCB",
    "Fatigue",
    "GreedyLast",
    "Guarded",
    "Mixture",
    "Oracle",
    "PerKey",
    "Policy",
    "Posterior",
    "RoundRobin",
    "SteadyUCB",
    "Thompson",
    "Uniform",
    "Verbs",
    "recommended",
]
