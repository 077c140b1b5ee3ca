"""The twin of discounted UCB."""

import math

from twins.common import History, Opened, argmax, choosable, unpulled


def ducb(
    history: History,
    arms: int,
    gamma: float,
    B: float = 1.0,
    xi: float = 0.5,
    opened: Opened | None = None,
) -> set[int]:
    """Discounted UCB (section Simulations): argmax mean_gamma + 2 B sqrt(xi ln n_gamma / N_gamma).

    Round s weighs gamma^(t-1-s): the most recent round has weight 1. n_gamma counts every round,
    also one of an arm that is closed now.
    """
    start = unpulled(history, arms, opened)
    if start:
        return start
    t = len(history) + 1
    weight = [0.0] * arms
    total = [0.0] * arms
    for s, (arm, reward) in enumerate(history, start=1):
        weight[arm] += gamma ** (t - 1 - s)
        total[arm] += gamma ** (t - 1 - s) * reward
    log_n = max(0.0, math.log(sum(weight)))
    scores = {}
    for arm in choosable(arms, opened):
        n = weight[arm]
        scores[arm] = total[arm] / n + 2 * B * math.sqrt(xi * log_n / n)
    return argmax(scores)
