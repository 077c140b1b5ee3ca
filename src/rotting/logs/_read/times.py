"""Times of any kind as numbers in their order, with the number of ticks of a day."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rotting.logs._extra import polars
from rotting.logs._read.cells import Column, numbers

_DAY = 86_400.0
_SAMPLE = 100
_OFFSET = r"([Zz]|[+-]\d{2}:?\d{2}|[+-]\d{2}|\s?UTC)$"
_BODY = r"^\s*\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}.*"  # a date alone ends in -05, which is no offset
_BODIES = (
    "%Y-%m-%dT%H:%M:%S%.f",
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%d",
    "%Y-%m-%dT%H:%M",
    "%Y-%m-%d %H:%M",
)
# Numbers of this size are seconds since 1970 for dates from 1980 to 2250, or parts of seconds.
_EPOCH = (3.15e8, 8.84e9)
_UNITS = (("seconds", 1.0), ("milliseconds", 1e3), ("microseconds", 1e6), ("nanoseconds", 1e9))


@dataclass(frozen=True)
class Times:
    """A column of times: ticks, the ticks of a day, and a note on how it was read."""

    ticks: Any
    per_day: float
    sentence: str


def times(column: Column) -> Times:
    """The times of a column; refused where one is missing or cannot be read."""
    pl = polars()
    cells = column.cells
    kind = cells.dtype
    column.refuse(cells.is_null(), "is missing", "leave those rows out, or say time=False")
    if kind in (pl.Categorical, pl.Enum):
        cells = column.cells = cells.cast(pl.String)
    if kind == pl.String:
        return _of_texts(column)
    if kind == pl.Date or kind == pl.Datetime:
        return Times(cells.cast(pl.Datetime("us")).dt.timestamp("us"), _DAY * 1e6, "")
    if kind == pl.Duration:
        return Times(cells.dt.total_microseconds(), _DAY * 1e6, "time: durations")
    if not kind.is_numeric():
        raise ValueError(f"{column.title} must be times, dates, texts or numbers, got {kind}")
    return _of_numbers(column, cells)


def _of_texts(column: Column) -> Times:
    pl = polars()
    cells = column.cells
    blank = cells.str.strip_chars() == ""
    column.refuse(blank, "is missing", "leave those rows out, or say time=False")
    sample = cells.head(_SAMPLE)
    if sample.cast(pl.Float64, strict=False).null_count() < len(sample):
        whole = cells.cast(pl.Int64, strict=False)  # exact where floats are not
        return _of_numbers(column, numbers(column) if whole.null_count() else whole)
    # Most columns are written in one way, offset included, and need one pass.
    offset = _offsets(sample)[0] or ""
    for body in _BODIES:
        if _parsed(sample[:1], body + offset)[0] is not None:
            found = _parsed(cells, body + offset)
            if found.null_count() == 0:
                return _ticks(found, offset)
    return _of_strange_texts(column)


def _of_strange_texts(column: Column) -> Times:
    """Texts written in several ways; refused if their time zones differ."""
    pl = polars()
    cells = column.cells.str.strip_chars()
    offsets = _offsets(cells)
    plain = cells.str.replace(_OFFSET, "") if offsets.is_not_null().any() else cells
    bare = pl.select(pl.when(offsets.is_null()).then(cells).otherwise(plain)).to_series()
    found = pl.select(pl.coalesce(*[_parsed(bare, body) for body in _BODIES])).to_series()
    column.refuse(
        found.is_null(),
        "cannot be read as a time",
        "write them as 2026-01-31T12:00:00, or numbers; with pandas: table["
        f"{column.name!r}] = pandas.to_datetime(table[{column.name!r}], dayfirst=True), or without "
        "dayfirst where the month comes first",
    )
    kinds = offsets.fill_null("").unique(maintain_order=True)
    if len(kinds) > 1:
        shown = []
        for kind in kinds[:2]:
            place = int((offsets.fill_null("") == kind).arg_max())
            shown.append(f"{cells[place]!r} in row {column.rows[place]:,}")
        raise ValueError(
            f"{column.title} has mixed time zones, as {' and '.join(shown)}: write all in one"
        )
    return _ticks(found, kinds[0])


def _offsets(cells: Any) -> Any:
    """The offset at the end of each text; null where there is none."""
    pl = polars()
    found = cells.str.extract(_OFFSET)
    timed = cells.str.contains(_BODY)
    return pl.select(pl.when(timed).then(found)).to_series()


def _parsed(cells: Any, form: str) -> Any:
    return cells.str.to_datetime(form, strict=False, time_unit="us")


def _ticks(found: Any, offset: str) -> Times:
    said = f"time: texts with the time zone {offset.strip()}" if offset else ""
    return Times(found.dt.timestamp("us"), _DAY * 1e6, said)


def _of_numbers(column: Column, cells: Any) -> Times:
    pl = polars()
    if cells.dtype.is_float():
        column.refuse(~cells.is_finite().fill_null(False), "is not a finite number")
    values = cells
    if values.dtype.is_float() and bool((values == values.round()).all()):
        values = values.cast(pl.Int64, strict=False).fill_null(0) if _small(values) else values
    elif not values.dtype.is_float():
        values = values.cast(pl.Int64 if _small(values) else pl.Float64)
    least, most = float(values.min()), float(values.max())
    units = [_unit(least), _unit(most)]
    if units[0] is not None and units[0] == units[1]:
        name, scale = _UNITS[units[0]]
        return Times(values, _DAY * scale, f"time: numbers, taken for {name} since 1970")
    if None not in units:
        first = int((values == values.min()).arg_max()), int((values == values.max()).arg_max())
        shown = [f"{cells[place]} in row {column.rows[place]:,}" for place in first]
        raise ValueError(
            f"{column.title} has mixed units of time, as {' and '.join(shown)}: write all in one"
        )
    if least >= 19_000_101 and most <= 22_001_231 and not values.dtype.is_float():
        dates = values.cast(pl.String).str.to_datetime("%Y%m%d", strict=False, time_unit="us")
        if dates.null_count() == 0:
            said = "time: numbers such as 20260131, taken for dates"
            return Times(dates.dt.timestamp("us"), _DAY * 1e6, said)
    return Times(values, 1.0, "time: numbers, taken as they are, as days")


def _small(values: Any) -> bool:
    return max(float(values.max()), -float(values.min())) < 2.0**63


def _unit(value: float) -> int | None:
    """The place in `_UNITS` of the unit in which this number is a time since 1970."""
    for place, (_, scale) in enumerate(_UNITS):
        if _EPOCH[0] * scale <= value <= _EPOCH[1] * scale:
            return place
    return None
