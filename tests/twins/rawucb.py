"""Twins of RAW-UCB and RAW-UCB++."""

import math

from twins.common import History, Opened, Seen, choosable, highest
from twins.windows import confidence, every_window


def raw_ucb(
    history: History, arms: int, alpha: float, sigma: float, opened: Opened | None = None
) -> set[int]:
    """RAW-UCB: each arm once, then argmax_i min_{1<=h<=N_i} mean_i(h) + c_t(h)."""
    t = len(history) + 1

    def index(arm: Seen) -> float:
        return min(mean + confidence(t, h, alpha, sigma) for h, mean in every_window(arm.rewards))

    return highest(history, arms, index, opened)


def raw_ucb_pp(
    history: History,
    arms: int,
    alpha: float,
    sigma: float,
    beta: float = 0.0,
    opened: Opened | None = None,
) -> set[int]:
    """RAW-UCB++: as RAW-UCB, of width sqrt((2 alpha sigma^2 / h) ln(x (1 + ln x)^(beta/alpha))).

    Here x = max(1, t / (h K)), K the arms that may be chosen.
    """
    t, count = len(history) + 1, len(choosable(arms, opened))

    def width(h: int) -> float:
        x = max(1.0, t / (h * count))
        logarithm = math.log(x * math.pow(1 + math.log(x), beta / alpha))
        return math.sqrt(2 * alpha * sigma**2 / h * logarithm)

    def index(arm: Seen) -> float:
        return min(mean + width(h) for h, mean in every_window(arm.rewards))

    return highest(history, arms, index, opened)
