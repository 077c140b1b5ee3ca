"""CTO and D-CTO by likelihood: every reward counts, not only their sum (beyond the paper)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rotting import checks
from rotting.models import Family, Plateau, Polynomial
from rotting.policies.base import FloatArray, IntArray, Policy, Verbs
from rotting.policies.cto import check_family, table_of
from rotting.policies.parts.likelihood import add_to_fit, best_fit, no_fit
from rotting.policies.parts.padding import log_padding, padding_at
from rotting.policies.parts.ranking import (
    argmax_least_pulled,
    argmax_padded,
    next_untried,
    still_leads,
)


class Params(NamedTuple):
    """The family as a table mu[n, theta]."""

    mu: FloatArray


class ConstantParams(NamedTuple):
    """The family, sigma sqrt(c ln t) at t, and how many rewards an arm must show first."""

    mu: FloatArray
    c: float
    padding: FloatArray
    start: int


class State(NamedTuple):
    """See `rotting.policies.parts.likelihood`; the likeliest model of each arm, and its next mean."""

    pulls: IntArray
    observed: IntArray
    waiting: IntArray
    residual: FloatArray
    squares: FloatArray
    time: IntArray
    closest: IntArray
    constant: FloatArray
    estimate: FloatArray
    width: FloatArray
    leader: IntArray  # see `choose.still_leads`
    rival: FloatArray


def init(params: Any, arms: int, capacity: int) -> State:
    """Nothing pulled, nothing observed."""
    return State(
        *no_fit(arms, params.mu.shape[1]),
        time=np.zeros(1, dtype=np.int64),
        closest=np.zeros(arms, dtype=np.int64),
        constant=np.zeros(arms),
        estimate=np.full(arms, -math.inf),
        width=np.zeros(arms),
        leader=np.full(1, -1, dtype=np.int64),
        rival=np.zeros(1),
    )


def select(params: Params, state: State, draw: Any) -> int:
    """Each arm once, then argmax of mu(N + 1; theta-hat), ties by least pulls and at random."""
    arm = -1
    if state.waiting[0] > 0:
        arm = next_untried(state.pulls, state.observed, 1)
    if arm < 0:
        if still_leads(state.estimate, state.leader, state.rival):
            arm = state.leader[0]
        else:
            arm = argmax_least_pulled(state.estimate, state.pulls, state.leader, state.rival, draw)
    n = state.pulls[arm] + 1
    state.pulls[arm] = n
    if state.observed[arm] > 0:
        state.estimate[arm] = params.mu[n + 1, state.closest[arm]]
    return arm


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """The likeliest model is the one with the least squares."""
    add_to_fit(params.mu, state, arm, pull, reward, 1, False)
    state.closest[arm] = best_fit(state, arm, False)
    state.estimate[arm] = params.mu[state.pulls[arm] + 1, state.closest[arm]]
    if arm != state.leader[0]:
        state.leader[0] = -1


def select_padded(params: ConstantParams, state: State, draw: Any) -> int:
    """Each arm `start` times, then argmax of constant + mu(N + 1; theta-hat) + padding."""
    t = state.time[0] + 1
    state.time[0] = t
    arm = -1
    if state.waiting[0] > 0:
        arm = next_untried(state.pulls, state.observed, params.start)
    if arm < 0:
        arm = argmax_padded(state.estimate, state.width, padding_at(params.padding, params.c, t))
    n = state.pulls[arm] + 1
    state.pulls[arm] = n
    if state.observed[arm] >= params.start:
        state.estimate[arm] = state.constant[arm] + params.mu[n + 1, state.closest[arm]]
    return arm


def update_padded(params: ConstantParams, state: State, arm: int, pull: int, reward: float) -> None:
    """The likeliest model and, under it, the constant."""
    n = add_to_fit(params.mu, state, arm, pull, reward, params.start, True)
    if n >= params.start:
        closest = best_fit(state, arm, True)
        state.closest[arm] = closest
        state.constant[arm] = state.residual[arm, closest] / n
        state.estimate[arm] = state.constant[arm] + params.mu[state.pulls[arm] + 1, closest]
        state.width[arm] = 1.0 / math.sqrt(n)


@dataclass(frozen=True)
class LCTO(Policy):
    """CTO by likelihood: theta-hat minimises the sum of (r_j - mu(j; theta))^2; then as CTO.

    For arms that rot to zero. Ties over theta go to the first in Theta's order, ties over arms to
    the least pulled and then at random. No bound is proved; `theory.likelihood_savings` says how
    many pulls of detection it saves.

    >>> from rotting import models
    >>> family = models.Plateau(length=100).over([0.1, 0.2])
    >>> LCTO(family).online(range(10), compiled=False).select().arm
    0
    """

    family: Family

    title: ClassVar[str] = "L-CTO"
    verbs: ClassVar[Verbs] = Verbs(Params, State, init, select, update)

    def __post_init__(self) -> None:
        check_family("LCTO", self.family)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        """Tabulate the family."""
        return Params(table_of("LCTO", self.family, reach))

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        """Models that differ at once, and models that coincide for a while."""
        return [
            cls(Polynomial().over([0.1, 0.25, 0.4])),
            cls(Plateau(length=20).over([0.4, 0.1, 0.2])),
        ]


@dataclass(frozen=True)
class LDCTO(Policy):
    """D-CTO by likelihood, the constant profiled out: for arms that rot to unknown constants.

    theta-hat minimises the residual sum of squares about the mean residual, which is the estimate
    of the constant; then the arm with the highest constant + mu(N_i + 1; theta-hat_i) +
    sqrt(c ln t sigma^2 / N_i) is pulled. Each arm is pulled `start` times first. c = 1 explores
    enough in every scenario of the league; the paper's proof would ask for 8. Ties go to the
    first arm.
    """

    family: Family
    sigma: float
    c: float = 1.0
    start: int = 2

    title: ClassVar[str] = "LD-CTO"
    verbs: ClassVar[Verbs] = Verbs(ConstantParams, State, init, select_padded, update_padded)

    def __post_init__(self) -> None:
        check_family("LDCTO", self.family)
        object.__setattr__(self, "sigma", checks.number("sigma", self.sigma, above=0))
        object.__setattr__(self, "c", checks.number("c", self.c, above=0))
        object.__setattr__(self, "start", checks.integer("start", self.start, least=1))

    def prepare(self, arms: int, horizon: int | None, reach: int) -> ConstantParams:
        """Tabulate family and padding."""
        c = self.c * self.sigma**2
        mu = table_of("LDCTO", self.family, reach)
        return ConstantParams(mu, c, log_padding(c, reach), self.start)

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        """Models that differ at once, and models that coincide for a while."""
        return [
            cls(Polynomial().over([0.1, 0.25, 0.4]), sigma=0.5),
            cls(Plateau(length=20).over([0.4, 0.1, 0.2]), sigma=0.3, c=0.5, start=3),
        ]
