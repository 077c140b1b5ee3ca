"""Results of a player: decisions with and without keys and propensities, proposals, batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rotting.kernel.arrays import FloatArray, IntArray


class Decision(NamedTuple):
    """A decision of a player. A tuple (arm, pull).

    Attributes:
        arm: The arm's label.
        pull: The pull number of the arm, from 1.

    >>> from rotting import policies
    >>> arm, pull = policies.UCB1().online(["red", "blue"], compiled=False).select()
    >>> arm, pull
    ('red', 1)
    """

    arm: Any
    pull: int


class Assigned(NamedTuple):
    """A decision of a player with a control group (`explore`).

    Attributes:
        arm: The arm's label.
        pull: The pull number of the arm, from 1.
        propensity: The probability with which this arm was chosen.
        control: Whether the decision is in the control group, where arms are drawn uniformly.

    >>> from rotting import policies
    >>> player = policies.UCB1().online(["red", "blue"], explore=0.5, compiled=False)
    >>> player.select()
    Assigned(arm='red', pull=1, propensity=0.75, control=False)
    """

    arm: Any
    pull: int
    propensity: float
    control: bool


class Showing(NamedTuple):
    """A decision for a key of an audience. A tuple (key, arm, pull).

    Attributes:
        key: The key.
        arm: The arm's label.
        pull: The number of the arm's showing to this key, from 1.

    >>> from rotting import policies
    >>> player = policies.PerKey(policies.UCB1()).audience(["red", "blue"], compiled=False)
    >>> player.select("ann")
    Showing(key='ann', arm='red', pull=1)
    """

    key: Any
    arm: Any
    pull: int


class AssignedShowing(NamedTuple):
    """A decision for a key, of a player with a control group (`explore`).

    Attributes:
        key: The key.
        arm: The arm's label.
        pull: The number of the arm's showing to this key, from 1.
        propensity: The probability with which this arm was chosen.
        control: Whether the decision is in the control group, where arms are drawn uniformly.
    """

    key: Any
    arm: Any
    pull: int
    propensity: float
    control: bool


class Proposal(NamedTuple):
    """A decision whose pull is not counted yet.

    A visitor may leave a page before the chosen option is seen. Then nothing wears out, and there
    is nothing to learn. So `propose` decides, and `take` counts the pull, later or never.

    Attributes:
        key: The key; None without an audience.
        arm: The arm's label.
        propensity: The probability of this arm, given the policy's choice; 1 without a control
            group.
        control: Whether the decision is in the control group.
        weight: The weight of its reward in `lift`.
    """

    key: Any
    arm: Any
    propensity: float
    control: bool
    weight: float


class Decisions(Sequence[Any]):
    """A sequence of decisions, as arrays. Made by `Player.select_many`.

    Indexing gives a `Decision`, or an `Assigned` with a control group; slices give `Decisions`.

    Attributes:
        arms: The labels of all arms of the player.
        numbers: The number of the chosen arm, for each decision: its place in `arms`.
        pulls: The pull number of the arm, for each decision.
        propensities: The probability of the choice, for each decision; None without a control
            group.
        control: Whether each decision is in the control group; None without one.

    >>> from rotting import policies
    >>> made = policies.UCB1().online(["red", "blue"], compiled=False).select_many(3)
    >>> made
    <3 decisions: 'red' (1), 'blue' (1), 'red' (2)>
    >>> made[1], made.labels, made.pulls
    (Decision(arm='blue', pull=1), ['red', 'blue', 'red'], array([1, 1, 2]))
    """

    __slots__ = ("arms", "control", "numbers", "propensities", "pulls")

    def __init__(
        self,
        arms: tuple[Any, ...],
        numbers: IntArray,
        pulls: IntArray,
        propensities: FloatArray | None = None,
        control: npt.NDArray[np.bool_] | None = None,
    ) -> None:
        self.arms, self.numbers, self.pulls = arms, numbers, pulls
        self.propensities, self.control = propensities, control

    @property
    def labels(self) -> list[Any]:
        """The label of the chosen arm, for each decision."""
        return [self.arms[number] for number in self.numbers.tolist()]

    def __len__(self) -> int:
        return int(self.numbers.size)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return Decisions(*self._columns(place))
        arm, pull, *chance = self._row(place)
        return Assigned(arm, pull, *chance) if chance else Decision(arm, pull)

    def _columns(self, place: slice) -> tuple[Any, ...]:
        """The arguments of a slice."""
        numbers, pulls = self.numbers[place], self.pulls[place]
        if self.propensities is None or self.control is None:
            return self.arms, numbers, pulls, None, None
        return self.arms, numbers, pulls, self.propensities[place], self.control[place]

    def _row(self, place: Any) -> tuple[Any, ...]:
        """One decision: arm and pull, with a control group also propensity and group."""
        arm, pull = self.arms[self.numbers[place]], int(self.pulls[place])
        if self.propensities is None or self.control is None:
            return arm, pull
        return arm, pull, float(self.propensities[place]), bool(self.control[place])

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(len(self)))

    def __repr__(self) -> str:
        shown = ", ".join(f"{d.arm!r} ({d.pull})" for d in self[:5])
        return f"<{len(self)} decisions: {shown}{', ...' if len(self) > 5 else ''}>"


class Showings(Decisions):
    """`Decisions` with the key of each. Made by `AudiencePlayer.select_many`.

    Indexing gives a `Showing`, or an `AssignedShowing` with a control group.

    Attributes:
        keys: The key of each decision.
        key_numbers: The number of each key, for the player whose keys have this `stamp`.
        stamp: Changes when a number may be reused for another key.

    >>> from rotting import policies
    >>> player = policies.PerKey(policies.UCB1()).audience(["red", "blue"], compiled=False)
    >>> player.select_many(["ann", "bob"])[1]
    Showing(key='bob', arm='red', pull=1)
    """

    __slots__ = ("key_numbers", "keys", "stamp")

    def __init__(
        self,
        keys: list[Any],
        key_numbers: IntArray,
        stamp: object,
        decisions: tuple[Any, ...],
    ) -> None:
        super().__init__(*decisions)
        self.keys = keys
        self.key_numbers, self.stamp = key_numbers, stamp

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            columns = self._columns(place)
            return Showings(self.keys[place], self.key_numbers[place], self.stamp, columns)
        key, (arm, pull, *chance) = self.keys[place], self._row(place)
        return AssignedShowing(key, arm, pull, *chance) if chance else Showing(key, arm, pull)
