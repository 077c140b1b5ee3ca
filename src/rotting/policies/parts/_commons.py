"""What arms have in common: how high their levels are, which shapes occur, how rewards scatter.

Empirical Bayes: each arm's prior is what is thought of the others, and a little of our own.
"""

from __future__ import annotations

from typing import Any

from rotting.kernel.compilable import shared
from rotting.policies.parts._curves import LEVEL, Library

_ARMS = 2.0  # the prior of the kinds counts as much as so many arms,
_SHAPES = 4.0  # and that of the shapes within a kind as so many
_LEAST = 1e-9  # of the variance of levels, in variances of a reward
_ZERO = 1e-290  # a variance below is lost to rounding
_ROUNDING = 1e-12  # of the variance of a reward, in mean squares of rewards

# places among the numbers
LEVELS, BETWEEN, NOISE = 0, 1, 2  # mean and variance of the arms' levels, variance of a reward
REWARDS, AVERAGE, SCATTER = 3, 4, 5  # of all rewards: how many, their mean, squares about it
WITHIN, FREEDOM = 6, 7  # squares about the cells' means, and how many
NUMBERS = 8


@shared
def note_scatter(variance: Any, state: Any, arm: Any, cell: Any, reward: Any) -> None:
    """The scatter of rewards about the means of their cells, unless it is known."""
    numbers, count = state.numbers, state.cells.count[arm, cell]
    numbers[REWARDS] += 1.0
    off = reward - numbers[AVERAGE]
    numbers[AVERAGE] += off / numbers[REWARDS]
    numbers[SCATTER] += off * (reward - numbers[AVERAGE])
    if count > 0:
        off = reward - state.cells.total[arm, cell] / count
        numbers[WITHIN] += off * off * count / (count + 1.0)
        numbers[FREEDOM] += 1.0
    noise = variance
    if variance == 0.0 and numbers[REWARDS] > 1.0:
        scatter = numbers[SCATTER] / (numbers[REWARDS] - 1.0)
        noise = (numbers[WITHIN] + scatter) / (numbers[FREEDOM] + 1.0)
    if variance > 0.0 or numbers[REWARDS] > 1.0:
        square = numbers[AVERAGE] * numbers[AVERAGE] + numbers[SCATTER] / numbers[REWARDS]
        noise = max(noise, _ROUNDING * square)  # rewards may all be equal,
        numbers[NOISE] = noise if noise > _ZERO else 1.0  # or zero


@shared
def learn_levels(library: Library, state: Any) -> None:
    """What the arms' levels have in common."""
    numbers, worth, arms = state.numbers, state.worth, state.total.size
    if not library.gaussian:
        rate = LEVEL / numbers[LEVELS]
        clicks, shown = 0.0, 0.0
        for i in range(arms):  # as if one click in two showings had been seen beforehand
            clicks += (state.total[i] + 1.0 / arms) / (worth[i, 0] + rate)
            shown += (worth[i, 0] + 2.0 / arms) / (worth[i, 0] + rate)
        numbers[LEVELS] = clicks / shown
        return
    sums, known = 0.0, 0.0
    for i in range(arms):
        sums += worth[i, 1]
        known += worth[i, 0]
    if known <= 0.5:
        mean = numbers[AVERAGE]
        scatter = numbers[NOISE]
        if numbers[REWARDS] >= 2.0:
            scatter = numbers[SCATTER] / (numbers[REWARDS] - 1.0)
        numbers[LEVELS] = mean
        numbers[BETWEEN] = max(mean * mean + scatter, _LEAST * numbers[NOISE])
        return
    mean = sums / known
    squares, count = 0.5 * mean * mean, 2.0  # two arms beforehand, half the mean apart from it
    for i in range(arms):
        if worth[i, 0] > 0.0:
            off = state.curves.level[i, 0] - mean
            squares += off * off + state.curves.level[i, 1]
            count += 1.0
    numbers[LEVELS] = mean
    numbers[BETWEEN] = max(squares / count, _LEAST * numbers[NOISE])


@shared
def learn_shapes(library: Library, kinds: Any, state: Any, arm: Any) -> None:
    """The prior of an arm's shapes: what is thought of the other arms, and a little of our own."""
    kind, prior, weight = library.kind, state.sheet.prior, state.curves.weight
    for q in range(state.kinds.size):
        state.kinds[q] = 0.0
    everybody = 0.0
    for k in range(kind.size):
        others = 0.0
        for i in range(weight.shape[0]):
            if i != arm:
                others += weight[i, k]
        prior[k] = others
        state.kinds[kind[k]] += others
        everybody += others
    for k in range(kind.size):
        own = state.kinds[kind[k]]
        share = (_ARMS * kinds[kind[k]] + own) / (_ARMS + everybody)
        prior[k] = share * (_SHAPES * library.part[k] + prior[k]) / (_SHAPES + own)
