"""Guarded: trust a family of models while it fits, and play without one from then on (ours)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rotting import checks
from rotting.compilable import shared
from rotting.models import Family, Plateau, Polynomial
from rotting.policies.base import FloatArray, IntArray, Policy, Verbs
from rotting.policies.cto import check_family, table_of
from rotting.policies.parts.history import CHUNK, empty_history, grow_history, remember
from rotting.policies.parts.likelihood import (
    add_residuals,
    best_fit,
    hopeless,
    misfit,
    no_fit,
    weight_of,
)
from rotting.policies.parts.ranking import next_untried
from rotting.policies.rawucb import square_roots
from rotting.policies.steady import LATER, SteadyUCB, best_window, choose_window

EVERY = 16  # rewards of an arm between two looks at its residuals


class Params(NamedTuple):
    """The family as tables [n, theta], what to trust it for, and SteadyUCB's constants."""

    mu: FloatArray
    sums: FloatArray
    sigma: float
    constants: bool
    c: float
    doubt: float  # sqrt(2 doubt)
    forget: float
    explore: float
    few: float
    plus: bool
    power: float
    root: FloatArray


class State(NamedTuple):
    """The fit of every model, and all observed rewards for the windows without one.

    Memory: two numbers per observed reward.
    """

    pulls: IntArray
    observed: IntArray
    waiting: IntArray
    total: FloatArray
    last: IntArray
    free: IntArray
    sums: FloatArray
    pull: IntArray
    before: IntArray
    slope: FloatArray
    top: FloatArray
    low: FloatArray
    time: IntArray
    chunk: IntArray
    start: IntArray
    bound: FloatArray
    mean: FloatArray  # SteadyUCB's
    width: FloatArray
    residual: FloatArray  # [arm, theta]
    squares: FloatArray
    closest: IntArray
    value: FloatArray  # what the next pull is worth by the family
    doubted: IntArray  # whether the family has been given up


def init(params: Params, arms: int, capacity: int) -> State:
    """Nothing pulled, nothing observed, nothing doubted."""
    fit = no_fit(arms, params.mu.shape[1])
    history = empty_history(arms, capacity)
    return State(
        *history,
        time=np.zeros(1, dtype=np.int64),
        chunk=np.zeros(arms, dtype=np.int64),
        start=np.zeros(arms, dtype=np.int64),
        bound=np.zeros(arms),
        mean=np.full(arms, -math.inf),
        width=np.zeros(arms),
        residual=fit.residual,
        squares=fit.squares,
        closest=np.zeros(arms, dtype=np.int64),
        value=np.full(arms, -math.inf),
        doubted=np.zeros(1, dtype=np.int64),
    )


@shared
def _next_value(params: Any, state: Any, arm: Any) -> None:
    """The arm's next mean: averaged over the posterior, or under the likeliest with a constant."""
    n = state.pulls[arm] + 1
    k = state.closest[arm]
    if params.constants:
        state.value[arm] = params.mu[n, k] + state.residual[arm, k] / state.observed[arm]
        return
    least = misfit(state, arm, k, False)
    sharpness = 0.5 / params.sigma**2
    total = 0.0
    value = 0.0
    limit = hopeless(least, params.sigma**2)
    for j in range(params.mu.shape[1]):
        off = misfit(state, arm, j, False)
        if off <= limit:
            weight = weight_of((off - least) * sharpness)
            total += weight
            value += weight * params.mu[n, j]
    state.value[arm] = value / total


