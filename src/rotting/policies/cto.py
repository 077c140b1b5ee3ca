"""CTO_SIM, Closest To Origin (Algorithm 2 of the paper): arms of a known family rot to zero."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rotting.compilable import shared
from rotting.models import Family, Plateau, Polynomial, check_positive
from rotting.policies.base import FloatArray, IntArray, Policy, Verbs
from rotting.policies.parts.nearest import nearest, nearest_of_all
from rotting.policies.parts.ranking import argmax_least_pulled, still_leads
from rotting.policies.parts.tree import all_changed, empty_tree, note_change, untried, winner


class Params(NamedTuple):
    """The family as tables [n, theta]: mu(n; theta), and the sum of mu(j; theta) over j <= n."""

    mu: FloatArray
    sums: FloatArray
    ordered: int  # see `nearest`


class State(NamedTuple):
    """Per arm: the sum of its rewards, the model it points to, and that model's next mean."""

    waiting: IntArray  # how many arms have no observed reward yet
    pulls: IntArray
    observed: IntArray
    total: FloatArray
    gaps: IntArray  # whether rewards ever came out of order
    expected: FloatArray  # [arm, theta]: the sum of mu over the observed pulls, if so
    closest: IntArray  # theta-hat, as its place in Theta
    next_mean: FloatArray  # mu(N + 1; theta-hat)
    leader: IntArray  # see `choose.still_leads`
    rival: FloatArray
    tree: IntArray  # see `rotting.policies.parts.tree`
    changed: IntArray
    unjudged: IntArray  # the arm pulled last, until its reward comes


def check_family(who: str, family: Family) -> None:
    """Refuse what is not a family of positive models (Assumption 4.1)."""
    if not isinstance(family, Family):
        raise ValueError(f"family of {who} must be a Family, as model.over([...]), got {family!r}")
    check_positive(who, family, 1)


def table_of(who: str, family: Family, reach: int) -> FloatArray:
    """mu[n, theta] for pulls up to `reach`, and one more."""
    check_positive(who, family, reach + 1)
    return family.by_pull(reach + 1)


def init(params: Params, arms: int, capacity: int) -> State:
    """Nothing pulled, nothing observed."""
    return State(
        waiting=np.full(1, arms, dtype=np.int64),
        pulls=np.zeros(arms, dtype=np.int64),
        observed=np.zeros(arms, dtype=np.int64),
        total=np.zeros(arms),
        gaps=np.zeros(arms, dtype=np.int64),
        expected=np.zeros((arms, params.mu.shape[1])),
        closest=np.zeros(arms, dtype=np.int64),
        next_mean=np.full(arms, -math.inf),
        leader=np.full(1, -1, dtype=np.int64),
        rival=np.zeros(1),
        tree=empty_tree(arms),
        changed=all_changed(),
        unjudged=np.full(1, -1, dtype=np.int64),
    )


def select(params: Params, state: State, draw: Any) -> int:
    """Ramp up: each arm once. Balance: argmax of mu(N_i + 1; theta-hat_i), ties by least pulls."""
    arm = -1
    late = state.unjudged[0]
    if late >= 0 and state.observed[late] > 0:
        # its reward has not come, but it was pulled
        state.next_mean[late] = params.mu[state.pulls[late] + 1, state.closest[late]]
    if state.waiting[0] > 0:
        arm = untried(state.pulls, state.observed, state.waiting[0])
    if arm < 0:
        if state.tree.size > 1:
            arm = winner(state.tree, state.changed, state.next_mean, state.pulls, True, draw)
        elif still_leads(state.next_mean, state.leader, state.rival):
            arm = state.leader[0]
        else:
            arm = argmax_least_pulled(state.next_mean, state.pulls, state.leader, state.rival, draw)
    state.pulls[arm] += 1
    note_change(state.changed, arm)
    state.unjudged[0] = arm
    return arm


@shared
def count_gaps(params: Any, state: Any, arm: Any, pull: Any, n: Any) -> None:
    """Keep the sums over the observed pulls explicitly, once they are not simply 1..n."""
    if state.gaps[arm] == 0:
        state.gaps[arm] = 1
        for k in range(params.mu.shape[1]):
            state.expected[arm, k] = params.sums[n - 1, k]
    for k in range(params.mu.shape[1]):
        state.expected[arm, k] += params.mu[pull, k]


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """Detect: theta-hat is the model whose expected sum is closest to the sum of the rewards."""
    n = state.observed[arm] + 1
    state.observed[arm] = n
    if n == 1:
        state.waiting[0] -= 1
    total = state.total[arm] + reward
    state.total[arm] = total
    guess = state.closest[arm]
    next_mean = params.mu[state.pulls[arm] + 1, guess]
    if pull == n and state.gaps[arm] == 0:
        closest = nearest(total, params.sums, n, guess, params.ordered)
    else:
        count_gaps(params, state, arm, pull, n)
        closest = nearest_of_all(total, state.expected, arm)
    if closest != guess:
        state.closest[arm] = closest
        next_mean = params.mu[state.pulls[arm] + 1, closest]
    state.next_mean[arm] = next_mean
    if arm == state.unjudged[0]:
        state.unjudged[0] = -1
    note_change(state.changed, arm)
    if arm != state.leader[0]:
        state.leader[0] = -1


@dataclass(frozen=True)
class CTO(Policy):
    """CTO_SIM, Algorithm 2: detect every arm's model by the sum of its rewards, then balance.

    theta-hat_i minimises |sum of rewards - sum of mu(j; theta)| over the observed pulls (Eqs. 6 and
    7; ties to the first in Theta's order); then the arm with the highest mu(N_i + 1; theta-hat_i)
    is pulled, ties by least pulls and then at random. For arms that rot to zero: no constants.
    Theorem 4.1 bounds its regret from some horizon on.

    >>> from rotting import models
    >>> family = models.Plateau(length=100).over([0.1, 0.2])
    >>> CTO(family).online(range(10), compiled=False).select().arm
    0
    """

    family: Family

    title: ClassVar[str] = "CTO"
    verbs: ClassVar[Verbs] = Verbs(Params, State, init, select, update)

    def __post_init__(self) -> None:
        check_family("CTO", self.family)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        """Tabulate the family."""
        check_positive("CTO", self.family, reach + 1)
        return Params(*self.family.rows(reach + 1))

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        """Models that differ at once, and models that coincide for a while."""
        return [
            cls(Polynomial().over([0.1, 0.25, 0.4])),
            cls(Plateau(length=20).over([0.4, 0.1, 0.2])),
        ]
