"""Twins of CTO and D-CTO with the model of the greatest likelihood."""

from twins.common import Counted, History, Model, Opened, Seen, closest
from twins.cto import by_models
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


def likeliest(arm: Seen, thetas: list[float], mu: Model, constants: bool) -> list[float]:
    """Every theta-hat that rounding may make of argmin RSS_theta."""
    curves = [[mu(j, theta) for j in arm.pulls] for theta in thetas]
    squares = [fit(arm.rewards, arm.pulls, theta, mu, constants)[0] for theta in thetas]
    return closest(squares, thetas, curves)


def likelihood_cto(
    history: History,
    arms: int,
    thetas: list[float],
    mu: Model,
    opened: Opened | None = None,
    counted: Counted | None = None,
) -> set[int]:
    """CTO by likelihood: each arm once, then argmax mu(N_i + 1; theta-hat_i), theta-hat by RSS."""

    def detect(arm: Seen) -> list[float]:
        return likeliest(arm, thetas, mu, constants=False)

    return by_models(history, arms, detect, mu, opened, counted)


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

    def detect(arm: Seen) -> list[float]:
        return likeliest(arm, thetas, mu, constants=True)

    return constant_ucb(history, arms, detect, mu, sigma, c, start, opened, counted)
