"""Deciding in two steps: a proposal, which counts nothing, and its pull, once it was shown.

A page may be left before the option that was chosen for it comes into view. Then nothing wore out,
and nothing is to be learnt. `propose` asks the policy; `take` counts the pull, perhaps much later,
or never.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable
from typing import Any, NamedTuple

from rotting.engines import desk as at_
from rotting.online.answering import Answering

_WORDS = struct.Struct("<4Q")  # two streams of random numbers: a key and an odd step each


class Proposal(NamedTuple):
    """What a policy would do, and what is to be remembered of it until it is done."""

    key: Any  # None where there is no audience
    arm: Any  # its label
    propensity: float  # given what the policy chose; 1 without a control group
    control: bool  # whether it is one of the control group
    weight: float  # with which its reward enters `lift`


class Proposing(Answering):
    """The part of a player that proposes, and takes what was proposed."""

    __slots__ = ()

    def draw_by(self, name: str) -> None:
        """Take the random numbers of the next decision from the player's seed and this name.

        Whatever was decided before, the same name gives the same numbers: for whoever plays
        decisions again, from a log.
        """
        keyed = hashlib.blake2b(name.encode(), digest_size=32, key=self.seed.to_bytes(8, "little"))
        first, step, second, stride = _WORDS.unpack(keyed.digest())

        def redraw() -> None:
            for draw, key, by in ((self._draw, first, step), (self._desk.draw, second, stride)):
                draw[0], draw[1], draw[2] = key, by | 1, 0

        self._alone(redraw)

    def _propose(self, key: Any, place: tuple[int, ...], allowed: list[int] | None) -> Proposal:
        """Ask the policy; the caller holds the player. `place` is empty or a key's number."""
        desk = self._desk
        try:
            if allowed is not None:
                self._restrict(allowed)
            desk.clock[at_.BOUND] |= at_.ASKED
            number, pull = self._decide(self._block, *place)
            if number < 0:
                number, _ = self._decide_again(
                    number, pull, lambda: self._decide(self._block, *place), user=8
                )
        finally:
            self._desk.clock[at_.BOUND] = 0
        desk = self._desk  # another one, if space was made
        if not self._assigned:
            return Proposal(key, self.arms[number], 1.0, False, 0.0)
        chance, weight = desk.numbers[at_.CHANCE], desk.numbers[at_.NEXT_WEIGHT]
        control = bool(desk.clock[at_.LAST_CONTROL])
        return Proposal(key, self.arms[number], float(chance), control, float(weight))

    def _take(self, place: tuple[int, ...], number: int, proposal: Proposal) -> int:
        """Count the pull of what was proposed; returns its number."""
        while True:
            desk = self._desk
            try:
                desk.clock[at_.BOUND] = (number + 1) * at_.TAKEN
                if self._assigned:
                    desk.numbers[at_.CHANCE] = proposal.propensity
                    desk.numbers[at_.NEXT_WEIGHT] = proposal.weight
                    desk.clock[at_.LAST_CONTROL] = proposal.control
                made, pull = self._decide(self._block, *place)
            finally:
                self._desk.clock[at_.BOUND] = 0
            if made >= 0:
                return int(pull)
            self._make_space(user=7)


def flags(player: Answering, among: Iterable[Any] | None) -> list[int] | None:
    """Which arms a decision is restricted to, if it is."""
    return None if among is None else player._flags(among)
