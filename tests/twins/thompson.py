"""Twins of sliding-window and discounted Thompson sampling."""

import math

from twins.common import History, Opened, Seen, discounted, highest


def sw_ts(
    history: History,
    arms: int,
    tau: int,
    sigma: float,
    normals: list[float],
    opened: Opened | None = None,
) -> set[int]:
    """Sliding-window Thompson sampling: argmax mean_i + sigma / sqrt(n_i) normals_i.

    On the last tau rounds only; an arm absent from them goes first (the lowest index). The arms
    that may be chosen take the normals in turn.
    """
    draws = iter(normals)

    def draw(arm: Seen) -> float:
        n = len(arm.rewards)
        return sum(arm.rewards) / n + sigma / math.sqrt(n) * next(draws)

    return highest(history[-tau:], arms, draw, opened)


def d_ts(
    history: History,
    arms: int,
    gamma: float,
    sigma: float,
    normals: list[float],
    opened: Opened | None = None,
) -> set[int]:
    """Discounted Thompson sampling: argmax mean_gamma + sigma / sqrt(N_gamma) normals_i.

    Each arm once first; round s weighs gamma^(t-1-s).
    """
    weight, total = discounted(history, arms, gamma)
    draws = iter(normals)

    def draw(arm: Seen) -> float:
        n = weight[arm.arm]
        return total[arm.arm] / n + sigma / math.sqrt(n) * next(draws)

    return highest(history, arms, draw, opened)
