"""Which column of a log holds what: the options that `rotting.logs` and the commands share.

At the root, so that the command line has its options without an import of all of `rotting.logs`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from inspect import Parameter
from typing import Any, TypedDict, TypeVar

from rotting import _checks

ColumnName = str | bool | None  # None: recognised by a common name; False or "none": no column
ROWS = ("all", "last")
_UNITS = {"w": 7.0, "d": 1.0, "h": 1.0 / 24.0, "m": 1.0 / 1440.0, "s": 1.0 / 86_400.0}  # in days

F = TypeVar("F", bound=Callable[..., Any])
Class = TypeVar("Class", bound=type)


def _said(about: str, **more: Any) -> dict[str, Any]:
    """What is said of a field: its description, and what else the command line says of it.

    `usual` is the default in words, `choices` the allowed words, and `flag` the description of the
    flag --no-NAME of a field that is True or False.
    """
    return {"about": about, **more}


def _described(cls: Class) -> Class:
    """List the fields with their descriptions in the class's docstring, below "Attributes:"."""
    lines = [f"    {each.name}: {each.metadata['about']}" for each in fields(cls)]
    about = inspect.cleandoc(cls.__doc__ or "")
    cls.__doc__ = about.replace("Attributes:", "\n".join(["Attributes:", *lines]))
    return cls


@_described
@dataclass(frozen=True, kw_only=True)
class Columns:
    """Which column of a table holds what, and which rows the table has.

    `read` and `diagnose` take it whole, or its fields as keyword arguments; a keyword argument
    overrides the field. In the first six fields None stands for the column with a common name
    ("user_id" for the key, "clicked" for the reward), and False or "none" for no column.

    Attributes:

    Raises:
        ValueError: `rows`, `window` or `history_complete` has a value that is not allowed.

    >>> columns = Columns(key="user", reward="clicked", window="12h")
    >>> columns.days
    0.5
    """

    key: ColumnName = field(
        default=None,
        metadata=_said("Column of the key, such as the user, or none.", usual="by its name"),
    )
    arm: ColumnName = field(
        default=None,
        metadata=_said("Column of the arm that was shown, or none.", usual="by its name"),
    )
    time: ColumnName = field(
        default=None,
        metadata=_said("Column of the time of the showing, or none.", usual="by its name"),
    )
    reward: ColumnName = field(
        default=None, metadata=_said("Column of the reward.", usual="by its name")
    )
    exposure: ColumnName = field(
        default=None,
        metadata=_said(
            "Column of the exposure, the showing's number: 1 for the first of an arm to a key.",
            usual="counted",
        ),
    )
    propensity: ColumnName = field(
        default=None,
        metadata=_said(
            "Column of the probability with which the arm was chosen, or none.",
            usual="by its name",
        ),
    )
    rows: str = field(
        default="all",
        metadata=_said(
            "all, or last if the table has only the last row of each key and arm, with its "
            "exposure.",
            choices=ROWS,
        ),
    )
    window: str | float | None = field(
        default=None,
        metadata=_said(
            "How long after a showing its reward may come, as 7d or 12h. A younger row without a "
            "reward is unknown, not zero."
        ),
    )
    history_complete: bool = field(
        default=True,
        metadata=_said(
            "Whether the first showing of every key is in the log.",
            flag="Some keys were shown arms before the log began.",
        ),
    )

    def __post_init__(self) -> None:
        _checks.choice("rows", self.rows, ROWS)
        _checks.flag("history_complete", self.history_complete)
        window_in_days(self.window)

    @property
    def days(self) -> float:
        """The attribution window in days; 0 without one."""
        return window_in_days(self.window)


class ColumnOptions(TypedDict, total=False):
    """The fields of `Columns` as keyword arguments, for type checkers and editors."""

    key: ColumnName
    arm: ColumnName
    time: ColumnName
    reward: ColumnName
    exposure: ColumnName
    propensity: ColumnName
    rows: str
    window: str | float | None
    history_complete: bool


def columns_of(columns: Columns | None, named: Mapping[str, Any]) -> Columns:
    """The columns of a call that takes them whole, as keyword arguments, or both.

    >>> columns_of(Columns(key="user", arm="ad"), {"arm": "banner"}).arm
    'banner'
    """
    if columns is None:
        return Columns(**named)
    if not isinstance(columns, Columns):
        raise ValueError(f"columns must be a rotting.logs.Columns, got {columns!r}")
    return replace(columns, **named)


def listing(function: F, options: Sequence[Parameter], eval_str: bool = False) -> F:
    """Show keyword arguments in a function's signature in place of its `**named`.

    `help()` and the command line go by the signature. The options come before the function's own.
    """
    signature = inspect.signature(function, eval_str=eval_str)
    own = [p for p in signature.parameters.values() if p.kind is not Parameter.VAR_KEYWORD]
    place = sum(parameter.kind is not Parameter.KEYWORD_ONLY for parameter in own)
    shown = signature.replace(parameters=[*own[:place], *options, *own[place:]])
    function.__signature__ = shown  # type: ignore[attr-defined]
    return function


def takes_columns(function: F) -> F:
    """List the fields of `Columns` in the signature of a function with `**named`."""
    return listing(
        function,
        [
            Parameter(each.name, Parameter.KEYWORD_ONLY, default=each.default, annotation=each.type)
            for each in fields(Columns)
        ],
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
