"""Where events are kept: a SQLite file with a write-ahead log, synced at every commit.

One writer appends groups of events; sequence numbers are dense and in the order of commits, so
that whoever follows the log never misses one. `Store` names all that the service asks for: another
database may take its place if it keeps that promise.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rotting.serve import connection as at
from rotting.serve import schema
from rotting.serve.connection import Connect, Connection, Unusable
from rotting.serve.events import Event
from rotting.serve.mark import chained, linked

LONG_LOG = 64 << 20  # bytes of a write-ahead log that is begun anew
PAGE = 2000  # events that are read at a time
SILENT_PULLS = 2.0  # seconds that another one may hold the database before we say that we cannot
# Rows of one statement. Python's lock is let go once a statement and not once a row: whoever shares
# the process goes on meanwhile. Few sizes, so that statements are prepared once.
_ROWS = (128, 32, 8, 1)
_SLOTS = 400  # ids that one statement asks for
_EVENT = "SELECT seq, experiment, kind, id, at, body, chain FROM event"

# Few rows: `+seq` keeps the planner from an index that has them in order, and all others, too.
_ABOUT_ONE = f"{_EVENT} WHERE experiment = ? AND id = ? ORDER BY +seq"


class Snapshot(NamedTuple):
    """An experiment's state as it was stored."""

    experiment: int
    seq: int
    version: str
    checksum: str
    body: bytes


class Audit(NamedTuple):
    """Who changed what."""

    at: float
    by: str
    what: str
    experiment: str
    details: str


class Group:
    """What one commit writes."""

    __slots__ = ("audits", "erased", "events", "experiments", "marks", "persons", "snapshots")

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.experiments: list[tuple[int, str]] = []
        self.persons: list[tuple[int, str, int, int]] = []  # experiment, name, surrogate, mark
        self.erased: list[tuple[int, int]] = []  # experiment, surrogate
        self.marks: list[tuple[int]] = []  # of those that are erased
        self.audits: list[Audit] = []
        self.snapshots: list[Snapshot] = []

    def __bool__(self) -> bool:
        return bool(self.events or self.snapshots or self.audits)


