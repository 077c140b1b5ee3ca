"""The twin of UCB1."""

import math

from twins.common import History, Opened, argmax, choosable, rewards_of, unpulled


def ucb1(history: History, arms: int, c: float = 2.0, opened: Opened | None = None) -> set[int]:
    """UCB1 (section Simulations): each arm once, then argmax mean_i + sqrt(c ln t / N_i)."""
    start = unpulled(history, arms, opened)
    if start:
        return start
    t = len(history) + 1
    scores = {}
    for arm in choosable(arms, opened):
        rewards = rewards_of(history, arm)
        n = len(rewards)
        scores[arm] = sum(rewards) / n + math.sqrt(c * math.log(t) / n)
    return argmax(scores)
