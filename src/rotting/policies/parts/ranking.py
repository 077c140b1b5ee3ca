"""Shared pieces of `select`: whose turn it is, and the argmax rules with their tie-breaks."""

from __future__ import annotations

import math
from typing import Any

from rotting import random
from rotting.compilable import on_gpu, shared

tie = random.tie


@shared
def next_untried(pulls: Any, observed: Any, need: Any) -> Any:
    """The arm to try because fewer than `need` of its rewards were observed, or -1 for none.

    It is the least pulled of those arms, the first of them if several, provided that no other arm
    has been pulled less. With immediate rewards this is the paper's ramp-up, each arm in turn.
    With late or lost rewards no arm is forgotten, and one that never answers is pulled only as
    often as the least pulled of the others.
    """
    least = pulls[0]
    for i in range(1, pulls.size):
        if pulls[i] < least:
            least = pulls[i]
    for i in range(pulls.size):
        if pulls[i] == least and observed[i] < need:
            return i
    return -1


@shared
def argmax(index: Any) -> Any:
    """The arm with the highest index; the first of them if several.

    It looks twice, for the highest index and for whose it is: where one arm leads for a while, the
    processor guesses the second and goes on, instead of waiting for all comparisons.
    """
    highest = -math.inf
    for i in range(index.size):
        if index[i] > highest:
            highest = index[i]
    for i in range(index.size):
        if index[i] == highest:
            return i
    return 0


@shared
def argmax_padded(mean: Any, width: Any, bonus: Any) -> Any:
    """The arm with the highest mean + bonus * width; the first of them if several.

    Even and odd arms are compared apart, so that one comparison need not wait for the other.
    """
    best = 0
    other = 1
    highest = -math.inf
    rival = -math.inf
    last = mean.size - 1
    for i in range(0, last, 2):
        even = mean[i] + bonus * width[i]
        odd = mean[i + 1] + bonus * width[i + 1]
        if even > highest:
            highest = even
            best = i
        if odd > rival:
            rival = odd
            other = i + 1
    if last % 2 == 0:
        even = mean[last] + bonus * width[last]
        if even > highest:
            highest = even
            best = last
    if rival > highest or (rival == highest and other < best):
        return other
    return best


@on_gpu(argmax_padded)
def argmax_padded_in_turn(mean: Any, width: Any, bonus: Any) -> Any:
    """One arm after the other: fewer numbers at hand, so that more threads find room."""
    best = 0
    highest = -math.inf
    for i in range(mean.size):
        index = mean[i] + bonus * width[i]
        if index > highest:
            highest = index
            best = i
    return best


@shared
def still_leads(index: Any, leader: Any, rival: Any) -> Any:
    """Whether the last arm chosen is still strictly better than all others.

    Where only the pulled arm's index changes, this saves the scan: `rival[0]` is the highest
    index of the others, as the scan that chose `leader[0]` found it. A policy that changes
    another arm's index sets the leader to -1.
    """
    return leader[0] >= 0 and index[leader[0]] > rival[0]


@shared
def argmax_noted(index: Any, leader: Any, rival: Any) -> Any:
    """`argmax`, with the leader and its rival noted for `still_leads`."""
    best = argmax(index)
    second = -math.inf
    for i in range(index.size):
        if index[i] > second and i != best:
            second = index[i]
    leader[0] = best
    rival[0] = second
    return best


@shared
def argmax_least_pulled(index: Any, pulls: Any, leader: Any, rival: Any, draw: Any) -> Any:
    """The arm with the highest index; ties by least pulls, and then at random.

    The random tie goes to the arm with the smallest `tie` hash of its next pull. Notes the leader
    and its rival for `still_leads`.
    """
    best = 0
    highest = index[0]
    second = -math.inf
    for i in range(1, index.size):
        if index[i] > highest:
            second = highest
            highest = index[i]
            best = i
        elif index[i] == highest:
            second = highest
            if goes_before(pulls, i, best, draw):
                best = i
        elif index[i] > second:
            second = index[i]
    leader[0] = best
    rival[0] = second
    return best


@on_gpu(argmax_least_pulled)
def argmax_without_branches(index: Any, pulls: Any, leader: Any, rival: Any, draw: Any) -> Any:
    """Carries the leader along arm by arm, whether it changes or not."""
    best = 0
    highest = index[0]
    fewest = pulls[0]
    second = -math.inf
    for i in range(1, index.size):
        x = index[i]
        n = pulls[i]
        wins = x > highest or (x == highest and n < fewest)
        if x == highest and n == fewest:
            wins = goes_before(pulls, i, best, draw)
        lower = highest if wins else x
        second = lower if lower > second else second
        highest = x if wins else highest
        fewest = n if wins else fewest
        best = i if wins else best
    leader[0] = best
    rival[0] = second
    return best


@shared
def goes_before(pulls: Any, a: Any, b: Any, draw: Any) -> Any:
    """Whether arm a wins a tie with arm b: fewer pulls, or else the smaller hash."""
    if pulls[a] == pulls[b]:
        return tie(draw, a, pulls[a] + 1) < tie(draw, b, pulls[b] + 1)
    return pulls[a] < pulls[b]
