"""D-CTO_SIM-UCB (section 4.2 of the paper): arms of a known family rot to unknown constants."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from rotting.kernel.arrays import FloatArray
from rotting.kernel.compilable import shared
from rotting.kernel.state import Numbers, Values
from rotting.kernel.verbs import Verbs
from rotting.models import Family, Plateau, Polynomial, check_positive
from rotting.parameters import Count, OneOf, Positive
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
from rotting.policies.parts.family import check_family
from rotting.policies.parts.halves import (
    HalfTables,
    Halves,
    add_reward,
    detect,
    empty_halves,
    half_tables,
    worth_of,
)
from rotting.policies.parts.inspection import worth_and_padding
from rotting.policies.parts.padding import log_padding, padding_at, width_at, width_table


class Params(NamedTuple):
    """The family's tables, sigma sqrt(c ln t) at t, and how to start and detect."""

    tables: HalfTables  # the family's
    c: float  # c sigma^2
    padding: FloatArray  # sigma sqrt(c ln t) at t
    widths: FloatArray  # 1 / sqrt(n) at n
    start: int  # rewards an arm must have shown before its halves are used
    even_only: bool  # whether odd N keep the model of the even N before


class State(NamedTuple):
    """Halves and what follows from them. Memory: about T/2 rewards, and sixteen an arm."""

    arms: Arms  # pulls, rewards, rounds
    halves: Halves  # first less second half of the rewards, and theta-hat
    value: Values  # mu^c + mu(N + 1; theta-hat)
    width: Numbers  # 1 / sqrt(observed)

    def wrong(self, state: Any, params: Any, waiting: Any) -> str | None:
        """As `Halves.wrong_for`: all observed rewards take part."""
        wrong = self.halves.wrong_for(self.arms.observed, self.arms.pulls)
        return None if wrong is None else f"halves.{wrong}"


def init(params: Params, arms: int, capacity: int) -> State:
    """Nothing pulled, nothing observed."""
    halves = empty_halves(arms, params.tables.mu.shape[1], capacity)
    return State(no_pulls(arms), halves, np.full(arms, -math.inf), np.zeros(arms))


def choose(params: Params, state: State, draw: Any) -> int:
    """Each arm `start` times, then argmax of mu^c-hat + mu(N + 1; theta-hat) + c_{t,N} (Eq. 12)."""
    arm = next_untried(state.arms, params.start)
    if arm < 0:
        bonus = padding_at(params.padding, params.c, state.arms.clock[TIME] + 1)
        arm = argmax_padded(state.value, state.width, bonus, state.arms.opening)
    return arm


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """Detect by the halves (Eq. 10), then estimate the constant under the detected model."""
    n = rewarded(state.arms, arm, params.start)
    add_reward(params.tables, state.halves, arm, n - 1, n - 1, pull, reward)
    closest = detect(params.tables, state.halves, arm, n - 1, pull, reward)
    if n >= params.start:
        if not params.even_only or n % 2 == 0 or n == params.start:
            state.halves.closest[arm] = closest
        state.width[arm] = width_at(params.widths, n)
        refresh_score(params, state, arm)


@shared
def score(params: Params, state: State, arm: Any, pull: Any) -> Any:
    """mu^c-hat + mu(pull; theta-hat)."""
    n = state.arms.observed[arm]
    if n < params.start:
        return -math.inf
    return worth_of(params.tables, state.halves, arm, n, pull)


@shared
def refresh_score(params: Params, state: State, arm: Any) -> None:
    """What the arm's next pull is worth."""
    state.value[arm] = score(params, state, arm, next_pull(state.arms, arm))


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
    sigma: Positive
    c: Positive = 8.0
    start: Count = 2
    halves: Annotated[str, OneOf("all", "even")] = "all"

    title: ClassVar[str] = "D-CTO"
    no_audience: ClassVar[str] = "its halves take every pull number once"
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
        """Refuse a family that is not positive."""
        check_family("DCTO", self.family)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        """Tabulate family and padding."""
        c = self.c * self.sigma**2
        check_positive("DCTO", self.family, reach + 1)
        tables = half_tables(self.family, reach + 1)
        padding, widths = log_padding(c, reach), width_table(reach)
        return Params(tables, c, padding, widths, self.start, self.halves == "even")

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        """Models that differ at once, and models that coincide for a while."""
        return [
            cls(Polynomial().over([0.1, 0.25, 0.4]), sigma=0.5),
            cls(Plateau(length=20).over([0.4, 0.1, 0.2]), sigma=0.3, c=1.0),
            cls(Polynomial().over([0.1, 0.4]), sigma=0.3, start=1, halves="even"),
        ]
