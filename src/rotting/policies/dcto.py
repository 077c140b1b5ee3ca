"""D-CTO_SIM-UCB (section 4.2 of the paper): arms of a known family rot to unknown constants."""

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

HALVES = ("all", "even")


class Params(NamedTuple):
    """The family's tables, sigma sqrt(c ln t) at t, and how to start and detect."""

    mu: FloatArray
    sums: FloatArray  # see `halves.HalfTables`
    means: FloatArray
    halves: FloatArray
    ordered: int
    c: float  # c sigma^2
    padding: FloatArray
    widths: FloatArray
    start: int  # rewards an arm must have shown before its halves are used
    even_only: bool


class State(NamedTuple):
    """Halves and what follows from them. Memory: about T/2 rewards, and sixteen an arm."""

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
    waiting: IntArray  # how many arms have shown too few rewards to start with
    pulls: IntArray
    closest: IntArray
    estimate: FloatArray  # mu^c + mu(N + 1; theta-hat)
    width: FloatArray
    unjudged: IntArray  # the arm pulled last, until its reward comes


def init(params: Params, arms: int, capacity: int) -> State:
    """Nothing pulled, nothing observed."""
    return State(
        *empty_halves(arms, params.mu.shape[1], capacity),
        time=np.zeros(1, dtype=np.int64),
        waiting=np.full(1, arms, dtype=np.int64),
        pulls=np.zeros(arms, dtype=np.int64),
        closest=np.zeros(arms, dtype=np.int64),
        estimate=np.full(arms, -math.inf),
        width=np.zeros(arms),
        unjudged=np.full(1, -1, dtype=np.int64),
    )


@shared
def _estimate(params: Any, state: Any, arm: Any) -> None:
    """What the arm's next pull is worth under its detected model."""
    closest = state.closest[arm]
    constant = constant_of(params, state, arm, state.observed[arm], closest)
    state.estimate[arm] = constant + params.mu[state.pulls[arm] + 1, closest]


def select(params: Params, state: State, draw: Any) -> int:
    """Each arm `start` times, then argmax of mu^c-hat + mu(N + 1; theta-hat) + c_{t,N} (Eq. 12)."""
    t = state.time[0] + 1
    state.time[0] = t
    late = state.unjudged[0]
    if late >= 0 and state.observed[late] >= params.start:
        _estimate(params, state, late)  # its reward has not come, but it was pulled
    arm = -1
    if state.waiting[0] > 0:
        arm = next_untried(state.pulls, state.observed, params.start)
    if arm < 0:
        bonus = padding_at(params.padding, params.c, t)
        arm = argmax_padded(state.estimate, state.width, bonus)
    state.pulls[arm] += 1
    state.unjudged[0] = arm
    return arm


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """Detect by the halves (Eq. 10), then estimate the constant under the detected model."""
    add_reward(params, state, arm, state.observed[arm], pull, reward)
    closest = detect(params, state, arm, pull, reward)
    n = state.observed[arm]
    if n == params.start:
        state.waiting[0] -= 1
    if n >= params.start:
        if not params.even_only or n % 2 == 0 or n == params.start:
            state.closest[arm] = closest
        _estimate(params, state, arm)
        state.width[arm] = width_at(params.widths, n)
    if arm == state.unjudged[0]:
        state.unjudged[0] = -1


def grow(params: Params, state: State, arms: int, capacity: int) -> State:
    """Room for more pending rewards."""
    grown: State = grow_halves(state, arms, capacity)
    return grown


@dataclass(frozen=True)
class DCTO(Policy):
    """D-CTO_SIM-UCB: detect each arm's model by the halves of its rewards, then UCB on the rest.

    theta-hat_i minimises |Z| (Eqs. 9 and 10; ties to the first in Theta's order), the constant is
    estimated under it, and the arm with the highest mu^c-hat + mu(N_i + 1; theta-hat_i) +
    sqrt(c ln t sigma^2 / N_i) is pulled (Eq. 12). The paper has c = 8 and does not say how to
    start; each arm is pulled `start` = 2 times. `halves="all"` detects at every N, odd ones
    included, as Eq. 9 has it; "even" keeps the model of the even N before an odd one, since the
    constant cancels at even N only. Ties go to the first arm.
    """

    family: Family
    sigma: float
    c: float = 8.0
    start: int = 2
    halves: str = "all"

    title: ClassVar[str] = "D-CTO"
    verbs: ClassVar[Verbs] = Verbs(Params, State, init, select, update, grow, room=ROOM)

    def __post_init__(self) -> None:
        check_family("DCTO", self.family)
        object.__setattr__(self, "sigma", checks.number("sigma", self.sigma, above=0))
        object.__setattr__(self, "c", checks.number("c", self.c, above=0))
        object.__setattr__(self, "start", checks.integer("start", self.start, least=1))
        checks.choice("halves", self.halves, HALVES)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        """Tabulate family and padding."""
        c = self.c * self.sigma**2
        mu = table_of("DCTO", self.family, reach)
        tables = half_tables(self.family, reach + 1)
        padding, widths = log_padding(c, reach), width_table(reach)
        return Params(mu, *tables, c, padding, widths, self.start, self.halves == "even")

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        """Models that differ at once, and models that coincide for a while."""
        return [
            cls(Polynomial().over([0.1, 0.25, 0.4]), sigma=0.5),
            cls(Plateau(length=20).over([0.4, 0.1, 0.2]), sigma=0.3, c=1.0),
            cls(Polynomial().over([0.1, 0.4]), sigma=0.3, start=1, halves="even"),
        ]
