"""The twin of SWA (Algorithm 1)."""

import math

from twins.common import History, Opened, Seen, highest


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


def balance(history: History, arms: int, window: int, opened: Opened | None) -> set[int]:
    """Each arm M times, the least pulled first; then argmax of the last M rewards' mean."""

    def mean(arm: Seen) -> float:
        return sum(arm.rewards[-window:]) / window

    return highest(history, arms, mean, opened, pulls=window)


def swa(
    history: History,
    arms: int,
    horizon: int,
    alpha: float,
    sigma: float,
    opened: Opened | None = None,
) -> set[int]:
    """SWA (Algorithm 1): ramp up, which is a round robin unless arms come and go, then balance.

    K is the number of arms with which it starts.
    """
    started = arms if opened is None else len(opened.open[0])
    return balance(history, arms, swa_window(alpha, sigma, started, horizon), opened)
