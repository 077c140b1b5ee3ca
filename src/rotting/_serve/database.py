"""The contract between the store of events and a database.

`Store` (`_serve.store`) holds the SQL once, for every database. `Database` holds what differs
between databases: how a transaction becomes durable, and how files are kept small. The lease says
who may write. It is a context that refuses a second owner (ValueError) and is released when it
ends, or when its process ends in any way. `_serve.sqlite` with `_serve.lease` is the embedded
database. `tests/serve/test_databases.py` is the suite that each database passes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol


class Unusable(Exception):  # noqa: N818  a state of the database, described in its own words
    """The database cannot be used now; the text says why."""


class Connection(Protocol):
    """One connection to a database."""

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """Run a statement; returns all its rows."""

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement for each row."""

    def close(self) -> None:
        """Close the connection."""


class Database(Protocol):
    """A database with one writer and any number of readers.

    Only one thread at a time may use an object; `aside` gives another object for another thread.
    """

    path: Path  # the file; its mark, list of erased keys and archives lie beside it

    def read(self, sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """Rows of a query, as committed now, or at `freeze`."""

    def freeze(self) -> None:
        """From now on `read` sees the database as it is at this moment."""

    def transaction(self) -> AbstractContextManager[Connection]:
        """One transaction: all of it is stored, or nothing.

        It is durable when the context ends without an exception. Raises `Unusable` if this is no
        longer the database that was opened, or no longer this process's to write.
        """

    def pulse(self) -> None:
        """Store something durably, to check that writing works; raises if it does not."""

    def aside(self) -> Database:
        """The same database on connections of its own, for long reads in another thread."""

    def checkpoint(self) -> None:
        """Do the upkeep that can run in another thread, concurrently with commits."""

    def log_size(self) -> int:
        """Bytes that `restart_log` would free; 0 if it is not needed."""

    def restart_log(self) -> None:
        """Do the upkeep that blocks commits, unless a reader prevents it."""

    def truncate(self, wait: bool = True) -> bool:
        """Remove deleted rows from the files; False if a reader prevents it for now."""

    def close(self) -> None:
        """Close all connections."""
