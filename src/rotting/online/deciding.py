"""Decisions and rewards of one bandit, one at a time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rotting import checks
from rotting.checks import HUGE
from rotting.live import ledger as at_
from rotting.live.ledger import listed
from rotting.online.answering import Answering, some
from rotting.online.decisions import Assigned, Decision
from rotting.online.sharing import holder

_BOUND = at_.BOUND
_new = tuple.__new__  # half the time of a NamedTuple's own


class Deciding(Answering):
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
                number, pull = self._decide_again(number, pull, lambda: next(self._decisions))
            if self._assigned:
                return self._assignment(number, pull)
        finally:
            if allowed is not None:
                self._desk.clock[_BOUND] = 0  # no call, in which Ctrl-C could strike
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
            arm, number, pull, _ = self._named(decision)
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

    @property
    def outstanding(self) -> list[Decision]:
        """The decisions whose rewards have not arrived, by arm and pull."""
        rows = self._alone(lambda: listed(self._desk.waiting))
        return [Decision(self.arms[row[0]], row[1]) for row in sorted(rows)]

    def _assignment(self, number: int, pull: int) -> Assigned:
        desk = self._desk
        chance, control = float(desk.numbers[at_.CHANCE]), bool(desk.clock[at_.LAST_CONTROL])
        return Assigned(self.arms[number], pull, chance, control)

    def _named(self, decision: Any) -> tuple[Any, int, Any, int]:
        """Also of a decision in another form than a pair; there are no keys, and theirs is zero."""
        try:
            if isinstance(decision, Assigned):
                arm, pull = decision.arm, decision.pull
            else:
                arm, pull = decision
            return arm, self._numbers[arm], pull, 0
        except (KeyError, TypeError, ValueError):
            raise ValueError(
                f"decision must be a pair (arm, pull) with an arm of {some(self.arms)}, "
                f"got {decision!r}"
            ) from None
