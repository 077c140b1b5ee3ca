"""Twins of RAW-UCB and RAW-UCB++."""

import math

from twins.common import History, Opened, argmax, choosable, rewards_of, unpulled
from twins.windows import confidence, every_window


def raw_ucb(
    history: History, arms: int, alpha: float, sigma: float, opened: Opened | None = None
) -> set[int]:
    """RAW-UCB: each arm once, then argmax_i min_{1<=h<=N_i} mean_i(h) + c_t(h)."""
    start = unpulled(history, arms, opened)
    if start:
        return start
    t = len(history) + 1
    scores = {}
    for arm in choosable(arms, opened):
        windows = every_window(rewards_of(history, arm))
        scores[arm] = min(mean + confidence(t, h, alpha, sigma) for h, mean in windows)
    return argmax(scores)


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
    start = unpulled(history, arms, opened)
    if start:
        return start
    t = len(history) + 1
    scores = {}
    for arm in choosable(arms, opened):
        bounds = []
        for h, mean in every_window(rewards_of(history, arm)):
            x = max(1.0, t / (h * len(choosable(arms, opened))))
            logarithm = math.log(x * math.pow(1 + math.log(x), beta / alpha))
            bounds.append(mean + math.sqrt(2 * alpha * sigma**2 / h * logarithm))
        scores[arm] = min(bounds)
    return argmax(scores)
