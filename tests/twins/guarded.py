"""The twin of Guarded."""

import math

from twins.common import History, Model, pull_counts, rewards_of
from twins.lcto import likelihood_dcto
from twins.posterior import posterior
from twins.steady import steady_ucb


def likeliest_first(rewards: list[float], thetas: list[float], mu: Model, constants: bool) -> float:
    """The first theta with the least sum of squares, about the mean residual with constants."""
    fits = []
    for theta in thetas:
        residuals = [r - mu(j, theta) for j, r in enumerate(rewards, start=1)]
        constant = sum(residuals) / len(residuals) if constants else 0.0
        fits.append(sum((x - constant) ** 2 for x in residuals))
    return thetas[min(range(len(thetas)), key=lambda k: (round(fits[k], 9), k))]


def is_doubted(
    history: History,
    arms: int,
    thetas: list[float],
    mu: Model,
    sigma: float,
    constants: bool,
    doubt: float,
) -> bool:
    """Whether at some 16th reward of an arm its likeliest model missed its last rewards clearly."""
    need = 2 if constants else 1
    for t, (arm, _) in enumerate(history, start=1):
        rewards = rewards_of(history[:t], arm)
        n = len(rewards)
        if n % 16 or n < need:
            continue
        theta = likeliest_first(rewards, thetas, mu, constants)
        residuals = [r - mu(j, theta) for j, r in enumerate(rewards, start=1)]
        constant = sum(residuals) / n if constants else 0.0
        h = 16
        while h <= n:
            off = abs(sum(residuals[-h:]) - constant * h)
            if off > math.sqrt(2 * doubt * sigma**2 * math.log(t + 10) * h):
                return True
            h *= 2
    return False


def guarded(
    history: History,
    arms: int,
    thetas: list[float],
    mu: Model,
    sigma: float,
    constants: bool = False,
    c: float = 1.0,
    doubt: float = 2.0,
) -> set[int]:
    """By the family while nothing clear speaks against it, else as steady_ucb."""
    need = 2 if constants else 1
    counts = pull_counts(history, arms)
    if min(counts) < need:
        return {counts.index(min(counts))}
    if is_doubted(history, arms, thetas, mu, sigma, constants, doubt):
        return steady_ucb(history, arms, sigma)
    if constants:
        return likelihood_dcto(history, arms, thetas, mu, sigma, c)
    return posterior(history, arms, thetas, mu, sigma)
