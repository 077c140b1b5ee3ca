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

from rotting.compilable import shared
from rotting.policies.base import FloatArray, IntArray

_HOPELESS = 80.0  # a misfit so many sigma^2 above the least has less weight than rounding


class Fit(NamedTuple):
    """The fields that the state of a fitting policy starts with. Memory: two numbers a theta."""

    pulls: IntArray
    observed: IntArray
    waiting: IntArray  # how many arms have shown too few rewards
    residual: FloatArray  # [arm, theta]; zero without constants
    squares: FloatArray  # [arm, theta]


def no_fit(arms: int, thetas: int) -> Fit:
    """Nothing observed."""
    return Fit(
        pulls=np.zeros(arms, dtype=np.int64),
        observed=np.zeros(arms, dtype=np.int64),
        waiting=np.full(1, arms, dtype=np.int64),
        residual=np.zeros((arms, thetas)),
        squares=np.zeros((arms, thetas)),
    )


@shared
def add_residuals(mu: Any, state: Any, arm: Any, pull: Any, reward: Any, constants: Any) -> None:
    """Add the square of a reward's residual under every model, and, for constants, itself."""
    for k in range(mu.shape[1]):
        off = reward - mu[pull, k]
        state.squares[arm, k] += off * off
    if constants:
        for k in range(mu.shape[1]):
            state.residual[arm, k] += reward - mu[pull, k]


@shared
def add_to_fit(
    mu: Any, state: Any, arm: Any, pull: Any, reward: Any, need: Any, constants: Any
) -> Any:
    """Take a reward in; returns how many the arm has shown."""
    n = state.observed[arm] + 1
    state.observed[arm] = n
    if n == need:
        state.waiting[0] -= 1
    add_residuals(mu, state, arm, pull, reward, constants)
    return n


@shared
def misfit(state: Any, arm: Any, k: Any, constants: Any) -> Any:
    """The residual sum of squares of a theta, about the mean residual with constants."""
    if constants:
        return state.squares[arm, k] - state.residual[arm, k] ** 2 / state.observed[arm]
    return state.squares[arm, k]


@shared
def hopeless(least: Any, variance: Any) -> Any:
    """The misfit beyond which a model's weight is lost to rounding; never that of the best."""
    return least + _HOPELESS * variance


@shared
def weight_of(worse: Any) -> Any:
    """The posterior weight of a model, its misfit so many 2 sigma^2 above the least."""
    return math.exp(-worse) if worse > 0.0 else 1.0


@shared
def best_fit(state: Any, arm: Any, constants: Any) -> Any:
    """The likeliest theta; the first in Theta's order if several.

    It looks twice, like `choose.argmax`: whose misfit is the least is nearly always what it was, so
    that the processor need not wait for the answer.
    """
    least = misfit(state, arm, 0, constants)
    for k in range(1, state.squares.shape[1]):
        off = misfit(state, arm, k, constants)
        if off < least:
            least = off
    for k in range(state.squares.shape[1]):
        if misfit(state, arm, k, constants) == least:
            return k
    return 0
