"""Labels of arms: valid types, and their saved form.

A label is saved as JSON that keeps its type: strings, numbers and None as they are, tuples, dates,
UUIDs and bytes with their type. NumPy's scalars equal Python's and are saved as those. A member of
an Enum is saved by its name. No class is imported because a file names it, so the arms must be
given when such a player is loaded, and are matched by name.
"""

from __future__ import annotations

import base64
import datetime
import enum
import uuid
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from rotting import _checks

_KINDS = "words, numbers, None, dates, UUIDs, bytes, members of an Enum, and tuples of these"


def one_label(name: str, label: Any, arms: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arms with one more, whose label must be new."""
    (new,) = _checks.labels(name, [label])
    if new in arms:
        raise ValueError(f"{name} must be new, a label never comes back as another arm: {label!r}")
    return (*arms, new)


def freeze(label: Any, name: str = "arms") -> Any:
    """A label as JSON; ValueError if it has none, with `name` as the argument."""
    if isinstance(label, enum.Enum):  # before str and int, which it may be as well
        return {"enum": f"{type(label).__qualname__}.{label.name}"}
    if isinstance(label, np.generic):
        found = label.item()  # a datetime64 in nanoseconds would become a number
        label = found if found == label and hash(found) == hash(label) else label
    if label is None or type(label) in (bool, int, float, str):
        return label
    if type(label) is tuple:
        return {"tuple": [freeze(item, name) for item in label]}
    if isinstance(label, uuid.UUID):
        return {"uuid": label.hex}
    if isinstance(label, bytes):
        return {"bytes": base64.b64encode(label).decode()}
    if type(label) is datetime.datetime and _iso(label):
        return {"datetime": label.isoformat(), "fold": label.fold}
    if type(label) is datetime.date:
        return {"date": label.isoformat()}
    raise ValueError(f"{name} must be {_KINDS} to be saved, got {label!r}; pickle keeps any")


def _iso(label: datetime.datetime) -> bool:
    """Whether ISO text keeps a datetime; a named zone would come back as an offset."""
    return label.tzinfo is None or isinstance(label.tzinfo, datetime.timezone)


def thaw(label: Any) -> Any:
    """The label of its saved form; a `Member` for a member of an Enum."""
    if not isinstance(label, dict):
        return label
    try:
        kinds = [kind for kind in _THAWED if set(label) in ({kind}, {kind, "fold"})]
        return _THAWED[kinds[0]](label)
    except (IndexError, KeyError, TypeError, ValueError, AttributeError):
        raise ValueError(f"saved state is damaged: {str(label)[:80]} is not a label") from None


def _thawed_tuple(items: Any) -> tuple[Any, ...]:
    if type(items) is not list:
        raise TypeError
    return tuple(thaw(item) for item in items)


_THAWED: dict[str, Any] = {
    "tuple": lambda label: _thawed_tuple(label["tuple"]),
    "uuid": lambda label: uuid.UUID(hex=label["uuid"]),
    "bytes": lambda label: base64.b64decode(label["bytes"], validate=True),
    "datetime": lambda label: datetime.datetime.fromisoformat(label["datetime"]).replace(
        fold=label["fold"]
    ),
    "date": lambda label: datetime.date.fromisoformat(label["date"]),
    "enum": lambda label: Member(str(label["enum"])),
}


class Member(str):
    """The saved name of a member of an Enum."""

    __slots__ = ()


def matched(saved: list[Any], count: int, given: Iterable[Hashable] | None) -> tuple[Hashable, ...]:
    """The labels of a saved player in order, as saved or as given.

    Given arms may be in any order; they must be the saved ones.
    """
    names = [thaw(label) for label in saved]
    if given is None:
        named = next((name for name in names if _has_member(name)), None)
        if named is not None:
            raise ValueError(f"arms must be given: {named} is a member of an Enum")
        labels = _checks.labels("arms", names)
    else:
        found = {_key(label): label for label in _checks.labels("arms", given)}
        if set(found) != set(names) or len(found) != len(names):
            strange = sorted(map(repr, set(names) ^ set(found)))[:4]
            raise ValueError(f"arms must be those that were saved, but not in both: {strange}")
        labels = tuple(found[name] for name in names)
    if len(labels) != count:
        raise ValueError(f"saved state is damaged: it has {len(labels)} labels for {count} arms")
    return labels


def has_member(frozen: Any) -> bool:
    """Whether the saved form of a label has a member of an Enum."""
    return _has_member(thaw(frozen)) if isinstance(frozen, dict) else False


def _key(label: Any) -> Any:
    """A label as it would be after it was saved and loaded."""
    return thaw(freeze(label))


def _has_member(name: Any) -> bool:
    if isinstance(name, tuple):
        return any(_has_member(item) for item in name)
    return isinstance(name, Member)


def some(labels: tuple[Any, ...]) -> str:
    """The first labels, for a message."""
    shown = ", ".join(map(repr, labels[:8]))
    return f"{shown}, ... ({len(labels)} in all)" if len(labels) > 8 else shown
