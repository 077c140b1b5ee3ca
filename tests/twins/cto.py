"""The twin of CTO_SIM (Algorithm 2)."""

from collections.abc import Callable

from twins.common import Counted, History, Model, Opened, Seen, closest, highest_possible


def closest_to_origin(
    rewards: list[float],
    pulls: list[int],
    thetas: list[float],
    mu: Model,
    statistic: Callable[[list[float]], float],
) -> list[float]:
    """Every theta-hat that rounding may make of argmin |statistic(r) - statistic(mu(.; theta))|.

    The statistic is the sum (Y) or the half-difference (Z).
    """
    curves = [[mu(j, theta) for j in pulls] for theta in thetas]
    distances = [abs(statistic(rewards) - statistic(curve)) for curve in curves]
    return closest(distances, thetas, curves)


def by_models(
    history: History,
    arms: int,
    detect: Callable[[Seen], list[float]],
    mu: Model,
    opened: Opened | None,
    counted: Counted | None,
) -> set[int]:
    """Each arm once, then argmax mu(N_i + 1; theta-hat_i), with every theta-hat that is possible.

    Exact ties of mu go to the least pulled arms, by all keys together in an audience.
    """

    def scores(arm: Seen) -> list[tuple[float, int]]:
        return [(mu(arm.following, theta), -len(arm.rewards)) for theta in detect(arm)]

    return highest_possible(history, arms, scores, opened, counted, slack=0.0)


def cto(
    history: History,
    arms: int,
    thetas: list[float],
    mu: Model,
    opened: Opened | None = None,
    counted: Counted | None = None,
) -> set[int]:
    """CTO_SIM (Algorithm 2): argmax mu(N_i + 1; theta-hat_i), theta-hat by Y."""

    def detect(arm: Seen) -> list[float]:
        return closest_to_origin(arm.rewards, arm.pulls, thetas, mu, sum)

    return by_models(history, arms, detect, mu, opened, counted)
