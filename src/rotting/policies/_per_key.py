"""PerKey: a separate bandit for each key of an audience."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from rotting.kernel import verbs
from rotting.kernel.verbs import Inspection, Verbs
from rotting.policies._base import Policy, check_held, take_after
from rotting.policies._ucb1 import UCB1
from rotting.policies.parts.arms import Arms, count_pull, no_pulls, rewarded, set_open_arms
from rotting.policies.parts.per_key_state import (
    PerKeyState,
    load_key,
    no_key_states,
    set_open_per_key,
)


class Params(NamedTuple):
    inner: Any  # params of the policy of each key


class State(NamedTuple):
    arms: Arms  # pulls by key
    per_key: PerKeyState  # the states of `inner`, one a key


def init(params: Params, arms: int, capacity: int) -> State:
    inner = verbs.verbs_of(params.inner).init(params.inner, arms, capacity)
    return State(no_pulls(arms), no_key_states(inner, arms))


def choose(params: Params, state: State, draw: Any) -> int:
    load_key(params.inner, state.per_key, state.arms.exposure)
    return verbs.choose(params.inner, state.per_key.current.inner, draw)


def pulled(params: Params, state: State, arm: int) -> None:
    load_key(params.inner, state.per_key, state.arms.exposure)
    count_pull(params, state, arm)
    verbs.pulled(params.inner, state.per_key.current.inner, arm)


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    load_key(params.inner, state.per_key, state.arms.exposure)
    rewarded(state.arms, arm, 1)
    verbs.update(params.inner, state.per_key.current.inner, arm, pull, reward)


def refresh_score(params: Params, state: State, arm: Any) -> None:
    load_key(params.inner, state.per_key, state.arms.exposure)
    verbs.refresh_score(params.inner, state.per_key.current.inner, arm)


def set_open(params: Params, state: State, flags: Any) -> None:
    set_open_arms(state.arms, flags, 1)
    set_open_per_key(params.inner, state.per_key, flags)


def set_propensity(params: Params, state: State, arm: Any, pull: Any, chance: Any) -> None:
    load_key(params.inner, state.per_key, state.arms.exposure)
    verbs.set_propensity(params.inner, state.per_key.current.inner, arm, pull, chance)


def inspect(params: Params, state: State, arm: int) -> Inspection | None:
    load_key(params.inner, state.per_key, state.arms.exposure)
    return verbs.inspect(params.inner, state.per_key.current.inner, arm)


@dataclass(frozen=True)
class PerKey(Policy):
    """A separate bandit for each key of an audience: each plays `inner`, and they share nothing.

    A yardstick for the gain of learning from all keys: with few decisions a key it learns next to
    nothing. Without an audience, and with one key, it is `inner`. Ties are those of `inner`.
    Memory: a state of `inner` for each key.

    Args:
        inner: The policy of each key. Its state must have a fixed size: `UCB1`, `Thompson`,
            `SteadyUCB`, `EXP3S`, `DTS`, `GreedyLast` and the yardsticks.

    Raises:
        ValueError: The state or the tables of `inner` grow, or it cannot be held.

    >>> from rotting import policies
    >>> player = policies.PerKey(policies.UCB1()).audience(["red", "blue"], compiled=False)
    >>> player.update(player.select("ann"), 1.0)
    >>> player.select("ann").arm, player.select("bob").arm
    ('blue', 'red')
    """

    inner: Policy

    counts_by_key: ClassVar[bool] = True
    no_rest: ClassVar[str] = "each key's policy counts its own pulls, which do not fade"
    verbs: ClassVar[Verbs] = Verbs(
        Params,
        State,
        init,
        choose,
        update,
        pulled,
        refresh_score=refresh_score,
        set_open=set_open,
        set_propensity=set_propensity,
        inspect=inspect,
    )

    def check(self) -> None:
        check_held("PerKey", self.inner)
        if self.inner.grows or self.inner.tables:
            what = "a state that grows" if self.inner.grows else "tables that grow"
            raise ValueError(
                "inner of PerKey must be a policy whose state is of one size, since every key has "
                f"one (UCB1, Thompson, SteadyUCB, ...), got {self.inner.title}, which has {what}"
            )
        take_after(self, self.inner)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        return Params(self.inner.prepare(arms, horizon, reach))

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        return [cls(UCB1(c=0.5))]
