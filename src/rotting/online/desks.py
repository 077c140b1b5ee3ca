"""The desk of a saved player, checked: nothing in it may lead compiled code astray."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rotting import checks
from rotting.engines import desk as at
from rotting.engines.desk import NOBODY, Desk, new_desk
from rotting.online import saving
from rotting.state import check

Row = tuple[int, int, int, float, float, float]
_DECISIONS = 2**60  # nobody has made more
_ARMS = 10**8  # nor had more


def restored_desk(saved: saving.Saved) -> Desk:
    """The arrays of the desk; what waits is not among them, see `waiting_rows`."""
    arms = saved.arm_count
    seed = saved.seed
    if type(seed) is not int or not 0 <= seed < 2**64:
        raise ValueError(f"saved state is damaged: seed cannot be {str(seed)[:40]}")
    packed = saved.desk.get("pulls")
    shape = packed.get("shape") if isinstance(packed, dict) else None
    if not 1 <= arms <= _ARMS or shape != [arms] or set(saved.desk) != set(saving.DESK):
        raise ValueError(f"saved state is damaged: it has no desk of {str(arms)[:40]} arms")
    if len(str(packed.get("data"))) * 1000 < arms:
        raise ValueError(f"saved state is damaged: its pulls are not those of {arms} arms")
    fresh = new_desk(arms, seed)
    found = {
        name: saving.unpack(name, saved.desk[name], getattr(fresh, name)) for name in saved.desk
    }
    desk = fresh._replace(**found)
    check(desk, fresh)
    _check_clock(desk)
    _check_numbers(desk)
    return desk


def _check_clock(desk: Desk) -> None:
    clock, arms = desk.clock, desk.pulls.size
    decided = int(clock[at.DECIDED])
    if desk.pulls.max() > _DECISIONS // arms or int(desk.pulls.sum()) != decided:
        raise ValueError(
            f"saved state is damaged: it counts {decided} decisions, but its arms were pulled "
            f"{int(desk.pulls.sum())} times"
        )
    if desk.chosen.max() > decided:
        raise ValueError("saved state is damaged: an arm was chosen after the last decision")
    if clock[at.OPEN] != desk.open.sum():
        raise ValueError(f"saved state is damaged: {int(desk.open.sum())} arms are open")
    clock[at.SILENT] = np.count_nonzero(desk.seen == 0)
    for place in (at.LATE, at.LAST_ARM):
        if not NOBODY <= clock[place] < arms:
            raise ValueError(f"saved state is damaged: nobody can wait for arm {clock[place]}")
    clock[[at.RESTRICTED, at.UNHASHED]] = 0
    if min(clock) < NOBODY or min(clock[[at.WINDOW, at.EXPIRED]]) < 0:
        raise ValueError("saved state is damaged: its clock counts below zero")


def _check_numbers(desk: Desk) -> None:
    numbers = desk.numbers
    share, lifetime, default = numbers[[at.EXPLORE, at.LIFETIME, at.DEFAULT]]
    if not 0.0 <= share < 1.0 or not lifetime > 0.0 or abs(default) > checks.HUGE:
        raise ValueError("saved state is damaged: its share, lifetime or default cannot be")
    if math.isinf(numbers[at.NOW]):
        raise ValueError("saved state is damaged: its time is infinite")


def waiting_rows(saved: saving.Saved, desk: Desk) -> list[Row]:
    """The pulls that wait for their rewards: made, each of them once, in the order of decisions."""
    pulls = desk.pulls.tolist()
    rows: list[Row] = []
    made = 0
    for row in saved.waiting:
        if not _is_row(row):
            raise ValueError(f"saved state is damaged: {str(row)[:80]} is no pull that waits")
        arm, pull, number, *notes = row
        notes[0] = math.nan if notes[0] is None else notes[0]  # JSON has no NaN
        if not (0 <= arm < len(pulls) and 1 <= pull <= pulls[arm]):
            raise ValueError(f"saved state is damaged: pull {pull} of arm {arm} was not made")
        if not made < number <= desk.clock[at.DECIDED]:
            raise ValueError("saved state is damaged: pulls must wait in the order of decisions")
        made = number
        if not all(math.isfinite(x) for x in notes[1:]) or math.isinf(notes[0]):
            raise ValueError("saved state is damaged: notes of a pull must be finite")
        rows.append((arm, pull, number, *map(float, notes)))
    if len({row[:2] for row in rows}) < len(rows):
        raise ValueError("saved state is damaged: a pull waits twice for its reward")
    counts = np.bincount([row[0] for row in rows], minlength=len(pulls))
    if np.any(desk.seen + counts > desk.pulls):
        raise ValueError("saved state is damaged: a pull that was rewarded waits for its reward")
    return rows


def _is_row(row: Any) -> bool:
    if type(row) is not list or len(row) != 6 or any(type(n) is not int for n in row[:3]):
        return False
    return row[3] is None or (type(row[3]) is float and all(type(x) is float for x in row[4:]))
