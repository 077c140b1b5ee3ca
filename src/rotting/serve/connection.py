"""A connection to SQLite, as small as the store needs it, so that another one can take its place.

Tests put a connection there whose disk forgets what was not synced.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol


class Unusable(Exception):  # noqa: N818  a state of the disk, said in its words
    """The database cannot be used now; the text says why."""


class Connection(Protocol):
    """What the store asks of a database. Transactions are said in SQL."""

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """Run a statement; all its rows."""

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement for each row."""

    def close(self) -> None:
        """Let go."""


Connect = Callable[[Path], Connection]


class Sqlite:
    """The connection that Python brings."""

    def __init__(self, path: Path) -> None:
        # one thread at a time uses it, not always the same: the store sees to that
        self._inner = sqlite3.connect(
            path,
            timeout=0.0,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """Run a statement; all its rows."""
        return self._inner.execute(sql, parameters).fetchall()

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement for each row."""
        self._inner.executemany(sql, rows)

    def close(self) -> None:
        """Let go."""
        self._inner.close()


def connect(path: Path) -> Connection:
    """The usual connection; the file is made if it is not there."""
    return Sqlite(path)


def real(path: Path) -> Path:
    """The file that a symbolic link leads to: the write-ahead log lies beside that one."""
    return path.resolve() if path.is_symlink() else path


def touch_private(path: Path) -> None:
    """Make a file if it is not there, for what people's keys may be in: nobody else reads it."""
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


def why(error: Exception) -> str | None:
    """What a database's error says, or None if the exception is not one.

    Another driver's errors, as apsw's, are told by the module they come from.
    """
    if isinstance(error, (sqlite3.Error, OSError, Unusable)):
        return str(error) or type(error).__name__
    if type(error).__module__.split(".")[0] == "apsw":
        return f"{type(error).__name__}: {error}"
    return None
