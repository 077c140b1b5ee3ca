"""L-CTO, CTO by likelihood: every reward counts, not only their sum (beyond the paper)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from rotting.kernel.arrays import FloatArray, IntArray
from rotting.kernel.compilable import shared
from rotting.kernel.state import Place
from rotting.kernel.verbs import Verbs
from rotting.models import Family, Plateau, Polynomial
from rotting.policies._base import Policy
from rotting.policies.parts.arms import Arms, next_pull, next_untried, no_pulls, rewarded
from rotting.policies.parts.family import check_family, table_of
from rotting.policies.parts.likelihood import Fit, add_residuals, best_fit, no_fit
from rotting.policies.parts.ranking import (
    Ranking,
    best_least_pulled,
    rank,
    set_open_ranked,
    unranked,
)


class Params(NamedTuple):
    mu: FloatArray  # [n, theta]


class State(NamedTuple):
    arms: Arms  # pulls, rewards, rounds
    fit: Fit  # of every model to each arm's rewards
    closest: Annotated[IntArray, Place("fit.squares", axis=1)]  # theta-hat, as its place in Theta
    ranking: Ranking  # by mu(N + 1; theta-hat)


def init(params: Params, arms: int, capacity: int) -> State:
    fit = no_fit(arms, params.mu.shape[1])
    return State(no_pulls(arms), fit, np.zeros(arms, dtype=np.int64), unranked(arms))


def choose(params: Params, state: State, draw: Any) -> int:
    """Each arm once, then argmax of mu(N + 1; theta-hat), ties by least pulls and at random."""
    arm = next_untried(state.arms, 1)
    if arm < 0:
        arm = best_least_pulled(state.ranking, state.arms.pulls, state.arms.opening, draw)
    return arm


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """The likeliest model is the one with the least squares."""
    n = rewarded(state.arms, arm, 1)
    add_residuals(params.mu, state.fit, arm, pull, reward, False)
    state.closest[arm] = best_fit(state.fit, arm, n, False)
    refresh_score(params, state, arm)


@shared
def score(params: Params, state: State, arm: Any, pull: Any) -> Any:
    """mu(pull; theta-hat)."""
    if state.arms.observed[arm] == 0:
        return -math.inf
    return params.mu[pull, state.closest[arm]]


@shared
def refresh_score(params: Params, state: State, arm: Any) -> None:
    rank(state.ranking, arm, score(params, state, arm, next_pull(state.arms, arm)))


@dataclass(frozen=True)
class LCTO(Policy):
    """L-CTO: CTO by likelihood, which uses every reward and not only their sum.

    For arms that rot to zero, each by some model of a known family. Each arm once, then the arm
    with the highest mu(N_i + 1; theta-hat_i), where theta-hat_i minimises

        sum over observed pulls j of (r_j - mu(j; theta))^2

    Ties over theta go to the first in Theta's order, ties over arms to the least pulled and then at
    random. In an audience it counts by key. No bound is proved; `theory.likelihood_savings` says
    how many pulls of detection it saves.

    Args:
        family: The models that arms may follow, with positive means: `model.over([...])`.

    >>> from rotting import models, policies
    >>> family = models.Exponential(0.01).over(amplitudes=[0.3, 0.9])
    >>> player = policies.LCTO(family).online(["red", "blue"], compiled=False)
    >>> for reward in (0.2, 0.9):
    ...     player.update(player.select(), reward)
    >>> player.select().arm
    'blue'
    """

    family: Family

    title: ClassVar[str] = "L-CTO"
    grows: ClassVar[bool] = False
    verbs: ClassVar[Verbs] = Verbs(
        Params,
        State,
        init,
        choose,
        update,
        score=score,
        refresh_score=refresh_score,
        set_open=set_open_ranked,
    )

    def check(self) -> None:
        check_family("LCTO", self.family)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        return Params(table_of("LCTO", self.family, reach))

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        # models that differ at once, and models that coincide for a while
        return [
            cls(Polynomial().over([0.1, 0.25, 0.4])),
            cls(Plateau(length=20).over([0.4, 0.1, 0.2])),
        ]
