"""PerKey: a bandit for each key of an audience, which share nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from rotting import verbs
from rotting.policies.base import Policy, check_held, take_after
from rotting.policies.parts.arms import Arms, count_pull, no_pulls, reopen_arms, rewarded
from rotting.policies.parts.shelf import Shelf, empty_shelf, reopen_shelf, turn_shelf
from rotting.policies.ucb1 import UCB1
from rotting.verbs import Opinion, Verbs


class Params(NamedTuple):
    """The policy that each key has."""

    inner: Any  # its params


class State(NamedTuple):
    """Whose turn it is, and everybody's state."""

    arms: Arms  # pulls by key
    shelf: Shelf  # the states of the policy that decides, one a key


def init(params: Params, arms: int, capacity: int) -> State:
    """Nothing shown to anybody."""
    inner = verbs.verbs_of(params.inner).init(params.inner, arms, capacity)
    return State(no_pulls(arms), empty_shelf(inner, arms))


def choose(params: Params, state: State, draw: Any) -> int:
    """What the key's own policy chooses."""
    turn_shelf(params.inner, state.shelf, state.arms.exposure)
    return verbs.choose(params.inner, state.shelf.own.inner, draw)


def pulled(params: Params, state: State, arm: int) -> None:
    """Count it for the key."""
    turn_shelf(params.inner, state.shelf, state.arms.exposure)
    count_pull(params, state, arm)
    verbs.pulled(params.inner, state.shelf.own.inner, arm)


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """The key's own policy learns."""
    turn_shelf(params.inner, state.shelf, state.arms.exposure)
    rewarded(state.arms, arm, 1)
    verbs.update(params.inner, state.shelf.own.inner, arm, pull, reward)


def rejudge(params: Params, state: State, arm: Any) -> None:
    """What the key's policy keeps of the arm's next pull is made anew."""
    turn_shelf(params.inner, state.shelf, state.arms.exposure)
    verbs.rejudge(params.inner, state.shelf.own.inner, arm)


def reopen(params: Params, state: State, flags: Any) -> None:
    """All keys are told, each when it is its turn."""
    reopen_arms(state.arms, flags, 1)
    reopen_shelf(params.inner, state.shelf, flags)


def chosen(params: Params, state: State, arm: Any, pull: Any, chance: Any) -> None:
    """Somebody else chose: the key's own policy is told."""
    turn_shelf(params.inner, state.shelf, state.arms.exposure)
    verbs.chosen(params.inner, state.shelf.own.inner, arm, pull, chance)


def look(params: Params, state: State, arm: int) -> Opinion | None:
    """What the present key's policy makes of it."""
    turn_shelf(params.inner, state.shelf, state.arms.exposure)
    return verbs.look(params.inner, state.shelf.own.inner, arm)


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

    by_key: ClassVar[bool | str] = True
    no_rest: ClassVar[str] = "each key's policy counts its own pulls, which do not fade"
    verbs: ClassVar[Verbs] = Verbs(
        Params,
        State,
        init,
        choose,
        update,
        pulled,
        rejudge=rejudge,
        reopen=reopen,
        chosen=chosen,
        look=look,
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
