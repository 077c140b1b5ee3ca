"""Rounds in which arms may be pulled: arms that come and go in a scenario.

Users give a dict such as {2: (101, None), 0: (1, 5000)}: arm 2 opens in round 101 and never closes,
arm 0 closes after round 5000. An arm that is not named is always open.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from rotting import _checks
from rotting.kernel.arrays import IntArray

_EXAMPLE = "as {2: (101, None), 0: [(1, 50), (200, 300)]}"


class Opening(NamedTuple):
    """Rounds in which an arm may be pulled.

    Attributes:
        arm: The number of the arm, from 0.
        first: The first of the rounds, from 1.
        last: The last of them; None if the arm stays open.
    """

    arm: int
    first: int
    last: int | None  # None: it does not close again


def as_openings(given: Any, arms: int) -> tuple[Opening, ...] | None:
    """The user's openings in order of arms and rounds; None if no arm ever closes.

    Intervals of an arm that overlap or touch are merged.

    >>> as_openings({1: [(5, 9), (1, 4)], 0: (3, None)}, arms=2)
    (Opening(arm=0, first=3, last=None), Opening(arm=1, first=1, last=9))
    """
    if given is None:
        return None
    found: list[Opening] = []
    for opening in sorted(_checked(given, arms), key=lambda opening: opening[:2]):
        before = found[-1] if found and found[-1].arm == opening.arm else None
        if before is None or opening.first > _end(before) + 1:
            found.append(opening)
        elif _end(opening) > _end(before):
            found[-1] = before._replace(last=opening.last)
    return tuple(opening for opening in found if opening[1:] != (1, None)) or None


def _end(opening: Opening) -> float:
    return math.inf if opening.last is None else opening.last


def _checked(given: Any, arms: int) -> Iterator[Opening]:
    """The intervals one by one, checked."""
    if isinstance(given, Mapping):
        for arm, value in given.items():
            _check_arm(arm, arms)
            for interval in _intervals(arm, value):
                yield _opening(arm, interval)
        return
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ValueError(f"openings must be a dict, {_EXAMPLE}, got {given!r}")
    for item in given:
        if not isinstance(item, (tuple, list)) or len(item) != 3:
            raise ValueError(f"openings must be a dict, {_EXAMPLE}, got {item!r} in a list")
        _check_arm(item[0], arms)
        yield _opening(item[0], item[1:])


def _check_arm(arm: Any, arms: int) -> None:
    _checks.integer("arm in openings", arm, 0, arms - 1)


def _intervals(arm: int, value: Any) -> list[Any]:
    """One interval, or several."""
    if isinstance(value, (tuple, list)) and value:
        if all(isinstance(item, (tuple, list)) for item in value):
            return list(value)
        return [value]
    raise ValueError(
        f"openings of arm {arm} must be (first, last) or a list of these, got {value!r}"
    )


def _opening(arm: int, interval: Any) -> Opening:
    name = f"openings of arm {arm}"
    if len(interval) != 2:
        raise ValueError(f"{name} must be (first, last), got {interval!r}")
    first, last = interval
    first = (
        1 if first is None else _checks.integer(f"first round in {name}", first, 1, _checks.EXACT)
    )
    if last is not None:  # an empty interval is refused
        last = _checks.integer(f"last round in {name}", last, first, _checks.EXACT)
    return Opening(int(arm), first, last)


def as_dict(openings: tuple[Opening, ...]) -> dict[int, Any]:
    """The openings as the dict that a user would write."""
    found: dict[int, list[tuple[int, int | None]]] = {}
    for opening in openings:
        found.setdefault(opening.arm, []).append((opening.first, opening.last))
    return {arm: rounds[0] if len(rounds) == 1 else rounds for arm, rounds in found.items()}


def counts(openings: tuple[Opening, ...], arms: int, horizon: int) -> tuple[IntArray, IntArray]:
    """Rounds up to the horizon in which arms open or close, and how many arms are open then.

    Round 1 always comes first.
    """
    change = {1: arms - len({opening.arm for opening in openings})}
    for opening in openings:
        change[opening.first] = change.get(opening.first, 0) + 1
        if opening.last is not None:
            change[opening.last + 1] = change.get(opening.last + 1, 0) - 1
    rounds = sorted(t for t in change if t <= horizon)
    open_now = np.cumsum([change[t] for t in rounds])
    return np.array(rounds, dtype=np.int64), open_now.astype(np.int64)


def check_never_empty(openings: tuple[Opening, ...], arms: int, horizon: int) -> None:
    """Refuse openings that leave a round without an open arm."""
    rounds, open_now = counts(openings, arms, horizon)
    empty = rounds[open_now == 0]
    if empty.size:
        raise ValueError(
            f"openings must leave an arm open in every round up to the horizon {horizon}, but in "
            f"round {empty[0]} all are closed"
        )


def flags_of(openings: tuple[Opening, ...], arms: int, rounds: IntArray) -> IntArray:
    """Flags [round, arm] for rising rounds: 1 if the arm is open in that round."""
    flags = np.ones((rounds.size, arms), dtype=np.int64)
    flags[:, [opening.arm for opening in openings]] = 0
    for arm, first, last in openings:
        end = rounds.size if last is None else np.searchsorted(rounds, last, side="right")
        flags[np.searchsorted(rounds, first) : end, arm] = 1
    return flags
