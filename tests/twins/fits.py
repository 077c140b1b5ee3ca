"""Likelihoods and curves that never rise, slow and obvious."""

from __future__ import annotations

import math
from typing import Any


def log_likelihood(rewards: Any, means: Any, sigma: float | None) -> float:
    """Of rewards one by one: zeros and ones, or with normal noise."""
    total = 0.0
    for reward, mean in zip(rewards, means, strict=True):
        if sigma is None:
            total += math.log(mean if reward == 1.0 else 1.0 - mean)
        else:
            total -= 0.5 * ((reward - mean) / sigma) ** 2 + math.log(sigma * math.sqrt(2 * math.pi))
    return total


def key_log_likelihood(
    rewards: Any,
    means: Any,
    factors: Any,
    weights: Any,
    sigma: float | None,
) -> float:
    """Of a key's rewards, where its factor may be any of these."""
    total = 0.0
    for factor, weight in zip(factors, weights, strict=True):
        scaled = [factor * mean for mean in means]
        total += weight * math.exp(log_likelihood(rewards, scaled, sigma))
    return math.log(total)


def best_amplitude(rewards: Any, shape: Any, sigma: float | None, high: float) -> float:
    """The amplitude of the highest likelihood, by thirds of an interval."""
    low = 1e-9
    for _ in range(200):
        one, two = low + (high - low) / 3.0, high - (high - low) / 3.0
        first = log_likelihood(rewards, [one * left for left in shape], sigma)
        second = log_likelihood(rewards, [two * left for left in shape], sigma)
        low, high = (one, high) if first < second else (low, two)
    return 0.5 * (low + high)


def never_rising(values: Any, weights: Any) -> list[float]:
    """The nearest values that never rise: of means over s..t with s <= n <= t, least of most."""

    def mean(s: int, t: int) -> float:
        total = sum(w * v for w, v in zip(weights[s : t + 1], values[s : t + 1], strict=True))
        return float(total / sum(weights[s : t + 1]))

    last = len(values)
    return [min(max(mean(s, t) for t in range(n, last)) for s in range(n + 1)) for n in range(last)]
