"""Reads a log from whatever it comes in, and says what was taken for what."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rotting import _checks
from rotting.logs._extra import polars
from rotting.logs._log import Log, Problem
from rotting.logs._read import cells
from rotting.logs._read.columns import Roles, assign
from rotting.logs._read.ordered import Labels, Ordered, arms_of, keys_of, ordered
from rotting.logs._read.problems import findings, in_order, refuse_absurd, unordered
from rotting.logs._read.sources import opened
from rotting.logs._read.times import Times, times

_ROWS = ("all", "last")
_UNITS = {"w": 7.0, "d": 1.0, "h": 1.0 / 24.0, "m": 1.0 / 1440.0, "s": 1.0 / 86_400.0}
_UNLABELLED = 0.05  # of the rows may be without a key or an arm, and are left out
_LARGEST_NUMBER = 2**31 - 1
EACH_ROW = "(each row)"  # stands for the key where every row is a story of its own
ONLY_ARM = "(all)"  # the name of the arm where there is no column for it


def read(
    source: Any,
    *,
    key: Any = None,
    arm: Any = None,
    time: Any = None,
    reward: Any = None,
    exposure: Any = None,
    propensity: Any = None,
    rows: str = "all",
    window: Any = None,
    history_complete: bool = True,
) -> Log:
    """A log: its rows in order, numbered and checked.

    source      the path of a CSV file (also .csv.gz, .tsv) or a Parquet file; a polars, pandas or
                Arrow frame; or a mapping of columns. A Log is returned as it is
    key, ...    names of columns; None: recognised by common names; False or "none": there is none
    exposure    the column with the number of each showing; without one showings are counted
    rows        "last" if the table has only the last row of each story, with its exposure number
    window      how long after a showing its reward may come: "7d", "12h", "30m", "2w", or days.
                Younger rows without a reward, counted back from the newest, have an unknown one
    history_complete
                whether every key's first showing is in the log. If not, stories of keys seen in the
                first tenth of it are said to have unknown numbers (`problems.unknown_history`)

    What is odd is in the log's `problems`, with counts and examples, and nothing is mended; what
    was taken for what is in its `notes`. Rows are counted from 1, a header not included. What
    cannot be a log is refused with a ValueError.

    >>> table = {"user": ["a", "a", "b"], "ad": ["x", "x", "x"], "click": [1, 0, 1]}
    >>> log = read(table)
    >>> log.exposure.tolist(), log.reward.tolist(), log.arms
    ([1, 2, 1], [1.0, 0.0, 1.0], ('x',))
    >>> log.notes[0]
    "key: column 'user' (by its name)"
    """
    if isinstance(source, Log):
        return source
    _checks.choice("rows", rows, _ROWS)
    history_complete = _checks.flag("history_complete", history_complete)
    days = window_in_days(window)
    last = rows == "last"
    given = {
        "key": key,
        "arm": arm,
        "time": time,
        "reward": reward,
        "exposure": exposure,
        "propensity": propensity,
    }
    with opened(source) as table:
        roles = assign(table.columns, given, each_row_a_key=last)
        if last and (exposure is None or "exposure" not in roles.columns):
            raise ValueError("rows='last' needs exposure, the column with the last row's number")
        if days and "time" not in roles.columns:
            raise ValueError(f"window needs the column of the time, got {window!r} and no time")
        frame = table.take(list(roles.columns.values()))
    names = roles.columns
    frame = frame.rename(dict(zip(names.values(), names, strict=True)))
    frame = frame.with_row_index("row", offset=1)
    early: list[Problem | None] = []
    if table.text:
        frame, empty = _without_empty_rows(frame, list(names))
        early.append(empty)
    if frame.height == 0:
        raise ValueError(f"{_called(source, table.source)} has no rows")
    frame, unnamed = _without_unlabelled(frame, names, table.text)
    early.append(unnamed)
    numbered, moments, notes = _ordered(frame, roles, last, early)
    young = _young(numbered, days)
    if days:
        notes.append(_windowed(numbered, days))
    numbered.reward[young] = np.nan
    later = findings(
        numbered,
        given="exposure" in names,
        last=last,
        young=young,
        history_complete=history_complete,
    )
    return Log(
        key=numbered.key,
        arm=numbered.arm,
        time=_days(numbered, moments),
        reward=numbered.reward,
        exposure=numbered.exposure,
        arms=tuple(numbered.arms.names or (ONLY_ARM,)),
        propensity=numbered.propensity,
        columns={"key": EACH_ROW, **names} if last else dict(names),
        source=table.source,
        rows=rows,
        history_complete=history_complete,
        window=days,
        problems=in_order([*early, *later]),
        notes=(*roles.sentences, *notes),
        key_names=numbered.keys.names,
    )


def window_in_days(window: Any) -> float:
    """An attribution window in days; 0 for none.

    >>> window_in_days("12h"), window_in_days("2w"), window_in_days(7), window_in_days(None)
    (0.5, 14.0, 7.0, 0.0)
    """
    if window is None:
        return 0.0
    if isinstance(window, str):
        found = re.fullmatch(r"\s*(\d+\.?\d*)\s*([wdhms]?)\s*", window)
        if not found:
            raise ValueError(f"window must be a time such as 7d, 12h, 30m or 2w, got {window!r}")
        window = float(found[1]) * _UNITS[found[2] or "d"]
    return _checks.number("window", window, least=0.0)


def _called(source: Any, name: str) -> str:
    return Path(name).name if isinstance(source, (str, Path)) else name


def _without_empty_rows(frame: Any, roles: list[str]) -> tuple[Any, Problem | None]:
    """A text's rows, less the lines in which nothing stands."""
    pl = polars()
    empty = frame.select(pl.all_horizontal(pl.col(roles).is_null())).to_series()
    count = int(empty.sum())
    if not count:
        return frame, None
    examples = [f"row {row:,}" for row in frame["row"].filter(empty)[:3]]
    sentence = f"{count:,} empty line{'s were' if count > 1 else ' was'} left out"
    return frame.filter(~empty), Problem("empty-lines", sentence, count, examples)


