"""SQLite as the service's database: one file with a write-ahead log, synced at every commit.

The interface of a connection is small, so that tests can replace it by one whose disk loses
unsynced writes.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rotting._serve import schema
from rotting._serve.database import Connection, Unusable

LONG_LOG = 64 << 20  # bytes; a longer write-ahead log is restarted
LOCK_TIMEOUT = 2.0  # seconds that another process may hold the database before a write fails

Connect = Callable[[Path], Connection]


class Sqlite:
    """A connection of Python's own `sqlite3`."""

    def __init__(self, path: Path) -> None:
        # used by one thread at a time, but not always the same one
        self._inner = sqlite3.connect(
            path,
            timeout=0.0,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """Run a statement; returns all its rows."""
        return self._inner.execute(sql, parameters).fetchall()

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement for each row."""
        self._inner.executemany(sql, rows)

    def close(self) -> None:
        """Close the connection."""
        self._inner.close()


def connect(path: Path) -> Connection:
    """The usual connection; creates the file if it is missing."""
    return Sqlite(path)


class SqliteDatabase:
    """A database file with one connection for writing, one for reading and one for upkeep."""

    def __init__(
        self,
        path: Path,
        connect: Connect = connect,
        *,
        synchronous: str = "FULL",
        create: bool = True,
        lock_timeout: float = LOCK_TIMEOUT,
    ) -> None:
        self.path = path = real(path)
        if not create and not path.exists():
            raise Unusable(f"{path.name} is gone")
        if not path.exists():
            touch_private(path)
        names = path.stat().st_nlink
        if names > 1:
            raise Unusable(
                f"{path.name} has {names} names (hard links), and by another one a second server "
                "would write beside this one: keep one name, and copy instead"
            )
        self._connect, self._synchronous = connect, synchronous
        self._writer = self._reader = self._keeper = None
        try:
            self._writer = self._prepared(connect(path))
            self._writer.execute(f"PRAGMA busy_timeout = {int(1000 * lock_timeout)}")
            schema.migrate(self._writer)
            self._reader = self._prepared(connect(path))
            self._keeper = self._prepared(connect(path))
        except BaseException:
            self.close()
            raise
        self._identity = self._identities()

    def _prepared(self, made: Connection) -> Connection:
        schema.version_of(made)  # before anything is changed
        made.execute("PRAGMA journal_mode = WAL")
        made.execute(f"PRAGMA synchronous = {self._synchronous}")
        made.execute("PRAGMA secure_delete = ON")  # deleted rows are overwritten
        made.execute("PRAGMA cache_size = -32768")
        # `checkpoint` writes the log into the file concurrently with commits. On a server that has
        # no time for it, a commit does so, before the log gets too long.
        made.execute("PRAGMA wal_autocheckpoint = 50000")
        made.execute(f"PRAGMA journal_size_limit = {LONG_LOG}")
        return made

    def read(self, sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """Rows of a query, as of the last commit or as of `freeze`."""
        assert self._reader is not None
        return self._reader.execute(sql, parameters)

    def freeze(self) -> None:
        """From now on `read` sees the database as it is at this moment."""
        self.read("BEGIN")
        self.read("SELECT 1 FROM event LIMIT 1")  # the first query begins the transaction

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Connection]:
        """One transaction, synced at its end; `Unusable` if the file was moved away."""
        self._check_place()
        assert self._writer is not None
        self._writer.execute("BEGIN IMMEDIATE")
        try:
            yield self._writer
            self._writer.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(Exception):  # there may be no transaction
                self._writer.execute("ROLLBACK")
            raise

    def pulse(self) -> None:
        """Store something, synced, to check that writing works."""
        self._check_place()
        assert self._writer is not None
        self._writer.execute("UPDATE pulse SET beat = beat + 1")

    def aside(self) -> SqliteDatabase:
        """The same file on its own connections."""
        return SqliteDatabase(self.path, self._connect, synchronous=self._synchronous, create=False)

    def checkpoint(self) -> None:
        """Write committed pages from the log into the file, concurrently with commits."""
        assert self._keeper is not None
        self._keeper.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def log_size(self) -> int:
        """Bytes of the write-ahead log if it is too long; else 0."""
        try:
            size = self.path.with_name(self.path.name + "-wal").stat().st_size
        except OSError:
            return 0
        return size if size > LONG_LOG else 0

    def restart_log(self) -> None:
        """Let the next commit restart the write-ahead log, unless a reader needs the old one.

        This blocks commits: `checkpoint` should have written nearly all of the log before.
        """
        self._upkeep("wal_checkpoint(RESTART)", wait=False)

    def truncate(self, wait: bool = True) -> bool:
        """Write the whole write-ahead log into the file and empty it; False if not possible."""
        return not self._upkeep("wal_checkpoint(TRUNCATE)", wait)[0][0]

    def _upkeep(self, what: str, wait: bool) -> list[Any]:
        """Run a pragma on the writer, waiting for other connections or not."""
        write = self._writer
        assert write is not None
        ((before,),) = write.execute("PRAGMA busy_timeout")
        try:
            if not wait:
                write.execute("PRAGMA busy_timeout = 0")
            return write.execute(f"PRAGMA {what}")
        finally:
            write.execute(f"PRAGMA busy_timeout = {before}")

    def close(self) -> None:
        """Close all connections."""
        for made in (self._keeper, self._reader, self._writer):
            if made is not None:
                with contextlib.suppress(Exception):
                    made.close()

    def _identities(self) -> tuple[tuple[int, int], ...]:
        """Device and inode of the files: another file may have the same name."""
        found = []
        for path in (self.path, self.path.with_name(self.path.name + "-wal")):
            try:
                about = os.stat(path)  # noqa: PTH116  half the time of Path.stat
            except OSError:
                raise Unusable(f"{path.name} is gone") from None
            found.append((about.st_dev, about.st_ino))
        return tuple(found)

    def _check_place(self) -> None:
        """Refuse to write to a file that was moved away: the writes would be lost."""
        if self._identities() != self._identity:
            raise Unusable(f"{self.path.name} is another file than the one that was opened")


def real(path: Path) -> Path:
    """The target of a symbolic link: the write-ahead log lies beside that file."""
    return path.resolve() if path.is_symlink() else path


def touch_private(path: Path) -> None:
    """Create a file for personal data if it is missing, readable only by its owner."""
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


def why(error: Exception) -> str | None:
    """The message of a database's error; None for other exceptions.

    Errors of another driver, apsw, are recognised by their module.
    """
    if isinstance(error, (sqlite3.Error, OSError, Unusable)):
        return str(error) or type(error).__name__
    if type(error).__module__.split(".")[0] == "apsw":
        return f"{type(error).__name__}: {error}"
    return None
