"""SWA, Sliding-Window Average with a known horizon (Algorithm 1 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rotting.kernel.compilable import shared
from rotting.kernel.state import Counts
from rotting.kernel.verbs import Inspection, Verbs
from rotting.parameters import Positive
from rotting.policies._base import Policy
from rotting.policies.parts.arms import TIME, Arms, next_untried, no_pulls
from rotting.policies.parts.inspection import ranked
from rotting.policies.parts.openings import is_open, may_close
from rotting.policies.parts.ranking import Ranking, best, rank, set_open_ranked, unranked
from rotting.policies.parts.window import (
    Window,
    count_unfilled,
    empty_window,
    least_filled,
    observe,
)
from rotting.theory._averaging_window import averaging_window


class Params(NamedTuple):
    arms: int  # how many
    window: int  # M, for the arms at the start


class State(NamedTuple):
    """The last M rewards of each arm, and the arms ranked by their means."""

    arms: Arms  # pulls, rewards, rounds
    window: Window  # the last M rewards of each arm
    ranking: Ranking  # by the window's mean
    short: Counts  # open arms with fewer than M pulls; not counted where none ever closes


def init(params: Params, arms: int, capacity: int) -> State:
    window = empty_window(arms, min(params.window, capacity))
    return State(no_pulls(arms), window, unranked(arms), np.full(1, arms, dtype=np.int64))


def choose(params: Params, state: State, draw: Any) -> int:
    """Ramp up: round robin for K M rounds. Balance: the best mean of the last M rewards.

    Where arms come and go: the least pulled of those with fewer than M pulls.
    """
    arm = -1
    if may_close(state.arms.opening):
        if state.short[0] > 0:
            arm = least_filled(state.window, state.arms, params.window)
    else:
        played = state.arms.clock[TIME]
        if played < params.arms * params.window:
            return played % params.arms
    if arm < 0:
        arm = next_untried(state.arms, 1)
    if arm < 0:
        arm = best(state.ranking, state.arms.opening, draw)
    return arm


def pulled(params: Params, state: State, arm: int) -> None:
    state.arms.pulls[arm] += 1
    state.arms.clock[TIME] += 1
    opening = state.arms.opening
    filled = may_close(opening) and state.arms.pulls[arm] == params.window
    if filled and is_open(opening, arm):
        state.short[0] -= 1


@shared
def set_open(params: Params, state: State, flags: Any) -> None:
    """Recount the arms that ramp up, and rank the open ones again."""
    set_open_ranked(params, state, flags)
    state.short[0] = count_unfilled(state.window, state.arms, params.window)


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    mean = observe(state.window, state.arms, arm, pull, reward, params.window)
    rank(state.ranking, arm, mean)


def inspect(params: Params, state: State, arm: int) -> Inspection:
    """The mean of its last M rewards; empty during its ramp-up."""
    if state.arms.pulls[arm] - state.window.base[arm] < params.window:
        return Inspection()
    return ranked(params, state, arm)


@dataclass(frozen=True)
class SWA(Policy):
    """SWA, Algorithm 1: the best mean of the last M rewards, for a known horizon.

    SWA stands for Sliding-Window Average. Ramp up: each arm M times in turn, with

        M = ceil(alpha 4^(2/3) sigma^(2/3) K^(-2/3) T^(2/3) ln^(1/3)(sqrt(2) T))

    for K arms and the horizon T. Then the arm with the highest mean of its last M rewards. Theorem
    3.1 bounds the regret. Ties go to the first arm.

    T is the scenario's horizon, or that of `online(arms, horizon=T)`. M stays the same if play goes
    on beyond T, and where arms come and go; a new arm is pulled M times. `WSWA` needs no horizon.

    Args:
        alpha: The length of the window, in the unit reward^(-2/3). (2 max mu(1))^(-2/3) makes the
            bound smallest.
        sigma: The standard deviation of a reward about its mean.

    Reference: Levine, Crammer & Mannor, "Rotting Bandits" (2017), section 3.

    >>> from rotting import policies
    >>> policy = policies.SWA(alpha=0.2, sigma=0.5)
    >>> player = policy.online(["red", "blue"], horizon=100, compiled=False)
    >>> [player.select().arm for _ in range(4)]
    ['red', 'blue', 'red', 'blue']
    """

    alpha: Positive
    sigma: Positive

    needs_horizon: ClassVar[bool] = True
    tables: ClassVar[bool] = False
    verbs: ClassVar[Verbs] = Verbs(
        Params, State, init, choose, update, pulled, set_open=set_open, inspect=inspect
    )

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        assert horizon is not None
        return Params(arms, averaging_window(self.alpha, self.sigma, arms, horizon))

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        # a short window and a long one
        return [cls(alpha=0.02, sigma=0.5), cls(alpha=0.2, sigma=0.5)]
