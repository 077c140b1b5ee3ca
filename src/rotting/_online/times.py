"""The user's own time: numbers of any unit, or datetimes. A player takes one of the two."""

from __future__ import annotations

import datetime
from typing import Any

from rotting import _checks

_EPOCH = datetime.datetime(1970, 1, 1)
_ZONED = _EPOCH.replace(tzinfo=datetime.UTC)


def moment(name: str, at: Any, dated: bool | None) -> tuple[float, bool]:
    """A time as a number, and whether it is a datetime; `dated` says what earlier times were.

    >>> moment("at", datetime.datetime(1970, 1, 2), None)
    (86400.0, True)
    >>> moment("at", 12.5, None)
    (12.5, False)
    """
    is_date = isinstance(at, datetime.datetime)
    if dated is not None and is_date != dated:
        wanted = "a datetime" if dated else "a number"
        raise ValueError(f"{name} must be {wanted}, as the times before, got {at!r}")
    if is_date:  # without a zone, UTC
        return (at - (_EPOCH if at.tzinfo is None else _ZONED)).total_seconds(), True
    return _checks.number(name, at), False


def duration(name: str, value: Any) -> tuple[float, bool]:
    """A positive duration as a number, and whether it is a timedelta."""
    if isinstance(value, datetime.timedelta):
        return _checks.number(name, value.total_seconds(), above=0), True
    return _checks.number(name, value, above=0), False