class Store:
    """A database file, opened: one connection writes, another one reads."""

    def __init__(
        self,
        path: Path,
        connect: Connect = at.connect,
        *,
        synchronous: str = "FULL",
        create: bool = True,
        patience: float = SILENT_PULLS,
    ) -> None:
        self.path = path = at.real(path)
        if not create and not path.exists():
            raise Unusable(f"{path.name} is gone")
        if not path.exists():
            at.touch_private(path)
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
            self._writer.execute(f"PRAGMA busy_timeout = {int(1000 * patience)}")
            schema.migrate(self._writer)
            self._reader = self._prepared(connect(path))
            self._keeper = self._prepared(connect(path))
        except BaseException:
            self.close()
            raise
        self._identity = self._identities()
        ((seq, chain),) = self._writer.execute("SELECT seq, sum FROM chain")
        self.seq, self.chain = int(seq), int(chain)  # of the last event that is committed

    def aside(self) -> Store:
        """The same database on a connection of its own, for long reads in another thread."""
        return Store(self.path, self._connect, synchronous=self._synchronous, create=False)

    def _prepared(self, made: Connection) -> Connection:
        schema.version_of(made)  # before anything is changed
        made.execute("PRAGMA journal_mode = WAL")
        made.execute(f"PRAGMA synchronous = {self._synchronous}")
        made.execute("PRAGMA secure_delete = ON")  # what is erased is overwritten
        made.execute("PRAGMA cache_size = -32768")
        # The log is written into the file by `checkpoint`, beside the commits and not within one.
        # A server that has no time for it does it within, before the log gets too long.
        made.execute("PRAGMA wal_autocheckpoint = 50000")
        made.execute(f"PRAGMA journal_size_limit = {LONG_LOG}")
        return made

    def close(self) -> None:
        """Let the file go."""
        for made in (self._keeper, self._reader, self._writer):
            if made is not None:
                with contextlib.suppress(Exception):
                    made.close()

    # Writing.

    def append(self, group: Group) -> None:
        """Write a group, all of it or nothing, and wait until it is on the disk."""
        self._check_place()
        write = self._writer
        assert write is not None
        write.execute("BEGIN IMMEDIATE")
        try:
            chain = self._insert(write, group)
            write.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(Exception):  # there may be none any more
                write.execute("ROLLBACK")
            raise
        if group.events:
            self.seq, self.chain = group.events[-1].seq, chain

    def _insert(self, write: Connection, group: Group) -> int:
        """Write a group; returns the running checksum after it."""
        if group.experiments:
            insert(write, "experiment", group.experiments)
        rows = chained(self.chain, group.events)
        insert(write, "event", rows)
        chain = rows[-1][6] if rows else self.chain
        if rows:
            write.execute("UPDATE chain SET seq = ?, sum = ?", (rows[-1][0], chain))
        if group.erased:  # first: the name of one may be that of a new one
            write.executemany(
                "DELETE FROM person WHERE experiment = ? AND surrogate = ?", group.erased
            )
            write.executemany("INSERT OR IGNORE INTO erasure VALUES (?)", group.marks)
        insert(write, "person", group.persons)
        for audit in group.audits:
            note(write, audit)
        for snapshot in group.snapshots:
            write.execute("INSERT OR REPLACE INTO snapshot VALUES (?, ?, ?, ?, ?)", snapshot)
            write.execute(_FORGET_SNAPSHOTS, (snapshot.experiment,) * 2)
        return chain

    def writer(self) -> Connection:
        """The connection that writes, for those who do without the service; patient."""
        assert self._writer is not None
        self._writer.execute("PRAGMA busy_timeout = 5000")
        return self._writer

    def pulse(self) -> None:
        """Write something, synced, to see whether that works."""
        self._check_place()
        assert self._writer is not None
        self._writer.execute("UPDATE pulse SET beat = beat + 1")

    def checkpoint(self) -> None:
        """Write what was committed into the file; commits go on meanwhile."""
        assert self._keeper is not None
        self._keeper.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def log_size(self) -> int:
        """Bytes of the write-ahead log."""
        try:
            return self.path.with_name(self.path.name + "-wal").stat().st_size
        except OSError:
            return 0

    def restart_log(self) -> None:
        """Let the next commit begin the write-ahead log anew, if nobody reads it now.

        Commits wait meanwhile: `checkpoint` should have written nearly all of it before.
        """
        write = self._writer
        assert write is not None
        ((before,),) = write.execute("PRAGMA busy_timeout")
        try:
            write.execute("PRAGMA busy_timeout = 0")
            write.execute("PRAGMA wal_checkpoint(RESTART)")
        finally:
            write.execute(f"PRAGMA busy_timeout = {before}")

    def truncate(self, patient: bool = True) -> bool:
        """Write the whole write-ahead log into the file, so that what was erased is nowhere.

        Whether it worked: somebody who reads an older state keeps it from being emptied.
        """
        write = self._writer
        assert write is not None
        ((before,),) = write.execute("PRAGMA busy_timeout")
        try:
            if not patient:
                write.execute("PRAGMA busy_timeout = 0")
            return not write.execute("PRAGMA wal_checkpoint(TRUNCATE)")[0][0]
        finally:
            write.execute(f"PRAGMA busy_timeout = {before}")

    def _identities(self) -> tuple[tuple[int, int], ...]:
        """Which files these are: a file of the same name may be another one."""
        found = []
        for path in (self.path, self.path.with_name(self.path.name + "-wal")):
            try:
                about = os.stat(path)  # noqa: PTH116  half the time of Path.stat
            except OSError:
                raise Unusable(f"{path.name} is gone") from None
            found.append((about.st_dev, about.st_ino))
        return tuple(found)

    def _check_place(self) -> None:
        """A file that was moved away still takes writes, and nobody would find them again."""
        if self._identities() != self._identity:
            raise Unusable(f"{self.path.name} is another file than the one that was opened")

    # Reading. A reader sees what was committed.

    def read(self, sql: str, parameters: tuple[Any, ...] = ()) -> list[Any]:
        """Rows of a question, as they were at the last commit, or when it was frozen."""
        assert self._reader is not None
        return self._reader.execute(sql, parameters)

    def freeze(self) -> None:
        """From here on see the database as it is now, whoever writes meanwhile."""
        self.read("BEGIN")
        self.read("SELECT 1 FROM event LIMIT 1")  # the moment is that of the first reading

    def last(self) -> int:
        """The highest sequence number, archived ones included."""
        ((found,),) = self.read("SELECT max(seq) FROM event")
        ((moved,),) = self.read("SELECT max(last) FROM archive")
        return max(int(found or 0), int(moved or 0))

    def chain_at(self, seq: int) -> int | None:
        """The running checksum at an event; None if it is not known here."""
        if seq == self.seq:
            return self.chain
        rows = self.read("SELECT chain FROM event WHERE seq = ?", (seq,))
        return int(rows[0][0]) if rows and rows[0][0] is not None else None

    def broken_link(self, events: int = 5_000) -> int | None:
        """The first of the last events whose checksum is not that of the event; None if none."""
        rows = self.read(f"{_EVENT} ORDER BY seq DESC LIMIT {events + 1}")
        if rows and rows[0][0] == self.seq and rows[0][6] not in (None, self.chain):
            return self.seq
        before: tuple[Any, ...] | None = None
        for row in reversed(rows):
            known = before is not None and before[0] == row[0] - 1 and before[6] is not None
            if known and before is not None and row[6] != linked(before[6], Event(*row)):
                return int(row[0])
            before = row
        return None

    def experiments(self) -> list[tuple[int, str]]:
        """Numbers and names."""
        return [(n, name) for n, name in self.read("SELECT * FROM experiment ORDER BY number")]

    def events(
        self, after: int = 0, until: int | None = None, experiment: int | None = None
    ) -> Iterator[Event]:
        """Events in order, those of one experiment if it is named, page by page."""
        last = self.last() if until is None else until
        which = "" if experiment is None else " AND experiment = ?"
        more = () if experiment is None else (experiment,)
        while True:
            rows = self.read(
                f"{_EVENT} WHERE seq > ? AND seq <= ?{which} ORDER BY seq LIMIT {PAGE}",
                (after, last, *more),
            )
            for row in rows:
                yield Event(*row)
            if len(rows) < PAGE:
                return
            after = rows[-1][0]

    def count(self, experiment: int, after: int) -> int:
        """How many events of an experiment come after a sequence number."""
        sql = "SELECT count(*) FROM event WHERE seq > ? AND experiment = ?"
        return int(self.read(sql, (after, experiment))[0][0])

    def created(self, experiment: int) -> Event:
        """The event with which an experiment begins."""
        rows = self.read(f"{_EVENT} WHERE experiment = ? AND kind = 1 AND id = ''", (experiment,))
        return Event(*rows[0])

    def about(self, experiment: int, ids: Iterable[str]) -> dict[str, list[Event]]:
        """All events of these decisions (or of other ids)."""
        wanted = list(dict.fromkeys(ids))
        found: dict[str, list[Event]] = {}
        if len(wanted) == 1:
            rows = self.read(_ABOUT_ONE, (experiment, wanted[0]))
            return {wanted[0]: [Event(*row) for row in rows]} if rows else found
        for start in range(0, len(wanted), _SLOTS):
            some = wanted[start : start + _SLOTS]
            slots = ", ".join("?" * len(some))
            sql = f"{_EVENT} WHERE experiment = ? AND id IN ({slots}) ORDER BY +seq"
            for row in self.read(sql, (experiment, *some)):
                found.setdefault(row[3], []).append(Event(*row))
        return found

    def archived(self, experiment: int, id_: str) -> bool:
        """Whether the events of a decision were moved to an archive."""
        sql = "SELECT 1 FROM archived WHERE experiment = ? AND digest = ?"
        return bool(self.read(sql, (experiment, id_digest(id_))))

    def archives(self) -> list[tuple[str, int, int, int]]:
        """Files with events that were moved there: name, first, last, how many."""
        rows = self.read("SELECT file, first, last, events FROM archive ORDER BY number")
        return [tuple(row) for row in rows]

    def mark(self, experiment: int, surrogate: int) -> int | None:
        """The mark of a key's row."""
        sql = "SELECT mark FROM person WHERE experiment = ? AND surrogate = ?"
        rows = self.read(sql, (experiment, surrogate))
        return int(rows[0][0]) if rows else None

    def erasures(self) -> list[int]:
        """Marks of all keys that were erased."""
        return [mark for (mark,) in self.read("SELECT mark FROM erasure")]

    def marked(self) -> dict[int, tuple[int, int]]:
        """Experiment and surrogate of every key, by its mark."""
        rows = self.read("SELECT mark, experiment, surrogate FROM person")
        return {mark: (number, surrogate) for mark, number, surrogate in rows}

    def surrogates(self, experiment: int, names: Iterable[str]) -> dict[str, int]:
        """The numbers of keys, of those that are known."""
        wanted = list(dict.fromkeys(names))
        found: dict[str, int] = {}
        for start in range(0, len(wanted), _SLOTS):
            some = wanted[start : start + _SLOTS]
            slots = ", ".join("?" * len(some))
            sql = f"SELECT name, surrogate FROM person WHERE experiment = ? AND name IN ({slots})"
            found.update(self.read(sql, (experiment, *some)))
        return found

    def persons(self, experiment: int) -> dict[int, str]:
        """All keys by their numbers."""
        sql = "SELECT surrogate, name FROM person WHERE experiment = ?"
        return dict(self.read(sql, (experiment,)))

    def snapshots(self, experiment: int) -> list[Snapshot]:
        """The snapshots of an experiment, the latest first."""
        sql = "SELECT * FROM snapshot WHERE experiment = ? ORDER BY seq DESC"
        return [Snapshot(*row) for row in self.read(sql, (experiment,))]

    def audits(self, limit: int = 1000) -> list[Audit]:
        """Who changed what, the latest first."""
        sql = "SELECT at, by, what, experiment, details FROM audit ORDER BY number DESC LIMIT ?"
        return [Audit(*row) for row in self.read(sql, (limit,))]

    def tokens(self) -> list[tuple[str, str, str, str, str]]:
        """API keys that are valid: id, name, hash, roles, experiments."""
        sql = "SELECT id, name, hash, roles, experiments FROM token WHERE revoked IS NULL"
        return [tuple(row) for row in self.read(sql)]

    def ever_tokens(self) -> bool:
        """Whether there ever was an API key."""
        return bool(self.read("SELECT 1 FROM token LIMIT 1"))


