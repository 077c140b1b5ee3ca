"""The keys of an audience: their numbers, which index arrays, and their saved form.

A key has a number until it is forgotten; the next new key then reuses it. Space for keys doubles
when it is used up.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any, NamedTuple

from rotting import _checks, _plain
from rotting._online.labels import freeze, has_member, thaw
from rotting.bandits._audience import HalfLife, Rest, Window
from rotting.policies._base import Policy
from rotting.policies.parts.exposures import with_key_counts

FEWEST = 16  # keys for which there is space at first
MOST = 2**31 - 1


@dataclasses.dataclass(slots=True)
class Keys:
    """The numbers of an audience's keys."""

    rest: Rest | None = None  # how exposures are forgotten
    numbers: dict[Any, int] = dataclasses.field(default_factory=dict)  # by label
    spare: list[int] = dataclasses.field(default_factory=list)  # numbers of forgotten keys
    # replaced whenever a number may be reused for another key
    stamp: object = dataclasses.field(default_factory=object, compare=False)

    def number(self, must: str, key: Any) -> int:
        """The number of a known key; `must` begins the sentence of the error."""
        try:
            return self.numbers[key]
        except (KeyError, TypeError):
            raise ValueError(f"{must} that was seen, got {key!r}") from None

    def space_for(self, more: int) -> int:
        """The space needed with this many new keys."""
        known = len(self.numbers) + len(self.spare)
        needed = known + max(0, more - len(self.spare))
        _checks.integer("the number of keys", needed, 0, MOST)
        return needed

    def add(self, key: Any) -> int:
        """Add a new key and return its number."""
        # No call between the two changes: CPython handles Ctrl-C when a call returns, and a number
        # left in both places would be given out twice.
        if self.spare:
            place = self.spare[-1]
            self.numbers[key] = place
            del self.spare[-1]
        else:
            place = len(self.numbers)
            self.numbers[key] = place
        return place

    def remove(self, key: Any) -> None:
        """Free the number of a key for a later one."""
        freed = [self.numbers[key]]
        del self.numbers[key]
        self.spare += freed  # no call in between: Ctrl-C finds the number in one place

    def unused(self) -> int:
        """A number without a key, which may be beyond the space."""
        return self.spare[-1] if self.spare else len(self.numbers)

    def labels(self) -> dict[int, Any]:
        """Labels of keys by number."""
        return {place: key for key, place in self.numbers.items()}

    def copy(self) -> Keys:
        """A copy with its own stamp."""
        return Keys(self.rest, dict(self.numbers), list(self.spare))

    def to_plain(self, places: int) -> dict[str, Any]:
        """The saved form, with the present space; ValueError for keys that cannot be saved."""
        keys = sorted(self.numbers, key=self.numbers.__getitem__)
        return {
            "keys": [_frozen(key) for key in keys],
            "spare": list(self.spare),
            "places": places,
            "rest": _plain.to_plain(self.rest),
        }


class Audience(NamedTuple):
    """Saved keys, and the number of keys for which there was space."""

    keys: Keys
    places: int


def check_key(key: Any) -> None:
    """Raise ValueError for a value that cannot be a key."""
    try:
        hash(key)
        fine = bool(key == key)
    except (TypeError, ValueError):
        raise ValueError(f"key must be hashable, got {key!r}") from None
    if not fine:
        raise ValueError(f"key must be a label that equals itself, got {key!r}")


def places_for(keys: int, places: int = FEWEST) -> int:
    """Space for this many keys, by doubling.

    >>> places_for(16), places_for(17), places_for(100, 64)
    (16, 32, 128)
    """
    while places < keys:
        places *= 2
    return places


def counted(policy: Policy, state: Any, places: int, rest: Rest | None) -> Any:
    """A fresh state with space for keys; unchanged for a policy that plays pooled."""
    return with_key_counts(state, places, rest) if policy.counts_by_key else state


def why_no_rest(policy: Policy) -> str:
    """Why a policy cannot forget exposures; empty if it can.

    >>> from rotting.policies import UCB1
    >>> why_no_rest(UCB1())
    'which plays pooled: it counts nothing by key that could fade'
    """
    if not policy.counts_by_key:
        return "which plays pooled: it counts nothing by key that could fade"
    return policy.no_rest and f"of which {policy.no_rest}"


def from_plain(content: dict[str, Any]) -> Audience:
    """The keys that `Keys.to_plain` saved, checked."""
    if set(content) != {"keys", "spare", "places", "rest"}:
        raise ValueError("saved state is damaged: it has no audience")
    labels, spare, places = content["keys"], content["spare"], content["places"]
    if type(labels) is not list or type(spare) is not list or type(places) is not int:
        raise ValueError("saved state is damaged: its keys are not a list")
    numbers = range(len(labels) + len(spare))
    free = set(spare) if all(type(number) is int for number in spare) else {-1}
    if len(free) < len(spare) or not free <= set(numbers):
        raise ValueError("saved state is damaged: the free numbers of keys cannot be")
    if not len(numbers) <= places <= MOST or places_for(places) != places:
        raise ValueError(f"saved state is damaged: there cannot be space for {places} keys")
    keys = dict(zip(_thawed(labels), (n for n in numbers if n not in free), strict=True))
    if len(keys) < len(labels):
        raise ValueError("saved state is damaged: it has a key twice")
    rest = _plain.from_plain(content["rest"])
    if rest is not None and not isinstance(rest, (HalfLife, Window)):
        raise ValueError(f"saved state is damaged: counts cannot rest as {rest!r}")
    return Audience(Keys(rest, keys, spare), places)


def _frozen(key: Any) -> Any:
    frozen = freeze(key, "keys")
    if has_member(frozen):
        raise ValueError(f"keys must not be members of an Enum to be saved, got {key!r}")
    return frozen


def _thawed(labels: Iterable[Any]) -> list[Any]:
    found = [label if type(label) in (str, int) else thaw(label) for label in labels]
    for label in found:
        if label != label or type(label) is list:
            raise ValueError(f"saved state is damaged: {str(label)[:80]} is not a key")
    return found
