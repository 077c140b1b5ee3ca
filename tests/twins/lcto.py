"""Twins of CTO and D-CTO with the model of the greatest likelihood."""

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
    unpulled,
)
from twins.dcto import constant_ucb


def fit(
    rewards: list[float], pulls: list[int], theta: float, mu: Model, constants: bool
) -> tuple[float, float]:
    """Return RSS_theta and c_theta: RSS = sum_j (r_j - mu(j; theta) - c)^2, j over the pulls.

    With constants c_theta = mean_j (r_j - mu(j; theta)), otherwise 0.
    """
    residuals = [reward - mu(j, theta) for j, reward in zip(pulls, rewards, strict=True)]
    constant = sum(residuals) / len(residuals) if constants else 0.0
    return sum((residual - constant) ** 2 for residual in residuals), constant


def likeliest(
    rewards: list[float], pulls: list[int], thetas: list[float], mu: Model, constants: bool
) -> list[float]:
    """Every theta-hat that rounding may make of argmin RSS_theta, as cto.closest_to_origin.

    The first of the likeliest models when they have coincided on all the pulls so far; otherwise
    a near tie leaves all of them possible.
    """
    curves = [[mu(j, theta) for j in pulls] for theta in thetas]
    squares = [fit(rewards, pulls, theta, mu, constants)[0] for theta in thetas]
    closest = [k for k, square in enumerate(squares) if square <= min(squares) + TOLERANCE]
    if all(curves[k] == curves[closest[0]] for k in closest):
        return [thetas[closest[0]]]
    return [thetas[k] for k in closest]


def likelihood_cto(
    history: History,
    arms: int,
    thetas: list[float],
    mu: Model,
    opened: Opened | None = None,
    counted: Counted | None = None,
) -> set[int]:
    """CTO by likelihood: each arm once, then argmax mu(N_i + 1; theta-hat_i), theta-hat by RSS.

    Exact ties of mu go to the least pulled arms; several possible models are treated as in cto.
    """
    start = unpulled(history, arms, opened)
    if start:
        return start
    worst: list[tuple[float, int]] = []
    best: dict[int, tuple[float, int]] = {}
    for arm in choosable(arms, opened):
        rewards = rewards_of(history, arm)
        n = len(rewards)
        following = next_pull(history, arm, counted)
        possible = likeliest(rewards, pulls_of(history, arm, counted), thetas, mu, False)
        scores = [(mu(following, theta), -n) for theta in possible]
        worst.append(min(scores))
        best[arm] = max(scores)
    return {arm for arm in best if best[arm] >= max(worst)}


def likelihood_dcto(
    history: History,
    arms: int,
    thetas: list[float],
    mu: Model,
    sigma: float,
    c: float = 1.0,
    start: int = 2,
    opened: Opened | None = None,
    counted: Counted | None = None,
) -> set[int]:
    """D-CTO by likelihood: each arm `start` times, then the UCB rule, theta-hat by RSS about c.

    The index is c_theta-hat + mu(N_i + 1; theta-hat_i) + sqrt(c sigma^2 ln t / N_i).
    """
    short = short_of(history, arms, start, opened)
    if short:
        return short
    models = {
        arm: likeliest(rewards_of(history, arm), pulls_of(history, arm, counted), thetas, mu, True)
        for arm in choosable(arms, opened)
    }
    return constant_ucb(history, models, mu, sigma, c, counted)
