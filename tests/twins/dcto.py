"""The twin of D-CTO_SIM-UCB, and the two steps of Algorithm 3."""

import math

from twins.common import (
    TOLERANCE,
    Counted,
    History,
    Model,
    Opened,
    choosable,
    next_pull,
    pulls_of,
    rewards_of,
    short_of,
)
from twins.cto import closest_to_origin


def halves(values: list[float]) -> float:
    """First floor(N/2) values minus the rest: the half-difference of Z and of Ddet."""
    middle = len(values) // 2
    return sum(values[:middle]) - sum(values[middle:])


def detect(rewards: list[float], thetas: list[float], mu: Model) -> list[float]:
    """Detect step of Algorithm 3: the possible theta-hat of an arm with these rewards, by Z."""
    return closest_to_origin(rewards, thetas, mu, halves)


def constant_ucb(
    history: History,
    possible: dict[int, list[float]],
    mu: Model,
    sigma: float,
    c: float,
    counted: Counted | None = None,
) -> set[int]:
    """UCB rule of D-CTO: argmax mu_c-hat + mu(N_i + 1; theta-hat_i) + sqrt(c ln t sigma^2 / N_i).

    Several possible models of an arm are treated as in cto.
    """
    t = len(history) + 1
    worst = []
    best = {}
    for arm, thetas in possible.items():
        rewards = rewards_of(history, arm)
        n = len(rewards)
        following, pulls = next_pull(history, arm, counted), pulls_of(history, arm, counted)
        scores = []
        for theta in thetas:
            residuals = [r - mu(j, theta) for j, r in zip(pulls, rewards, strict=True)]
            constant = sum(residuals) / n
            width = math.sqrt(c * math.log(t) * sigma**2 / n)
            scores.append(constant + mu(following, theta) + width)
        worst.append(min(scores))
        best[arm] = max(scores)
    return {arm for arm in best if best[arm] >= max(worst) - TOLERANCE}


def dcto(
    history: History,
    arms: int,
    thetas: list[float],
    mu: Model,
    sigma: float,
    c: float = 8.0,
    start: int = 2,
    halves: str = "all",
    opened: Opened | None = None,
) -> set[int]:
    """D-CTO_SIM-UCB: each arm `start` times, then detect by Z and follow the UCB rule every round.

    With halves = "even" an arm is detected from its even number of pulls before an odd one,
    except at the start.
    """
    short = short_of(history, arms, start, opened)
    if short:
        return short
    detected = {}
    for arm in choosable(arms, opened):
        rewards = rewards_of(history, arm)
        if halves == "even" and len(rewards) % 2 == 1 and len(rewards) > start:
            rewards = rewards[:-1]
        detected[arm] = detect(rewards, thetas, mu)
    return constant_ucb(history, detected, mu, sigma, c)
