"""The fit of every model of a family to each arm's rewards: for likelihood and posterior policies.

Per arm and theta two sums over the observed pulls j: of the residuals r_j - mu(j; theta), and of
their squares. With Gaussian noise -squares / (2 sigma^2) is the log-likelihood; with an unknown
constant the squares about the mean residual, squares - residual^2 / n, take their place, profiled
or integrated out under a flat prior alike.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from rotting.kernel.compilable import shared
from rotting.kernel.state import Numbers

__all__ = [
    "Fit",
    "add_residuals",
    "best_fit",
    "misfit",
    "negligible",
    "no_fit",
    "weight_of",
]

# In units of sigma^2. A model whose misfit is more than this above the least weighs less than
# exp(-40): added to the best one's weight of 1, it is lost to rounding.
_NEGLIGIBLE = 80.0


class Fit(NamedTuple):
    """Residuals of every model. Memory: two numbers an arm and theta.

    Attributes:
        residual: [arm, theta]: the sum of the residuals; zero without constants.
        squares: [arm, theta]: the sum of their squares.

    >>> fit, mu = no_fit(arms=1, thetas=2), np.array([[0.0, 0.0], [0.2, 0.9]])
    >>> add_residuals(mu, fit, 0, 1, 0.8, False)
    >>> best_fit(fit, 0, 1, False)
    1
    """

    residual: Numbers
    squares: Numbers


def no_fit(arms: int, thetas: int) -> Fit:
    """The part at its start: nothing observed.

    Args:
        arms: The number of arms.
        thetas: The number of models.

    Returns:
        For a field of the state; `init` makes it.
    """
    return Fit(residual=np.zeros((arms, thetas)), squares=np.zeros((arms, thetas)))


@shared
def add_residuals(mu: Any, fit: Fit, arm: Any, pull: Any, reward: Any, constants: Any) -> None:
    """Add the square of a reward's residual under every model, and, for constants, itself.

    Args:
        mu: The family's table [n, theta].
        fit: The part.
        arm: The arm.
        pull: The number of the reward's pull.
        reward: The reward.
        constants: Whether arms may keep a constant.
    """
    for k in range(mu.shape[1]):
        off = reward - mu[pull, k]
        fit.squares[arm, k] += off * off
    if constants:
        for k in range(mu.shape[1]):
            fit.residual[arm, k] += reward - mu[pull, k]


@shared
def misfit(fit: Fit, arm: Any, k: Any, n: Any, constants: Any) -> Any:
    """The residual sum of squares of a theta; with constants, about the mean residual.

    Args:
        fit: The part.
        arm: The arm.
        k: The model, as its place in Theta.
        n: The number of the arm's rewards.
        constants: Whether arms may keep a constant.

    Returns:
        A float.
    """
    if constants:
        off = fit.residual[arm, k]
        return fit.squares[arm, k] - off * off / n  # plain Python rounds `** 2` differently
    return fit.squares[arm, k]


@shared
def negligible(least: Any, variance: Any, prior: Any) -> Any:
    """The misfit beyond which a model's weight is lost to rounding.

    Args:
        least: The misfit of the best model.
        variance: sigma^2.
        prior: 2 ln of the ratio of the largest prior weight to the smallest, 0 for uniform ones.

    Returns:
        A float.
    """
    return least + (_NEGLIGIBLE + prior) * variance


@shared
def weight_of(worse: Any) -> Any:
    """The posterior weight of a model, 1 for the best one.

    Args:
        worse: Its misfit less the least one, divided by 2 sigma^2.

    Returns:
        A float.

    >>> round(weight_of(1.0), 3)
    0.368
    """
    return math.exp(-worse) if worse > 0.0 else 1.0


@shared
def best_fit(fit: Fit, arm: Any, n: Any, constants: Any) -> Any:
    """The likeliest theta; the first in Theta's order if several.

    Two passes, as in `argmax`: the answer is nearly always the same as before, so the branches of
    the second pass are predicted right.

    Args:
        fit: The part.
        arm: The arm.
        n: The number of its rewards.
        constants: Whether arms may keep a constant.

    Returns:
        Its place in Theta.
    """
    least = misfit(fit, arm, 0, n, constants)
    for k in range(1, fit.squares.shape[1]):
        off = misfit(fit, arm, k, n, constants)
        if off < least:
            least = off
    for k in range(fit.squares.shape[1]):
        if misfit(fit, arm, k, n, constants) == least:
            return k
    return 0
