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
    """Nothing to know but how many arms there are."""

    arms: int  # how many


class State(NamedTuple):
    """The arms ranked by their last rewards."""

    arms: Arms  # pulls, rewards, rounds
    last_pull: Counts  # the latest pull observed, 0 for none
    ranking: Ranking  # by the last reward


def init(params: Params, arms: int, capacity: int) -> State:
    """Nothing pulled, nothing observed."""
    return State(no_pulls(arms), np.zeros(arms, dtype=np.int64), unranked(arms))


def choose(params: Params, state: State, draw: Any) -> int:
    """Each arm once, then the arm whose last reward was highest."""
    arm = next_untried(state.arms, 1)
    if arm < 0:
        arm = best(state.ranking, state.arms.opening, draw)
    return arm


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """Keep the reward, unless a later pull's is already here."""
    rewarded(state.arms, arm, 1)
    if pull > state.last_pull[arm]:
        state.last_pull[arm] = pull
        rank(state.ranking, arm, reward)


@dataclass(frozen=True)
class GreedyLast(Policy):
    """Plays the arm whose last reward was highest; each arm once before. Ties: the first arm.

    Without noise its regret is bounded by a constant: Heidari, Kearns & Roth, "Tight Policy Regret
    Bounds for Improving and Decaying Bandits" (2016), Theorem 3.

    >>> player = GreedyLast().online(["a", "b"], compiled=False)
    >>> for reward in (0.5, 1.0, 0.4):
    ...     player.update(player.select(), reward)
    >>> player.select().arm
    'a'
    """

    title: ClassVar[str] = "Greedy"
    key: ClassVar[str] = "greedy"
    tables: ClassVar[bool] = False
    grows: ClassVar[bool] = False
    verbs: ClassVar[Verbs] = Verbs(Params, State, init, choose, update, set_open=set_open_ranked)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        """Note the number of arms."""
        return Params(arms)
