"""CTO_SIM, Closest To Origin (Algorithm 2 of the paper): arms of a known family rot to zero."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from rotting.kernel.arrays import FloatArray
from rotting.kernel.compilable import shared
from rotting.kernel.verbs import Verbs
from rotting.models import Family, Plateau, Polynomial, check_positive
from rotting.policies._base import Policy
from rotting.policies.parts.arms import Arms, next_pull, next_untried, no_pulls, rewarded
from rotting.policies.parts.family import check_family
from rotting.policies.parts.ranking import (
    Ranking,
    best_least_pulled,
    rank,
    set_open_ranked,
    unranked,
)
from rotting.policies.parts.sums import Sums, detect, no_sums


class Params(NamedTuple):
    """The family as tables [n, theta]."""

    mu: FloatArray  # mu(n; theta)
    sums: FloatArray  # the sum of mu(j; theta) over j <= n
    ordered: int  # see `parts.nearest`


class State(NamedTuple):
    arms: Arms  # pulls, rewards, rounds
    sums: Sums  # of the rewards, and theta-hat
    ranking: Ranking  # by mu(N + 1; theta-hat)


def init(params: Params, arms: int, capacity: int) -> State:
    return State(no_pulls(arms), no_sums(arms, params.mu.shape[1]), unranked(arms))


def choose(params: Params, state: State, draw: Any) -> int:
    """Ramp up: each arm once. Balance: argmax of mu(N_i + 1; theta-hat_i), ties by least pulls."""
    arm = next_untried(state.arms, 1)  # Ramp up
    if arm < 0:
        arm = best_least_pulled(
            state.ranking, state.arms.pulls, state.arms.opening, draw
        )  # Balance
    return arm


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """Detect: theta-hat is the model whose expected sum is closest to the sum of the rewards."""
    n = rewarded(state.arms, arm, 1)
    detect(params, state.sums, arm, n, pull, reward)  # Detect
    refresh_score(params, state, arm)


@shared
def score(params: Params, state: State, arm: Any, pull: Any) -> Any:
    """mu(pull; theta-hat)."""
    if state.arms.observed[arm] == 0:
        return -math.inf
    return params.mu[pull, state.sums.closest[arm]]


@shared
def refresh_score(params: Params, state: State, arm: Any) -> None:
    rank(state.ranking, arm, score(params, state, arm, next_pull(state.arms, arm)))


@dataclass(frozen=True)
class CTO(Policy):
    """CTO_SIM, Algorithm 2: detects each arm's model by the sum of its rewards, then balances.

    For arms that rot to zero, each by some model of a known family. Each arm once, then the arm
    with the highest mu(N_i + 1; theta-hat_i), where theta-hat_i minimises

        |sum of rewards - sum of mu(j; theta)|

    over the observed pulls j (Eqs. 6 and 7). It has no constants to tune, and Theorem 4.1 bounds
    its regret from some horizon on. Ties over theta go to the first in Theta's order, ties over
    arms to the least pulled arm and then at random. In an audience it counts by key.

    Args:
        family: The models that arms may follow, with positive means: `model.over([...])`.

    Reference: Levine, Crammer & Mannor, "Rotting Bandits" (2017), section 4.1.

    >>> from rotting import models, policies
    >>> family = models.Exponential(0.01).over(amplitudes=[0.3, 0.9])
    >>> player = policies.CTO(family).online(["red", "blue"], compiled=False)
    >>> for reward in (0.2, 0.9):
    ...     player.update(player.select(), reward)
    >>> player.select().arm
    'blue'
    """

    family: Family

    title: ClassVar[str] = "CTO"
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
        check_family("CTO", self.family)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        check_positive("CTO", self.family, reach + 1)
        return Params(*self.family.rows(reach + 1))

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        # models that differ at once, and models that coincide for a while
        return [
            cls(Polynomial().over([0.1, 0.25, 0.4])),
            cls(Plateau(length=20).over([0.4, 0.1, 0.2])),
        ]
