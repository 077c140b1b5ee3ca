"""The twin of CTO_SIM (Algorithm 2)."""

from collections.abc import Callable

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
    unpulled,
)


def closest_to_origin(
    rewards: list[float],
    thetas: list[float],
    mu: Model,
    statistic: Callable[[list[float]], float],
    pulls: list[int] | None = None,
) -> list[float]:
    """Every theta-hat that rounding may make of argmin |statistic(r) - statistic(mu(.; theta))|.

    The statistic is the sum (Y) or the half-difference (Z). The first of the closest models when
    they have coincided on all the pulls so far; otherwise a near tie leaves all of them possible.
    The rewards are those of pulls 1, 2, ... unless others are given.
    """
    numbers = range(1, len(rewards) + 1) if pulls is None else pulls
    curves = [[mu(j, theta) for j in numbers] for theta in thetas]
    distances = [abs(statistic(rewards) - statistic(curve)) for curve in curves]
    closest = [k for k, distance in enumerate(distances) if distance <= min(distances) + TOLERANCE]
    if all(curves[k] == curves[closest[0]] for k in closest):
        return [thetas[closest[0]]]
    return [thetas[k] for k in closest]


def cto(
    history: History,
    arms: int,
    thetas: list[float],
    mu: Model,
    opened: Opened | None = None,
    counted: Counted | None = None,
) -> set[int]:
    """CTO_SIM (Algorithm 2): each arm once, then argmax mu(N_i + 1; theta-hat_i), theta-hat by Y.

    Exact ties of mu go to the least pulled arms, by all keys together in an audience. Where several
    models of an arm are possible, an arm is allowed if its best possible score reaches the worst
    possible score of every arm.
    """
    start = unpulled(history, arms, opened)
    if start:
        return start
    worst: list[tuple[float, int]] = []
    best: dict[int, tuple[float, int]] = {}
    for arm in choosable(arms, opened):
        rewards = rewards_of(history, arm)
        n = len(rewards)
        possible = closest_to_origin(rewards, thetas, mu, sum, pulls_of(history, arm, counted))
        following = next_pull(history, arm, counted)
        scores = [(mu(following, theta), -n) for theta in possible]
        worst.append(min(scores))
        best[arm] = max(scores)
    return {arm for arm in best if best[arm] >= max(worst)}
