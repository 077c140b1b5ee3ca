"""What all players do with decisions and rewards: expiring, dropping, restricting, refusing."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from rotting import checks
from rotting.arrays import FloatArray, IntArray
from rotting.live import ledger as at_
from rotting.live import steps
from rotting.live.keys import showings
from rotting.live.ledger import Row, find, forget
from rotting.live.steps import leave_out
from rotting.online.keeping import Kept
from rotting.online.moments import moment

NOTHING: FloatArray = np.zeros(0)
_NO_ROWS: IntArray = np.zeros((1, 4), dtype=np.int64)
_MANY_SILENT = 1000  # decisions after which rewards that are all alike look like clicks only


class Answering(Kept):
    """The part of a player that knows what its decisions are called and what becomes of them."""

    __slots__ = ()

    def _named(self, decision: Any) -> tuple[Any, int, Any, int]:
        """Arm, its number, pull and the key's number of a decision, or a refusal."""
        raise NotImplementedError

    def _why_not(self, arm: Any, number: int, pull: Any, key: int) -> str:
        """Why a decision does not wait for a reward."""
        made, which = int(showings(self._state, self._desk, key, number)), self._called(arm, key)
        if isinstance(pull, (int, np.integer)) and 1 <= pull <= made:
            if not math.isnan(self._desk.numbers[at_.DEFAULT]):
                return f"pull {pull} of {which} was rewarded before, perhaps by the default"
            return f"pull {pull} of {which} was rewarded or dropped before"
        return f"pull must be one of the {made} pulls made of {which}, got {pull!r}"

    def _plain(self, row: Row) -> list[Any]:
        """A pull that waits, as JSON can hold it."""
        return [*row[:3], None if math.isnan(row[3]) else row[3], *row[4:6]]

    def _called(self, arm: Any, key: int) -> str:
        """An arm, in a sentence."""
        return f"arm {arm!r}"

    def drop(self, decision: Any) -> None:
        """Stop waiting for the reward of a decision; it will be refused if it comes.

        A click that did not come is no such case: its reward is zero.
        """

        def let_go() -> None:
            _, number, pull, key = self._named(decision)
            self._find_again()
            place = find(self._desk.waiting, number, checks.whole(pull), key)
            if place < 0:
                raise ValueError
            leave_out(self._desk, self._desk.waiting.table[place] - 1)
            forget(self._desk.waiting, place)

        try:
            self._alone(let_go)
        except ValueError:
            raise ValueError(
                f"decision must be one that waits for its reward, got {decision!r}"
            ) from None

    def expire(self, at: Any = None) -> int:
        """Give up the decisions whose time is over; returns how many.

        With a default reward, that is what they get. `at` is the time now. `select` does the same
        before it decides, so this is for quiet hours, and for the end.
        """

        def give_up() -> int:
            if at is not None or self._timed:
                self._set_time(at)
            before = int(self._desk.clock[at_.EXPIRED])
            self._work(steps.EXPIRE, _NO_ROWS, NOTHING, NOTHING)
            return int(self._desk.clock[at_.EXPIRED]) - before

        return self._alone(give_up)

    @property
    def pulls(self) -> dict[Any, int]:
        """How often each arm was chosen."""
        return self._alone(lambda: dict(zip(self.arms, self._desk.pulls.tolist(), strict=True)))

    def _closable(self) -> None:
        if self.policy.verbs.reopen is None:
            raise ValueError(
                f"policy must have the verb reopen, or a part `arms` of type Arms in its state, "
                f"for arms to come and go; {self.policy.title} has neither"
            )

    def _flags(self, among: Iterable[Any]) -> list[int]:
        """Which arms a decision is restricted to."""
        self._closable()
        numbers = self._numbers
        flags = [0] * len(numbers)
        try:
            if isinstance(among, (str, bytes)):
                raise TypeError
            for label in among:
                flags[numbers[label]] = 1
        except (KeyError, TypeError):
            raise ValueError(
                f"among must be a list of arms of {some(self.arms)}, got {among!r}"
            ) from None
        if 1 not in flags:
            raise ValueError("among must hold at least one arm, got none")
        return flags

    def _restrict(self, flags: list[int]) -> None:
        allowed = self._desk.allowed
        allowed[: len(flags)] = flags
        allowed[len(flags) :] = 0  # arms that another thread has added since
        self._desk.clock[at_.BOUND] = at_.AMONG

    def _somebody(self, flags: list[int] | None) -> bool:
        """Whether there is an arm to decide for, asked before the time is set."""
        desk = self._desk
        if flags is None:
            return bool(desk.clock[at_.OPEN])
        return bool(np.any(desk.open[: len(flags)] * flags))

    def _set_time(self, at: Any, somebody: bool = True) -> None:
        numbers = self._desk.numbers
        if at is None:
            raise ValueError("at must be given, as this player has a reward_time, got None")
        now, dated = moment("at", at, self._dated)
        if now < numbers[at_.NOW]:
            raise ValueError(f"at must not be before the time of earlier calls, got {at!r}")
        if not somebody:
            self._refuse(steps.NOBODY_OPEN, 0)
        self._dated = dated
        numbers[at_.NOW] = now

    def _decide_again(
        self, number: int, pull: int, decide: Callable[[], tuple[int, int]], user: int = 4
    ) -> tuple[int, int]:
        """Space was needed, or the policy chose what it must not."""
        while number == steps.NO_SPACE:
            self._make_space(user)
            number, pull = decide()
        if number < 0:
            self._refuse(number, pull)
        return number, pull

    def _refuse(self, why: int, arm: int) -> None:
        """Say why there is no decision."""
        arms = len(self.arms)
        if why == steps.NOBODY_OPEN:
            if self._desk.clock[at_.OPEN] == 0:
                raise ValueError(
                    f"arms must not all be retired when one is to be chosen, but all {arms} are; "
                    "restore one, or add another"
                )
            raise ValueError("among must hold an open arm, but all that it may hold are retired")
        if why == steps.CLOSED:
            raise ValueError(f"choose must return an open arm, got {self.arms[arm]!r}")
        raise ValueError(f"choose must return an arm from 0 to {arms - 1}, got {arm}")

    def _make_space(self, user: int) -> None:
        """More space, and now and then a word of warning; `user` is how far up its reader is."""
        self._grow()
        numbers, clock = self._desk.numbers, self._desk.clock
        seen = int(self._desk.seen.sum())
        alike = numbers[at_.LEAST] == numbers[at_.MOST] != 0.0
        if alike and clock[at_.DECIDED] >= _MANY_SILENT and 2 * seen < clock[at_.DECIDED]:
            warnings.warn(
                f"{seen} of {clock[at_.DECIDED]} decisions have a reward, and all rewards are "
                f"{numbers[at_.LEAST]:g}: if only clicks are sent, nothing can be learnt. No click "
                "is a reward of 0: send it, or give default_reward=0.0 with a reward_window",
                stacklevel=user,
            )

    def _learn_again(
        self, arm: Any, number: int, pull: Any, whole: int, value: float, *key: int
    ) -> None:
        """The decision was not found: Ctrl-C came when there was space and no table, or it waits no
        longer."""
        self._find_again()
        if not self._learn(self._block, number, whole, value, *key):
            raise ValueError(self._why_not(arm, number, pull, *(key or (0,))))

    def _find_again(self) -> None:
        if self._desk.clock[at_.UNHASHED]:
            steps.find_again(self._desk)


def some(labels: tuple[Any, ...]) -> str:
    """The labels, not too many of them."""
    shown = ", ".join(map(repr, labels[:8]))
    return f"{shown}, ... ({len(labels)} in all)" if len(labels) > 8 else shown
