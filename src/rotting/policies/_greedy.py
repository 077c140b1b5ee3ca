"""Greedy on the last reward (Heidari, Kearns & Roth 2016), for rewards without noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rotting.kernel.state import Counts
from rotting.kernel.verbs import Verbs
from rotting.policies._base import Policy
from rotting.policies.parts.arms import Arms, next_untried, no_pulls, rewarded
from rotting.policies.parts.ranking import Ranking, best, rank, set_open_ranked, unranked


class Params(NamedTuple):
    arms: int  # how many


class State(NamedTuple):
    arms: Arms  # pulls, rewards, rounds
    last_pull: Counts  # the latest pull observed, 0 for none
    ranking: Ranking  # by the last reward


def init(params: Params, arms: int, capacity: int) -> State:
    return State(no_pulls(arms), np.zeros(arms, dtype=np.int64), unranked(arms))


def choose(params: Params, state: State, draw: Any) -> int:
    arm = next_untried(state.arms, 1)
    if arm < 0:
        arm = best(state.ranking, state.arms.opening, draw)
    return arm


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    rewarded(state.arms, arm, 1)
    if pull > state.last_pull[arm]:  # a late reward does not replace that of a later pull
        state.last_pull[arm] = pull
        rank(state.ranking, arm, reward)


@dataclass(frozen=True)
class GreedyLast(Policy):
    """The arm whose last reward was highest: for rewards without noise.

    Each arm is pulled once before; ties go to the first arm. A late reward counts only if no later
    pull of its arm has been rewarded. Without noise the regret is bounded by a constant.

    Reference: Heidari, Kearns & Roth, "Tight Policy Regret Bounds for Improving and Decaying
    Bandits" (2016), Theorem 3.

    >>> from rotting import policies
    >>> player = policies.GreedyLast().online(["red", "blue"], compiled=False)
    >>> for reward in (0.5, 1.0, 0.4):
    ...     player.update(player.select(), reward)
    >>> player.select().arm
    'red'
    """

    title: ClassVar[str] = "Greedy"
    key: ClassVar[str] = "greedy"
    tables: ClassVar[bool] = False
    grows: ClassVar[bool] = False
    verbs: ClassVar[Verbs] = Verbs(Params, State, init, choose, update, set_open=set_open_ranked)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        return Params(arms)
