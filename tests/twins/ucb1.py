"""The twin of UCB1."""

import math

from twins.common import History, Opened, Seen, highest


def ucb1(history: History, arms: int, c: float = 2.0, opened: Opened | None = None) -> set[int]:
    """UCB1 (section Simulations): each arm once, then argmax mean_i + sqrt(c ln t / N_i)."""
    t = len(history) + 1

    def index(arm: Seen) -> float:
        n = len(arm.rewards)
        return sum(arm.rewards) / n + math.sqrt(c * math.log(t) / n)

    return highest(history, arms, index, opened)
