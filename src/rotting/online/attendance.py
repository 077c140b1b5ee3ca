"""The keys of an audience: their numbers, which of those are free, and how they are saved.

A key has a number as long as it is known, by which arrays are indexed. The number of a key that is
forgotten is given to the next new one. There is space for more keys than there are; it doubles.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from rotting import plain
from rotting.bandits.audience import HalfLife, Rest, Window
from rotting.online.labels import freeze, has_member, thaw
from rotting.policies.base import Policy
from rotting.policies.parts.exposures import by_key

FEWEST = 16  # keys that there is space for at first
MOST = 2**31 - 1


class Attendance(NamedTuple):
    """Who is known to a player of an audience."""

    keys: dict[Any, int]  # numbers by label
    spare: list[int]  # numbers of keys that were forgotten
    places: int  # keys that there is space for
    rest: Rest | None  # how a policy's counts fade


def places_for(keys: int, places: int = FEWEST) -> int:
    """Space for so many keys, doubled from what there is.

    >>> places_for(16), places_for(17), places_for(100, 64)
    (16, 32, 128)
    """
    while places < keys:
        places *= 2
    return places


def counted(policy: Policy, state: Any, places: int, rest: Rest | None) -> Any:
    """A fresh state for so many keys; that of a policy that plays pooled stays as it is."""
    return by_key(state, places, rest) if policy.by_key is True else state


def why_no_rest(policy: Policy) -> str:
    """Why the counts of a policy cannot fade; empty if they can.

    >>> from rotting.policies import UCB1
    >>> why_no_rest(UCB1())
    'which plays pooled: it counts nothing by key that could fade'
    """
    if policy.by_key is not True:
        return "which plays pooled: it counts nothing by key that could fade"
    return policy.no_rest and f"of which {policy.no_rest}"


def to_plain(found: Attendance) -> dict[str, Any]:
    """What is saved; ValueError for keys that cannot be."""
    keys = sorted(found.keys, key=found.keys.__getitem__)
    return {
        "keys": [_frozen(key) for key in keys],
        "spare": list(found.spare),
        "places": found.places,
        "rest": plain.to_plain(found.rest),
    }


def _frozen(key: Any) -> Any:
    frozen = freeze(key, "keys")
    if has_member(frozen):
        raise ValueError(f"keys must not be members of an Enum to be saved, got {key!r}")
    return frozen


def from_plain(content: dict[str, Any]) -> Attendance:
    """What was saved, checked."""
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
    rest = plain.from_plain(content["rest"])
    if rest is not None and not isinstance(rest, (HalfLife, Window)):
        raise ValueError(f"saved state is damaged: counts cannot rest as {rest!r}")
    return Attendance(keys, spare, places, rest)


def _thawed(labels: Iterable[Any]) -> list[Any]:
    found = [label if type(label) in (str, int) else thaw(label) for label in labels]
    for label in found:
        if label != label or type(label) is list:
            raise ValueError(f"saved state is damaged: {str(label)[:80]} is no key")
    return found
