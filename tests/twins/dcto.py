"""The twin of D-CTO_SIM-UCB, and the two steps of Algorithm 3."""

import math
from collections.abc import Callable

from twins.common import Counted, History, Model, Opened, Seen, highest_possible
from twins.cto import closest_to_origin


def halves(values: list[float]) -> float:
    """First floor(N/2) values minus the rest: the half-difference of Z and of Ddet."""
    middle = len(values) // 2
    return sum(values[:middle]) - sum(values[middle:])


def detect_by_halves(rewards: list[float], thetas: list[float], mu: Model) -> list[float]:
    """Detect step of Algorithm 3: the possible theta-hat of an arm with these rewards, by Z."""
    return closest_to_origin(rewards, list(range(1, len(rewards) + 1)), thetas, mu, halves)


def constant_ucb(
    history: History,
    arms: int,
    detect: Callable[[Seen], list[float]],
    mu: Model,
    sigma: float,
    c: float,
    start: int,
    opened: Opened | None = None,
    counted: Counted | None = None,
) -> set[int]:
    """Each arm `start` times, then the UCB rule of D-CTO, with every theta-hat that is possible:

    argmax mu_c-hat + mu(N_i + 1; theta-hat_i) + sqrt(c ln t sigma^2 / N_i).
    """
    t = len(history) + 1

    def scores(arm: Seen) -> list[float]:
        n = len(arm.rewards)
        width = math.sqrt(c * math.log(t) * sigma**2 / n)
        found = []
        for theta in detect(arm):
            residuals = [r - mu(j, theta) for j, r in zip(arm.pulls, arm.rewards, strict=True)]
            found.append(sum(residuals) / n + mu(arm.following, theta) + width)
        return found

    return highest_possible(history, arms, scores, opened, counted, pulls=start)


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

    def detect(arm: Seen) -> list[float]:
        n = len(arm.rewards)
        is_cut = halves == "even" and n % 2 == 1 and n > start
        return detect_by_halves(arm.rewards[:-1] if is_cut else arm.rewards, thetas, mu)

    return constant_ucb(history, arms, detect, mu, sigma, c, start, opened)
