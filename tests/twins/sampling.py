"""Twin of Thompson sampling on all rewards, with the gamma draws of Marsaglia & Tsang (2000)."""

import math
from collections.abc import Iterator

from twins.common import History, Opened, Seen, highest

Stream = Iterator[tuple[float, float]]  # the next random numbers: as a uniform, as a normal


def gamma(shape: float, stream: Stream) -> float:
    """A draw from Gamma(shape, 1): (shape - 1/3) (1 + c x)^3, or again if it is rejected."""
    d = shape - 1 / 3
    while True:
        x = next(stream)[1]
        v = (1 + x / math.sqrt(9 * d)) ** 3
        if v > 0:
            u = 1 - next(stream)[0]
            # the paper's exact condition; its shortcut without logarithms only saves time
            if math.log(u) < x**2 / 2 + d - d * v + d * math.log(v):
                return d * v


def thompson(
    history: History,
    arms: int,
    stream: Stream,
    sigma: float | None = None,
    opened: Opened | None = None,
) -> set[int]:
    """Thompson sampling: the arms that may be chosen take their random numbers in turn.

    Without sigma a draw from Beta(1 + S, 1 + N - S), of rewards clipped to [0, 1]; with sigma, once
    each arm was pulled, one from Normal(mean, sigma^2 / N).
    """

    def draw(arm: Seen) -> float:
        n = len(arm.rewards)
        if sigma is not None:
            return sum(arm.rewards) / n + sigma / math.sqrt(n) * next(stream)[1]
        total = sum(min(1.0, max(0.0, reward)) for reward in arm.rewards)
        x, y = gamma(1 + total, stream), gamma(1 + n - total, stream)
        return x / (x + y)

    return highest(history, arms, draw, opened, pulls=0 if sigma is None else 1)
