"""How well every model of a family fits each arm's rewards: for likelihood and posterior policies.

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

# In units of sigma^2. A model whose misfit is more than this above the least weighs less than
# exp(-40): added to the best one's weight of 1, it is lost to rounding.
_NEGLIGIBLE = 80.0


class Fit(NamedTuple):
    """Residuals of every model. Memory: two numbers an arm and theta."""

    residual: Numbers  # [arm, theta]; zero without constants
    squares: Numbers  # [arm, theta]


def no_fit(arms: int, thetas: int) -> Fit:
    """Nothing observed."""
    return Fit(residual=np.zeros((arms, thetas)), squares=np.zeros((arms, thetas)))


@shared
def add_residuals(mu: Any, fit: Fit, arm: Any, pull: Any, reward: Any, constants: Any) -> None:
    """Add the square of a reward's residual under every model, and, for constants, itself."""
    for k in range(mu.shape[1]):
        off = reward - mu[pull, k]
        fit.squares[arm, k] += off * off
    if constants:
        for k in range(mu.shape[1]):
            fit.residual[arm, k] += reward - mu[pull, k]


@shared
def misfit(fit: Fit, arm: Any, k: Any, n: Any, constants: Any) -> Any:
    """The residual sum of squares of a theta, about the mean residual with constants.

    n is the number of rewards observed.
    """
    if constants:
        off = fit.residual[arm, k]
        return fit.squares[arm, k] - off * off / n  # plain Python rounds `** 2` differently
    return fit.squares[arm, k]


@shared
def negligible(least: Any, variance: Any, prior: Any) -> Any:
    """The misfit beyond which a model's weight is lost to rounding; `least` is the best one's.

    `prior` is 2 ln of the ratio of the largest prior weight to the smallest, 0 for uniform ones.
    """
    return least + (_NEGLIGIBLE + prior) * variance


@shared
def weight_of(worse: Any) -> Any:
    """The posterior weight of a model whose misfit is `worse` times 2 sigma^2 above the least."""
    return math.exp(-worse) if worse > 0.0 else 1.0


@shared
def best_fit(fit: Fit, arm: Any, n: Any, constants: Any) -> Any:
    """The likeliest theta; the first in Theta's order if several.

    Two passes, as in `argmax`: the answer is nearly always the same as before, so branch prediction
    guesses the second pass right.
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
