"""The twin of SWA (Algorithm 1)."""

import math

from twins.common import History, argmax, rewards_of
from twins.simple import round_robin


def swa_window(alpha: float, sigma: float, arms: int, horizon: int) -> int:
    """M of Algorithm 1: ceil(alpha 4^(2/3) sigma^(2/3) K^(-2/3) T^(2/3) ln^(1/3)(sqrt(2) T))."""
    return math.ceil(
        alpha
        * math.pow(4, 2 / 3)
        * math.pow(sigma, 2 / 3)
        * math.pow(arms, -2 / 3)
        * math.pow(horizon, 2 / 3)
        * math.pow(math.log(math.sqrt(2) * horizon), 1 / 3)
    )


def last_means(history: History, arms: int, window: int) -> list[float]:
    """Return the mean of each arm's last M rewards, as in the Balance step of Algorithm 1."""
    return [sum(rewards_of(history, arm)[-window:]) / window for arm in range(arms)]


def swa(history: History, arms: int, horizon: int, alpha: float, sigma: float) -> set[int]:
    """SWA (Algorithm 1): round robin for K M rounds, then argmax of the last M rewards' mean."""
    window = swa_window(alpha, sigma, arms, horizon)
    if len(history) < arms * window:
        return round_robin(history, arms)
    return argmax(last_means(history, arms, window))
