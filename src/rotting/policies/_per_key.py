"""PerKey: a bandit for each key of an audience, which share nothing."""

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
    """The policy that each key has."""

    inner: Any  # its params


class State(NamedTuple):
    """Whose turn it is, and everybody's state."""

    arms: Arms  # pulls by key
    per_key: PerKeyState  # the states of the policy that decides, one a key


def init(params: Params, arms: int, capacity: int) -> State:
    """Nothing shown to anybody."""
    inner = verbs.verbs_of(params.inner).init(params.inner, arms, capacity)
    return State(no_pulls(arms), no_key_states(inner, arms))


def choose(params: Params, state: State, draw: Any) -> int:
    """What the key's own policy chooses."""
    load_key(params.inner, state.per_key, state.arms.exposure)
    return verbs.choose(params.inner, state.per_key.current.inner, draw)


def pulled(params: Params, state: State, arm: int) -> None:
    """Count it for the key."""
    load_key(params.inner, state.per_key, state.arms.exposure)
    count_pull(params, state, arm)
    verbs.pulled(params.inner, state.per_key.current.inner, arm)


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """The key's own policy learns."""
    load_key(params.inner, state.per_key, state.arms.exposure)
    rewarded(state.arms, arm, 1)
    verbs.update(params.inner, state.per_key.current.inner, arm, pull, reward)


def refresh_score(params: Params, state: State, arm: Any) -> None:
    """What the key's policy keeps of the arm's next pull is made anew."""
    load_key(params.inner, state.per_key, state.arms.exposure)
    verbs.refresh_score(params.inner, state.per_key.current.inner, arm)


def set_open(params: Params, state: State, flags: Any) -> None:
    """All keys are told, each when it is its turn."""
    set_open_arms(state.arms, flags, 1)
    set_open_per_key(params.inner, state.per_key, flags)


def set_propensity(params: Params, state: State, arm: Any, pull: Any, chance: Any) -> None:
    """Somebody else chose: the key's own policy is told."""
    load_key(params.inner, state.per_key, state.arms.exposure)
    verbs.set_propensity(params.inner, state.per_key.current.inner, arm, pull, chance)


def inspect(params: Params, state: State, arm: int) -> Inspection | None:
    """What the present key's policy makes of it."""
    load_key(params.inner, state.per_key, state.arms.exposure)
    return verbs.inspect(params.inner, state.per_key.current.inner, arm)


@dataclass(frozen=True)
class PerKey(Policy):
    """One bandit for each key of an audience: each plays `inner`, and they share nothing.

    With few decisions a key it learns next to nothing; a yardstick for what is gained by learning
    from all. `inner` must have a state of one size (UCB1, Thompson, SteadyUCB and others), since
    every key has one. Without an audience, and with one key, it is `inner`. Ties are those of
    `inner`.

    >>> from rotting.policies import UCB1
    >>> PerKey(UCB1()).online(["a", "b"], compiled=False).select().arm
    'a'
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
        """Refuse a policy whose state grows, or that needs tables by pulls."""
        check_held("PerKey", self.inner)
        if self.inner.grows or self.inner.tables:
            what = "a state that grows" if self.inner.grows else "tables that grow"
            raise ValueError(
                "inner of PerKey must be a policy whose state is of one size, since every key has "
                f"one (UCB1, Thompson, SteadyUCB, ...), got {self.inner.title}, which has {what}"
            )
        take_after(self, self.inner)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        """Prepare the policy that each key has."""
        return Params(self.inner.prepare(arms, horizon, reach))

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        """By an index."""
        return [cls(UCB1(c=0.5))]
