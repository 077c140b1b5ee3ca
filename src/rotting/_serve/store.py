"""The store of events, keys, snapshots, API keys and the audit trail.

One owner appends groups of events. Sequence numbers are dense and in the order of commits, so a
reader that continues after event n misses nothing. The SQL is here, once for all databases; what a
database must guarantee is in `_serve.database`.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rotting._serve.database import Connection, Database
from rotting._serve.event_types import Event, Kind
from rotting._serve.mark import chained, linked
from rotting._serve.sqlite import SqliteDatabase

PAGE = 2000  # events read at a time
# Rows of one statement. Python's lock is released once a statement and not once a row, so other
# threads go on. There are few sizes, so that statements are prepared once.
_ROWS = (128, 32, 8, 1)
_SLOTS = 400  # ids in one statement
_EVENT = "SELECT seq, experiment, kind, id, at, body, chain FROM event"

# `+seq` stops the planner from walking the whole table in order, for the few rows needed here.
_ABOUT_ONE = f"{_EVENT} WHERE experiment = ? AND id = ? ORDER BY +seq"


class Snapshot(NamedTuple):
    """An experiment's state as it is stored."""

    experiment: int
    seq: int
    version: str
    checksum: str
    body: bytes


class Audit(NamedTuple):
    """A line of the audit trail: who changed what."""

    at: float
    by: str
    what: str
    experiment: str
    details: str


class Group:
    """The rows that one commit writes."""

    __slots__ = ("audits", "erased", "events", "experiments", "marks", "persons", "snapshots")

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.experiments: list[tuple[int, str]] = []
        self.persons: list[tuple[int, str, int, int]] = []  # experiment, name, surrogate, mark
        self.erased: list[tuple[int, int]] = []  # experiment, surrogate
        self.marks: list[tuple[int]] = []  # of erased rows
        self.audits: list[Audit] = []
        self.snapshots: list[Snapshot] = []

    def __bool__(self) -> bool:
        return bool(self.events or self.snapshots or self.audits)


