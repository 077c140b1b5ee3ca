"""One decision and one reward of online play: written once, run as they are or compiled.

`turn` is an array of two whole numbers: how many arms there are, and the arm that was pulled last
if its reward has not come yet, else -1. A policy that keeps judgements has judged that arm's last
pull, not its next one; it is asked to judge again only if no reward comes before the next decision,
since the reward would make it judge anyway.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rotting.arrays import IntArray
from rotting.compilable import shared
from rotting.verbs import choose, pulled, rejudge, update

ARMS, LATE = 0, 1  # places in a turn
NOBODY = -1  # no arm's reward is late


def new_turn(arms: int) -> IntArray:
    """Nothing pulled yet."""
    return np.array([arms, NOBODY], dtype=np.int64)


@shared
def decide(params: Any, state: Any, draw: Any, turn: Any) -> Any:
    """Choose an arm and count its pull; an arm that does not exist is returned and not counted."""
    if turn[LATE] != NOBODY:
        rejudge(params, state, turn[LATE])
    arm = choose(params, state, draw)
    if arm >= 0 and arm < turn[ARMS]:
        pulled(params, state, arm)
        turn[LATE] = arm
    return arm


@shared
def learn(params: Any, state: Any, turn: Any, arm: Any, pull: Any, reward: Any) -> None:
    """Take in the reward of a pull."""
    update(params, state, arm, pull, reward)
    if turn[LATE] == arm:
        turn[LATE] = NOBODY
