"""A player's arms: a row an arm, as plain data, as a frame, or to look at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np

from rotting._printable import printable
from rotting._table import Column, Table

_SHOWN = 40  # rows of a longer table that are shown


class Row(NamedTuple):
    """An arm. None: not known, or the policy does not say."""

    arm: Any  # its label
    pulls: int  # decisions for it, and pulls of history
    observed: int  # rewards that have come
    mean: float | None  # of all those rewards
    estimate: float | None  # what the policy expects of the next one
    padding: float | None  # what it adds to that for not being sure
    index: float | None  # type: ignore[assignment]  # what it compares
    open: bool  # False: retired
    chosen: int  # the number of the decision in which it was chosen last, from 1; 0: never
    waiting: int  # decisions for it whose rewards are waited for


_COLUMNS = (
    Column("arm", "text"),
    Column("pulls", "number"),
    Column("observed", "number"),
    Column("mean", "figure"),
    Column("estimate", "figure"),
    Column("padding", "figure"),
    Column("index", "figure"),
    Column("state", "text", name="open"),
    Column("last chosen", "number", name="chosen"),
    Column("waiting", "number"),
)


class ArmTable:
    """The arms of a player at one moment. Rows come in the order of the arms, or by label.

    Attributes:
        title: The policy, how many arms, how many decisions.
        rows: A `Row` for each arm.

    >>> from rotting import policies
    >>> player = policies.UCB1().online(["red", "blue"], compiled=False)
    >>> player.update(player.select(), reward=1.0)
    >>> table = player.table()
    >>> table["red"].mean, [row.pulls for row in table]
    (1.0, [1, 0])
    """

    __slots__ = ("_places", "rows", "title")

    def __init__(self, title: str, rows: Sequence[Row]) -> None:
        self.title, self.rows = title, tuple(rows)
        self._places = {row.arm: place for place, row in enumerate(self.rows)}

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __getitem__(self, label: Any) -> Row:
        """The row of an arm, by its label; `rows` has them by place."""
        return self.rows[self._places[label]]

    def to_frame(self, library: str = "pandas") -> Any:
        """A data frame of pandas or of polars ("polars"), a row an arm."""
        return Table(_COLUMNS, self.rows).to_frame(library)

    def __str__(self) -> str:
        more = [printable(self._more())] if self._more() else []
        return "\n".join([self._shown().text(), *more])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """For notebooks: their own colours, light or dark."""
        parts = [f"<p>{escape(printable(self.title))}</p>", self._shown().html()]
        parts += [f"<p>{escape(self._more())}</p>"] if self._more() else []
        return "\n".join(parts)

    def _shown(self) -> Table:
        """All rows, or of a long table those of the arms that were pulled most."""
        rows: Sequence[Row] = self.rows
        if len(rows) > _SHOWN:
            most = sorted(range(len(rows)), key=lambda place: -rows[place].pulls)
            rows = [self.rows[place] for place in sorted(most[:_SHOWN])]
        cells = [
            [name_of(arm), *numbers, "open" if still else "retired", chosen or "never", waiting]
            for arm, *numbers, still, chosen, waiting in rows
        ]
        faded = {place: "faded" for place, row in enumerate(rows) if not row.open}
        return Table(_COLUMNS, cells, title=self.title, styles=faded)

    def _more(self) -> str:
        if len(self.rows) <= _SHOWN:
            return ""
        return f"{_SHOWN} of {len(self.rows):,} arms, those pulled most; to_frame() has them all."


def name_of(label: Any) -> str:
    """A label to be read: words as they are, anything else as Python writes it."""
    return printable(str(label)) if isinstance(label, str) else quoted(label)


def quoted(label: Any) -> str:
    """A label in a sentence: words in quotes, NumPy's scalars as Python's."""
    return printable(repr(label.item() if isinstance(label, np.generic) else label))
