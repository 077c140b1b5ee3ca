"""What a player returns: one decision, one with its probability, a proposal, or many as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rotting.kernel.arrays import FloatArray, IntArray


class Decision(NamedTuple):
    """A decision: an arm, and which pull of it this is (1, 2, ...)."""

    arm: Any  # its label
    pull: int  # from 1


class Assigned(NamedTuple):
    """A decision of a player with a control group."""

    arm: Any  # its label
    pull: int  # from 1
    propensity: float  # the probability with which this arm was chosen
    control: bool  # whether it is one of the control group: drawn from the arms allowed


class Showing(NamedTuple):
    """A decision for a key of an audience."""

    key: Any  # its label
    arm: Any  # the arm's label
    pull: int  # from 1: which showing of the arm to this key it is


class AssignedShowing(NamedTuple):
    """A decision for a key, of a player with a control group."""

    key: Any  # its label
    arm: Any  # the arm's label
    pull: int  # from 1
    propensity: float  # as in `Assigned`
    control: bool


class Proposal(NamedTuple):
    """A decision that is not counted yet, and what counting it needs.

    A page may be left before the option that was chosen for it comes into view. Then nothing wore
    out, and nothing is to be learnt: `propose` decides, `take` counts the pull, later or never.
    """

    key: Any  # None where there is no audience
    arm: Any  # its label
    propensity: float  # given what the policy chose; 1 without a control group
    control: bool  # whether it is one of the control group
    weight: float  # with which its reward enters `lift`


class Decisions(Sequence[Any]):
    """Decisions made in a row by `Player.select_many`, as arrays.

    `numbers` has the places of the arms among the player's, `pulls` which pull of its arm each is;
    `labels` and indexing give labels, `arms` are the player's. With a control group there are
    `propensities` and `control` as well, else they are None.
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
        """The labels of the arms."""
        return [self.arms[number] for number in self.numbers.tolist()]

    def __len__(self) -> int:
        return int(self.numbers.size)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return Decisions(*self._columns(place))
        arm, pull, *chance = self._row(place)
        return Assigned(arm, pull, *chance) if chance else Decision(arm, pull)

    def _columns(self, place: slice) -> tuple[Any, ...]:
        """The columns of a part of these."""
        numbers, pulls = self.numbers[place], self.pulls[place]
        if self.propensities is None or self.control is None:
            return self.arms, numbers, pulls, None, None
        return self.arms, numbers, pulls, self.propensities[place], self.control[place]

    def _row(self, place: Any) -> tuple[Any, ...]:
        """One of these: arm and pull, with propensity and group if there are any."""
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
    """Decisions made in a row by `AudiencePlayer.select_many`: `Decisions` with `keys`."""

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
        # the numbers of the keys, for the player whose keys have this stamp
        self.key_numbers, self.stamp = key_numbers, stamp

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            columns = self._columns(place)
            return Showings(self.keys[place], self.key_numbers[place], self.stamp, columns)
        key, (arm, pull, *chance) = self.keys[place], self._row(place)
        return AssignedShowing(key, arm, pull, *chance) if chance else Showing(key, arm, pull)
