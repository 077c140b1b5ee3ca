"""Capped: a frequency cap, at most a fixed number of showings of an arm to a key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rotting.bandits._audience import HalfLife, Window, check_rest
from rotting.kernel import verbs
from rotting.kernel.compilable import shared
from rotting.kernel.state import Flags
from rotting.kernel.verbs import Inspection, Verbs
from rotting.parameters import Count
from rotting.policies._base import Policy, check_held, take_after
from rotting.policies._ucb1 import UCB1
from rotting.policies.parts.arms import (
    Arms,
    count_pull,
    next_pull,
    no_pulls,
    rewarded,
    set_open_arms,
)
from rotting.policies.parts.exposures import has_key_counts
from rotting.policies.parts.openings import closable, is_open, open_arms


class Params(NamedTuple):
    inner: Any  # params of the policy that decides
    cap: int  # showings of an arm to a key


class State(NamedTuple):
    arms: Arms  # pulls by key
    inner: Any  # state of the policy that decides, pooled over keys
    allowed: Flags  # scratch: the arms that it may choose; between decisions all that are open


def init(params: Params, arms: int, capacity: int) -> State:
    inner = verbs.verbs_of(params.inner).init(params.inner, arms, capacity)
    return State(no_pulls(arms), closable(inner), np.ones(arms, dtype=np.int64))


@shared
def _below_cap(params: Params, state: State, arm: Any) -> Any:
    """Whether the arm may be shown once more to the current key."""
    return is_open(state.arms.opening, arm) and next_pull(state.arms, arm) <= params.cap


@shared
def _restrict(params: Params, state: State) -> Any:
    """Flag the arms below the cap; True if some open arms are below it and others are not."""
    below = 0
    for i in range(state.allowed.size):
        state.allowed[i] = 1 if _below_cap(params, state, i) else 0
        below += state.allowed[i]
    return 0 < below < open_arms(state.arms.opening, state.allowed.size)


@shared
def _allow_all(state: State) -> None:
    """Flag all open arms."""
    for i in range(state.allowed.size):
        state.allowed[i] = 1 if is_open(state.arms.opening, i) else 0


def choose(params: Params, state: State, draw: Any) -> int:
    """What `inner` chooses among the arms below the cap; among all open ones if there is none.

    `inner` sees a decision restricted to some arms: the others are closed only while it chooses.
    """
    restricted = _restrict(params, state)
    if restricted:
        verbs.set_open(params.inner, state.inner, state.allowed)
    arm = verbs.choose(params.inner, state.inner, draw)
    _allow_all(state)
    if restricted:
        verbs.set_open(params.inner, state.inner, state.allowed)
    return arm


def pulled(params: Params, state: State, arm: int) -> None:
    count_pull(params, state, arm)
    verbs.pulled(params.inner, state.inner, arm)


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """`inner` learns.

    It takes the pulls of all keys as those of one. The pooled number of the key's own pull is not
    kept, so rewards are numbered as they come; with prompt rewards that is the same.
    """
    n = rewarded(state.arms, arm, 1)
    number = n if has_key_counts(state.arms.exposure) else pull
    verbs.update(params.inner, state.inner, arm, number, reward)


def refresh_score(params: Params, state: State, arm: Any) -> None:
    verbs.refresh_score(params.inner, state.inner, arm)


def set_open(params: Params, state: State, flags: Any) -> None:
    set_open_arms(state.arms, flags, 1)
    _allow_all(state)
    verbs.set_open(params.inner, state.inner, flags)


def set_propensity(params: Params, state: State, arm: Any, pull: Any, chance: Any) -> None:
    """Another rule chose: pass the probability on, for `inner`'s own latest pull."""
    number = state.arms.pulls[arm] if has_key_counts(state.arms.exposure) else pull
    verbs.set_propensity(params.inner, state.inner, arm, number, chance)


def inspect(params: Params, state: State, arm: int) -> Inspection | None:
    """The view of `inner`; an arm at the cap is not compared."""
    found = verbs.inspect(params.inner, state.inner, arm)
    others = any(_below_cap(params, state, i) for i in range(state.allowed.size))
    if found is None or not others or _below_cap(params, state, arm):
        return found
    return found._replace(index=None)


@dataclass(frozen=True)
class Capped(Policy):
    """A frequency cap: another policy decides among the arms shown fewer than `cap` times.

    The policy `inner` plays pooled: its statistics are those of all keys, and only the showings of
    each arm are counted by key. If a key has seen every open arm `cap` times, all are allowed
    again. Without an audience it caps the pulls of the arm itself, and counts do not fade. Ties are
    those of `inner`.

    A yardstick for policies that learn how arms wear out, such as `Fatigue`.

    Args:
        inner: The policy that decides; it must play pooled and not count by key itself.
        cap: Showings of an arm to a key.
        rest: How exposures fade: `Window(86_400)` is "three a day" with cap=3 where a round takes a
            second. None keeps them.

    Raises:
        ValueError: `inner` cannot be held, counts by key itself or cannot play an audience.

    >>> from rotting import policies
    >>> player = policies.Capped(policies.UCB1(), 2).online(["red", "blue"], compiled=False)
    >>> for _ in range(4):
    ...     player.update(player.select(), 0.5)
    >>> player.pulls
    {'red': 2, 'blue': 2}
    """

    inner: Policy
    cap: Count
    rest: HalfLife | Window | None = None

    counts_by_key: ClassVar[bool] = True
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
        check_held("Capped", self.inner)
        why = self.inner.no_audience or (self.inner.counts_by_key and "it counts by key itself")
        if why:
            raise ValueError(
                f"inner of Capped must be a policy that plays pooled, got {self.inner.title}: {why}"
            )
        check_rest(self.rest)
        take_after(self, self.inner)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        return Params(self.inner.prepare(arms, horizon, reach), self.cap)

    def ahead(self, reach: int) -> bool:
        return self.inner.ahead(reach)

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        # a cap that is soon reached, and one that is not
        return [cls(UCB1(c=0.3), 3), cls(UCB1(c=0.3), 40)]
