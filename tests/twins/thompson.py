"""Twins of sliding-window and discounted Thompson sampling."""

import math

from twins.common import History, argmax, rewards_of, unpulled


def sw_ts(history: History, arms: int, tau: int, sigma: float, normals: list[float]) -> set[int]:
    """Sliding-window Thompson sampling: argmax mean_i + sigma / sqrt(n_i) normals_i.

    On the last tau rounds only; an arm absent from them goes first (the lowest index).
    """
    window = history[-tau:]
    start = unpulled(window, arms)
    if start:
        return start
    scores = []
    for arm in range(arms):
        rewards = rewards_of(window, arm)
        n = len(rewards)
        scores.append(sum(rewards) / n + sigma / math.sqrt(n) * normals[arm])
    return argmax(scores)


def d_ts(history: History, arms: int, gamma: float, sigma: float, normals: list[float]) -> set[int]:
    """Discounted Thompson sampling: argmax mean_gamma + sigma / sqrt(N_gamma) normals_i.

    Each arm once first; round s weighs gamma^(t-1-s).
    """
    start = unpulled(history, arms)
    if start:
        return start
    t = len(history) + 1
    weight = [0.0] * arms
    total = [0.0] * arms
    for s, (arm, reward) in enumerate(history, start=1):
        weight[arm] += gamma ** (t - 1 - s)
        total[arm] += gamma ** (t - 1 - s) * reward
    return argmax(
        [
            total[arm] / weight[arm] + sigma / math.sqrt(weight[arm]) * normals[arm]
            for arm in range(arms)
        ]
    )
