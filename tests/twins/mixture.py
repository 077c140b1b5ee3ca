"""The twin of Mixture."""

import math
from functools import cache

from twins.common import TOLERANCE, Counted, History, Opened, argmax, choosable, seen_arms
from twins.sampling import Stream, gamma

FIRST = [1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49]  # the first pull number of each cell
CELLS = len(FIRST)
MISSES = 16  # of an arm, after which its weights are recomputed
FLAT, FREE = 0, CELLS  # models; those between fall once, before the cell of that number
PRIOR = [1 / 2] + [1 / 4 / (CELLS - 1)] * (CELLS - 1) + [1 / 4]

Sums = list[tuple[float, int]]  # rewards and their number, cell by cell


@cache
def cell_of(pull: int) -> int:
    """Return the cell of a pull number."""
    return sum(pull >= first for first in FIRST) - 1


def sums_of(rewards: list[float], pulls: list[int]) -> Sums:
    """Return the sum of the rewards in each cell, and how many they are."""
    found = []
    for cell in range(CELLS):
        there = [r for r, n in zip(rewards, pulls, strict=True) if cell_of(n) == cell]
        found.append((math.fsum(there), len(there)))
    return found


def together(sums: Sums) -> tuple[float, float]:
    """Return a and b of the Beta posterior of a rate that these cells share."""
    clicks, showings = sum(x for x, _ in sums), sum(n for _, n in sums)
    return 1 + clicks, 1 + showings - clicks


def segments(model: int) -> list[range]:
    """Return the cells that share a rate."""
    if model == FLAT:
        return [range(CELLS)]
    if model == FREE:
        return [range(cell, cell + 1) for cell in range(CELLS)]
    return [range(model), range(model, CELLS)]


def weights_of(sums: Sums) -> list[float]:
    """Return the posterior of the models: the prior times the Beta function of each segment."""
    logs = []
    for model, prior in enumerate(PRIOR):
        log = math.log(prior)
        for segment in segments(model):
            a, b = together([sums[cell] for cell in segment])
            log += math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
        logs.append(log)
    raw = [math.exp(log - max(logs)) for log in logs]
    return [w / sum(raw) for w in raw]


def last_weighed(rewards: list[float]) -> int:
    """Return the number of rewards that an arm's weights come from.

    They are recomputed at a reward above zero, or after 16 others.
    """
    weighed = misses = 0
    for number, reward in enumerate(rewards, start=1):
        misses += 1
        if reward > 0 or misses == MISSES:
            weighed, misses = number, 0
    return weighed


def mixture(
    history: History,
    arms: int,
    stream: Stream,
    opened: Opened | None = None,
    counted: Counted | None = None,
) -> set[int]:
    """Thompson sampling: the arms that may be chosen take their random numbers in turn.

    A uniform number draws the model by weights that may be some rewards old, then gammas the rate
    of the cell of the next pull, by all rewards. In the free model that is the least of the
    independent draws for this cell and those before. A uniform number at the boundary of two models
    allows every arm: what is drawn after it depends on the model.
    """
    scores = {}
    for arm, found, pulls, following in seen_arms(history, arms, opened, counted):
        rewards = [min(1.0, max(0.0, reward)) for reward in found]
        weighed = last_weighed(rewards)
        weights = weights_of(sums_of(rewards[:weighed], pulls[:weighed]))
        u = next(stream)[0]
        bounds = [sum(weights[:model]) for model in range(1, CELLS + 1)]
        if any(abs(u - bound) < TOLERANCE for bound in bounds):
            return set(choosable(arms, opened))
        model = sum(u >= bound for bound in bounds)
        sums = sums_of(rewards, pulls)
        cell = cell_of(following)
        rates = []
        for segment in segments(model):
            if cell in segment or (model == FREE and segment[0] < cell):
                a, b = together([sums[c] for c in segment])
                x, y = gamma(a, stream), gamma(b, stream)
                rates.append(x / (x + y))
        scores[arm] = min(rates)
    return argmax(scores)
