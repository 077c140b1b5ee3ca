"""Capped: no key is shown an arm more than a fixed number of times, as frequency caps have it."""

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
    """The policy that decides, and the cap."""

    inner: Any  # params of the policy that decides
    cap: int  # showings of an arm to a key


class State(NamedTuple):
    """Counts by key, and the policy that decides."""

    arms: Arms  # pulls by key
    inner: Any  # state of the policy that decides; it knows of no keys
    allowed: Flags  # scratch: the arms that it may choose; between decisions all that are open


def init(params: Params, arms: int, capacity: int) -> State:
    """Nothing shown to anybody."""
    inner = verbs.verbs_of(params.inner).init(params.inner, arms, capacity)
    return State(no_pulls(arms), closable(inner), np.ones(arms, dtype=np.int64))


@shared
def _below_cap(params: Params, state: State, arm: Any) -> Any:
    """Whether the arm may be shown once more to the key that is present."""
    return is_open(state.arms.opening, arm) and next_pull(state.arms, arm) <= params.cap


@shared
def _restrict(params: Params, state: State) -> Any:
    """Flag the arms below the cap; whether some open arms are, and others are not."""
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
    """What the policy chooses among the arms below the cap; among all if there is none.

    To the policy that decides it is a decision restricted to some arms: the others are closed only
    while it chooses.
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
    """Count it for the key, and for the policy that decides."""
    count_pull(params, state, arm)
    verbs.pulled(params.inner, state.inner, arm)


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """The policy that decides learns.

    To it the pulls of all keys are those of one. Which of them a reward of the key's own pull
    belongs to is not kept: rewards are numbered as they come, which with prompt ones is the same.
    """
    n = rewarded(state.arms, arm, 1)
    number = n if has_key_counts(state.arms.exposure) else pull
    verbs.update(params.inner, state.inner, arm, number, reward)


def refresh_score(params: Params, state: State, arm: Any) -> None:
    """What the policy that decides keeps of the arm's next pull is made anew."""
    verbs.refresh_score(params.inner, state.inner, arm)


def set_open(params: Params, state: State, flags: Any) -> None:
    """Both are told."""
    set_open_arms(state.arms, flags, 1)
    _allow_all(state)
    verbs.set_open(params.inner, state.inner, flags)


def set_propensity(params: Params, state: State, arm: Any, pull: Any, chance: Any) -> None:
    """Somebody else chose: the policy that decides is told, of its own latest pull."""
    number = state.arms.pulls[arm] if has_key_counts(state.arms.exposure) else pull
    verbs.set_propensity(params.inner, state.inner, arm, number, chance)


def inspect(params: Params, state: State, arm: int) -> Inspection | None:
    """What the policy that decides makes of it; an arm at the cap is not compared."""
    found = verbs.inspect(params.inner, state.inner, arm)
    others = any(_below_cap(params, state, i) for i in range(state.allowed.size))
    if found is None or not others or _below_cap(params, state, arm):
        return found
    return found._replace(index=None)


@dataclass(frozen=True)
class Capped(Policy):
    """A frequency cap: another policy decides among the arms shown fewer than `cap` times.

    `inner` plays pooled, its statistics those of all keys; what is counted by key is how often each
    arm was shown. If the key has had enough of every open arm, all are allowed again. `rest` is how
    exposures are forgotten: `Capped(Thompson(), 3, rest=Window(86_400))` is "three a day" where a
    round takes a second. Without an audience it caps the pulls of the arm itself, and nothing is
    forgotten. Ties are those of `inner`.

    >>> from rotting.policies import UCB1
    >>> player = Capped(UCB1(), 2).online(["a", "b"], compiled=False)
    >>> for _ in range(4):
    ...     player.update(player.select(), 0.5)
    >>> player.pulls
    {'a': 2, 'b': 2}
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
        """Refuse a policy that cannot play pooled, and a rest that is none."""
        check_held("Capped", self.inner)
        why = self.inner.no_audience or (self.inner.counts_by_key and "it counts by key itself")
        if why:
            raise ValueError(
                f"inner of Capped must be a policy that plays pooled, got {self.inner.title}: {why}"
            )
        check_rest(self.rest)
        take_after(self, self.inner)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        """Prepare the policy that decides."""
        return Params(self.inner.prepare(arms, horizon, reach), self.cap)

    def ahead(self, reach: int) -> bool:
        """As the policy that decides has it."""
        return self.inner.ahead(reach)

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        """A cap that is soon reached, and one that is not."""
        return [cls(UCB1(c=0.3), 3), cls(UCB1(c=0.3), 40)]
