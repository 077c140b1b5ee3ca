"""Columns of pandas, NumPy and Python objects as polars columns; pyarrow is not needed."""

from __future__ import annotations

import datetime
import decimal
import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np

from rotting.logs._extra import polars

_KINDS = "biufM"  # of NumPy arrays that polars takes as they are


def from_pandas(frame: Any, wanted: list[str]) -> Any:
    """These columns of a pandas DataFrame, without pyarrow."""
    places = {str(name): place for place, name in enumerate(frame.columns)}
    found = {}
    for name in wanted:
        column = frame.iloc[:, places[name]]
        if getattr(column.dtype, "tz", None) is not None:
            column = column.dt.tz_convert("UTC").dt.tz_localize(None)
        kind = getattr(column.dtype, "kind", "O")
        plain = isinstance(column.dtype, np.dtype) and kind in _KINDS
        values = column.to_numpy() if plain else column.astype(object).to_numpy()
        found[name] = series(name, values)
    return polars().DataFrame(found)


def from_columns(columns: Mapping[Any, Any], wanted: list[str]) -> Any:
    """These columns of a mapping of lists, arrays or series."""
    by_name = {str(name): values for name, values in columns.items()}
    found = {name: series(name, by_name[name]) for name in wanted}
    lengths = {name: len(values) for name, values in found.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"columns must be of one length, got {lengths}")
    return polars().DataFrame(found)


def series(name: str, values: Any) -> Any:
    """A column of one type; a refusal shows two cells of different types."""
    pl = polars()
    if isinstance(values, pl.Series):
        return values.alias(name)
    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
        raise ValueError(f"column {name!r} must be a list of values, got {values!r:.80}")
    array = values if isinstance(values, np.ndarray) else None
    if array is not None and array.ndim != 1:
        raise ValueError(f"column {name!r} must have one dimension, got {array.ndim}")
    if array is not None and array.dtype.kind in _KINDS:
        if array.dtype.kind == "M":
            array = array.astype("datetime64[us]")
        return pl.Series(name, array)
    return _of_objects(name, [_plain(value) for value in values])


def _plain(value: Any) -> Any:
    """A cell as a Python object; None where it is missing."""
    if isinstance(value, np.generic):
        value = value.item()
    try:
        return None if value is None or value != value else value  # NaN, NaT
    except (TypeError, ValueError):  # pandas.NA has no truth
        return None


def _of_objects(name: str, values: list[Any]) -> Any:
    pl = polars()
    kind = _only_kind(name, values)
    if kind == "missing":
        return pl.Series(name, values, dtype=pl.Null)
    if set(map(type, values)) <= {bool, type(None)}:
        return pl.Series(name, values, dtype=pl.Boolean)
    if kind == "numbers":
        whole = all(value is None or isinstance(value, int) for value in values)
        if whole and all(value is None or abs(value) < 2**63 for value in values):
            return pl.Series(name, [None if v is None else int(v) for v in values], dtype=pl.Int64)
        values = [None if value is None else float(value) for value in values]
        return pl.Series(name, values, dtype=pl.Float64)
    if kind in ("times", "times with a time zone"):
        return pl.Series(name, [_in_utc(value) for value in values], dtype=pl.Datetime("us"))
    if kind == "dates":
        return pl.Series(name, values, dtype=pl.Date)
    texts = [value if value is None else str(value) for value in values]
    return pl.Series(name, texts, dtype=pl.String)


def _only_kind(name: str, values: list[Any]) -> str:
    """The kind of all cells that are not missing; where there are two, the rarer is refused."""
    if set(map(type, values)) == {str}:  # by far the most common case, and cheap to test
        return "texts"
    rows: dict[str, list[int]] = {}  # count, and place of the first
    for place, value in enumerate(values):
        if value is not None:
            rows.setdefault(_kind(value), [0, place])[0] += 1
    if len(rows) > 1:
        (often, (_, usual)), (rare, (count, first)) = sorted(rows.items(), key=_most)[:2]
        raise ValueError(
            f"column {name!r} has mixed types: {often} such as {values[usual]!r:.40}, but {rare} "
            f"in {count:,} of {len(values):,} rows, first in row {first + 1:,}: "
            f"{values[first]!r:.40}"
        )
    return next(iter(rows), "missing")


def _most(item: tuple[str, list[int]]) -> tuple[int, int]:
    return -item[1][0], item[1][1]


def _kind(value: Any) -> str:
    if isinstance(value, (numbers.Real, decimal.Decimal)):  # bool is a number too
        return "numbers"
    if isinstance(value, str):
        return "texts"
    if isinstance(value, datetime.datetime):
        return "times" if value.tzinfo is None else "times with a time zone"
    if isinstance(value, datetime.date):
        return "dates"
    return type(value).__name__


def _in_utc(value: Any) -> Any:
    if value is None:
        return None
    if hasattr(value, "to_pydatetime"):  # pandas.Timestamp: a datetime with nanoseconds
        value = value.to_pydatetime(warn=False)
    if value.tzinfo is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    return value