class Store:
    """Events, keys, snapshots and API keys in a database.

    Args:
        database: The database; `Store.open` makes the usual one.

    Attributes:
        seq: The number of the last committed event.
        chain: The running checksum there (`_serve.mark`).
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        ((seq, chain),) = database.read("SELECT seq, sum FROM chain")
        self.seq, self.chain = int(seq), int(chain)

    @classmethod
    def open(cls, path: Path, *args: Any, **options: Any) -> Store:
        """The store in a SQLite file; the options are those of `SqliteDatabase`."""
        return cls(SqliteDatabase(path, *args, **options))

    @property
    def path(self) -> Path:
        """The database file; its mark and archives lie beside it."""
        return self.database.path

    def aside(self) -> Store:
        """The same store on its own connections, for long reads in another thread."""
        return Store(self.database.aside())

    def close(self) -> None:
        self.database.close()

    # Writing.

    def append(self, group: Group) -> None:
        """Store a group durably, all of it or nothing.

        Raises:
            ValueError: The first event does not have the next number.
        """
        if group.events and group.events[0].seq != self.seq + 1:
            raise ValueError(
                f"events must begin at {self.seq + 1}, after the last one, "
                f"got {group.events[0].seq}"
            )
        with self.database.transaction() as write:
            chain = self._insert(write, group)
        if group.events:
            self.seq, self.chain = group.events[-1].seq, chain

    def _insert(self, write: Connection, group: Group) -> int:
        """Insert a group; returns the running checksum after it."""
        if group.experiments:
            _insert_rows(write, "experiment", group.experiments)
        rows = chained(self.chain, group.events)
        _insert_rows(write, "event", rows)
        chain = rows[-1][6] if rows else self.chain
        if rows:
            write.execute("UPDATE chain SET seq = ?, sum = ?", (rows[-1][0], chain))
        if group.erased:  # before the inserts: a new row may have the name of an erased one
            write.executemany(
                "DELETE FROM person WHERE experiment = ? AND surrogate = ?", group.erased
            )
            write.executemany("INSERT OR IGNORE INTO erasure VALUES (?)", group.marks)
        _insert_rows(write, "person", group.persons)
        for audit in group.audits:
            _note(write, audit)
        for snapshot in group.snapshots:
            write.execute("INSERT OR REPLACE INTO snapshot VALUES (?, ?, ?, ?, ?)", snapshot)
            write.execute(_DELETE_SNAPSHOTS, (snapshot.experiment,) * 2)
        return chain

    def add_token(self, row: tuple[str, str, str, str, str], audit: Audit) -> None:
        """Store an API key: id, name, hash, roles, experiments."""
        with self.database.transaction() as write:
            write.execute("INSERT INTO token VALUES (?, ?, ?, ?, ?, ?, NULL)", (*row, audit.at))
            _note(write, audit)

    def revoke_token(self, id_: str, audit: Audit) -> None:
        """Revoke an API key."""
        with self.database.transaction() as write:
            write.execute("UPDATE token SET revoked = ? WHERE id = ?", (audit.at, id_))
            _note(write, audit)

    def note(self, audit: Audit) -> None:
        """Add a line to the audit trail."""
        with self.database.transaction() as write:
            _note(write, audit)

    def begin_archive(self, name: str) -> None:
        """Announce an archive, in which ids may be found from now on."""
        sql = "INSERT INTO archive (file, first, last, events, at) VALUES (?, 0, 0, 0, ?)"
        with self.database.transaction() as write:
            write.execute(sql, (name, time.time()))

    def move_to_archive(self, experiment: int, events: Sequence[Event], name: str) -> None:
        """Delete events that are in an archive; digests of their ids stay."""
        digests = {(experiment, id_digest(event.id)) for event in events if event.id is not None}
        seqs = [event.seq for event in events]
        with self.database.transaction() as write:
            write.executemany("INSERT OR IGNORE INTO archived VALUES (?, ?)", sorted(digests))
            write.executemany("DELETE FROM event WHERE seq = ?", [(seq,) for seq in seqs])
            write.execute(
                "UPDATE archive SET events = events + ?, last = max(last, ?), "
                "first = CASE first WHEN 0 THEN ? ELSE min(first, ?) END WHERE file = ?",
                (len(events), max(seqs), min(seqs), min(seqs), name),
            )

    def rename_archive(self, name: str, new: str | None) -> None:
        """Record the new name of an archive; None removes the archive."""
        with self.database.transaction() as write:
            if new is None:
                write.execute("DELETE FROM archive WHERE file = ?", (name,))
            else:
                write.execute("UPDATE archive SET file = ? WHERE file = ?", (new, name))

    # Reading: the database as committed now, or as it was at `freeze`.

    def last(self) -> int:
        """The highest sequence number, archived ones included."""
        ((found,),) = self.database.read("SELECT max(seq) FROM event")
        ((moved,),) = self.database.read("SELECT max(last) FROM archive")
        return max(int(found or 0), int(moved or 0))

    def chain_at(self, seq: int) -> int | None:
        """The running checksum at an event; None if the event is archived or has none."""
        if seq == self.seq:
            return self.chain
        rows = self.database.read("SELECT chain FROM event WHERE seq = ?", (seq,))
        return int(rows[0][0]) if rows and rows[0][0] is not None else None

    def broken_link(self, events: int = 5_000) -> int | None:
        """The first of the last events whose checksum does not fit; None if all fit."""
        rows = self.database.read(f"{_EVENT} ORDER BY seq DESC LIMIT {events + 1}")
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
        """Numbers and names of all experiments."""
        rows = self.database.read("SELECT number, name FROM experiment ORDER BY number")
        return [(int(number), str(name)) for number, name in rows]

    def events(
        self, after: int = 0, until: int | None = None, experiment: int | None = None
    ) -> Iterator[Event]:
        """Events in order, of one experiment or of all, read page by page."""
        last = self.last() if until is None else until
        which = "" if experiment is None else " AND experiment = ?"
        more = () if experiment is None else (experiment,)
        while True:
            rows = self.database.read(
                f"{_EVENT} WHERE seq > ? AND seq <= ?{which} ORDER BY seq LIMIT {PAGE}",
                (after, last, *more),
            )
            for row in rows:
                yield Event(*row)
            if len(rows) < PAGE:
                return
            after = rows[-1][0]

    def count(self, experiment: int, after: int) -> int:
        """The number of an experiment's events after a sequence number."""
        sql = "SELECT count(*) FROM event WHERE seq > ? AND experiment = ?"
        return int(self.database.read(sql, (after, experiment))[0][0])

    def created(self, experiment: int) -> Event:
        """The event that created an experiment."""
        sql = f"{_EVENT} WHERE experiment = ? AND kind = 1 AND id = ''"
        rows = self.database.read(sql, (experiment,))
        return Event(*rows[0])

    def about(self, experiment: int, ids: Iterable[str]) -> dict[str, list[Event]]:
        """All events of these ids, of decisions or history."""
        wanted = list(dict.fromkeys(ids))
        found: dict[str, list[Event]] = {}
        if len(wanted) == 1:
            rows = self.database.read(_ABOUT_ONE, (experiment, wanted[0]))
            return {wanted[0]: [Event(*row) for row in rows]} if rows else found
        for start in range(0, len(wanted), _SLOTS):
            some = wanted[start : start + _SLOTS]
            slots = ", ".join("?" * len(some))
            sql = f"{_EVENT} WHERE experiment = ? AND id IN ({slots}) ORDER BY +seq"
            for row in self.database.read(sql, (experiment, *some)):
                found.setdefault(row[3], []).append(Event(*row))
        return found

    def decisions(
        self, experiment: int, after: int, until: int, before: float, limit: int
    ) -> list[tuple[int, str]]:
        """Sequence numbers and ids of decisions made before a time."""
        sql = (
            "SELECT seq, id FROM event WHERE experiment = ? AND kind = ? AND seq > ? AND seq <= ? "
            "AND at <= ? ORDER BY seq LIMIT ?"
        )
        rows = self.database.read(sql, (experiment, int(Kind.DECIDED), after, until, before, limit))
        return [(seq, id_) for seq, id_ in rows]

    def archived(self, experiment: int, id_: str) -> bool:
        """Whether the events of a decision were moved to an archive."""
        sql = "SELECT 1 FROM archived WHERE experiment = ? AND digest = ?"
        return bool(self.database.read(sql, (experiment, id_digest(id_))))

    def archives(self) -> list[tuple[str, int, int, int]]:
        """Archives: file name, first event, last event, number of events."""
        rows = self.database.read("SELECT file, first, last, events FROM archive ORDER BY number")
        return [tuple(row) for row in rows]

    def mark(self, experiment: int, surrogate: int) -> int | None:
        """The mark of a key's row."""
        sql = "SELECT mark FROM person WHERE experiment = ? AND surrogate = ?"
        rows = self.database.read(sql, (experiment, surrogate))
        return int(rows[0][0]) if rows else None

    def erasures(self) -> list[int]:
        """Marks of all keys that were erased."""
        return [mark for (mark,) in self.database.read("SELECT mark FROM erasure")]

    def marked(self) -> dict[int, tuple[int, int]]:
        """Experiment and surrogate of every key, by its mark."""
        rows = self.database.read("SELECT mark, experiment, surrogate FROM person")
        return {mark: (number, surrogate) for mark, number, surrogate in rows}

    def surrogates(self, experiment: int, names: Iterable[str]) -> dict[str, int]:
        """Surrogates of keys by name; new keys are left out."""
        wanted = list(dict.fromkeys(names))
        found: dict[str, int] = {}
        for start in range(0, len(wanted), _SLOTS):
            some = wanted[start : start + _SLOTS]
            slots = ", ".join("?" * len(some))
            sql = f"SELECT name, surrogate FROM person WHERE experiment = ? AND name IN ({slots})"
            found.update(self.database.read(sql, (experiment, *some)))
        return found

    def persons(self, experiment: int) -> dict[int, str]:
        """Names of all keys by surrogate."""
        sql = "SELECT surrogate, name FROM person WHERE experiment = ?"
        return dict(self.database.read(sql, (experiment,)))

    def snapshots(self, experiment: int) -> list[Snapshot]:
        """The snapshots of an experiment, the latest first."""
        sql = "SELECT * FROM snapshot WHERE experiment = ? ORDER BY seq DESC"
        return [Snapshot(*row) for row in self.database.read(sql, (experiment,))]

    def audits(self, limit: int = 1000) -> list[Audit]:
        """The audit trail, the latest first."""
        sql = "SELECT at, by, what, experiment, details FROM audit ORDER BY number DESC LIMIT ?"
        return [Audit(*row) for row in self.database.read(sql, (limit,))]

    def tokens(self) -> list[tuple[str, str, str, str, str]]:
        """Valid API keys: id, name, hash, roles, experiments."""
        sql = "SELECT id, name, hash, roles, experiments FROM token WHERE revoked IS NULL"
        return [tuple(row) for row in self.database.read(sql)]

    def all_tokens(self) -> list[tuple[Any, ...]]:
        """All API keys: id, name, roles, experiments, times of creation and revocation."""
        sql = "SELECT id, name, roles, experiments, created, revoked FROM token ORDER BY created"
        return [tuple(row) for row in self.database.read(sql)]

    def ever_tokens(self) -> bool:
        """Whether there ever was an API key."""
        return bool(self.database.read("SELECT 1 FROM token LIMIT 1"))


# Keeps the last two, and those at a change of policy or version, so that each tail can be verified.
_DELETE_SNAPSHOTS = """
DELETE FROM snapshot WHERE experiment = ?1
AND seq NOT IN (SELECT seq FROM snapshot WHERE experiment = ?2 ORDER BY seq DESC LIMIT 2)
AND NOT EXISTS (SELECT 1 FROM event WHERE event.seq = snapshot.seq AND kind IN (11, 12))
"""


def id_digest(id_: str) -> bytes:
    """The digest of an id, which stays when its events are archived."""
    return hashlib.blake2b(id_.encode(), digest_size=16).digest()


def _note(write: Connection, audit: Audit) -> None:
    sql = "INSERT INTO audit (at, by, what, experiment, details) VALUES (?, ?, ?, ?, ?)"
    write.execute(sql, audit)


def _insert_rows(write: Connection, table: str, rows: Sequence[Sequence[Any]]) -> None:
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
