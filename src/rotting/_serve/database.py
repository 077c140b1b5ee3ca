"""The contract between the store of events and a database: few methods, and what they promise.

`Store` (`serve.store`) writes its SQL once, for every database. What differs between databases is
behind `Database`: how a transaction becomes durable, and how files are kept small. Who may write is
the lease: a context that refuses a second owner (ValueError), and is free again when it ends or its
process ends, however that ends. `serve.sqlite` with `serve.lease` is the embedded database.
`tests/serve/test_databases.py` is the suite that each one passes.
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
    """A database that one owner writes and any number of readers read.

    One thread at a time uses an object; `aside` gives another one for another thread.
    """

    path: Path  # the file; its mark, list of erasures and archives lie beside it

    def read(self, sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """Rows of a query: of what is committed, or was at `freeze`."""

    def freeze(self) -> None:
        """From now on `read` sees the database as it is at this moment, whatever is committed."""

    def transaction(self) -> AbstractContextManager[Connection]:
        """One transaction: all of it is stored, or nothing.

        It is durable when the context ends without an exception. Raises `Unusable` if this is no
        longer the database that was opened, or no longer this process's to write.
        """

    def pulse(self) -> None:
        """Store something durably, to find out whether writing works; raises if it does not."""

    def aside(self) -> Database:
        """The same database on connections of its own, for long reads in another thread."""

    def checkpoint(self) -> None:
        """Do the upkeep that can run beside commits, in another thread."""

    def log_size(self) -> int:
        """Bytes that `restart_log` would free; 0 if there is nothing to do."""

    def restart_log(self) -> None:
        """Do the upkeep that commits have to wait for, if no reader prevents it."""

    def truncate(self, patient: bool = True) -> bool:
        """Remove what was deleted from the files; False if a reader prevents it for now."""

    def close(self) -> None:
        """Close all connections."""
