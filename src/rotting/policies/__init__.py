"""The policies: one module each, found by name.

`POLICIES` maps the key of each policy to its class; defining a `Policy` subclass adds it there.
"""

from rotting.policies.base import POLICIES, Policy, Verbs
from rotting.policies.oracle import Oracle
from rotting.policies.ucb1 import UCB1

__all__ = ["POLICIES", "UCB1", "Oracle", "Policy", "Verbs"]
