"""The cells of a column as labels or numbers; a refusal names the first wrong cell."""

from __future__ import annotations

from typing import Any

from rotting.logs._extra import polars

MISSING = ("", "na", "n/a", "nan", "null", "none", "nil", "<na>", "-")  # in small letters
_GOOD = "yes y true t success successful click clicked converted win won hit pass positive bought"
_BAD = "no n false f failure fail failed ignored lost loss miss negative skipped not"
_NOT = ("not ", "no ", "non ", "not-", "no-", "non-", "not_", "no_", "un", "not", "no", "non")


class Column:
    """A column with its name, its role and the numbers of its rows in the table, from 1."""

    def __init__(self, frame: Any, role: str, name: str):
        self.cells = frame[role]
        self.rows = frame["row"]
        self.role = role
        self.name = name

    @property
    def title(self) -> str:
        return f"the {self.role} (column {self.name!r})"

    def refuse(self, wrong: Any, what: str, remedy: str = "") -> None:
        """Refuse the column if the mask marks rows; the message has their number and the first."""
        count = int(wrong.sum() or 0)
        if count:
            place = int(wrong.arg_max())
            cell = self.cells[place]
            shown = repr(cell) if isinstance(cell, str) else str(cell)
            raise ValueError(
                f"{self.title} {what} in {count:,} of {len(wrong):,} rows, first in row "
                f"{self.rows[place]:,}{'' if cell is None else ': ' + shown[:60]}"
                f"{'; ' + remedy if remedy else ''}"
            )


def labels(column: Column) -> Any:
    """Keys or arms, none of them missing; refused where they are neither texts nor numbers."""
    pl = polars()
    cells = column.cells
    kind = cells.dtype
    if kind.is_nested() or kind in (pl.Binary, pl.Object, pl.Duration, pl.Time):
        raise ValueError(f"{column.title} must be texts or numbers, got {kind}")
    if kind in (pl.Categorical, pl.Enum):
        cells = cells.cast(pl.String)
    return _as_whole(cells)


def unlabelled(cells: Any) -> Any:
    """A mask of the empty cells of a column of keys or arms."""
    pl = polars()
    wrong = cells.is_null()
    if cells.dtype in (pl.String, pl.Categorical, pl.Enum):
        wrong |= cells.cast(pl.String).fill_null("").str.strip_chars() == ""
    if cells.dtype.is_float():
        wrong |= cells.is_nan().fill_null(False)
    return wrong


def _as_whole(cells: Any) -> Any:
    """Texts of whole numbers as numbers, unless two texts would become one number (1 and 01)."""
    pl = polars()
    if cells.dtype == pl.String:
        found = cells.cast(pl.Int64, strict=False)
        padded = cells.str.contains(r"^([+]|-?0.)|^-0$") if found.null_count() == 0 else None
        return found if padded is not None and not padded.any() else cells
    if cells.dtype.is_float() and bool((cells.round() == cells).all()) and len(cells):
        largest = float(cells.abs().max())
        return cells.cast(pl.Int64) if largest < 2.0**53 else cells
    return cells


def numbers(column: Column) -> Any:
    """Cells as floats, null where missing; refused where one is not a number."""
    found, strange = _numbers(column)
    column.refuse(strange, "is not a number", _comma(column, strange))
    return found


def _comma(column: Column, strange: Any) -> str:
    """Advice on decimal commas, if every cell that is not a number has one."""
    if not strange.any():
        return ""
    cells = column.cells.filter(strange).str.strip_chars()
    if not cells.str.contains(r"^[+-]?\d+,\d+$").all():
        return ""
    return (
        "its decimal mark is a comma: write 1.5, not 1,5; with pandas: "
        "pandas.read_csv(file, sep=';', decimal=',')"
    )


def rewards(column: Column) -> tuple[Any, str]:
    """Rewards as floats, and a note where words were taken for numbers."""
    pl = polars()
    found, strange = _numbers(column)
    if not strange.any():
        truths = column.cells.dtype == pl.Boolean
        return found, "reward: true is 1, false is 0" if truths else ""
    words = column.cells.filter(strange).str.strip_chars().str.to_lowercase()
    distinct = sorted(words.unique().to_list()) if words.n_unique() <= 2 else []
    meant = _meaning(distinct)
    if not meant or found.drop_nulls().len():
        said = "is neither a number nor one of two words such as yes and no"
        column.refuse(strange, said, _comma(column, strange))
    values = list(meant.values())
    clean = column.cells.str.strip_chars().str.to_lowercase()
    read = clean.replace_strict(list(meant), values, default=None, return_dtype=pl.Float64)
    said = ", ".join(f"{word!r} is {value:g}" for word, value in meant.items())
    return read, f"reward: {said}"


def _numbers(column: Column) -> tuple[Any, Any]:
    """Cells as floats, and a mask of those that are neither numbers nor missing."""
    pl = polars()
    cells = column.cells
    kind = cells.dtype
    if kind in (pl.Categorical, pl.Enum):
        cells = column.cells = cells.cast(pl.String)
    elif not (kind.is_numeric() or kind in (pl.Boolean, pl.String, pl.Null)):
        raise ValueError(f"{column.title} must be numbers, got {kind}")
    found = cells.cast(pl.Float64, strict=False)
    if cells.dtype != pl.String:
        return found.fill_nan(None), pl.repeat(False, len(cells), eager=True)
    strange = found.is_null() & cells.is_not_null()
    if strange.any():
        clean = cells.str.strip_chars()
        found = clean.cast(pl.Float64, strict=False)
        missing = clean.str.to_lowercase().is_in(list(MISSING))
        strange = found.is_null() & cells.is_not_null() & ~missing.fill_null(True)
    return found.fill_nan(None), strange


def _meaning(words: list[str]) -> dict[str, float]:
    """The rewards that one or two words stand for: 1 or 0; {} if unclear.

    >>> _meaning(["no", "yes"]), _meaning(["bought", "not bought"]), _meaning(["blue", "red"])
    ({'no': 0.0, 'yes': 1.0}, {'bought': 1.0, 'not bought': 0.0}, {})
    """
    good, bad = set(_GOOD.split()), set(_BAD.split())
    if len(words) == 2:
        for one, other in (words, words[::-1]):
            if (one in bad and other in good) or one in {start + other for start in _NOT}:
                return {word: float(word == other) for word in words}
    if len(words) == 1 and (words[0] in good or words[0] in bad):
        return {words[0]: float(words[0] in good)}
    return {}
