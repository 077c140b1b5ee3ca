"""Decisions and rewards, one at a time."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from rotting import checks
from rotting.arrays import FloatArray, IntArray
from rotting.checks import HUGE
from rotting.engines import desk as at_
from rotting.engines import rows as batches
from rotting.engines import steps
from rotting.engines.control import leave_out
from rotting.engines.waiting import find, forget, listed
from rotting.online.decisions import Assigned, Decision
from rotting.online.keeping import Kept
from rotting.online.moments import moment
from rotting.online.sharing import holder

_RESTRICTED = at_.RESTRICTED
_new = tuple.__new__  # half the time of a NamedTuple's own
NOTHING: FloatArray = np.zeros(0)
_NO_ROWS: IntArray = np.zeros((1, 3), dtype=np.int64)
_MANY_SILENT = 1000  # decisions after which rewards that are all alike look like clicks only


class Deciding(Kept):
    """The part of a player that decides and learns."""

    __slots__ = ()

    @holder
    def select(self, among: Iterable[Any] | None = None, at: Any = None) -> Any:
        """Decide: the arm to use now, and its pull number.

        `among` restricts this decision to some arms; those that are retired do not count. `at` is
        the time, a number or a datetime, for a player that is to give up waiting (`reward_time`).
        """
        allowed = None if among is None else self._flags(among)
        while True:
            try:
                del self._free
                break
            except AttributeError:
                self._wait()
        try:
            if at is not None or self._timed:
                self._set_time(at, self._somebody(allowed))
            if allowed is not None:
                self._restrict(allowed)
            # One step of an iterator and not a call: no signal is handled in between, so Ctrl-C
            # finds the decision made and counted, or not made.
            for number, pull in self._decisions:  # noqa: B007
                break
            if number < 0:
                number, pull = self._decide_again(number, pull)
            if self._assigned:
                return self._assignment(number, pull)
        finally:
            if allowed is not None:
                self._desk.clock[_RESTRICTED] = 0  # no call, in which Ctrl-C could strike
            self._free = None
            if self._waiting:
                self._wake()
        return _new(Decision, (self.arms[number], pull))

    @holder
    def update(self, decision: Any, reward: Any) -> None:
        """Learn the reward of a decision made earlier, once.

        `decision` is what `select` returned, or a pair (arm, pull) that says the same.
        """
        try:
            arm, pull = decision
            number = self._numbers[arm]
        except (KeyError, TypeError, ValueError):
            arm, number, pull = self._pair(decision)
        value = reward if type(reward) is float else checks.reward(reward)
        if not abs(value) <= HUGE:  # NaN is not, either
            checks.moderate("reward", reward)
        whole = pull if type(pull) is int else checks.whole(pull)
        if not 0 < whole <= checks.EXACT:
            whole = 0
        while True:
            try:
                del self._free
                break
            except AttributeError:
                self._wait()
        try:
            if not self._learn(self._block, number, whole, value):
                self._learn_again(arm, number, pull, whole, value)
        finally:
            self._free = None
            if self._waiting:
                self._wake()

    def drop(self, decision: Any) -> None:
        """Stop waiting for the reward of a decision; it will be refused if it comes.

        A click that did not come is no such case: its reward is zero.
        """

        def let_go(number: int, pull: int) -> None:
            self._find_again()
            place = find(self._desk.waiting, number, pull)
            if place < 0:
                raise ValueError
            leave_out(self._desk, self._desk.waiting.table[place] - 1)
            forget(self._desk.waiting, place)

        try:
            _, number, pull = self._pair(decision)
            whole = checks.whole(pull)
            self._alone(lambda: let_go(number, whole))
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
            self._work(batches.EXPIRE, _NO_ROWS, NOTHING, NOTHING)
            return int(self._desk.clock[at_.EXPIRED]) - before

        return self._alone(give_up)

    @property
    def pulls(self) -> dict[Any, int]:
        """How often each arm was chosen."""
        return self._alone(lambda: dict(zip(self.arms, self._desk.pulls.tolist(), strict=True)))

    @property
    def outstanding(self) -> list[Decision]:
        """The decisions whose rewards have not arrived, by arm and pull."""
        rows = self._alone(lambda: listed(self._desk.waiting))
        return [Decision(self.arms[row[0]], row[1]) for row in sorted(rows)]

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
        self._desk.clock[_RESTRICTED] = 1

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

    def _decide_again(self, number: int, pull: int) -> tuple[int, int]:
        """Space was needed, or the policy chose what it must not."""
        while number == steps.NO_SPACE:
            self._make_space(user=4)
            number, pull = next(self._decisions)
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

    def _assignment(self, number: int, pull: int) -> Assigned:
        desk = self._desk
        chance, control = float(desk.numbers[at_.CHANCE]), bool(desk.clock[at_.LAST_CONTROL])
        return Assigned(self.arms[number], pull, chance, control)

    def _learn_again(self, arm: Any, number: int, pull: Any, whole: int, value: float) -> None:
        """The decision was not found: Ctrl-C came when there was space and no table, or it waits no
        longer."""
        self._find_again()
        if not self._learn(self._block, number, whole, value):
            raise ValueError(self._why_not(arm, number, pull))

    def _find_again(self) -> None:
        if self._desk.clock[at_.UNHASHED]:
            steps.find_again(self._desk)

    def _pair(self, decision: Any) -> tuple[Any, int, Any]:
        """Label, number and pull of a decision in another form than a pair, or a refusal."""
        try:
            if isinstance(decision, Assigned):
                arm, pull = decision.arm, decision.pull
            else:
                arm, pull = decision
            return arm, self._numbers[arm], pull
        except (KeyError, TypeError, ValueError):
            raise ValueError(
                f"decision must be a pair (arm, pull) with an arm of {some(self.arms)}, "
                f"got {decision!r}"
            ) from None

    def _why_not(self, arm: Any, number: int, pull: Any) -> str:
        made = int(self._desk.pulls[number])
        if isinstance(pull, (int, np.integer)) and 1 <= pull <= made:
            if not math.isnan(self._desk.numbers[at_.DEFAULT]):
                return f"pull {pull} of arm {arm!r} was rewarded before, perhaps by the default"
            return f"pull {pull} of arm {arm!r} was rewarded or dropped before"
        return f"pull must be one of the {made} pulls made of arm {arm!r}, got {pull!r}"


def some(labels: tuple[Any, ...]) -> str:
    """The labels, not too many of them."""
    shown = ", ".join(map(repr, labels[:8]))
    return f"{shown}, ... ({len(labels)} in all)" if len(labels) > 8 else shown
