"""The arms ranked by the value of their next pull, where only the pulled arm's value changes.

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

__all__ = [
    "Ranking",
    "best",
    "best_least_pulled",
    "rank",
    "rerank",
    "set_open_ranked",
    "unranked",
]

TREE_FROM = 48  # arms; a scan of fewer is faster
NOTHING, MANY = -1, -2  # which value has changed, unless it is that of one arm


class Ranking(NamedTuple):
    """The arms' values, and a cache of their order.

    Attributes:
        value: The value of each arm's next pull, for open and closed arms; minus infinity for none.
        changed: The arm, apart from the leader, whose value has changed since the leader was found;
            NOTHING (-1) for none, MANY (-2) for several.
        leader: The best arm when it was last found.
        rival: The runner-up's value then.
        tree: The tournament: node 1 is the root, the leaves come last.

    >>> from rotting.policies.parts.arms import Arms, no_pulls
    >>> class State(NamedTuple):
    ...     arms: Arms
    ...     ranking: Ranking
    >>> state = State(no_pulls(2), unranked(2))
    >>> rank(state.ranking, 0, 0.4)
    >>> rank(state.ranking, 1, 0.7)
    >>> best(state.ranking, state.arms.opening, draw=None)
    1
    """

    value: Values
    changed: Annotated[IntArray, Place("value", least=MANY)]
    leader: Annotated[IntArray, Place("value")]
    rival: Annotated[FloatArray, Finite((-math.inf,))]
    tree: Annotated[IntArray, Place("value", least=-1)]

    def wrong(self, state: Any, params: Any, waiting: Any) -> str | None:
        """Each node of the tree must hold one of the two arms below it."""
        leaves = self.tree.size // 2
        if leaves == 0:
            return None
        if not np.array_equal(self.tree[leaves:], unranked(self.value.size).tree[leaves:]):
            return "tree must have the arms as its leaves"
        inner, below = self.tree[1:leaves], self.tree[2:].reshape(-1, 2)
        left, right = inner == below[:, 0], (inner == below[:, 1]) & (inner >= 0)
        if self.changed[0] != MANY and not np.all(left | right):  # with MANY the tree is rebuilt
            return "tree must have in each node one of the two arms below it"
        return None

    def grown(self, larger: Ranking, state: Any) -> Ranking:
        """With more arms the leaves of the tree lie elsewhere: all matches are played again."""
        larger.value[: self.value.size] = self.value
        return self if larger.value.size == self.value.size else larger


def unranked(arms: int) -> Ranking:
    """The part at its start: no arm has a value.

    Args:
        arms: The number of arms.

    Returns:
        For the field `ranking` of the state; `init` makes it.
    """
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
    """Set the value of an arm's next pull; `update` and `refresh_score` call this.

    Args:
        ranking: The part.
        arm: The arm.
        value: A float.
    """
    ranking.value[arm] = value
    if arm != ranking.leader[0]:  # the leader's value is always compared
        before = ranking.changed[0]
        ranking.changed[0] = arm if before == arm or before == NOTHING else MANY


@shared
def rerank(ranking: Ranking) -> None:
    """Find the order again at the next decision, because other arms are open.

    Args:
        ranking: The part.
    """
    ranking.changed[0] = MANY


@shared
def set_open_ranked(params: Any, state: Any, flags: Any) -> None:
    """The verb `set_open` of policies with a ramp-up of one reward an arm and a `ranking`.

    Args:
        params: Unused.
        state: A state with parts `arms` and `ranking`.
        flags: 1 for each arm that is open, 0 for the others.
    """
    set_open_arms(state.arms, flags, 1)
    rerank(state.ranking)


@shared
def best(ranking: Ranking, opening: Any, draw: Any) -> Any:
    """The open arm of highest value; the first of them if several.

    Args:
        ranking: The part.
        opening: `state.arms.opening`.
        draw: Unused, for symmetry with `best_least_pulled`.

    Returns:
        An arm.
    """
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
    """The open arm of highest value; ties by least pulls, and then at random.

    Args:
        ranking: The part.
        pulls: `state.arms.pulls`.
        opening: `state.arms.opening`.
        draw: The random numbers of this decision.

    Returns:
        An arm.
    """
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