def _without_unlabelled(
    frame: Any, names: Mapping[str, str], text: bool
) -> tuple[Any, Problem | None]:
    """The rows less those without a key or an arm; a refusal where there are many."""
    pl = polars()
    without = {
        role: cells.unlabelled(frame[role])
        for role in ("key", "arm")
        if role in names and cells.unlabelled(frame[role]).any()
    }
    if not without:
        return frame, None
    where = "line" if text else "row"  # of a text as an editor counts: the header is line 1
    said, examples = [], []
    for role, wrong in without.items():
        first = f"{where} {int(frame['row'].filter(wrong)[0]) + text:,}"
        said.append(f"the {role} (column {names[role]!r}) is missing in {int(wrong.sum()):,}")
        examples.append(f"{first} has no {role}")
    left_out = pl.select(pl.any_horizontal(*without.values())).to_series()
    count, size = int(left_out.sum()), frame.height
    sentence = f"{' and '.join(said)} of {size:,} rows"
    if count > _UNLABELLED * size:
        raise ValueError(
            f"{sentence}; {', '.join(examples)}. Up to {100.0 * _UNLABELLED:g} % such rows are "
            "left out; leave these out yourself, or give them a name of their own"
        )
    sentence += f"; {'they were' if count > 1 else 'it was'} left out, and count as no showing"
    return frame.filter(~left_out), Problem("unlabelled", sentence, count, examples)


def _ordered(
    frame: Any, roles: Roles, last: bool, early: list[Problem | None]
) -> tuple[Ordered, Times | None, list[str]]:
    """The frame's rows in order; what is odd in the table's own order is added to `early`."""
    pl = polars()
    names = roles.columns
    column = {role: cells.Column(frame, role, name) for role, name in names.items()}
    count = frame.height
    nothing = pl.repeat(0, count, dtype=pl.Int32, eager=True)
    columns = {"row": frame["row"]}
    columns["reward"], said = cells.rewards(column["reward"])
    notes = [said]
    if "exposure" in names:
        columns["exposure"] = _exposures(column["exposure"])
    if "propensity" in names:
        columns["propensity"] = _propensities(column["propensity"])
    moments = times(column["time"]) if "time" in names else None
    if last and "key" not in names:
        keys = Labels(pl.Series(np.arange(count, dtype=np.int32)), count)
    else:
        keys = keys_of(cells.labels(column["key"])) if "key" in names else Labels(nothing, 1)
    arms = arms_of(cells.labels(column["arm"])) if "arm" in names else Labels(nothing, 1)
    reward = columns["reward"].fill_null(float("nan")).to_numpy()
    refuse_absurd(reward, lambda at: f"reward {reward[at]:g} in row {columns['row'][at]:,}")
    out_of_order = None
    if moments is not None:
        notes.append(moments.sentence)
        row = columns["row"].to_numpy()
        out_of_order = unordered(moments.ticks.to_numpy(), row, moments.per_day)
        early.append(out_of_order)
    found = ordered(columns, keys, arms, moments, out_of_order is None)
    return found, moments, [note for note in notes if note]


def _exposures(column: cells.Column) -> Any:
    pl = polars()
    found = cells.numbers(column)
    column.refuse(
        found.is_null(), "is missing", "leave those rows out: what was not shown has none"
    )
    whole = (found >= 1.0) & (found == found.round()) & (found <= _LARGEST_NUMBER)
    column.refuse(~whole, "is no whole number from 1")
    return found.cast(pl.Int32)


def _propensities(column: cells.Column) -> Any:
    found = cells.numbers(column)
    column.refuse(found.is_null(), "is missing")
    column.refuse(~((found > 0.0) & (found <= 1.0)), "is not above 0 and at most 1")
    return found


def _windowed(rows: Ordered, days: float) -> str:
    """What a window does, in a sentence."""
    ticks: Any = rows.ticks
    count = int(((ticks.max() - ticks) / rows.per_day < days).sum())
    return (
        f"window: {days:g} days; {count:,} rows are younger, and left out wherever rates are "
        "estimated, for of these only those that paid at once have a reward"
    )


def _young(rows: Ordered, days: float) -> Any:
    """Rows without a reward, or with none so far, that are younger than the window."""
    if rows.ticks is None or not days:
        return np.zeros(rows.reward.size, dtype=bool)
    age = (rows.ticks.max() - rows.ticks) / rows.per_day
    return (age < days) & (np.isnan(rows.reward) | (rows.reward == 0.0))


def _days(rows: Ordered, moments: Times | None) -> Any:
    if rows.ticks is None:
        return rows.row.astype(np.float64) - 1.0
    return (rows.ticks - rows.ticks.min()) / rows.per_day
