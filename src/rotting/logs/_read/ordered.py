"""A table's rows in the order of key, arm and time, and numbered."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rotting.kernel.arrays import FloatArray, IntArray
from rotting.logs._extra import polars
from rotting.logs._log import SmallArray
from rotting.logs._read.times import Times


@dataclass(frozen=True)
class Labels:
    """The rows' keys or arms as places in a list of their names.

    Attributes:
        names: In ascending order, as texts for arms; None without such a column.
    """

    places: Any
    count: int
    names: Any = None

    def name(self, place: int) -> str:
        return "" if self.names is None else repr(self.names[place])


@dataclass(frozen=True)
class Ordered:
    """The columns of a log, in its order.

    Attributes:
        row: Each row's number in the table, from 1.
        ticks: Exact times, as read; None without a time.
        per_day: Ticks of a day.
    """

    row: npt.NDArray[Any]
    key: SmallArray
    arm: SmallArray
    reward: FloatArray
    exposure: SmallArray
    propensity: FloatArray | None
    ticks: npt.NDArray[Any] | None
    per_day: float
    keys: Labels
    arms: Labels

    def starts(self) -> IntArray:
        """The first row of each sequence (all rows of a key and arm), then the number of rows."""
        changed = (self.key[1:] != self.key[:-1]) | (self.arm[1:] != self.arm[:-1])
        return np.concatenate(([0], np.flatnonzero(changed) + 1, [self.key.size]))

    def show(self, place: int) -> str:
        """A row as a text, for a problem's examples."""
        parts = []
        if self.keys.names is not None:
            parts.append(f"key {self.keys.name(int(self.key[place]))}")
        if self.arms.names is not None:
            parts.append(f"arm {self.arms.name(int(self.arm[place]))}")
        if self.ticks is not None:
            parts.append(f"time {moment(self.ticks[place], self.per_day)}")
        reward = float(self.reward[place])
        parts.append("reward missing" if np.isnan(reward) else f"reward {reward:g}")
        return f"row {self.row[place]:,}: {', '.join(parts)}"


def moment(tick: Any, per_day: float) -> str:
    """A time as a text: a date, or a number where times are numbers."""
    if per_day != 86_400e6:
        return f"{tick:.15g}"
    first = datetime.datetime(1970, 1, 1)
    return (first + datetime.timedelta(microseconds=int(tick))).isoformat()


def keys_of(cells: Any) -> Labels:
    """Keys in ascending order: their numbers must not depend on the order of the table."""
    pl = polars()
    names = cells.unique().sort()
    places = pl.DataFrame({"name": names, "place": np.arange(len(names), dtype=np.int32)})
    found = (
        cells.alias("name").to_frame().join(places, on="name", how="left", maintain_order="left")
    )
    return Labels(found["place"], len(names), names)


def arms_of(cells: Any) -> Labels:
    """Arms in natural order: arm 2 before arm 10."""
    pl = polars()
    names = cells.unique()
    texts = names.cast(pl.String)
    order = sorted(range(len(names)), key=lambda place: _natural(texts[place]))
    rank = np.empty(len(names), dtype=np.int32)
    rank[order] = np.arange(len(names))
    places = cells.replace_strict(names, pl.Series(rank), return_dtype=pl.Int32)
    return Labels(places, len(names), [texts[place] for place in order])


def _natural(text: str) -> list[tuple[int, int, str]]:
    """A sort key by which digits inside a text are compared as numbers.

    >>> sorted(["ad 10", "ad 9", "-1", "x"], key=_natural)
    ['-1', 'ad 9', 'ad 10', 'x']
    """
    if re.fullmatch(r"-\d+", text):
        return [(0, int(text), "")]
    parts = re.split(r"(\d+)", text)
    found = [(1, int(part), "") if part.isdecimal() else (2, 0, part) for part in parts if part]
    return [*found, (0, 0, text)]


def ordered(
    columns: dict[str, Any], keys: Labels, arms: Labels, times: Times | None, sorted_already: bool
) -> Ordered:
    """The rows sorted by key, arm, time, given exposure, then their order in the table.

    Args:
        columns: reward, row, and exposure and propensity if there are any.
        sorted_already: Whether the table is in the order of time, which saves a sort key.
    """
    pl = polars()
    sequence = keys.places.cast(pl.Int64) * arms.count + arms.places.cast(pl.Int64)
    frame = pl.DataFrame({"sequence": sequence, **columns})
    by = ["sequence"]
    if times is not None:
        frame = frame.with_columns(times.ticks.alias("ticks"))
        by += [] if sorted_already and "exposure" not in columns else ["ticks"]
    if "exposure" in columns:
        by.append("exposure")
    frame = frame.sort(by, maintain_order=True)
    sequence = frame["sequence"]
    key = (sequence // arms.count).cast(pl.Int32).to_numpy(writable=True)
    arm = (sequence % arms.count).cast(pl.Int32).to_numpy(writable=True)
    given = frame["exposure"].to_numpy(writable=True) if "exposure" in columns else None
    propensity = frame["propensity"].to_numpy(writable=True) if "propensity" in columns else None
    return Ordered(
        row=frame["row"].to_numpy(),
        key=key,
        arm=arm,
        reward=frame["reward"].fill_null(float("nan")).to_numpy(writable=True),
        exposure=_numbered(sequence.to_numpy()) if given is None else given,
        propensity=propensity,
        ticks=None if times is None else frame["ticks"].to_numpy(),
        per_day=1.0 if times is None else times.per_day,
        keys=keys,
        arms=arms,
    )


def _numbered(sequence: npt.NDArray[Any]) -> SmallArray:
    """Each row's number within its sequence, from 1.

    >>> _numbered(np.array([0, 0, 0, 5, 5, 7])).tolist()
    [1, 2, 3, 1, 2, 1]
    """
    first = np.flatnonzero(np.concatenate(([True], sequence[1:] != sequence[:-1])))
    lengths = np.diff(np.append(first, sequence.size))
    place = np.arange(1, sequence.size + 1, dtype=np.int64)
    return (place - np.repeat(first, lengths)).astype(np.int32)
