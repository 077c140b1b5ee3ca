"""The twin of FEWA."""

from twins.common import TOLERANCE, History, Opened, choosable, pull_counts, rewards_of
from twins.windows import Windows, confidence, every_window


def kept(means: dict[int, float], slack: float) -> set[frozenset[int]]:
    """Every set that rounding may make of the arms with mean >= max mean - slack."""
    threshold = max(means.values()) - slack
    sure = frozenset(arm for arm, mean in means.items() if mean > threshold + TOLERANCE)
    close = [arm for arm, mean in means.items() if abs(mean - threshold) <= TOLERANCE]
    possible = [sure]
    for arm in close:
        possible += [group | {arm} for group in possible]
    return {group for group in possible if group}


def expanding_filter(
    history: History, windows: list[Windows], alpha: float, sigma: float, first: list[int]
) -> set[int]:
    """Filter of FEWA over window indices j = 0, 1, ..., from the (length, mean) of every arm.

    S starts as `first`, the arms that may be chosen. If one is left, play it; if some arms of S
    have no window j, play the least pulled of those (lowest index on ties); else keep the arms of S
    with mean_i >= max_S mean - 2 c_t(w_j) and go on to j + 1. Near ties are followed both ways.
    """
    t = len(history) + 1
    counts = pull_counts(history, len(windows))
    allowed: set[int] = set()
    groups = {frozenset(first)}
    j = 0
    while groups:
        filtered: set[frozenset[int]] = set()
        for group in groups:
            missing = [arm for arm in sorted(group) if len(windows[arm]) <= j]
            if len(group) == 1:
                allowed |= group
            elif missing:
                allowed.add(min(missing, key=counts.__getitem__))
            else:
                length = windows[min(group)][j][0]
                means = {arm: windows[arm][j][1] for arm in sorted(group)}
                filtered |= kept(means, 2 * confidence(t, length, alpha, sigma))
        groups = filtered
        j += 1
    return allowed


def fewa(
    history: History, arms: int, alpha: float, sigma: float, opened: Opened | None = None
) -> set[int]:
    """FEWA: the expanding filter over the windows h = 1, 2, ... of the last h rewards."""
    windows = [every_window(rewards_of(history, arm)) for arm in range(arms)]
    return expanding_filter(history, windows, alpha, sigma, choosable(arms, opened))
