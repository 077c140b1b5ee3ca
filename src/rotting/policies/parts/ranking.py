"""The arms ranked by what their next pull is worth, where only the pulled arm's worth changes.

The part decides how the best arm is found, not the policy. As long as only the leader's value has
changed and it stays above the runner-up's, the leader stays. Otherwise all arms are scanned or,
from 48 arms on, a tournament tree is updated: a node holds the better of the two arms below it, and
when an arm's value has changed, the matches above it are played again, in O(log K). Scan and tree
have one order, ties included, so that both find the same arm.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from rotting.kernel.arrays import FloatArray, IntArray
from rotting.kernel.compilable import seldom, shared
from rotting.kernel.state import Finite, Place, Values
from rotting.policies.parts.argmax import goes_before, top_two, top_two_least_pulled
from rotting.policies.parts.arms import set_open_arms
from rotting.policies.parts.openings import is_open

TREE_FROM = 48  # arms; a scan of fewer is faster
NOTHING, MANY = -1, -2  # which value has changed, unless it is that of one arm


class Ranking(NamedTuple):
    """The arms' values, and what is known about their order."""

    value: Values  # what each arm's next pull is worth, open or not
    # whose value has changed since then, apart from the leader's: one arm's, NOTHING, or MANY
    changed: Annotated[IntArray, Place("value", least=MANY)]
    leader: Annotated[IntArray, Place("value")]  # the best arm when it was last found
    rival: Annotated[FloatArray, Finite((-math.inf,))]  # the runner-up's value then
    tree: Annotated[IntArray, Place("value", least=-1)]  # node 1 is the root, the leaves come last

    def wrong(self, state: Any, params: Any, waiting: Any) -> str | None:
        """A tree in which an arm stands that did not come up from its leaf."""
        leaves = self.tree.size // 2
        if leaves == 0:
            return None
        if not np.array_equal(self.tree[leaves:], unranked(self.value.size).tree[leaves:]):
            return "tree must have the arms as its leaves"
        inner, below = self.tree[1:leaves], self.tree[2:].reshape(-1, 2)
        left, right = inner == below[:, 0], (inner == below[:, 1]) & (inner >= 0)
        if self.changed[0] != MANY and not np.all(left | right):  # else all matches are played anew
            return "tree must have in each node one of the two arms below it"
        return None

    def grown(self, larger: Ranking, state: Any) -> Ranking:
        """With more arms the leaves of the tree lie elsewhere: all matches are played anew."""
        larger.value[: self.value.size] = self.value
        return self if larger.value.size == self.value.size else larger


def unranked(arms: int) -> Ranking:
    """Nothing is known of any arm."""
    tree = np.full(1, -1, dtype=np.int64)
    if arms >= TREE_FROM:
        leaves = 1 << (arms - 1).bit_length()
        tree = np.full(2 * leaves, -1, dtype=np.int64)
        tree[leaves : leaves + arms] = np.arange(arms)
    return Ranking(
        value=np.full(arms, -math.inf),
        changed=np.full(1, MANY, dtype=np.int64),
        leader=np.zeros(1, dtype=np.int64),
        rival=np.full(1, -math.inf),
        tree=tree,
    )


@shared
def rank(ranking: Ranking, arm: Any, value: Any) -> None:
    """Note what the arm's next pull is worth now."""
    ranking.value[arm] = value
    if arm != ranking.leader[0]:  # the leader's value is always looked at
        before = ranking.changed[0]
        ranking.changed[0] = arm if before == arm or before == NOTHING else MANY


@shared
def rerank(ranking: Ranking) -> None:
    """Other arms are open than before: the order has to be found anew."""
    ranking.changed[0] = MANY


@shared
def set_open_ranked(params: Any, state: Any, flags: Any) -> None:
    """The verb `set_open` of policies with a ramp-up of one reward an arm and a `ranking`."""
    set_open_arms(state.arms, flags, 1)
    rerank(state.ranking)


@shared
def best(ranking: Ranking, opening: Any, draw: Any) -> Any:
    """The open arm whose next pull is worth most; the first of them if several."""
    if ranking.tree.size > 1:
        # `leader` stands in for the pulls, which are not read: ties go to the first
        return _winner(ranking, ranking.leader, False, opening, draw)
    leader = ranking.leader[0]
    if ranking.changed[0] == NOTHING and ranking.value[leader] > ranking.rival[0]:
        return leader
    leader = top_two(ranking.value, ranking.rival, opening)
    ranking.leader[0] = leader
    ranking.changed[0] = NOTHING
    return leader


@shared
def best_least_pulled(ranking: Ranking, pulls: Any, opening: Any, draw: Any) -> Any:
    """The open arm whose next pull is worth most; ties by least pulls, and then at random."""
    if ranking.tree.size > 1:
        return _winner(ranking, pulls, True, opening, draw)
    leader = ranking.leader[0]
    if ranking.changed[0] == NOTHING and ranking.value[leader] > ranking.rival[0]:
        return leader
    leader = top_two_least_pulled(ranking.value, pulls, ranking.rival, opening, draw)
    ranking.leader[0] = leader
    ranking.changed[0] = NOTHING
    return leader


@shared
def _match(
    value: Any, pulls: Any, least_pulled: Any, opening: Any, a: Any, b: Any, draw: Any
) -> Any:
    """The better of two arms, a being left of b; an open arm is better than a closed one."""
    if b < 0 or not is_open(opening, b):
        return a
    if not is_open(opening, a):
        return b
    if value[a] == value[b]:
        if least_pulled and goes_before(pulls, b, a, draw):
            return b
        return a
    return a if value[a] > value[b] else b


@shared
@seldom
def _winner(ranking: Ranking, pulls: Any, least_pulled: Any, opening: Any, draw: Any) -> Any:
    """The arm at the root of the tree, once its matches are up to date."""
    tree = ranking.tree
    leaves = tree.size // 2
    changed = ranking.changed[0]
    arm = ranking.leader[0]  # the matches above it are played again, or all of them
    while True:
        node = leaves - 1 if changed == MANY else (leaves + arm) // 2
        while node >= 1:
            a, b = tree[2 * node], tree[2 * node + 1]
            tree[node] = _match(ranking.value, pulls, least_pulled, opening, a, b, draw)
            node = node - 1 if changed == MANY else node // 2
        if changed < 0 or arm == changed:
            break
        arm = changed
    ranking.changed[0] = NOTHING
    ranking.leader[0] = tree[1]
    return tree[1]
