"""Inspection of a player: a table of its arms, a few curves, and why the last arm was chosen.

All of it is computed from a `Snapshot`. A decision does not record what it compared, since that
would take longer than deciding. `explain` therefore computes the figures again. If no reward has
come since the decision, its pull is first undone in the copy. Otherwise the figures are the present
ones, and the sentence says so.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rotting._live import ledger as at
from rotting._live.keys import exposure_of
from rotting._live.ledger import NOBODY, Ledger, listed
from rotting._numbers import figure
from rotting._online.core import Snapshot
from rotting._online.curves import LONGEST, USUAL, bands, keeps_curves
from rotting._online.table import ArmTable, Row, quoted
from rotting.kernel.arrays import FloatArray, IntArray
from rotting.kernel.state import is_part
from rotting.kernel.verbs import Inspection, curve, inspect, set_open
from rotting.policies.parts.arms import TIME, Arms
from rotting.policies.parts.exposures import take_back

ARMS = 8  # arms of a small plot: those pulled most
_POINTS = 16  # of a curve, on each of two grids; some policies take long to predict a pull
_FEWEST = 10  # pulls of a curve, at least
_BEYOND = 1.25  # pulls of a curve, as a multiple of those made

_SINCE = " Rewards have come since: these are the present figures."


def table_of(snapshot: Snapshot, counts: str = "") -> ArmTable:
    """A table with a row for each arm; `counts` is added to the title."""
    ledger, labels = snapshot.ledger, snapshot.arms
    waiting = [0] * len(labels)
    for row in listed(ledger.waiting):
        waiting[row[0]] += 1
    rows = []
    for number, label in enumerate(labels):
        seen = int(ledger.rewarded[number])
        inspection = inspect(snapshot.params, snapshot.state, number) or Inspection()
        rows.append(
            Row(
                arm=label,
                pulls=int(ledger.pulls[number]),
                observed=seen,
                mean=_known(ledger.total[number] / seen) if seen else None,
                estimate=_known(inspection.estimate),
                padding=_known(inspection.padding),
                index=_known(inspection.index),
                open=bool(ledger.open[number]),
                chosen=int(ledger.last_chosen[number]),
                waiting=waiting[number],
            )
        )
    decided = int(ledger.clock[at.DECIDED])
    title = f"{snapshot.policy.short_label}: {len(rows)} arms, {decided} decisions{counts}"
    return ArmTable(title, rows)


def _known(value: Any) -> float | None:
    """A float, or None for NaN."""
    return None if value is None or value != value else float(value)


class Believed(NamedTuple):
    """Learnt curves of some of the open arms; arrays are [arm, number], NaN where unknown."""

    arms: tuple[Any, ...]  # labels
    numbers: IntArray  # of pulls, or of showings to one key
    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    upcoming: tuple[int, ...] | None  # the number of each arm's next pull; None for a new key
    open: int  # number of open arms


def believed(snapshot: Snapshot, most: int, upcoming: bool) -> Believed | None:
    """The learnt curves up to pull `most`; None if there are none."""
    ledger = snapshot.ledger
    open_arms = np.flatnonzero(ledger.open)
    order = np.argsort(-ledger.pulls[open_arms], kind="stable")[:ARMS]
    places = np.sort(open_arms[order]).tolist()
    if not places:
        return None
    # curves fall most at the beginning, but steps may be anywhere
    spread = (np.geomspace(1, most, _POINTS), np.linspace(1, most, _POINTS))
    numbers = np.unique(np.concatenate(spread).round().astype(np.int64))
    found = [
        [curve(snapshot.params, snapshot.state, place, n) for n in numbers.tolist()]
        for place in places
    ]
    arrays = bands(found)
    for array in arrays:
        array[~np.isfinite(array)] = np.nan  # an untried arm may have infinite bounds
    if np.isnan(arrays[0]).all():
        return None
    return Believed(
        tuple(snapshot.arms[place] for place in places),
        numbers,
        *arrays,
        tuple(int(ledger.pulls[place]) + 1 for place in places) if upcoming else None,
        len(open_arms),
    )


def usual_showings(snapshot: Snapshot) -> int:
    """The showings of a curve: the most of any key and arm so far, at most `USUAL`."""
    shown = exposure_of(snapshot.state, snapshot.ledger).counts
    return min(max(1, int(shown.max(initial=0))), USUAL)


def curves_of_player(snapshot: Snapshot) -> Believed | None:
    """Curves of a player for a small plot, in an audience for a new key; None if it has none."""
    policy, new_key = snapshot.policy, snapshot.keys is not None
    if new_key and not keeps_curves(policy):
        return None
    if not (policy.verbs.score or policy.verbs.curve):
        return None
    if new_key:
        return believed(snapshot.with_key(), usual_showings(snapshot), upcoming=False)
    most = max(_FEWEST, int(_BEYOND * snapshot.ledger.pulls.max(initial=0)))
    furthest = snapshot.reach if policy.tables else LONGEST
    return believed(snapshot, min(most, furthest), upcoming=True)


def explain(snapshot: Snapshot) -> str:
    """Why the last arm was chosen."""
    clock = snapshot.ledger.clock.tolist()
    arm, pull, allowed = clock[at.LAST_ARM], clock[at.LAST_PULL], clock[at.LAST_ALLOWED]
    if clock[at.DECIDED] == 0:
        return "Nothing has been decided yet."
    if clock[at.LAST_KEY] == NOBODY:
        return "The last decision is not known: its key was forgotten."
    if arm == NOBODY:
        return "The last decision is not known: it was made before this player was saved."
    keys, key, whom = snapshot.keys, clock[at.LAST_KEY], ""
    if keys is not None:
        snapshot = snapshot.with_key(key)
        whom = f" for {quoted(keys.labels()[key])}"
    who = f"{quoted(snapshot.arms[arm])} was chosen{whom} (pull {pull})"
    if allowed == 0:
        return f"Nothing was decided since {quoted(snapshot.arms[arm])} came last in the history."
    if clock[at.LAST_CONTROL]:
        drawn = f"it was drawn from {allowed} arms with equal probabilities"
        return f"{who} for the control group: {drawn}, not by the policy."
    if allowed == 1:
        return f"{who}: it was the only arm that could be."
    flags = _choosable(snapshot.ledger, arm, allowed)
    if flags is not None and snapshot.policy.verbs.set_open is not None:
        set_open(snapshot.params, snapshot.state, flags)
    if not clock[at.LEARNT]:
        _undo_pull(snapshot.state, arm)
    inspection = inspect(snapshot.params, snapshot.state, arm)
    return who + _because(snapshot, arm, inspection, flags)


def _choosable(ledger: Ledger, arm: int, allowed: int) -> IntArray | None:
    """The arms that could be chosen in the last decision, if still known."""
    for flags in (ledger.open, ledger.allowed):
        if flags.sum() == allowed and flags[arm]:
            return flags
    return None


def _undo_pull(state: Any, arm: int) -> None:
    """Undo a pull in all counts of pulls and rounds."""
    if isinstance(state, Arms):
        state.pulls[arm] -= 1
        state.clock[TIME] = max(0, state.clock[TIME] - 1)
        take_back(state.exposure, arm)
    for part in state:
        if is_part(part):
            _undo_pull(part, arm)


def _because(
    snapshot: Snapshot, arm: int, inspection: Inspection | None, flags: IntArray | None
) -> str:
    """The rest of the sentence, after the arm."""
    title, clock = snapshot.policy.title, snapshot.ledger.clock
    untried = clock[at.LAST_SEEN] == 0
    since = _SINCE if clock[at.LEARNT] > 0 else ""
    rule = "" if inspection is None else inspection.rule
    if rule == "uniform":
        return f": {title} draws from {clock[at.LAST_ALLOWED]} arms with equal probabilities."
    if rule == "turn":
        return f": {title} takes the arms in turn, and it was its turn."
    if rule == "chance" and inspection is not None and flags is not None:
        return f": it was drawn, with probability {figure(inspection.index)}.{since}"
    from_prior = rule == "sampled" and inspection is not None and inspection.estimate is not None
    if rule in ("highest", "mostly", "sampled", "filtered") and untried and not from_prior:
        return " to ramp up: no reward of it was known."
    if rule == "filtered":
        return f": it passed the filter of {title}, and no other arm that did had been pulled less."
    if inspection is None or (inspection.index is None and inspection.estimate is None):
        if rule in ("highest", "mostly", "sampled"):
            return f" to ramp up: {title} needs more data on it before comparing it."
        return f" by {title}, which gives no reason."
    if rule == "sampled":
        mean, deviation = figure(inspection.estimate), figure(inspection.padding)
        posterior = f"its posterior has mean {mean} and standard deviation {deviation}"
        return f": the number drawn for it was the highest; {posterior}.{since}"
    if inspection.index is None:
        return f" by {title}, which estimates its mean as {figure(inspection.estimate)}.{since}"
    return _compared(snapshot, arm, inspection, flags, since)


def _compared(
    snapshot: Snapshot, arm: int, inspection: Inspection, flags: IntArray | None, since: str
) -> str:
    """The sentence on the arm's index and the runner-up's."""
    own = inspection.index
    assert own is not None
    named = "its next mean" if inspection.rule == "told" else "its index"
    said = f"{named} {figure(own)}"
    if inspection.padding is not None and inspection.estimate is not None:
        sign = "-" if inspection.padding < 0 else "+"
        said += f" = {figure(inspection.estimate)} {sign} {figure(abs(inspection.padding))}"
    others = [] if flags is None else _others(snapshot, arm, flags)
    if not others:
        count = snapshot.ledger.clock[at.LAST_ALLOWED]
        return f" from {count} arms; by the present figures it has {said.removeprefix('its ')}."
    value, rival = max(others, key=lambda other: other[0])
    next_one = quoted(snapshot.arms[rival])
    if own > value:
        rest = f"next is {next_one} with {figure(value)}"
        return f": {said} is the highest of {len(others) + 1} arms; {rest}.{since}"
    if own == value:
        return f": {said} is the highest of {len(others) + 1} arms, a tie with {next_one}.{since}"
    higher = f"{next_one} has {figure(value)}"
    if inspection.rule == "mostly" and not since:
        tries = f"{snapshot.policy.title} also tries neglected arms that may be better"
        return f" although {said} is not the highest, {higher}: {tries}."
    when = "by the present figures" if since else "with that pull counted"
    return f"; {when} {said} is not the highest, {higher}."


def _others(snapshot: Snapshot, arm: int, flags: IntArray) -> list[tuple[float, int]]:
    """The indices of the other arms that could be chosen, each with its arm."""
    found = []
    for other in flags.nonzero()[0].tolist():
        inspection = None if other == arm else inspect(snapshot.params, snapshot.state, other)
        if inspection is not None and inspection.index is not None:
            found.append((inspection.index, other))
    return found
