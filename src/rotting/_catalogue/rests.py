"""A rest in words: window:86400, half_life:5:rounds."""

from __future__ import annotations

from rotting import _checks
from rotting._catalogue.words import read_value
from rotting.bandits._audience import HalfLife, Rest, Window

KINDS: dict[str, type[HalfLife] | type[Window]] = {"half_life": HalfLife, "window": Window}


def read_rest(text: str) -> Rest:
    """A rest from words: its kind, its length and, unless it is the default, its unit.

    >>> read_rest("window:86400")
    Window(length=86400, unit='rounds')
    >>> read_rest("half_life:2.5:rounds")
    HalfLife(length=2.5, unit='rounds')
    """
    kind, *more = text.split(":")
    if not 1 <= len(more) <= 2:
        raise ValueError(f"rest must read like window:86400 or half_life:5:rounds, got {text!r}")
    made = KINDS[_checks.known("rest", kind, KINDS)]
    length, *unit = more
    return made(read_value(length), *unit)  # type: ignore[arg-type]
