"""Twins of EFF-RAW-UCB and EFF-FEWA."""

import math

from twins.common import History, Opened, Seen, choosable, highest, rewards_of
from twins.fewa import expanding_filter
from twins.windows import Windows, confidence


def eff_windows(rewards: list[float], growth: float) -> Windows:
    """Return (w_j, current sum) of the windows that have one; w_0 = 1, w_{j+1} = ceil(growth w_j).

    Every active window adds each reward to its pending (sum, count). Then, from the largest to
    the smallest, a window whose count is w_j makes the pending sum its current one; the largest
    hands the completed pair to a new window j + 1; and the pending pair of window j - 1 (nothing
    for j = 0), not yet refreshed in this round, becomes its own.
    """
    lengths = [1]
    current: list[float | None] = [None]
    pending = [(0.0, 0)]
    for reward in rewards:
        pending = [(total + reward, count + 1) for total, count in pending]
        largest = len(lengths) - 1
        for j in range(largest, -1, -1):
            total, count = pending[j]
            if count != lengths[j]:
                continue
            current[j] = total
            if j == largest:
                lengths.append(math.ceil(growth * lengths[j] - 1e-9))
                current.append(None)
                pending.append((total, count))
            pending[j] = pending[j - 1] if j > 0 else (0.0, 0)
    return [(w, total) for w, total in zip(lengths, current, strict=True) if total is not None]


def eff_raw_ucb(
    history: History,
    arms: int,
    alpha: float,
    sigma: float,
    growth: float,
    opened: Opened | None = None,
) -> set[int]:
    """EFF-RAW-UCB: each arm once, then argmax_i min_j current_j / w_j + c_t(w_j)."""
    t = len(history) + 1

    def index(arm: Seen) -> float:
        windows = eff_windows(arm.rewards, growth)
        return min(total / w + confidence(t, w, alpha, sigma) for w, total in windows)

    return highest(history, arms, index, opened)


def eff_fewa(
    history: History,
    arms: int,
    alpha: float,
    sigma: float,
    growth: float,
    opened: Opened | None = None,
) -> set[int]:
    """EFF-FEWA: the expanding filter over the efficient windows, of mean current_j / w_j."""
    windows = []
    for arm in range(arms):
        sums = eff_windows(rewards_of(history, arm), growth)
        windows.append([(w, total / w) for w, total in sums])
    return expanding_filter(history, windows, alpha, sigma, choosable(arms, opened))
