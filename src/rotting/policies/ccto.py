"""CTO with theta anywhere in an interval: the paper's future work, at the price of CTO."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rotting.compilable import shared
from rotting.models import Interval, Plateau, Polynomial
from rotting.policies.base import FloatArray, IntArray, Policy, Verbs
from rotting.policies.cto import check_family, count_gaps, table_of
from rotting.policies.parts.ranking import argmax_least_pulled, next_untried, still_leads


class Params(NamedTuple):
    """The models at the nodes as tables [n, node]: mu, and its sums up to n."""

    mu: FloatArray
    sums: FloatArray


class State(NamedTuple):
    """Per arm: the sum of its rewards, theta-hat between two nodes, and its next mean."""

    waiting: IntArray
    pulls: IntArray
    observed: IntArray
    total: FloatArray
    gaps: IntArray  # whether rewards ever came out of order
    expected: FloatArray  # [arm, node]: the sum of mu over the observed pulls, if so
    node: IntArray  # theta-hat lies between this node and the next,
    part: FloatArray  # this part of the way
    next_mean: FloatArray
    leader: IntArray  # see `choose.still_leads`
    rival: FloatArray


def init(params: Params, arms: int, capacity: int) -> State:
    """Nothing pulled, nothing observed."""
    return State(
        waiting=np.full(1, arms, dtype=np.int64),
        pulls=np.zeros(arms, dtype=np.int64),
        observed=np.zeros(arms, dtype=np.int64),
        total=np.zeros(arms),
        gaps=np.zeros(arms, dtype=np.int64),
        expected=np.zeros((arms, params.mu.shape[1])),
        node=np.zeros(arms, dtype=np.int64),
        part=np.zeros(arms),
        next_mean=np.full(arms, -math.inf),
        leader=np.full(1, -1, dtype=np.int64),
        rival=np.zeros(1),
    )


@shared
def _between(params: Any, state: Any, arm: Any) -> Any:
    """The arm's next mean, between those of the two nodes."""
    n = state.pulls[arm] + 1
    k = state.node[arm]
    low = params.mu[n, k]
    return low + state.part[arm] * (params.mu[n, k + 1] - low)


def select(params: Params, state: State, draw: Any) -> int:
    """Ramp up: each arm once. Balance: argmax of mu(N + 1; theta-hat), ties by least pulls."""
    arm = -1
    if state.waiting[0] > 0:
        arm = next_untried(state.pulls, state.observed, 1)
    if arm < 0:
        if still_leads(state.next_mean, state.leader, state.rival):
            arm = state.leader[0]
        else:
            arm = argmax_least_pulled(state.next_mean, state.pulls, state.leader, state.rival, draw)
    state.pulls[arm] += 1
    if state.observed[arm] > 0:
        state.next_mean[arm] = _between(params, state, arm)
    return arm


@shared
def _locate(state: Any, arm: Any, sums: Any, row: Any) -> None:
    """Where the sum of the rewards lies among the nodes' sums, which fall along the nodes.

    It is looked for from where it was: theta-hat seldom moves far. Where all sums are equal, and
    beyond the ends, theta-hat is at an end, the first in doubt.
    """
    last = sums.shape[1] - 2
    total = state.total[arm]
    k = state.node[arm]
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
    state.node[arm] = k
    state.part[arm] = part


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """Detect: theta-hat is where the expected sum is the sum of the rewards."""
    n = state.observed[arm] + 1
    state.observed[arm] = n
    if n == 1:
        state.waiting[0] -= 1
    state.total[arm] += reward
    if pull == n and state.gaps[arm] == 0:
        _locate(state, arm, params.sums, n)
    else:
        count_gaps(params, state, arm, pull, n)
        _locate(state, arm, state.expected, arm)
    state.next_mean[arm] = _between(params, state, arm)
    if arm != state.leader[0]:
        state.leader[0] = -1


@dataclass(frozen=True)
class CCTO(Policy):
    """CTO_SIM for theta in an interval: theta-hat solves sum of mu(j; theta) = sum of rewards.

    The sums are known at the interval's nodes and interpolated between them, so that a decision
    costs what CTO's does. theta-hat is the interval's end where there is no solution. The arm with
    the highest mu(N_i + 1; theta-hat_i), interpolated, is pulled; ties by least pulls and then at
    random. The paper (section Discussion) names a continuous Theta as future work; no bound is
    proved.

    >>> from rotting import models
    >>> family = models.Plateau(length=100).between(0.1, 0.4)
    >>> CCTO(family).online(range(10), compiled=False).select().arm
    0
    """

    family: Interval

    title: ClassVar[str] = "C-CTO"
    verbs: ClassVar[Verbs] = Verbs(Params, State, init, select, update)

    def __post_init__(self) -> None:
        if not isinstance(self.family, Interval):
            raise ValueError(
                f"family of CCTO must be an Interval, as model.between(0.1, 0.4), got "
                f"{self.family!r}"
            )
        check_family("CCTO", self.family.family)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        """Tabulate the models at the nodes."""
        nodes = self.family.family
        mu, sums = table_of("CCTO", nodes, reach), nodes.sums_by_pull(reach + 1)
        steps = np.diff(sums, axis=1)
        if np.all(steps <= 0.0):
            return Params(mu, sums)
        if np.all(steps >= 0.0):  # means that rise with theta: the nodes the other way round
            return Params(np.ascontiguousarray(mu[:, ::-1]), np.ascontiguousarray(sums[:, ::-1]))
        raise ValueError("family of CCTO must have means that fall, or rise, along theta")

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        """Models that differ at once, and models that coincide for a while."""
        return [cls(Polynomial().between(0.1, 0.4)), cls(Plateau(length=20).between(0.1, 0.4, 7))]
