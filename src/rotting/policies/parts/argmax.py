"""Scans of the open arms for the highest index, each with its rule for ties.

A branch that is predicted right costs next to nothing; a chain of comparisons, each waiting for the
one before, does not. That is why some of these are longer than they need to be. On a CPU scans
without branches were slower.
"""

from __future__ import annotations

import math
from typing import Any

from rotting.kernel import random
from rotting.kernel.compilable import on_gpu, shared
from rotting.policies.parts.openings import is_open

__all__ = [
    "argmax",
    "argmax_padded",
    "first_open",
    "goes_before",
    "top_two",
    "top_two_least_pulled",
]

tie = random.tie


@shared
def argmax(index: Any, opening: Any) -> Any:
    """The open arm with the highest index; the first of them if several.

    Two passes: the highest index, then its arm. While one arm leads, the branches of the second
    pass are predicted right, and the processor goes on before the first pass is finished.

    Args:
        index: A number for each arm.
        opening: Which arms are open: `state.arms.opening`.

    Returns:
        An arm; the first open one if all indices are minus infinity or NaN.

    >>> import numpy as np
    >>> from rotting.policies.parts.openings import AllOpen
    >>> argmax(np.array([0.1, 0.7, 0.7]), AllOpen())
    1
    """
    highest = -math.inf
    for i in range(index.size):
        if index[i] > highest and is_open(opening, i):
            highest = index[i]
    for i in range(index.size):
        if index[i] == highest and is_open(opening, i):
            return i
    return first_open(index.size, opening)


@shared
def first_open(arms: Any, opening: Any) -> Any:
    """The first open arm; the last arm if none is open.

    Args:
        arms: The number of arms.
        opening: Which arms are open.

    Returns:
        An arm.
    """
    i = 0
    while i < arms - 1 and not is_open(opening, i):
        i += 1
    return i


@shared
def argmax_padded(mean: Any, width: Any, bonus: Any, opening: Any) -> Any:
    """The open arm with the highest mean + bonus * width; the first of them if several.

    Even and odd arms are compared apart: two independent chains of comparisons run in parallel.

    Args:
        mean: A number for each arm.
        width: A number for each arm.
        bonus: The factor of the widths, for instance sqrt(2 ln t).
        opening: Which arms are open: `state.arms.opening`.

    Returns:
        An arm.

    >>> import numpy as np
    >>> from rotting.policies.parts.openings import AllOpen
    >>> argmax_padded(np.array([0.5, 0.4]), np.array([0.1, 0.4]), 2.0, AllOpen())
    1
    """
    best = first_open(mean.size, opening)
    other = mean.size
    highest = -math.inf
    second = -math.inf
    last = mean.size - 1
    for i in range(0, last, 2):
        even = mean[i] + bonus * width[i]
        odd = mean[i + 1] + bonus * width[i + 1]
        if even > highest and is_open(opening, i):
            highest = even
            best = i
        if odd > second and is_open(opening, i + 1):
            second = odd
            other = i + 1
    if last % 2 == 0:
        even = mean[last] + bonus * width[last]
        if even > highest and is_open(opening, last):
            highest = even
            best = last
    if second > highest or (second == highest and other < best):
        return other
    return best


@on_gpu(argmax_padded)
def argmax_padded_in_turn(mean: Any, width: Any, bonus: Any, opening: Any) -> Any:
    """One arm after the other: fewer registers, so that more threads are resident."""
    best = first_open(mean.size, opening)
    highest = -math.inf
    for i in range(mean.size):
        index = mean[i] + bonus * width[i]
        if index > highest and is_open(opening, i):
            highest = index
            best = i
    return best


@shared
def top_two(index: Any, runner_up: Any, opening: Any) -> Any:
    """As `argmax`, and the second highest index too.

    Args:
        index: A number for each arm.
        runner_up: An array of length one; the second highest index goes there.
        opening: Which arms are open.

    Returns:
        An arm.
    """
    highest = -math.inf
    second = -math.inf
    for i in range(index.size):
        x = index[i] if is_open(opening, i) else -math.inf
        lower = x if x < highest else highest
        if lower > second:
            second = lower
        if x > highest:
            highest = x
    runner_up[0] = second
    for i in range(index.size):
        if index[i] == highest and is_open(opening, i):
            return i
    return first_open(index.size, opening)


@shared
def top_two_least_pulled(index: Any, pulls: Any, runner_up: Any, opening: Any, draw: Any) -> Any:
    """As `top_two`, with ties by least pulls and then at random, to the smallest `tie` hash.

    Args:
        index: A number for each arm.
        pulls: The pulls of each arm.
        runner_up: An array of length one; the second highest index goes there.
        opening: Which arms are open.
        draw: The random numbers of this decision.

    Returns:
        An arm.
    """
    best = first_open(index.size, opening)
    highest = index[best]
    second = -math.inf
    for i in range(best + 1, index.size):
        if not is_open(opening, i):
            continue
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
    runner_up[0] = second
    return best


@on_gpu(top_two_least_pulled)
def top_two_without_branches(
    index: Any, pulls: Any, runner_up: Any, opening: Any, draw: Any
) -> Any:
    """Updates the best arm at every arm, whether it changes or not: no divergent warps."""
    best = first_open(index.size, opening)
    highest = index[best]
    fewest = pulls[best]
    second = -math.inf
    for i in range(best + 1, index.size):
        if not is_open(opening, i):
            continue
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
    runner_up[0] = second
    return best


@shared
def goes_before(pulls: Any, a: Any, b: Any, draw: Any) -> Any:
    """Whether arm a wins a tie with arm b: fewer pulls, or else the smaller hash.

    Args:
        pulls: The pulls of each arm.
        a: An arm.
        b: Another arm.
        draw: The random numbers of this decision.

    Returns:
        A bool.
    """
    if pulls[a] == pulls[b]:
        return tie(draw, a, pulls[a] + 1) < tie(draw, b, pulls[b] + 1)
    return pulls[a] < pulls[b]
