"""LD-CTO, D-CTO by likelihood, for arms that rot to unknown constants (beyond the paper)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from rotting.kernel.arrays import FloatArray, IntArray
from rotting.kernel.compilable import shared
from rotting.kernel.state import Numbers, Place, Values
from rotting.kernel.verbs import Verbs
from rotting.models import Family, Plateau, Polynomial
from rotting.parameters import Count, Positive
from rotting.policies._base import Policy
from rotting.policies.parts.argmax import argmax_padded
from rotting.policies.parts.arms import (
    TIME,
    Arms,
    next_pull,
    next_untried,
    no_pulls,
    rewarded,
    set_open_started,
)
from rotting.policies.parts.family import check_family, table_of
from rotting.policies.parts.inspection import worth_and_padding
from rotting.policies.parts.likelihood import Fit, add_residuals, best_fit, no_fit
from rotting.policies.parts.padding import log_padding, padding_at


class Params(NamedTuple):
    mu: FloatArray  # [n, theta]
    c: float  # c sigma^2
    padding: FloatArray  # sigma sqrt(c ln t) at t
    start: int  # rewards that an arm needs before it has an index


class State(NamedTuple):
    arms: Arms  # pulls, rewards, rounds
    fit: Fit  # of every model to each arm's rewards
    closest: Annotated[IntArray, Place("fit.squares", axis=1)]  # theta-hat, as its place in Theta
    constant: Numbers  # its estimate under theta-hat
    value: Values  # constant + mu(N + 1; theta-hat)
    width: Numbers  # 1 / sqrt(observed)


def init(params: Params, arms: int, capacity: int) -> State:
    return State(
        arms=no_pulls(arms),
        fit=no_fit(arms, params.mu.shape[1]),
        closest=np.zeros(arms, dtype=np.int64),
        constant=np.zeros(arms),
        value=np.full(arms, -math.inf),
        width=np.zeros(arms),
    )


def choose(params: Params, state: State, draw: Any) -> int:
    """Each arm `start` times, then argmax of constant + mu(N + 1; theta-hat) + padding."""
    arm = next_untried(state.arms, params.start)
    if arm < 0:
        bonus = padding_at(params.padding, params.c, state.arms.clock[TIME] + 1)
        arm = argmax_padded(state.value, state.width, bonus, state.arms.opening)
    return arm


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """The likeliest model and, under it, the constant."""
    n = rewarded(state.arms, arm, params.start)
    add_residuals(params.mu, state.fit, arm, pull, reward, True)
    if n >= params.start:
        closest = best_fit(state.fit, arm, n, True)
        state.closest[arm] = closest
        state.constant[arm] = state.fit.residual[arm, closest] / n
        state.width[arm] = 1.0 / math.sqrt(n)
        refresh_score(params, state, arm)


@shared
def score(params: Params, state: State, arm: Any, pull: Any) -> Any:
    """constant + mu(pull; theta-hat)."""
    if state.arms.observed[arm] < params.start:
        return -math.inf
    return state.constant[arm] + params.mu[pull, state.closest[arm]]


@shared
def refresh_score(params: Params, state: State, arm: Any) -> None:
    state.value[arm] = score(params, state, arm, next_pull(state.arms, arm))


@dataclass(frozen=True)
class LDCTO(Policy):
    """LD-CTO: D-CTO by likelihood, the constant profiled out.

    For arms that rot to unknown constants, each by some model of a known family. Each arm `start`
    times, then the arm with the highest

        constant_i + mu(N_i + 1; theta-hat_i) + sqrt(c ln t sigma^2 / N_i)

    where theta-hat_i minimises the residual sum of squares about the mean residual, and that mean
    is the estimate of the constant. Ties over theta go to the first in Theta's order, ties over
    arms to the first arm. In an audience it counts by key. No bound is proved.

    Args:
        family: The models that arms may follow, with positive means: `model.over([...])`.
        sigma: The standard deviation of a reward about its mean.
        c: The weight of exploration. 1 explores enough in every scenario of the league; the paper's
            proof would need 8.
        start: Pulls of each arm at the start.

    >>> from rotting import models, policies
    >>> family = models.Plateau(length=100).over([0.1, 0.2])
    >>> player = policies.LDCTO(family, sigma=0.4).online(["red", "blue"], compiled=False)
    >>> [player.select().arm for _ in range(4)]
    ['red', 'blue', 'red', 'blue']
    """

    family: Family
    sigma: Positive
    c: Positive = 1.0
    start: Count = 2

    title: ClassVar[str] = "LD-CTO"
    grows: ClassVar[bool] = False
    verbs: ClassVar[Verbs] = Verbs(
        Params,
        State,
        init,
        choose,
        update,
        score=score,
        refresh_score=refresh_score,
        set_open=set_open_started,
        inspect=worth_and_padding,
    )

    def check(self) -> None:
        check_family("LDCTO", self.family)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        c = self.c * self.sigma**2
        mu = table_of("LDCTO", self.family, reach)
        return Params(mu, c, log_padding(c, reach), self.start)

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        # models that differ at once, and models that coincide for a while
        return [
            cls(Polynomial().over([0.1, 0.25, 0.4]), sigma=0.5),
            cls(Plateau(length=20).over([0.4, 0.1, 0.2]), sigma=0.3, c=0.5, start=3),
        ]
