"""First half minus second half of each arm's rewards, shared by the D-CTO policies (Eq. 9).

Z[arm, theta] is the sum over the first floor(N/2) observed pulls of reward - mu(pull; theta), less
the same over the rest, in the order of the pulls. A new reward changes which half one other reward
belongs to, so rewards that may still change sides are kept: a list per arm in pull order, all in
one arena. A reward leaves the arena when it is in the first half for good, that is, when every
pull before it has been observed; with prompt rewards half of them are kept.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from rotting.compilable import shared
from rotting.policies.base import FloatArray, IntArray

NOWHERE = -1


class Halves(NamedTuple):
    """The fields that a D-CTO policy's state starts with."""

    Z: FloatArray  # [arm, theta]
    residual: FloatArray  # [arm, theta]: the sum of reward - mu(pull; theta)
    observed: IntArray
    settled: IntArray  # pulls 1..settled have left the arena
    head: IntArray  # first and last of an arm's list
    tail: IntArray
    middle: IntArray  # last of the first half that is still in the list
    free: IntArray  # start of the list of unused nodes
    node_pull: IntArray
    node_reward: FloatArray
    node_next: IntArray
    node_before: IntArray


def empty_halves(arms: int, thetas: int, capacity: int) -> Halves:
    """Nothing observed; room for the rewards that so many prompt decisions leave in the arena."""
    nodes = capacity // 2 + arms + 1
    return Halves(
        Z=np.zeros((arms, thetas)),
        residual=np.zeros((arms, thetas)),
        observed=np.zeros(arms, dtype=np.int64),
        settled=np.zeros(arms, dtype=np.int64),
        head=np.full(arms, NOWHERE, dtype=np.int64),
        tail=np.full(arms, NOWHERE, dtype=np.int64),
        middle=np.full(arms, NOWHERE, dtype=np.int64),
        free=np.zeros(1, dtype=np.int64),
        node_pull=np.zeros(nodes, dtype=np.int64),
        node_reward=np.zeros(nodes),
        node_next=np.append(np.arange(1, nodes), NOWHERE).astype(np.int64),
        node_before=np.full(nodes, NOWHERE, dtype=np.int64),
    )


def grow_halves(state: Any, arms: int, capacity: int) -> Any:
    """The same with room for more: the new nodes go to the front of the unused ones."""
    old = state.node_pull.size
    larger = empty_halves(arms, state.Z.shape[1], capacity)
    if larger.node_pull.size <= old:
        return state
    for name in ("node_pull", "node_reward", "node_next", "node_before"):
        getattr(larger, name)[:old] = getattr(state, name)
    larger.node_next[-1] = state.free[0]
    return state._replace(
        free=np.full(1, old, dtype=np.int64),
        node_pull=larger.node_pull,
        node_reward=larger.node_reward,
        node_next=larger.node_next,
        node_before=larger.node_before,
    )


@shared
def _insert(state: Any, arm: Any, pull: Any, reward: Any) -> Any:
    """A new node at its place in the arm's list; at the end, if rewards come in order."""
    node = state.free[0]
    state.free[0] = state.node_next[node]
    state.node_pull[node] = pull
    state.node_reward[node] = reward
    before = state.tail[arm]
    after = -1
    while before >= 0 and state.node_pull[before] > pull:
        after = before
        before = state.node_before[before]
    state.node_before[node] = before
    state.node_next[node] = after
    if before >= 0:
        state.node_next[before] = node
    else:
        state.head[arm] = node
    if after >= 0:
        state.node_before[after] = node
    else:
        state.tail[arm] = node
    return node


@shared
def _settle(state: Any, arm: Any) -> None:
    """Free the rewards that are in the first half for good."""
    node = state.head[arm]
    while state.middle[arm] >= 0 and state.node_pull[node] == state.settled[arm] + 1:
        state.settled[arm] += 1
        after = state.node_next[node]
        if node == state.middle[arm]:
            state.middle[arm] = -1
        state.node_next[node] = state.free[0]
        state.free[0] = node
        state.head[arm] = after
        if after >= 0:
            state.node_before[after] = -1
        else:
            state.tail[arm] = -1
        node = after


@shared
def observe_halves(state: Any, arm: Any, pull: Any, reward: Any) -> Any:
    """A reward arrives: it joins its half, and at most one other changes sides.

    Returns how Z changes: the sign of the new reward's residual, then factor, pull and reward of
    the one that changes sides (factor 0 if none does).
    """
    middle = state.middle[arm]
    in_first = middle >= 0 and pull < state.node_pull[middle]
    node = _insert(state, arm, pull, reward)
    grows = state.observed[arm] % 2 == 1  # the first half is one longer for every second reward
    state.observed[arm] += 1
    mover = node
    factor = 0.0
    if in_first and not grows:
        mover = middle
        factor = -2.0
        state.middle[arm] = state.node_before[middle]
    if grows and not in_first:
        mover = state.node_next[middle] if middle >= 0 else state.head[arm]
        factor = 2.0
        state.middle[arm] = mover
    mover_pull = state.node_pull[mover]
    mover_reward = state.node_reward[mover]
    _settle(state, arm)
    return (1.0 if in_first else -1.0), factor, mover_pull, mover_reward


@shared
def detect(params: Any, state: Any, arm: Any, pull: Any, reward: Any) -> Any:
    """Take in a reward: Z and the residual sums change, and theta-hat (Eq. 10) is returned.

    Ties over theta go to the first in Theta's order.
    """
    sign, factor, mover_pull, mover_reward = observe_halves(state, arm, pull, reward)
    closest = 0
    distance = math.inf
    for k in range(params.mu.shape[1]):
        residual = reward - params.mu[pull, k]
        state.residual[arm, k] += residual
        z = state.Z[arm, k] + sign * residual + factor * (mover_reward - params.mu[mover_pull, k])
        state.Z[arm, k] = z
        if abs(z) < distance:
            distance = abs(z)
            closest = k
    return closest
