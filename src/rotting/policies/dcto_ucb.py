"""D-CTO_UCB (Algorithm 3 of the paper): explore, detect the models once, then UCB."""

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
from rotting.policies.parts.halves import (
    ROOM,
    add_reward,
    constant_of,
    detect,
    empty_halves,
    grow_halves,
    half_tables,
)
from rotting.policies.parts.padding import log_padding, padding_at, width_at, width_table
from rotting.policies.parts.ranking import argmax_padded, next_untried


class Params(NamedTuple):
    """The family's tables, sigma sqrt(8 ln t) at t, and the exploration."""

    mu: FloatArray
    sums: FloatArray  # see `halves.HalfTables`
    means: FloatArray
    halves: FloatArray
    ordered: int
    padding: FloatArray
    widths: FloatArray
    sigma: float
    arms: int
    exploration: int  # pulls of each arm before the models are detected


class State(NamedTuple):
    """Halves of the exploration, all rewards, and what follows from them."""

    observed: IntArray
    lead: FloatArray
    total: FloatArray
    settled: IntArray
    halves: FloatArray
    expected: FloatArray
    head: IntArray
    tail: IntArray
    middle: IntArray
    free: IntArray
    after: IntArray
    before: IntArray
    pending_pull: IntArray
    pending: FloatArray
    time: IntArray
    waiting: IntArray  # how many arms have no observed reward yet
    exploring: IntArray
    pulls: IntArray
    rewards: IntArray  # observed rewards, those after the detection included
    closest: IntArray
    estimate: FloatArray
    width: FloatArray
    unjudged: IntArray  # the arm pulled last, until its reward comes


def init(params: Params, arms: int, capacity: int) -> State:
    """Nothing pulled, nothing observed."""
    return State(
        *empty_halves(arms, params.mu.shape[1], min(capacity, 2 * arms * params.exploration)),
        time=np.zeros(1, dtype=np.int64),
        waiting=np.full(1, arms, dtype=np.int64),
        exploring=np.ones(1, dtype=np.int64),
        pulls=np.zeros(arms, dtype=np.int64),
        rewards=np.zeros(arms, dtype=np.int64),
        closest=np.zeros(arms, dtype=np.int64),
        estimate=np.full(arms, -math.inf),
        width=np.zeros(arms),
        unjudged=np.full(1, -1, dtype=np.int64),
    )


@shared
def _estimate(params: Any, state: Any, arm: Any) -> None:
    """The arm's constant and next mean under its detected model."""
    n = state.rewards[arm]
    if n > 0:
        closest = state.closest[arm]
        constant = constant_of(params, state, arm, n, closest)
        state.estimate[arm] = constant + params.mu[state.pulls[arm] + 1, closest]
        state.width[arm] = width_at(params.widths, n)


def select(params: Params, state: State, draw: Any) -> int:
    """Explore by round robin; detect once; then argmax of Eq. 12."""
    t = state.time[0] + 1
    state.time[0] = t
    late = state.unjudged[0]
    if late >= 0 and state.exploring[0] == 0:
        _estimate(params, state, late)  # its reward has not come, but it was pulled
    arm = -1
    if t <= params.arms * params.exploration:
        arm = (t - 1) % params.arms
    else:
        if state.exploring[0] == 1:
            state.exploring[0] = 0
            for i in range(params.arms):
                _estimate(params, state, i)
        if state.waiting[0] > 0:
            arm = next_untried(state.pulls, state.rewards, 1)
        if arm < 0:
            bonus = padding_at(params.padding, 8.0 * params.sigma**2, t)
            arm = argmax_padded(state.estimate, state.width, bonus)
    state.pulls[arm] += 1
    state.unjudged[0] = arm
    return arm


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """Sort a reward of the exploration into its half; a later one improves the constant.

    Rewards of the exploration that come after it still improve the detection.
    """
    if state.rewards[arm] == 0:
        state.waiting[0] -= 1
    add_reward(params, state, arm, state.rewards[arm], pull, reward)
    state.rewards[arm] += 1
    if pull <= params.exploration:
        state.closest[arm] = detect(params, state, arm, pull, reward)
    if state.exploring[0] == 0:
        _estimate(params, state, arm)
    if arm == state.unjudged[0]:
        state.unjudged[0] = -1


def grow(params: Params, state: State, arms: int, capacity: int) -> State:
    """Room for more pending rewards, while exploring."""
    grown: State = grow_halves(state, arms, min(capacity, 2 * arms * params.exploration))
    return grown


@dataclass(frozen=True)
class DCTO_UCB(Policy):
    """D-CTO_UCB, Algorithm 3: explore each arm m times in turn, detect the models, then UCB.

    The models are detected once, by the halves of the m first rewards of each arm (Eq. 10); from
    then on the arm with the highest mu^c-hat + mu(N_i + 1; theta-hat_i) + sqrt(8 ln t sigma^2 /
    N_i) is pulled (Eq. 12). With m >= m*_diff(delta / K) all models are detected with probability
    1 - delta, and Theorem 4.2 bounds the regret.

    `exploration` is m; None takes it from `rotting.theory.m_star`: the bound on m*_diff(delta / K),
    which needs no Gaussian noise. It is rounded up to even, so that the constants cancel. An
    exploration that does not fit the horizon is refused. Ties go to the first arm.
    """

    family: Family
    sigma: float
    delta: float
    exploration: int | None = None

    title: ClassVar[str] = "D-CTO_UCB"
    verbs: ClassVar[Verbs] = Verbs(Params, State, init, select, update, grow, room=ROOM)

    def __post_init__(self) -> None:
        check_family("DCTO_UCB", self.family)
        object.__setattr__(self, "sigma", checks.number("sigma", self.sigma, above=0))
        object.__setattr__(self, "delta", checks.number("delta", self.delta, above=0, below=1))
        if self.exploration is not None:
            pulls = checks.integer("exploration", self.exploration, least=2)
            object.__setattr__(self, "exploration", pulls + pulls % 2)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        """Find the exploration length and tabulate family and padding."""
        exploration = self._exploration(arms, horizon)
        padding = log_padding(8.0 * self.sigma**2, reach)
        mu = table_of("DCTO_UCB", self.family, reach)
        tables = half_tables(self.family, reach + 1)
        return Params(mu, *tables, padding, width_table(reach), self.sigma, arms, exploration)

    def _exploration(self, arms: int, horizon: int | None) -> int:
        """m, rounded up to even; refused when there is none, or it does not fit the horizon."""
        pulls = self.exploration
        if pulls is None:
            from rotting import theory

            p = self.delta / arms
            needed = theory.m_star(self.family, p, self.sigma, "difference", "bound")
            if math.isinf(needed.max()):
                raise ValueError(
                    f"DCTO_UCB cannot explore enough: m*_diff(delta/K) = m*_diff({p:g}) is not "
                    f"known to be finite for {self.family!r}; give exploration=..., or use DCTO, "
                    "which has no exploration phase"
                )
            pulls = int(needed.max())
            pulls += pulls % 2
        if horizon is not None and arms * pulls > horizon:
            raise ValueError(
                f"DCTO_UCB must explore each of {arms} arms {pulls} times, that is {arms * pulls} "
                f"decisions, but the horizon is {horizon}; give a smaller exploration=..., or use "
                "DCTO, which has no exploration phase"
            )
        return pulls

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        """Short explorations, one of them odd and so rounded up."""
        return [
            cls(Polynomial().over([0.1, 0.45]), sigma=0.5, delta=0.1, exploration=10),
            cls(Plateau(length=5).over([0.4, 0.1, 0.2]), sigma=0.3, delta=0.1, exploration=13),
        ]
