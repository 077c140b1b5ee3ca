"""A tournament tree over the arms: the best of many in O(log K), where few indices change.

For policies in which only the pulled arm's index changes. A node holds the better of the two arms
below it; when an arm's index has changed, the nodes above it are played again. The order is the
one of a plain scan over all arms, ties included, so both choose the same arm: the tree is used from
48 arms on, below which a scan is faster.

A change is noted in `update`, and the tree mended in `select`, which has the draw that breaks ties.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rotting.compilable import shared
from rotting.policies.base import IntArray
from rotting.policies.parts.ranking import goes_before, next_untried

FROM = 48  # arms
NOTHING, MANY = -1, -2  # what has changed, unless it is one arm


def empty_tree(arms: int) -> IntArray:
    """The winners: node 1 is the root, the leaves come last; -1 where there is no arm."""
    if arms < FROM:
        return np.full(1, -1, dtype=np.int64)
    leaves = 1 << (arms - 1).bit_length()
    tree = np.full(2 * leaves, -1, dtype=np.int64)
    tree[leaves : leaves + arms] = np.arange(arms)
    return tree


def all_changed() -> IntArray:
    """To begin with, nothing has been played."""
    return np.full(1, MANY, dtype=np.int64)


@shared
def note_change(changed: Any, arm: Any) -> None:
    """An arm's index has changed, or is about to."""
    if changed[0] == NOTHING or changed[0] == arm:
        changed[0] = arm
    else:
        changed[0] = MANY


@shared
def _match(a: Any, b: Any, index: Any, pulls: Any, least_pulled: Any, draw: Any) -> Any:
    """The better of two arms, a being left of b."""
    if b < 0:
        return a
    if index[a] == index[b]:
        if least_pulled and goes_before(pulls, b, a, draw):
            return b
        return a
    return a if index[a] > index[b] else b


@shared
def winner(tree: Any, changed: Any, index: Any, pulls: Any, least_pulled: Any, draw: Any) -> Any:
    """The arm with the highest index; ties to the first, or by least pulls and then at random."""
    leaves = tree.size // 2
    if changed[0] == MANY:
        for node in range(leaves - 1, 0, -1):
            tree[node] = _match(
                tree[2 * node], tree[2 * node + 1], index, pulls, least_pulled, draw
            )
    elif changed[0] >= 0:
        node = (leaves + changed[0]) // 2
        while node >= 1:
            tree[node] = _match(
                tree[2 * node], tree[2 * node + 1], index, pulls, least_pulled, draw
            )
            node //= 2
    changed[0] = NOTHING
    return tree[1]


@shared
def untried(pulls: Any, observed: Any, waiting: Any) -> Any:
    """`next_untried` for one reward an arm, without a scan while rewards are prompt.

    Arms are tried in order. With `waiting` arms without a reward, arm K - waiting is the first
    that was never pulled, if it was not; else rewards are late, and all arms are looked at.
    """
    arm = pulls.size - waiting
    if pulls[arm] == 0:
        return arm
    return next_untried(pulls, observed, 1)
