"""The twin of discounted UCB."""

import math

from twins.common import History, Opened, Seen, discounted, highest


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
    weight, total = discounted(history, arms, gamma)

    def index(arm: Seen) -> float:
        n = weight[arm.arm]
        log_n = max(0.0, math.log(sum(weight)))
        return total[arm.arm] / n + 2 * B * math.sqrt(xi * log_n / n)

    return highest(history, arms, index, opened)
