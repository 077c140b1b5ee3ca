"""Twins of sliding-window and discounted Thompson sampling."""

import math

from twins.common import History, Opened, argmax, choosable, rewards_of, unpulled


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
    window = history[-tau:]
    start = unpulled(window, arms, opened)
    if start:
        return start
    scores = {}
    for place, arm in enumerate(choosable(arms, opened)):
        rewards = rewards_of(window, arm)
        n = len(rewards)
        scores[arm] = sum(rewards) / n + sigma / math.sqrt(n) * normals[place]
    return argmax(scores)


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
    start = unpulled(history, arms, opened)
    if start:
        return start
    t = len(history) + 1
    weight = [0.0] * arms
    total = [0.0] * arms
    for s, (arm, reward) in enumerate(history, start=1):
        weight[arm] += gamma ** (t - 1 - s)
        total[arm] += gamma ** (t - 1 - s) * reward
    scores = {}
    for place, arm in enumerate(choosable(arms, opened)):
        scores[arm] = total[arm] / weight[arm] + sigma / math.sqrt(weight[arm]) * normals[place]
    return argmax(scores)
