"""The keys of an audience: their numbers, by which arrays are indexed, and how they are saved.

A key has a number as long as it is known. The number of a key that was forgotten is given to the
next new one. There is space for more keys than there are; it doubles.
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

FEWEST = 16  # keys that there is space for at first
MOST = 2**31 - 1


@dataclasses.dataclass(slots=True)
class Keys:
    """The numbers of an audience's keys."""

    rest: Rest | None = None  # how a policy's counts fade
    numbers: dict[Any, int] = dataclasses.field(default_factory=dict)  # by label
    spare: list[int] = dataclasses.field(default_factory=list)  # of keys that were forgotten
    # replaced whenever a number may stand for another key than before
    stamp: object = dataclasses.field(default_factory=object, compare=False)

    def number(self, must: str, key: Any) -> int:
        """The number of a key that was seen; `must` begins the sentence of the refusal."""
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
        """A number for a new key."""
        # No call between the two changes: CPython handles Ctrl-C when a call returns, and a
        # number that is lost then, or is left among the spare ones, would be given out twice.
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
        self.spare += freed  # no call since: Ctrl-C finds the number in one of the two

    def unused(self) -> int:
        """A number without a key, perhaps beyond the space."""
        return self.spare[-1] if self.spare else len(self.numbers)

    def labels(self) -> dict[int, Any]:
        """Labels of keys by number."""
        return {place: key for key, place in self.numbers.items()}

    def copy(self) -> Keys:
        """The same numbers, with a stamp of their own."""
        return Keys(self.rest, dict(self.numbers), list(self.spare))

    def to_plain(self, places: int) -> dict[str, Any]:
        """What is saved, with the space there is; ValueError for keys that cannot be saved."""
        keys = sorted(self.numbers, key=self.numbers.__getitem__)
        return {
            "keys": [_frozen(key) for key in keys],
            "spare": list(self.spare),
            "places": places,
            "rest": _plain.to_plain(self.rest),
        }


class Audience(NamedTuple):
    """The keys that were saved, and for how many there was space."""

    keys: Keys
    places: int


def check_key(key: Any) -> None:
    """Refuse a value that cannot be a key."""
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
    """A fresh state for so many keys; that of a policy that plays pooled stays as it is."""
    return with_key_counts(state, places, rest) if policy.counts_by_key else state


def why_no_rest(policy: Policy) -> str:
    """Why the counts of a policy cannot fade; empty if they can.

    >>> from rotting.policies import UCB1
    >>> why_no_rest(UCB1())
    'which plays pooled: it counts nothing by key that could fade'
    """
    if not policy.counts_by_key:
        return "which plays pooled: it counts nothing by key that could fade"
    return policy.no_rest and f"of which {policy.no_rest}"


def from_plain(content: dict[str, Any]) -> Audience:
    """What `Keys.to_plain` gave, checked."""
    if set(content) != {"keys", "spare", "places", "rest"}:
        raise ValueError("saved state is damaged: it has no audience")
    labels, spare, places = content["keys"], content["spare"], content["places"]
    if type(labels) is not list or type(spare) is not list or type(places) is not int:
        raise ValueError("saved state is damaged: its keys are no list")
    numbers = range(len(labels) + len(spare))
    free = set(spare) if all(type(number) is int for number in spare) else {-1}
    if len(free) < len(spare) or not free <= set(numbers):
        raise ValueError("saved state is damaged: the free numbers of keys cannot be")
    if not len(numbers) <= places <= MOST or places_for(places) != places:
        raise ValueError(f"saved state is damaged: there cannot be space for {places} keys")
    keys = dict(zip(_thawed(labels), (n for n in numbers if n not in free), strict=True))
    if len(keys) < len(labels):
        raise ValueError("saved state is damaged: a key stands in it twice")
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
            raise ValueError(f"saved state is damaged: {str(label)[:80]} is no key")
    return found
