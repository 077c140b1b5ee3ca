"""The twin of UCB1."""

import math

from twins.common import History, argmax, rewards_of, unpulled


def ucb1(history: History, arms: int, c: float = 2.0) -> set[int]:
    """UCB1 (section Simulations): each arm once, then argmax mean_i + sqrt(c ln t / N_i)."""
    start = unpulled(history, arms)
    if start:
        return start
    t = len(history) + 1
    scores = []
    for arm in range(arms):
        rewards = rewards_of(history, arm)
        n = len(rewards)
        scores.append(sum(rewards) / n + math.sqrt(c * math.log(t) / n))
    return argmax(scores)
