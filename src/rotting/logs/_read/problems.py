"""What is odd in a log: counted, with examples; rows are not changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from rotting import _checks
from rotting.logs._log import Log, Problem
from rotting.logs._read.ordered import Ordered, moment

SHOWN = 3  # examples of a problem
FEW_KEYS = 30
EARLY = 0.1  # share of the log's time; a sequence seen in it may have begun before the log
ABSURD = 1e6  # times the 99th percentile of the others: refused


def refuse_absurd(reward: Any, show: Callable[[int], str]) -> None:
    """Refuse rewards that are infinite, huge, or a million times the others."""
    known = np.abs(reward[~np.isnan(reward)])
    if not known.size:
        raise ValueError("no reward is known: all of them are missing")
    largest = float(known.max())
    place = int(np.nanargmax(np.abs(reward)))
    if not largest <= _checks.HUGE:
        raise ValueError(f"rewards must be at most {_checks.HUGE:g} in size; {show(place)}")
    others = known[(known > 0.0) & (known < largest)]
    usual = float(np.percentile(others, 99.0)) if others.size else 1.0
    if largest > ABSURD * usual:
        raise ValueError(
            f"a reward is more than {ABSURD:,.0f} times as large as the others ({usual:g}); "
            f"{show(place)}; leave it out, or correct it"
        )


def unordered(ticks: Any, row: Any, per_day: float) -> Problem | None:
    """A problem if the table is not in the order of time."""
    inversions = np.flatnonzero(ticks[1:] < ticks[:-1])
    if not inversions.size:
        return None
    examples = [
        f"row {row[at + 1]:,} at {moment(ticks[at + 1], per_day)} after row {row[at]:,} "
        f"at {moment(ticks[at], per_day)}"
        for at in inversions[:SHOWN]
    ]
    sentence = (
        f"the table is not in the order of time: {_are(inversions.size, 'row')} earlier than the "
        "row before; showings are numbered in the order of time"
    )
    return Problem("unordered", sentence, int(inversions.size), examples)


def findings(
    rows: Ordered, *, given: bool, last: bool, young: Any, history_complete: bool
) -> Iterator[Problem]:
    """The problems that ordered rows show.

    Args:
        given: Whether the table has exposures.
        last: Whether the table has only the last row of each sequence.
        young: A mask of the rows without a reward that are younger than the window.
    """
    yield from _rewards(rows, young)
    if last:
        yield from _repeated_stories(rows)
    elif rows.ticks is not None:
        yield from _at_one_time(rows, given)
    if given and not last:
        yield from _given_numbers(rows)
    if not history_complete:
        yield from _history(rows, given or last)
    yield from _constant(rows)


def _rewards(rows: Ordered, young: Any) -> Iterator[Problem]:
    missing = np.isnan(rows.reward) & ~young
    yield from _marked(
        rows, missing, "missing-rewards", "{are} without a reward; they count as showings"
    )
    yield from _marked(
        rows,
        young,
        "young-rewards",
        "{are} younger than the attribution window and without a reward so far: not taken for "
        "zeros",
    )


def _at_one_time(rows: Ordered, given: bool) -> Iterator[Problem]:
    """Rows with the same key, arm and time: duplicates, or several showings at once."""
    ticks: Any = rows.ticks
    tied = (ticks[1:] == ticks[:-1]) & (np.diff(rows.arm) == 0) & (np.diff(rows.key) == 0)
    first = ~np.concatenate(([False], tied))
    group = np.cumsum(first)
    places = np.flatnonzero(~first | np.concatenate((tied, [False])))
    # Within a group, equal rewards (and given numbers) side by side.
    reward = np.nan_to_num(rows.reward[places], nan=np.inf)
    number = rows.exposure[places] if given else np.zeros(len(places), dtype=np.int32)
    order = np.lexsort((places, number, reward, group[places]))
    places, reward, number = places[order], reward[order], number[order]
    same_group = np.diff(group[places]) == 0
    equal = reward[1:] == reward[:-1]
    same = same_group & equal & (np.diff(number) == 0)
    again = np.sort(places[1:][same])
    yield from _placed(
        rows,
        again,
        "duplicates",
        "{are} the same as another in key, arm, time and reward; all are counted as showings",
    )
    differing = np.unique(group[places[1:][same_group & ~equal]])
    heads = places[np.isin(group[places], differing) & first[places]]
    yield from _placed(
        rows,
        np.sort(heads),
        "same-time",
        "{are} the first of several with one key, arm and time but different rewards; their order "
        "is that of the table",
    )


def _repeated_stories(rows: Ordered) -> Iterator[Problem]:
    again = ~np.isin(np.arange(rows.key.size), rows.starts()[:-1])
    yield from _marked(
        rows,
        again,
        "repeated-stories",
        "{are} of a key and arm that had a row before, though the table was said to hold the last "
        "row of each story only",
    )


def _given_numbers(rows: Ordered) -> Iterator[Problem]:
    starts = rows.starts()[:-1]
    steps = np.diff(rows.exposure)
    inside = np.ones(steps.size, dtype=bool)
    inside[starts[1:] - 1] = False
    gaps = np.flatnonzero(inside & (steps > 1)) + 1
    repeats = np.flatnonzero(inside & (steps < 1)) + 1
    late = starts[rows.exposure[starts] > 1]
    yield from _placed(
        rows,
        late,
        "history-before-log",
        "{are} the first of a key and arm, but numbered above 1: earlier showings are not in "
        "the log",
    )
    yield from _placed(
        rows, gaps, "exposure-gaps", "{are} numbered more than one above the row before"
    )
    yield from _placed(
        rows, repeats, "exposure-repeats", "{are} numbered as the row before in time, or lower"
    )


def _history(rows: Ordered, numbered: bool) -> Iterator[Problem]:
    if numbered:
        return
    early = may_have_begun_before(rows.key, rows.arm, _when(rows), rows.keys.names is not None)
    starts = rows.starts()[:-1]
    yield from _placed(
        rows,
        starts[early[starts]],
        "history-before-log",
        f"{{are}} the first of a story that may have begun before the log, being of a key seen in "
        f"the first {EARLY:.0%} of it: the numbers of their showings are not known",
    )


def _when(rows: Ordered) -> Any:
    return rows.row if rows.ticks is None else rows.ticks


def may_have_begun_before(key: Any, arm: Any, time: Any, has_keys: bool = True) -> Any:
    """A mask of the rows of keys (without keys: arms) seen in the first tenth of the log's time.

    Where a log does not hold the whole history, their number of earlier showings is unknown.
    """
    who = key if has_keys else arm
    seen = np.zeros(int(who.max()) + 1, dtype=bool)
    end = time.min() + EARLY * (time.max() - time.min())
    seen[who[time <= end]] = True
    return seen[who]


def unknown_history(log: Log) -> npt.NDArray[np.bool_]:
    """A mask of the rows whose exposure numbers may be too low; none if the log is complete."""
    if log.history_complete or "exposure" in log.columns or not log.key.size:
        return np.zeros(log.key.size, dtype=bool)
    found = may_have_begun_before(log.key, log.arm, log.time, log.has_keys)
    return np.asarray(found, dtype=bool)


def _constant(rows: Ordered) -> Iterator[Problem]:
    if rows.arms.count == 1:
        yield Problem("one-arm", "there is one arm only", 1, _names(rows.arms.names, 1))
    if rows.keys.names is not None and rows.keys.count < FEW_KEYS:
        sentence = f"there are few keys: {rows.keys.count}"
        yield Problem("few-keys", sentence, rows.keys.count, _names(rows.keys.names, SHOWN))
    if int(rows.exposure.max()) == 1:
        sentence = "no key is shown an arm twice: there is one exposure only"
        yield Problem("one-exposure", sentence, int(rows.key.size))
    elif rows.exposure.min() == rows.exposure.max():
        sentence = f"all rows have the same exposure number: {rows.exposure[0]}"
        yield Problem("one-exposure", sentence, int(rows.key.size))
    known = rows.reward[~np.isnan(rows.reward)]
    if known.size and known.min() == known.max():
        sentence = f"the reward is constant: {known[0]:g} in all rows where it is known"
        yield Problem("constant-reward", sentence, int(known.size))
    if rows.ticks is not None and rows.ticks.size > 1 and rows.ticks.min() == rows.ticks.max():
        sentence = f"the time is constant: {moment(rows.ticks[0], rows.per_day)}"
        yield Problem("constant-time", sentence, int(rows.ticks.size))


def _names(names: Any, count: int) -> list[str]:
    return [] if names is None else [str(name) for name in names[:count]]


def _marked(rows: Ordered, mask: Any, code: str, sentence: str) -> Iterator[Problem]:
    if mask.any():
        yield from _placed(rows, np.flatnonzero(mask), code, sentence)


def _placed(rows: Ordered, places: Any, code: str, sentence: str) -> Iterator[Problem]:
    if len(places):
        examples = [rows.show(int(place)) for place in places[:SHOWN]]
        said = sentence.format(are=_are(len(places), "row"))
        yield Problem(code, said, len(places), examples)


def _are(count: int, what: str) -> str:
    return f"1 {what} is" if count == 1 else f"{count:,} {what}s are"


def in_order(problems: Iterable[Problem | None]) -> tuple[Problem, ...]:
    return tuple(problem for problem in problems if problem is not None)