# Two are kept, and those that go with another policy or version: the tail of each can be verified.
_FORGET_SNAPSHOTS = """
DELETE FROM snapshot WHERE experiment = ?1
AND seq NOT IN (SELECT seq FROM snapshot WHERE experiment = ?2 ORDER BY seq DESC LIMIT 2)
AND NOT EXISTS (SELECT 1 FROM event WHERE event.seq = snapshot.seq AND kind IN (11, 12))
"""


def id_digest(id_: str) -> bytes:
    """What is left of an id whose events are archived."""
    return hashlib.blake2b(id_.encode(), digest_size=16).digest()


def note(write: Connection, audit: Audit) -> None:
    """Write down who changed what."""
    sql = "INSERT INTO audit (at, by, what, experiment, details) VALUES (?, ?, ?, ?, ?)"
    write.execute(sql, audit)


def insert(write: Connection, table: str, rows: Sequence[Sequence[Any]]) -> None:
    """Insert rows, many with each statement."""
    done = 0
    for size in _ROWS:
        while len(rows) - done >= size:
            some = rows[done : done + size]
            width = len(some[0])
            slots = ", ".join([f"({', '.join('?' * width)})"] * size)
            values = [value for row in some for value in row]
            write.execute(f"INSERT INTO {table} VALUES {slots}", values)
            done += size
