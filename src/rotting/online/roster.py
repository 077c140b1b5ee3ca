"""Arms that come and go, and what was seen of them before."""

from __future__ import annotations

from typing import Any

import numpy as np

from rotting import checks
from rotting.arrays import FloatArray, IntArray
from rotting.live import ledger as at
from rotting.live import steps
from rotting.live.ledger import lined_up, listed, with_arms
from rotting.online.answering import some
from rotting.online.batching import Batching
from rotting.online.growing import prepared
from rotting.online.labels import one_label
from rotting.online.loading import capacity_of
from rotting.state import grown, rebuild, values
from rotting.verbs import reopen

_MOST = 10**7  # pulls at once: those left out take some hundred bytes each for a moment


class Roster(Batching):
    """The part of a player that knows which arms there are."""

    __slots__ = ()

    @property
    def retired(self) -> list[Any]:
        """The arms that are retired."""
        arms, flags = self._alone(lambda: (self.arms, self._desk.open.tolist()))
        return [label for label, is_open in zip(arms, flags, strict=True) if not is_open]

    def add(self, label: Any) -> None:
        """A new arm, which nobody has pulled: the policy's ramp-up finds it."""

        def enlarge() -> None:
            arms = one_label("label", label, self.arms)
            desk = with_arms(self._desk, len(arms))
            flags = desk.open.copy()
            flags[-1] = 1
            self._reopen(arms, desk, flags)

        self._closable()
        self._alone(enlarge)

    def retire(self, label: Any) -> None:
        """Do not choose this arm any more; it keeps its statistics and takes late rewards."""
        self._set_open(label, 0)

    def restore(self, label: Any) -> None:
        """A retired arm may be chosen again, with all that was known of it."""
        self._set_open(label, 1)

    def _set_open(self, label: Any, value: int) -> None:
        number = self._number("label", label)

        def change() -> None:
            flags = self._desk.open.copy()
            if flags[number] == value:
                what = "open" if value else "retired"
                raise ValueError(f"label must be an arm that is not {what} already, got {label!r}")
            flags[number] = value
            self._reopen(self.arms, self._desk, flags)

        self._closable()
        self._alone(change)

    def _reopen(self, arms: tuple[Any, ...], desk: Any, flags: IntArray) -> None:
        """Other arms, or other arms open, than before.

        Before the first pull K is free: what depends on it is prepared anew. All is made first
        and put in place then.
        """
        start, params, state, capacity = self._start, self._params, self._state, self._capacity
        if desk.clock[at.DECIDED] == 0:
            start = max(1, int(flags.sum()))
            capacity = capacity_of(start, 0) if self.policy.grows else capacity
            params = prepared(self.policy, start, self.horizon, self._reach)
            state = self._fresh(params, len(arms), capacity)
        else:
            state = _copied(state)  # which is changed in place: an interrupt must not find half
            if len(arms) > len(self.arms):
                state = grown(state, self._fresh(params, len(arms), capacity))
        clock = desk.clock.copy()
        clock[at.OPEN] = flags.sum()
        desk = desk._replace(open=flags, clock=clock, allowed=np.zeros_like(flags))
        reopen(params, state, flags)
        before = self.arms, self._start
        self.arms, self._start = arms, start
        try:
            self._begin(params, state, self._draw, desk, capacity, self._reach)
        except BaseException:
            self.arms, self._start = before
            raise

    def _number(self, name: str, label: Any) -> int:
        try:
            return int(self._numbers[label])
        except (KeyError, TypeError):
            raise ValueError(f"{name} must be an arm of {some(self.arms)}, got {label!r}") from None

    def _record(self, rows: IntArray, values: FloatArray, chances: FloatArray, pulls: Any) -> int:
        """History by rows; their pulls are put in here. Returns how many pulls were counted."""
        before, space = int(self._desk.clock[at.DECIDED]), len(self._desk.waiting.entries)
        if pulls is not None:
            rows[:, 1] = self._checked_pulls(rows, pulls)
        done = 0
        try:
            while True:
                done += self._work(steps.RECORD, rows[done:], values[done:], chances[done:])
                if done == len(values):
                    break
                self._grow()
        finally:  # after Ctrl-C, too: the first rows are learnt then, and nothing waits
            self._work(steps.GIVE_UP_SINCE, np.full((1, 4), before), np.zeros(0), np.zeros(0))
        if len(self._desk.waiting.entries) > space:  # for pulls left out, which wait no longer
            waiting = self._desk.waiting
            fewer = lined_up(listed(waiting), space, keyed=waiting.keyed)
            desk = self._desk._replace(waiting=fewer)
            self._begin(self._params, self._state, self._draw, desk)
        counted = int(self._desk.clock[at.DECIDED]) - before
        if counted:  # the player did not choose the last arm, from however many
            self._desk.clock[[at.LAST_ALLOWED, at.LAST_CONTROL]] = 0
        return counted

    def _numbers_of(self, labels: Any) -> IntArray:
        numbers = self._numbers
        try:
            return np.array([numbers[label] for label in labels], dtype=np.int64)
        except (KeyError, TypeError):
            unknown = next(label for label in labels if not _known(label, numbers))
            raise ValueError(f"arms must be labels of {some(self.arms)}, got {unknown!r}") from None

    def _chances(self, propensities: Any, count: int) -> FloatArray:
        if propensities is None:
            if self.policy.verbs.chosen is not None and count:
                raise ValueError(
                    f"propensities must be given: {self.policy.title} learns by the probabilities "
                    "with which arms were chosen"
                )
            return np.full(count, np.nan)
        found = checks.rewards(propensities)
        if len(found) != count or np.any(found <= 0.0) or np.any(found > 1.0):
            raise ValueError(f"propensities must be {count} probabilities above 0 and at most 1")
        return found

    def _made(self, rows: IntArray) -> IntArray:
        """How many pulls of each row's arm were made."""
        return self._desk.pulls[rows[:, 0]]

    def _checked_pulls(self, rows: IntArray, pulls: Any) -> IntArray:
        """Pull numbers that are new, and each of them once."""
        found = np.asarray(pulls)
        if found.ndim != 1 or len(found) != len(rows) or found.dtype.kind not in "iuf":
            raise ValueError(f"pulls must be {len(rows)} whole numbers, got {str(pulls)[:80]}")
        with np.errstate(invalid="ignore"):  # NaN is no whole number, which is seen below
            whole = found.astype(np.int64)
        made = self._made(rows)
        fine = (whole == found) & (whole > made) & (whole <= checks.EXACT)
        if not fine.all():
            place = int(np.argmin(fine))
            which = self._called(self.arms[rows[place, 0]], int(rows[place, -1]))
            raise ValueError(
                f"pulls must be above the {made[place]} pulls made of {which}, "
                f"got {found[place]} at place {place}"
            )
        # which pulls are of the same arm, and in an audience of the same key
        codes = rows[:, 0] + len(self.arms) * rows[:, 3:].sum(axis=1)
        arms, same = np.unique(codes, return_inverse=True)
        if np.unique(np.stack([same, whole]), axis=1).shape[1] < len(rows):
            raise ValueError("pulls must be different numbers for an arm, got one twice")
        before, highest = np.zeros((2, len(arms)), dtype=np.int64)
        before[same] = made
        np.maximum.at(highest, same, whole)
        more = int((highest - before).sum())  # of at most 2**53 each
        if more > _MOST:
            raise ValueError(
                f"pulls must say of at most {_MOST} pulls that they were made, got {more}"
            )
        return whole


def _known(label: Any, numbers: dict[Any, int]) -> bool:
    try:
        return label in numbers
    except TypeError:
        return False


def _copied(state: Any) -> Any:
    return rebuild(state, (value.copy() for value in values(state)))
