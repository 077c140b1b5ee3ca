"""A player's keys: finding their numbers, making space for more, and forgetting them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from rotting import checks
from rotting.arrays import IntArray
from rotting.bandits.audience import Rest
from rotting.live import ledger as at_
from rotting.live import steps
from rotting.live.keys import exposure_of, is_keyed, recall
from rotting.live.ledger import NOBODY, Row
from rotting.online import attendance
from rotting.online.answering import NOTHING
from rotting.online.attendance import Attendance, places_for
from rotting.online.explaining import Asked
from rotting.online.keeping import Kept
from rotting.online.loading import Loaded
from rotting.online.playing import Playing
from rotting.online.table import quoted
from rotting.policies.parts.exposures import for_keys, forget_key


class _New:
    """Stands for a key that was not seen."""

    def __repr__(self) -> str:
        return "a new key"


NEW = _New()


class Keyed(Playing):
    """The part of a player that knows which keys there are."""

    _KEPT = (*Kept._KEPT, "_keys", "_spare", "rest")
    __slots__ = ("_keys", "_spare", "_stamp", "rest")

    _COLUMNS = 4
    _keys: dict[Any, int]  # numbers by label
    _spare: list[int]  # numbers of keys that were forgotten
    _stamp: object  # another one whenever a number may mean another key than before
    rest: Rest | None  # how the policy's counts fade

    def _no_keys(self, rest: Rest | None) -> None:
        self._keys, self._spare, self.rest = {}, [], rest
        self._stamp = object()

    @property
    def keys(self) -> list[Any]:
        """The keys that were seen and not forgotten."""
        return self._alone(lambda: list(self._keys))

    def shown(self, key: Hashable) -> dict[Any, int]:
        """How often each arm was shown to a key, of all time; never, to one that was not seen."""
        self._check_key(key)

        def look() -> dict[Any, int]:  # with the arms: another thread may add some
            place = self._keys.get(key)
            if place is None:
                return dict.fromkeys(self.arms, 0)
            counts = exposure_of(self._state, self._desk).shown[place].tolist()
            return dict(zip(self.arms, counts, strict=True))

        return self._alone(look)

    def forget(self, key: Hashable) -> None:
        """Forget a key: its label and what it was shown are gone, and its place is used again.

        Decisions of it that wait are given up, with the default reward if there is one. What was
        learnt from its rewards stays: they are part of sums over all keys, of which nobody can tell
        what came from whom. A key of this label that comes again is a new one.

        A reward of the forgotten key that comes late is refused, unless the label was seen again by
        then and the new key has a decision of the same arm and pull outstanding: nothing tells the
        two apart, and the reward is taken for the new one's. To avoid that, use a label again only
        when no reward of the old key can come any more.
        """
        self._check_key(key)

        def let_go() -> None:
            place = self._place("key must be one", key)
            row = np.full((1, self._COLUMNS), place, dtype=np.int64)
            self._work(steps.GIVE_UP_KEY, row, NOTHING, NOTHING)
            clock = self._desk.clock
            if clock[at_.LAST_KEY] == place:
                clock[[at_.LAST_KEY, at_.LAST_ARM]] = NOBODY
            self._stamp = object()
            for part in (self._state, self._desk):
                forget_key(part, place, self._places)
            freed = [place]
            del self._keys[key]
            self._spare += freed  # no call since: Ctrl-C finds the number in one of the two

        self._alone(let_go)

    @property
    def _places(self) -> int:
        """How many keys there is space for."""
        if not hasattr(self, "_desk"):
            return attendance.FEWEST  # it is being made
        return int(exposure_of(self._state, self._desk).shown.shape[0])

    def _counted(self, state: Any) -> Any:
        return attendance.counted(self.policy, state, self._places, self.rest)

    def _check_key(self, key: Any) -> None:
        """Refuse what can be no key."""
        try:
            hash(key)
            fine = bool(key == key)
        except (TypeError, ValueError):
            raise ValueError(f"key must be hashable, got {key!r}") from None
        if not fine:
            raise ValueError(f"key must be a label that equals itself, got {key!r}")

    def _place(self, must: str, key: Any) -> int:
        """The number of a key that was seen; `must` begins the sentence if it was not."""
        try:
            return self._keys[key]
        except (KeyError, TypeError):
            raise ValueError(f"{must} that was seen, got {key!r}") from None

    def _admit(self, keys: list[Any]) -> list[int]:
        """Numbers for keys that are new, and space for them."""
        fresh = len(self._keys) + len(self._spare)
        more = max(0, len(keys) - len(self._spare))
        checks.integer("the number of keys", fresh + more, 0, attendance.MOST)
        if fresh + more > self._places:
            places = places_for(fresh + more, self._places)
            state, desk = for_keys(self._state, places), for_keys(self._desk, places)
            self._begin(self._params, state, self._draw, desk)
        found = []
        for key in keys:
            # No call between the two changes: CPython handles Ctrl-C when a call returns, and a
            # number that is lost then, or is left among the spare ones, would be given out twice.
            if self._spare:
                place = self._spare[-1]
                self._keys[key] = place
                del self._spare[-1]
            else:
                place = len(self._keys)
                self._keys[key] = place
            found.append(place)
        return found

    def _places_of(self, keys: list[Any]) -> IntArray:
        """The numbers of keys, some of which may be new."""
        get = self._keys.get
        found = [get(key) for key in keys]
        if None in found:
            new = [key for key, place in zip(keys, found, strict=True) if place is None]
            self._admit(list(dict.fromkeys(new)))
            found = [self._keys[key] for key in keys]
        return np.array(found, dtype=np.int64)

    def _tentative(self, keys: list[Any], known: list[int]) -> list[int]:
        """Numbers that tell keys apart, those of new ones beyond all that there is space for."""
        beyond = self._places
        new: dict[Any, int] = {}
        return [
            place if place >= 0 else new.setdefault(key, beyond + len(new))
            for key, place in zip(keys, known, strict=True)
        ]

    def _made(self, rows: IntArray) -> IntArray:
        shown = exposure_of(self._state, self._desk).shown
        known = rows[:, 3] < shown.shape[0]
        made = np.zeros(len(rows), dtype=np.int64)
        made[known] = shown[rows[known, 3], rows[known, 0]]
        return made

    def _labels(self) -> dict[int, Any]:
        """Keys by their numbers."""
        return {place: key for key, place in self._keys.items()}

    def _called(self, arm: Any, key: int) -> str:
        labels = self._labels()
        return f"arm {arm!r} for key {labels[key]!r}" if key in labels else f"arm {arm!r}"

    def _check_open(self, allowed: list[int] | None) -> None:
        if not self._somebody(allowed):
            self._refuse(steps.NOBODY_OPEN, 0)

    def _asked(self) -> Asked:
        """For the key of the last decision."""
        kept = self._snapshot()
        last = int(kept["_desk"].clock[at_.LAST_KEY])
        labels = {place: key for key, place in kept["_keys"].items()}
        asked = self._asked_of(kept, last)
        return asked._replace(whom=f" for {quoted(labels[last])}") if last in labels else asked

    def _asked_of(self, kept: dict[str, Any], place: int) -> Asked:
        """A player as it was when asked, with a key present: NOBODY is one that was not seen."""
        state = kept["_state"]
        if is_keyed(state):
            if place == NOBODY:
                place = self._unused(kept)
                state = for_keys(state, max(place + 1, state.arms.exposure.shown.shape[0]))
            recall(state, place)
        return Asked(kept["policy"], kept["arms"], kept["_params"], state, kept["_desk"])

    def _unused(self, kept: dict[str, Any]) -> int:
        """A place that no key has, perhaps one more than there are."""
        return kept["_spare"][-1] if kept["_spare"] else len(kept["_keys"])

    def _how(self) -> str:
        """What is to be said of a policy that does not count by key."""
        return "" if self.policy.by_key is True else ", keys ignored"

    def _copied(self) -> dict[str, Any]:
        return {"_keys": dict(self._keys), "_spare": list(self._spare)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._stamp = object()
        super().__setstate__(state)

    def _saved_audience(self, kept: dict[str, Any]) -> dict[str, Any]:
        shown = exposure_of(kept["_state"], kept["_desk"]).shown
        keys = kept["_keys"], kept["_spare"], int(shown.shape[0]), self.rest
        return attendance.to_plain(Attendance(*keys))

    def _restore(self, found: Loaded) -> None:
        assert found.keys is not None
        self._no_keys(found.keys.rest)
        self._keys, self._spare = found.keys.keys, found.keys.spare

    def _plain(self, row: Row) -> list[Any]:
        """With the key and the pull told."""
        return [*super()._plain(row), *row[6:]]
