"""The twin of SteadyUCB."""

import itertools
import math
from fractions import Fraction

from twins.common import TOLERANCE, History, rewards_of, unpulled


class Noise:
    """What is known of sigma: squared differences, each with the epoch that it fell into."""

    def __init__(self) -> None:
        self.firsts: list[float] = []
        self.epochs: list[list[float]] = [[], []]  # the last two, d^2 / 2 each

    def squares(self) -> list[float]:
        """Those that count."""
        return [square for epoch in self.epochs for square in epoch]

    def sigma(self) -> float:
        """The root of their mean times 1 + 4 / m, m being their number.

        While there are fewer than two it is the root of the first rewards' variance.
        """
        squares = self.squares()
        m = len(squares)
        if m >= 2:
            return math.sqrt(sum(squares) / m * (1 + 4 / m))
        if len(self.firsts) < 2:
            return 0.0
        exact = [Fraction(r) for r in self.firsts]
        mean = sum(exact) / len(exact)
        return math.sqrt(sum((r - mean) ** 2 for r in exact) / (len(exact) - 1))

    def count(self, square: float) -> None:
        """Put a difference into the epoch, which ends when it has 16 and twice the last one's."""
        before, now = self.epochs
        now.append(square)
        if len(now) >= max(16, 2 * len(before)):
            self.epochs = [now, []]


def best_windows(rewards: list[float], scale: float) -> list[int]:
    """All h that minimise mean(h) + scale / sqrt(h), up to rounding."""
    sums = itertools.accumulate(reversed(rewards))
    values = [total / h + scale / math.sqrt(h) for h, total in enumerate(sums, start=1)]
    limit = min(values) + 1e-12
    return [h for h, value in enumerate(values, start=1) if value <= limit]


def windows_and_noise(history: History, arms: int, alpha: float) -> tuple[list[list[int]], float]:
    """Each arm's possible windows, chosen at its last reward, and sigma as it is known now."""
    noise = Noise()
    windows: list[list[int]] = [[] for _ in range(arms)]
    rewards: list[list[float]] = [[] for _ in range(arms)]
    for t, (arm, reward) in enumerate(history, start=1):
        rewards[arm].append(reward)
        square = None
        if len(rewards[arm]) == 1:
            noise.firsts.append(reward)
        else:
            square = (reward - rewards[arm][-2]) ** 2 / 2
            if not any(noise.squares()):
                noise.count(square)
                square = None
        scale = math.sqrt(2 * alpha * math.log(t + 10)) * noise.sigma()
        windows[arm] = best_windows(rewards[arm], scale)
        if square is not None:
            fell = windows[arm] == [1]
            noise.count(min(square, max(noise.squares())) if fell else square)
    return windows, noise.sigma()


def windows_knowing(history: History, arms: int, sigma: float, alpha: float) -> list[list[int]]:
    """Each arm's possible windows, chosen at its last reward, in round t."""
    last = {arm: t for t, (arm, _) in enumerate(history, start=1)}
    scales = [math.sqrt(2 * alpha * math.log(last[arm] + 10)) * sigma for arm in range(arms)]
    return [best_windows(rewards_of(history, arm), scales[arm]) for arm in range(arms)]


def steady_ucb(
    history: History,
    arms: int,
    sigma: float | None,
    alpha: float = 3.0,
    c: float = 0.87,
    few: float = 0.3,
) -> set[int]:
    """Each arm once; then the highest index, or any of those that rounding cannot tell apart."""
    start = unpulled(history, arms)
    if start:
        return start
    scores = steady_scores(history, arms, sigma, alpha, c, few)
    sure = max(low for low, _ in scores)
    return {arm for arm, (_, high) in enumerate(scores) if high >= sure - TOLERANCE}


def steady_scores(
    history: History,
    arms: int,
    sigma: float | None,
    alpha: float = 3.0,
    c: float = 0.87,
    few: float = 0.3,
) -> list[tuple[float, float]]:
    """Each arm's mean(h) + (1 + few/h) sqrt(2 c s^2 ln(t+10) / h), s = sigma: the least, the most.

    h minimises mean(h) + sqrt(2 alpha s^2 ln(t' + 10) / h), as it was at the arm's last reward,
    in round t', with what was known of s then. Where windows tie, any of them may have been taken.
    """
    t = len(history) + 1
    if sigma is None:
        windows, now = windows_and_noise(history, arms, alpha)
    else:
        windows, now = windows_knowing(history, arms, sigma, alpha), sigma
    scores = []
    for arm in range(arms):
        rewards = rewards_of(history, arm)
        found = []
        for window in windows[arm]:
            padding = math.sqrt(2 * c * now**2 * math.log(t + 10) / window)
            found.append(sum(rewards[-window:]) / window + (1 + few / window) * padding)
        scores.append((min(found), max(found)))
    return scores
