"""All policies, one module each, and `recommended`, which returns the one to use.

A policy is a small immutable object such as `UCB1(c=2.0)`. Make a player of it with `online` or
`audience`, or play it on a scenario with `rotting.simulate`. `POLICIES` maps the key of each
policy, its name on the command line, to its class; defining a `Policy` subclass adds it there.

>>> from rotting import policies
>>> sorted(policies.POLICIES)[:3]
['capped', 'ccto', 'cellucb']
>>> player = policies.recommended(sigma=0.5).online(["red", "blue"], compiled=False)
>>> player.select().arm
'red'
"""

from rotting.kernel.verbs import Verbs
from rotting.policies._base import POLICIES, Policy
from rotting.policies._capped import Capped
from rotting.policies._ccto import CCTO
from rotting.policies._cellucb import CellUCB
from rotting.policies._cto import CTO
from rotting.policies._dcto import DCTO
from rotting.policies._dcto_ucb import DCTO_UCB
from rotting.policies._dts import DTS
from rotting.policies._ducb import DUCB
from rotting.policies._eff_fewa import EFFFEWA
from rotting.policies._eff_rawucb import EFFRAWUCB
from rotting.policies._exp3s import EXP3S
from rotting.policies._fatigue import Fatigue
from rotting.policies._fewa import FEWA
from rotting.policies._glr_ucb import GLRUCB
from rotting.policies._greedy import GreedyLast
from rotting.policies._guarded import Guarded
from rotting.policies._lcto import LCTO
from rotting.policies._ldcto import LDCTO
from rotting.policies._mixture import Mixture
from rotting.policies._oracle import Oracle
from rotting.policies._per_key import PerKey
from rotting.policies._posterior import Posterior
from rotting.policies._rawucb import RAWUCB, RAWUCBPP
from rotting.policies._recommend import recommended
from rotting.policies._round_robin import RoundRobin
from rotting.policies._steady import SteadyUCB
from rotting.policies._swa import SWA
from rotting.policies._swts import SWTS
from rotting.policies._swucb import SWUCB
from rotting.policies._thompson import Thompson
from rotting.policies._ucb1 import UCB1
from rotting.policies._uniform import Uniform
from rotting.policies._wswa import WSWA

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
