"""`read`: a log from a file, a frame or columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from rotting._log_columns import ColumnOptions, Columns, columns_of, takes_columns
from rotting.logs._extra import polars
from rotting.logs._log import Log, Problem
from rotting.logs._read import cells
from rotting.logs._read.columns import ROLES, Roles, assign
from rotting.logs._read.ordered import Labels, Ordered, arms_of, keys_of, ordered
from rotting.logs._read.problems import findings, in_order, refuse_absurd, unordered
from rotting.logs._read.sources import opened
from rotting.logs._read.times import Times, times

_UNLABELLED = 0.05  # the largest share of rows without a key or an arm that are left out
_LARGEST_NUMBER = 2**31 - 1
EACH_ROW = "(each row)"  # stands for the key where every row is the only one of its sequence
ONLY_ARM = "(all)"  # the name of the arm where there is no column for it


@takes_columns
def read(source: Any, columns: Columns | None = None, **named: Unpack[ColumnOptions]) -> Log:
    """Read a log: its rows in order, numbered and checked.

    Args:
        source: The path of a CSV file (also .csv.gz, .tsv) or a Parquet file; a polars, pandas or
            Arrow frame; or a mapping of columns. A `Log` is returned as it is.
        columns: Which column holds what; see `Columns`.
        named: The fields of `Columns` as keyword arguments: key, arm, time, reward, exposure,
            propensity, rows, window, history_complete. They override those of `columns`.

    Returns:
        A `Log`. Its `notes` say which column was taken for what; its `problems` say what is odd,
        with counts and examples, and nothing is mended. Rows are counted from 1, without the
        header.

    Raises:
        ValueError: The source cannot be a log: it cannot be read, a column is missing or named
            twice, or cells do not have the values of their column. The message names the column
            and the first such row.
        ImportError: polars is not installed.

    >>> table = {"user": ["a", "a", "b"], "ad": ["x", "x", "x"], "click": [1, 0, 1]}
    >>> log = read(table)
    >>> log.exposure.tolist(), log.reward.tolist(), log.arms
    ([1, 2, 1], [1.0, 0.0, 1.0], ('x',))
    >>> log.notes[0]
    "key: column 'user' (by its name)"
    >>> read(table, key=False).has_keys
    False
    """
    wanted = columns_of(columns, named)
    if isinstance(source, Log):
        return source
    last, days = wanted.rows == "last", wanted.days
    with opened(source) as table:
        roles = _roles(table.columns, wanted)
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
        history_complete=wanted.history_complete,
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
        rows=wanted.rows,
        history_complete=wanted.history_complete,
        window=days,
        problems=in_order([*early, *later]),
        notes=(*roles.sentences, *notes),
        key_names=numbered.keys.names,
    )


def _roles(names: Sequence[str], wanted: Columns) -> Roles:
    """The table's columns by role; a refusal where an option needs a column that is not there."""
    last = wanted.rows == "last"
    roles = assign(names, {role: getattr(wanted, role) for role in ROLES}, each_row_a_key=last)
    if last and (wanted.exposure is None or "exposure" not in roles.columns):
        raise ValueError("rows='last' needs exposure, the column with the last row's number")
    if wanted.days and "time" not in roles.columns:
        raise ValueError(f"window needs the column of the time, got {wanted.window!r} and no time")
    return roles


def _called(source: Any, name: str) -> str:
    return Path(name).name if isinstance(source, (str, Path)) else name


def _without_empty_rows(frame: Any, roles: list[str]) -> tuple[Any, Problem | None]:
    """The rows of a text file without its empty lines."""
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
    """The rows that have a key and an arm; refused if more than 5 % have not."""
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
    """The frame's rows in order. If the table is not in order of time, `early` gets a problem."""
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
    column.refuse(~whole, "is not a whole number from 1")
    return found.cast(pl.Int32)


def _propensities(column: cells.Column) -> Any:
    found = cells.numbers(column)
    column.refuse(found.is_null(), "is missing")
    column.refuse(~((found > 0.0) & (found <= 1.0)), "is not above 0 and at most 1")
    return found


def _windowed(rows: Ordered, days: float) -> str:
    """A note on the attribution window."""
    ticks: Any = rows.ticks
    count = int(((ticks.max() - ticks) / rows.per_day < days).sum())
    return (
        f"window: {days:g} days; {count:,} rows are younger, and left out wherever rates are "
        "estimated, for of these only those that paid at once have a reward"
    )


def _young(rows: Ordered, days: float) -> Any:
    """A mask of the rows that are younger than the window and have no reward, or a zero, so far."""
    if rows.ticks is None or not days:
        return np.zeros(rows.reward.size, dtype=bool)
    age = (rows.ticks.max() - rows.ticks) / rows.per_day
    return (age < days) & (np.isnan(rows.reward) | (rows.reward == 0.0))


def _days(rows: Ordered, moments: Times | None) -> Any:
    if rows.ticks is None:
        return rows.row.astype(np.float64) - 1.0
    return (rows.ticks - rows.ticks.min()) / rows.per_day
