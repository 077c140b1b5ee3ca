"""Deciding in two steps: a proposal, which counts nothing, and its pull, once it was shown.

A page may be left before the option that was chosen for it comes into view. Then nothing wore out,
and nothing is to be learnt. `propose` asks the policy; `take` counts the pull, perhaps much later,
or never.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from rotting.arrays import IntArray
from rotting.live import ledger as at_
from rotting.live import steps
from rotting.online.answering import Answering
from rotting.online.batching import Batching

_WORDS = struct.Struct("<4q")  # two streams of random numbers: a key and an odd step each
_POSITIVE = 2**63 - 1  # words as they fit into columns of whole numbers


class Proposal(NamedTuple):
    """What a policy would do, and what is to be remembered of it until it is done."""

    key: Any  # None where there is no audience
    arm: Any  # its label
    propensity: float  # given what the policy chose; 1 without a control group
    control: bool  # whether it is one of the control group
    weight: float  # with which its reward enters `lift`


class Proposing(Batching):
    """The part of a player that proposes, and takes what was proposed."""

    __slots__ = ()

    def draw_by(self, name: str) -> None:
        """Take the random numbers of the next decision from the player's seed and this name.

        Whatever was decided before, the same name gives the same numbers: for whoever plays
        decisions again, from a log.
        """
        keyed = hashlib.blake2b(name.encode(), digest_size=32, key=self.seed.to_bytes(8, "little"))
        first, step, second, stride = (word & _POSITIVE for word in _WORDS.unpack(keyed.digest()))
        self._alone(lambda: self._redraw_by(first, step | 1, second, stride | 1))

    def _redraw_by(self, first: int, step: int, second: int, stride: int) -> None:
        draw, control = self._draw, self._desk.draw
        draw[0], draw[1], draw[2] = first, step, 0
        control[0], control[1], control[2] = second, stride, 0

    def _select_by(self, names: Sequence[str], places: IntArray | None) -> tuple[IntArray, Any]:
        """Decide for each name, as `draw_by` and `select` would; rows as `live.steps` has them.

        `places` are the numbers of the keys; the caller holds the player.
        """
        rows = np.zeros((len(names), steps.DRAWS + 4), dtype=np.int64)
        rows[:, steps.DRAWS :] = words_of(self.seed, names)
        if places is not None:
            rows[:, 3] = places
        return rows, self._decide_rows(rows, None)

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


def words_of(seed: int, names: Sequence[str]) -> IntArray:
    """Where the random numbers of names begin, [name, key and odd step of two streams].

    The same as in `draw_by`, for many at once.
    """
    key, new = seed.to_bytes(8, "little"), hashlib.blake2b
    digests = [new(name.encode(), digest_size=32, key=key).digest() for name in names]
    words = np.frombuffer(b"".join(digests), dtype="<i8").reshape(-1, 4).astype(np.int64)
    words &= _POSITIVE
    words[:, 1::2] |= 1
    return words


def flags(player: Answering, among: Iterable[Any] | None) -> list[int] | None:
    """Which arms a decision is restricted to, if it is."""
    return None if among is None else player._flags(among)
