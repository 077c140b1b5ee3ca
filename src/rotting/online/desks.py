"""The desk of a saved player, checked: nothing in it may lead compiled code astray."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rotting import checks
from rotting.live import ledger as at
from rotting.live.ledger import NOBODY, Desk, Row, new_desk
from rotting.online import saving
from rotting.online.attendance import Attendance
from rotting.policies.parts.exposures import Everybody, no_exposures
from rotting.state import check, leaves, rebuild

_DECISIONS = 2**60  # nobody has made more
_ARMS = 10**8  # nor had more


def restored_desk(saved: saving.Saved, keys: Attendance | None, pooled: bool) -> Desk:
    """The arrays of the desk; what waits is not among them, see `waiting_rows`.

    `keys` are those of an audience; where the policy plays pooled the desk counts what they saw.
    """
    arms = saved.arm_count
    seed = saved.seed
    if type(seed) is not int or not 0 <= seed < 2**64:
        raise ValueError(f"saved state is damaged: seed cannot be {str(seed)[:40]}")
    packed: Any = saved.desk.get("pulls")
    shape = packed.get("shape") if isinstance(packed, dict) else None
    if not 1 <= arms <= _ARMS or shape != [arms] or not set(saving.DESK) <= set(saved.desk):
        raise ValueError(f"saved state is damaged: it has no desk of {str(arms)[:40]} arms")
    if len(str(packed.get("data"))) * 1000 < arms:
        raise ValueError(f"saved state is damaged: its pulls are not those of {arms} arms")
    fresh = new_desk(arms, seed)
    if keys is not None and pooled:
        fresh = fresh._replace(exposure=no_exposures(keys.places, arms))
    wanted = saving.saved_desk(fresh)
    if wanted.keys() != saved.desk.keys():
        raise ValueError(f"saved state is damaged: it has no desk of {str(arms)[:40]} arms")
    found = {name: saving.unpack(name, saved.desk[name], wanted[name]) for name in wanted}
    counts = (found.pop(f"exposure.{leaf.path}") for leaf in leaves(fresh.exposure))
    found["exposure"] = rebuild(fresh.exposure, counts)
    desk = fresh._replace(**found)
    check(desk, fresh)
    _check_clock(desk, keys, pooled)
    _check_numbers(desk)
    return desk


def _check_clock(desk: Desk, keys: Attendance | None, pooled: bool) -> None:
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
    clock[[at.BOUND, at.UNHASHED]] = 0
    if keys is None:
        clock[[at.LAST_KEY, at.FURTHEST]] = 0
    elif pooled:
        clock[at.FURTHEST] = desk.pulls.max()
    if clock[at.FURTHEST] > desk.pulls.max():
        raise ValueError("saved state is damaged: the policy was told of pulls that nobody made")
    if clock[at.LAST_KEY] >= (1 if keys is None else keys.places):
        raise ValueError(f"saved state is damaged: there is no key {clock[at.LAST_KEY]}")
    if min(clock) < NOBODY or min(clock[[at.WINDOW, at.EXPIRED]]) < 0:
        raise ValueError("saved state is damaged: its clock counts below zero")


def _check_numbers(desk: Desk) -> None:
    numbers = desk.numbers
    share, lifetime, default = numbers[[at.EXPLORE, at.LIFETIME, at.DEFAULT]]
    if not 0.0 <= share < 1.0 or not lifetime > 0.0 or abs(default) > checks.HUGE:
        raise ValueError("saved state is damaged: its share, lifetime or default cannot be")
    if math.isinf(numbers[at.NOW]):
        raise ValueError("saved state is damaged: its time is infinite")
    compared, squares, others, control = numbers[
        [at.LIFT_COUNT, at.LIFT_SQUARES, at.LIFT_OTHERS, at.LIFT_CONTROL]
    ]
    counts = 0.0 <= others <= compared <= desk.clock[at.DECIDED] >= control >= 0.0
    if not counts or not squares >= 0.0:
        raise ValueError("saved state is damaged: its control group cannot be")


def waiting_rows(saved: saving.Saved, desk: Desk, keys: Attendance | None, shown: Any) -> list[Row]:
    """The pulls that wait for their rewards: made, each of them once, in the order of decisions.

    `shown` are the counts by key of an audience, [key, arm].
    """
    pulls, clock = desk.pulls.tolist(), desk.clock
    known = {0} if keys is None else set(keys.keys.values())
    rows: list[Row] = []
    made = 0
    for row in saved.waiting:
        if not _is_row(row, keys is not None):
            raise ValueError(f"saved state is damaged: {str(row)[:80]} is no pull that waits")
        arm, pull, number, *notes = row[:6]
        key, told = row[6:] if keys is not None else (0, pull)
        notes[0] = math.nan if notes[0] is None else notes[0]  # JSON has no NaN
        if key not in known:
            raise ValueError(f"saved state is damaged: there is no key {key} that waits")
        counts = pulls if keys is None else shown[key]
        if not (0 <= arm < len(pulls) and 1 <= pull <= counts[arm]):
            raise ValueError(f"saved state is damaged: pull {pull} of arm {arm} was not made")
        if not made < number <= clock[at.DECIDED]:
            raise ValueError("saved state is damaged: pulls must wait in the order of decisions")
        made = number
        if keys is not None and not 1 <= told <= min(pulls[arm], clock[at.FURTHEST]):
            raise ValueError(f"saved state is damaged: no policy was told of pull {told}")
        if not all(math.isfinite(x) for x in notes[1:]) or math.isinf(notes[0]):
            raise ValueError("saved state is damaged: notes of a pull must be finite")
        at_, weight, centre = map(float, notes)
        rows.append((arm, pull, number, at_, weight, centre, key, told))
    # to a policy that plays pooled, every pull of an arm has a number of its own
    pooled = keys is not None and not isinstance(desk.exposure, Everybody)
    if len({(row[6], *row[:2]) for row in rows}) < len(rows) or (
        pooled and len({(row[0], row[7]) for row in rows}) < len(rows)
    ):
        raise ValueError("saved state is damaged: a pull waits twice for its reward")
    late = np.bincount([row[0] for row in rows], minlength=len(pulls))
    if np.any(desk.seen + late > desk.pulls):
        raise ValueError("saved state is damaged: a pull that was rewarded waits for its reward")
    return rows


def _is_row(row: Any, keyed: bool) -> bool:
    if type(row) is not list or len(row) != (8 if keyed else 6):
        return False
    if any(type(n) is not int for n in (*row[:3], *row[6:])):
        return False
    return row[3] is None or (type(row[3]) is float and all(type(x) is float for x in row[4:6]))
