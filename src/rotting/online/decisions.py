"""What a player answers: one decision, one with its probability, or many as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rotting.arrays import FloatArray, IntArray


class Decision(NamedTuple):
    """What was decided: an arm, and which pull of it this is (1, 2, ...)."""

    arm: Any  # its label
    pull: int  # from 1


class Assigned(NamedTuple):
    """A decision of a player with a control group."""

    arm: Any  # its label
    pull: int  # from 1
    propensity: float  # with which probability this arm was to be chosen
    control: bool  # whether it is one of the control group: drawn from the arms allowed


class Decisions(Sequence[Any]):
    """Decisions made in a row by `Player.select_many`, as arrays.

    `numbers` has the places of the arms among the player's, `pulls` which pull of its arm each is;
    `labels` and indexing give labels. With a control group there are `propensities` and `control`
    as well, else they are None.
    """

    __slots__ = ("_arms", "control", "numbers", "propensities", "pulls")

    def __init__(
        self,
        arms: tuple[Any, ...],
        numbers: IntArray,
        pulls: IntArray,
        propensities: FloatArray | None = None,
        control: npt.NDArray[np.bool_] | None = None,
    ) -> None:
        self._arms, self.numbers, self.pulls = arms, numbers, pulls
        self.propensities, self.control = propensities, control

    @property
    def labels(self) -> list[Any]:
        """The labels of the arms."""
        return [self._arms[number] for number in self.numbers.tolist()]

    def __len__(self) -> int:
        return int(self.numbers.size)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            more = (self.propensities, self.control)
            rest = (None if array is None else array[place] for array in more)
            return Decisions(self._arms, self.numbers[place], self.pulls[place], *rest)
        arm, pull = self._arms[self.numbers[place]], int(self.pulls[place])
        if self.propensities is None or self.control is None:
            return Decision(arm, pull)
        return Assigned(arm, pull, float(self.propensities[place]), bool(self.control[place]))

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(len(self)))

    def __repr__(self) -> str:
        shown = ", ".join(f"{d.arm!r} ({d.pull})" for d in self[:5])
        return f"<{len(self)} decisions: {shown}{', ...' if len(self) > 5 else ''}>"
