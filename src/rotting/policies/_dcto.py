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
    tables: HalfTables  # the family's
    c: float  # c sigma^2
    padding: FloatArray  # sigma sqrt(c ln t) at t
    widths: FloatArray  # 1 / sqrt(n) at n
    start: int  # rewards that an arm needs before its halves are used
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
    state.value[arm] = score(params, state, arm, next_pull(state.arms, arm))


@dataclass(frozen=True)
class DCTO(Policy):
    """D-CTO_SIM-UCB: detects each arm's model by the halves of its rewards, then UCB on the rest.

    For arms that rot to unknown constants, each by some model of a known family. Each arm `start`
    times, then the arm with the highest (Eq. 12)

        mu^c-hat_i + mu(N_i + 1; theta-hat_i) + sqrt(c ln t sigma^2 / N_i)

    where theta-hat_i minimises |Z|, the first half of the rewards less the second compared with the
    same of the model (Eqs. 9 and 10), and mu^c-hat_i is the mean of the residuals under it. Ties
    over theta go to the first in Theta's order, ties over arms to the first arm. It cannot play an
    audience.

    Args:
        family: The models that arms may follow, with positive means: `model.over([...])`.
        sigma: The standard deviation of a reward about its mean.
        c: The weight of exploration; the paper has 8.
        start: Pulls of each arm at the start. The paper leaves this open; one reward has no halves.
        halves: "all" detects at every N, odd ones included, as in Eq. 9; "even" keeps the model of
            the even N before an odd one, since the constant cancels at even N only.

    Reference: Levine, Crammer & Mannor, "Rotting Bandits" (2017), section 4.2.

    >>> from rotting import models, policies
    >>> family = models.Plateau(length=100).over([0.1, 0.2])
    >>> player = policies.DCTO(family, sigma=0.4).online(["red", "blue"], compiled=False)
    >>> [player.select().arm for _ in range(4)]
    ['red', 'blue', 'red', 'blue']
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
        check_family("DCTO", self.family)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        c = self.c * self.sigma**2
        check_positive("DCTO", self.family, reach + 1)
        tables = half_tables(self.family, reach + 1)
        padding, widths = log_padding(c, reach), width_table(reach)
        return Params(tables, c, padding, widths, self.start, self.halves == "even")

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        # models that differ at once, and models that coincide for a while
        return [
            cls(Polynomial().over([0.1, 0.25, 0.4]), sigma=0.5),
            cls(Plateau(length=20).over([0.4, 0.1, 0.2]), sigma=0.3, c=1.0),
            cls(Polynomial().over([0.1, 0.4]), sigma=0.3, start=1, halves="even"),
        ]
