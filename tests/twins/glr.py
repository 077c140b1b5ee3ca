"""The twin of GLR-UCB."""

import math

from twins.common import History, Opened, argmax, choosable


def divergence(x: float, y: float, sigma: float | None) -> float:
    """kl(x, y): Gaussian (x - y)^2 / (2 sigma^2), or Bernoulli when sigma is None.

    Bernoulli means are clipped to [1e-12, 1 - 1e-12], which leaves no 0 ln 0.
    """
    if sigma is not None:
        return (x - y) ** 2 / (2 * sigma**2)
    x = min(max(x, 1e-12), 1 - 1e-12)
    y = min(max(y, 1e-12), 1 - 1e-12)
    return x * math.log(x / y) + (1 - x) * math.log((1 - x) / (1 - y))


def change(rewards: list[float], sigma: float | None) -> float:
    """sup_{0<s<n} s kl(mean of the first s, mean) + (n - s) kl(mean of the last n - s, mean)."""
    n = len(rewards)
    mean = sum(rewards) / n
    statistics = []
    for s in range(1, n):
        before = sum(rewards[:s]) / s
        after = sum(rewards[s:]) / (n - s)
        statistics.append(
            s * divergence(before, mean, sigma) + (n - s) * divergence(after, mean, sigma)
        )
    return max(statistics)


def since_restart(
    history: History, arm: int, delta: float, every: int, sigma: float | None
) -> tuple[list[float], int]:
    """Return the rewards of an arm since its last restart, and tau_i, the round of that restart.

    At every n >= 2 rewards with n mod `every` = 0, the arm restarts if the change statistic is at
    least (1 + 1/n) ln(2 n^1.5 / delta). tau_i = 0 before any restart.
    """
    rewards: list[float] = []
    tau = 0
    for s, (pulled, reward) in enumerate(history, start=1):
        if pulled != arm:
            continue
        rewards.append(reward)
        n = len(rewards)
        if n >= 2 and n % every == 0:
            threshold = (1 + 1 / n) * math.log(2 * math.pow(n, 1.5) / delta)
            if change(rewards, sigma) >= threshold:
                rewards = []
                tau = s
    return rewards, tau


def bernoulli_bound(mean: float, n: int, level: float) -> float:
    """Return the largest q in [mean, 1] with n kl(mean, q) <= level, by bisection."""
    low, high = min(max(mean, 0.0), 1.0), 1.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        if n * divergence(mean, middle, None) <= level:
            low = middle
        else:
            high = middle
    return low


def glr_ucb(
    history: History,
    arms: int,
    delta: float,
    every: int,
    sigma: float | None,
    opened: Opened | None = None,
) -> set[int]:
    """GLR-UCB: an arm with no reward since its restart (lowest index), else the best UCB.

    With n rewards since the restart and f = ln(t - tau_i): mean + sigma sqrt(2 f / n), or for
    Bernoulli rewards (sigma None) the largest q in [mean, 1] with n kl(mean, q) <= f.
    """
    t = len(history) + 1
    scores = {}
    for arm in choosable(arms, opened):
        rewards, tau = since_restart(history, arm, delta, every, sigma)
        n = len(rewards)
        if n == 0:
            return {arm}
        mean = sum(rewards) / n
        f = math.log(t - tau)
        if sigma is None:
            scores[arm] = bernoulli_bound(mean, n, f)
        else:
            scores[arm] = mean + sigma * math.sqrt(2 * f / n)
    return argmax(scores)