@shared
def _doubtful(params: Any, state: Any, arm: Any) -> Any:
    """Whether the likeliest model misses the last h rewards by too much, h = 16, 32, ... or all."""
    n = state.observed[arm]
    if state.pull[state.last[arm], (n - 1) & (CHUNK - 1)] != n:
        return False  # rewards are missing: sums over pulls 1..n are not what was seen
    k = state.closest[arm]
    constant = state.residual[arm, k] / n if params.constants else 0.0
    limit = params.doubt * params.sigma * math.sqrt(math.log(state.time[0] + LATER))
    chunk = state.last[arm]
    start = ((n - 1) // CHUNK) * CHUNK
    h = EVERY
    while h <= n:
        while n - h < start:
            chunk = state.before[chunk]
            start -= CHUNK
        seen = state.total[arm] - state.sums[chunk, n - h - start]
        expected = params.sums[n, k] - params.sums[n - h, k] + constant * h
        if abs(seen - expected) > limit * math.sqrt(h):
            return True
        h *= 2
    return False


@shared
def _trusting(params: Any, state: Any, t: Any) -> Any:
    """The arm whose next pull is worth most by the family; the first if several."""
    padding = math.sqrt(params.c * math.log(t)) * params.sigma if params.constants else 0.0
    highest = -math.inf
    arm = 0
    for i in range(state.pulls.size):
        index = state.value[i]
        if params.constants and state.observed[i] > 0:
            index += padding / math.sqrt(state.observed[i])
        if index > highest:
            highest = index
            arm = i
    return arm


def select(params: Params, state: State, draw: Any) -> int:
    """By the family while it is trusted; else as SteadyUCB does."""
    t = state.time[0] + 1
    state.time[0] = t
    need = 2 if params.constants else 1
    arm = -1
    if state.waiting[0] > 0:
        arm = next_untried(state.pulls, state.observed, need)
    if arm < 0:
        if state.doubted[0] == 0:
            arm = _trusting(params, state, t)
        else:
            arm = best_window(params, state, params.sigma)
    state.pulls[arm] += 1
    if state.observed[arm] >= need:
        _next_value(params, state, arm)
    return arm


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """Fit the models, choose the window, and now and then ask whether the family holds."""
    need = 2 if params.constants else 1
    remember(state, arm, pull, reward)
    n = state.observed[arm]
    if n == 1:
        state.waiting[0] += need - 1  # an arm waits until it has shown `need` rewards
    if n == 2 and need == 2:
        state.waiting[0] -= 1
    add_residuals(params.mu, state, arm, pull, reward, params.constants)
    choose_window(params, state, arm, params.sigma)
    if n >= need:
        state.closest[arm] = best_fit(state, arm, params.constants)
        _next_value(params, state, arm)
        if n % EVERY == 0 and state.doubted[0] == 0 and _doubtful(params, state, arm):
            state.doubted[0] = 1


def grow(params: Params, state: State, arms: int, capacity: int) -> State:
    """Room for more rewards."""
    grown: State = grow_history(state, arms, capacity)
    return grown


@dataclass(frozen=True)
class Guarded(Policy):
    """A family of models, trusted as long as it fits; SteadyUCB from the first clear misfit on.

    While trusted: without constants the arm with the highest posterior mean of mu(N_i + 1)
    (`Posterior`); with constants the highest constant + mu(N_i + 1; theta-hat_i) +
    sqrt(c ln t sigma^2 / N_i) (`LDCTO`). At every 16th reward of an arm the sums of its last 16,
    32, 64, ... rewards are compared with what its likeliest model expects; a difference beyond
    sqrt(2 doubt sigma^2 ln(t + 10) h) shows the family to be wrong, and it is not used again. With
    doubt = 2 a right family is given up about once in t^2 looks. No bound is proved. While
    the family is trusted ties go to the first arm.

    >>> from rotting import models
    >>> family = models.Plateau(length=100).over([0.1, 0.2])
    >>> Guarded(family, sigma=0.4).online(range(10), compiled=False).select().arm
    0
    """

    family: Family
    sigma: float
    constants: bool = False
    c: float = 1.0
    doubt: float = 2.0

    verbs: ClassVar[Verbs] = Verbs(Params, State, init, select, update, grow)

    def __post_init__(self) -> None:
        check_family("Guarded", self.family)
        object.__setattr__(self, "sigma", checks.number("sigma", self.sigma, above=0))
        if not isinstance(self.constants, bool):
            raise ValueError(f"constants must be True or False, got {self.constants!r}")
        object.__setattr__(self, "c", checks.number("c", self.c, above=0))
        object.__setattr__(self, "doubt", checks.number("doubt", self.doubt, above=0))

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        """Tabulate the family and square roots."""
        mu = table_of("Guarded", self.family, reach)
        steady = SteadyUCB(self.sigma).prepare(arms, horizon, reach)
        return Params(
            mu, self.family.sums_by_pull(reach + 1), self.sigma, self.constants, self.c,
            math.sqrt(2.0 * self.doubt), steady.forget, steady.explore, steady.few, False, 0.0,
            square_roots(reach),
        )  # fmt: skip

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        """With and without constants, and one that doubts easily."""
        return [
            cls(Polynomial().over([0.1, 0.25, 0.4]), sigma=0.5),
            cls(Plateau(length=20).over([0.4, 0.1, 0.2]), sigma=0.3, constants=True),
            cls(Plateau(length=20).over([0.4, 0.1]), sigma=0.3, doubt=0.2),
        ]
