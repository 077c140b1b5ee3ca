"""The windows of an arm's last rewards, for RAW-UCB, FEWA and their kin."""

import math

Windows = list[tuple[int, float]]  # (length, mean) or (length, sum), shortest window first


def every_window(rewards: list[float]) -> Windows:
    """Return (h, mean(h)) for h = 1 .. N: the mean of the last h rewards."""
    return [(h, sum(rewards[-h:]) / h) for h in range(1, len(rewards) + 1)]


def confidence(t: int, h: int, alpha: float, sigma: float) -> float:
    """c_t(h) = sqrt(2 alpha sigma^2 ln t / h)."""
    return math.sqrt(2 * alpha * sigma**2 * math.log(t) / h)
