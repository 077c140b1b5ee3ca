"""C-CTO, CTO with theta anywhere in an interval: the paper's future work, at the price of CTO."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rotting.kernel.arrays import FloatArray
from rotting.kernel.compilable import shared
from rotting.kernel.state import Numbers
from rotting.kernel.verbs import Verbs
from rotting.models import Interval, Plateau, Polynomial
from rotting.policies._base import Policy
from rotting.policies.parts.arms import Arms, next_pull, next_untried, no_pulls, rewarded
from rotting.policies.parts.family import check_family, table_of
from rotting.policies.parts.ranking import (
    Ranking,
    best_least_pulled,
    rank,
    set_open_ranked,
    unranked,
)
from rotting.policies.parts.sums import Sums, in_order, no_sums


class Params(NamedTuple):
    mu: FloatArray  # [n, node]: mu(n) at each node
    sums: FloatArray  # [n, node]: the sum of mu over j <= n


class State(NamedTuple):
    """Sums of rewards, theta-hat between two nodes, and the arms ranked by mu(N + 1; theta-hat)."""

    arms: Arms  # pulls, rewards, rounds
    sums: Sums  # theta-hat lies between the node `closest` and the next,
    part: Numbers  # this part of the way
    ranking: Ranking  # by mu(N + 1; theta-hat)

    def wrong(self, state: Any, params: Any, waiting: Any) -> str | None:
        """theta-hat must have a next node."""
        if np.any(self.sums.closest > self.sums.expected.shape[1] - 2):
            return "sums.closest must be a node before the last"
        return None


def init(params: Params, arms: int, capacity: int) -> State:
    sums = no_sums(arms, params.mu.shape[1])
    return State(no_pulls(arms), sums, np.zeros(arms), unranked(arms))


def choose(params: Params, state: State, draw: Any) -> int:
    """Ramp up: each arm once. Balance: argmax of mu(N + 1; theta-hat), ties by least pulls."""
    arm = next_untried(state.arms, 1)
    if arm < 0:
        arm = best_least_pulled(state.ranking, state.arms.pulls, state.arms.opening, draw)
    return arm


@shared
def _locate(state: State, arm: Any, sums: Any, row: Any) -> None:
    """Locate the sum of the rewards among the nodes' sums, which fall along the nodes.

    The search starts at the last place: theta-hat seldom moves far. Where all sums are equal, and
    beyond the ends, theta-hat is at an end; the first where both would do.
    """
    last = sums.shape[1] - 2
    total = state.sums.total[arm]
    k = state.sums.closest[arm]
    while k > 0 and sums[row, k] <= total:
        k -= 1
    while k < last and sums[row, k + 1] > total:
        k += 1
    high, low = sums[row, k], sums[row, k + 1]
    part = 0.0
    if sums[row, 0] == sums[row, last + 1]:
        k = 0
    elif total < high:
        part = 1.0 if total <= low else (high - total) / (high - low)
    state.sums.closest[arm] = k
    state.part[arm] = part


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """Detect: theta-hat is where the expected sum is the sum of the rewards."""
    n = rewarded(state.arms, arm, 1)
    state.sums.total[arm] += reward
    if in_order(params.mu, params.sums, state.sums, arm, n, pull):
        _locate(state, arm, params.sums, n)
    else:
        _locate(state, arm, state.sums.expected, arm)
    refresh_score(params, state, arm)


@shared
def score(params: Params, state: State, arm: Any, pull: Any) -> Any:
    """mu(pull; theta-hat), interpolated between the two nodes."""
    if state.arms.observed[arm] == 0:
        return -math.inf
    k = state.sums.closest[arm]
    low = params.mu[pull, k]
    return low + state.part[arm] * (params.mu[pull, k + 1] - low)


@shared
def refresh_score(params: Params, state: State, arm: Any) -> None:
    rank(state.ranking, arm, score(params, state, arm, next_pull(state.arms, arm)))


@dataclass(frozen=True)
class CCTO(Policy):
    """C-CTO: CTO with theta anywhere in an interval.

    For arms that rot to zero by one model whose theta may be any number between two. Each arm once,
    then the arm with the highest mu(N_i + 1; theta-hat_i), where theta-hat_i solves

        sum of mu(j; theta) = sum of rewards

    and is an end of the interval where there is no solution. Sums are known at the interval's nodes
    and interpolated between them, so a decision costs the same as with `CTO`. Ties go to the least
    pulled arm and then at random. In an audience it counts by key. The paper (section Discussion)
    names a continuous Theta as future work; no bound is proved.

    Args:
        family: An interval of positive models, `model.between(low, high)`, whose means fall, or
            rise, along theta.

    >>> from rotting import models, policies
    >>> family = models.Plateau(length=100).between(0.1, 0.4)
    >>> player = policies.CCTO(family).online(["red", "blue"], compiled=False)
    >>> player.update(player.select(), 0.7)
    >>> player.select().arm
    'blue'
    """

    family: Interval

    title: ClassVar[str] = "C-CTO"
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
        if not isinstance(self.family, Interval):
            raise ValueError(
                f"family of CCTO must be an Interval, as model.between(0.1, 0.4), got "
                f"{self.family!r}"
            )
        check_family("CCTO", self.family.family)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        nodes = self.family.family
        mu, sums = table_of("CCTO", nodes, reach), nodes.sums_by_pull(reach + 1)
        steps = np.diff(sums, axis=1)
        if np.all(steps <= 0.0):
            return Params(mu, sums)
        if np.all(steps >= 0.0):  # means that rise with theta: nodes in reverse
            return Params(np.ascontiguousarray(mu[:, ::-1]), np.ascontiguousarray(sums[:, ::-1]))
        raise ValueError("family of CCTO must have means that fall, or rise, along theta")

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        # models that differ at once, and models that coincide for a while
        return [cls(Polynomial().between(0.1, 0.4)), cls(Plateau(length=20).between(0.1, 0.4, 7))]
