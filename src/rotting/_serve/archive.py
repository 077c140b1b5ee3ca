"""Archives: files to which old events are moved, so that the database stays small.

Only closed decisions are archived; decisions that wait stay in the database. The database keeps a
digest of the id of every archived decision, so that it is never decided again. An archive lies
beside the database; verification and changes of policy read both.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterator
from pathlib import Path

from rotting._serve.database import Connection
from rotting._serve.event_types import Event, Kind
from rotting._serve.schema import CHAIN, EVENT
from rotting._serve.sqlite import connect, touch_private
from rotting._serve.store import Audit, Store

_PAGE = 1000  # events that are moved in one transaction
_LOCK_TIMEOUT = 5.0  # seconds to wait for a server that holds the database
_CLOSING = (Kind.REWARDED, Kind.TIMED_OUT, Kind.EXPIRED)
_OF_DECISIONS = (*_CLOSING, Kind.DECIDED, Kind.SHOWN, Kind.LATE, Kind.CORRECTED)


def all_events(
    store: Store, experiment: int | None = None, until: int | None = None, after: int = 0
) -> Iterator[Event]:
    """Events in order, archived ones included; ValueError if an archive is missing."""
    sources = [store.events(after=after, until=until, experiment=experiment)]
    for path in archive_files(store, after):
        sources.append(_archived(path, experiment, until, after))
    last = 0
    for event in heapq.merge(*sources):  # sequence numbers come first
        if event.seq > last:  # after an interrupted move an event is in both files
            yield event
        last = event.seq


def archive_files(store: Store, after: int = 0) -> list[Path]:
    """Paths of the archives with events after `after`; ValueError if one is missing.

    An archive that was begun and interrupted has no events, and perhaps no file. It is left out.
    """
    found = []
    for name, _, end, events in store.archives():
        path = store.path.with_name(name)
        if (events and end <= after) or (events == 0 and not _has_events(path)):
            continue
        if not path.is_file():
            raise ValueError(f"archive {name} must lie beside {store.path.name}, but is not there")
        found.append(path)
    return found


def begun(store: Store) -> list[str]:
    """Names of archives without events: interrupted, or just begun."""
    return [
        name
        for name, _, _, events in store.archives()
        if events == 0 and not _has_events(store.path.with_name(name))
    ]


def _has_events(path: Path) -> bool:
    """Whether an archive's file has events; a move writes there first."""
    if not path.is_file() or path.stat().st_size == 0:
        return False
    made = connect(path)
    try:
        there = made.execute("SELECT 1 FROM sqlite_master WHERE name = 'event'")
        return bool(there and made.execute("SELECT 1 FROM event LIMIT 1"))
    finally:
        made.close()


def _archived(path: Path, experiment: int | None, until: int | None, after: int) -> Iterator[Event]:
    made = connect(path)
    columns = "*" if _is_chained(made) else "*, NULL"  # an old archive has no checksums
    try:
        while True:
            rows = made.execute(
                f"SELECT {columns} FROM event WHERE seq > ? AND seq <= ? "
                "AND (? IS NULL OR experiment = ?) ORDER BY seq LIMIT ?",
                (after, 2**62 if until is None else until, experiment, experiment, _PAGE),
            )
            for row in rows:
                yield Event(*row)
            if len(rows) < _PAGE:
                return
            after = rows[-1][0]
    finally:
        made.close()


def archive(
    path: Path, target: Path, *, older: float, wait: float = 2.5, now: float | None = None
) -> int:
    """Move closed decisions older than `older` seconds to a file; returns the number of events.

    A server may be running. The archive is therefore announced in the database first, and `wait`
    seconds pass in which the server notices that ids may be in an archive from now on.
    """
    if target.absolute().parent != path.absolute().parent:
        raise ValueError(f"an archive must lie beside {path}, got {target}")
    if not path.exists():
        raise ValueError(f"data must be a database, but {path} is not there")
    store = Store.open(path, create=False, lock_timeout=_LOCK_TIMEOUT)
    try:
        moved = 0
        until = (time.time() if now is None else now) - older
        if target.name not in {name for name, *_ in store.archives()}:
            if target.exists():
                raise ValueError(f"an archive must be new or one of this database, got {target}")
            store.begin_archive(target.name)
            time.sleep(wait)
        moved_to = _open_archive(target)
        try:
            for number, _ in store.experiments():
                moved += _move(store, moved_to, number, until, target.name)
        finally:
            moved_to.close()
        audit = Audit(time.time(), "command line", "archived", "", f"{moved} events: {target.name}")
        store.note(audit)
        return moved
    finally:
        store.close()


def _open_archive(target: Path) -> Connection:
    touch_private(target)
    made = connect(target)
    made.execute("PRAGMA journal_mode = DELETE")  # leaves no file beside it
    made.execute("PRAGMA synchronous = FULL")
    if not made.execute("SELECT 1 FROM sqlite_master WHERE name = 'event'"):
        made.execute(EVENT)
    if not _is_chained(made):
        made.execute(CHAIN)
    return made


def _is_chained(made: Connection) -> bool:
    return any(row[1] == "chain" for row in made.execute("PRAGMA table_info(event)"))


def _move(store: Store, moved_to: Connection, number: int, until: float, name: str) -> int:
    """Move one experiment's closed decisions, if its snapshot covers all of their events."""
    snapshots = store.snapshots(number)
    if not snapshots:
        return 0
    covered = min(one.seq for one in snapshots[:2])
    after, moved = 0, 0
    while True:
        rows = store.decisions(number, after, covered, until, _PAGE)
        if not rows:
            return moved
        after = rows[-1][0]
        found = store.about(number, (id_ for _, id_ in rows))
        chosen = [
            event
            for group in found.values()
            if group[-1].seq <= covered
            and group[-1].at <= until
            and any(event.kind in _CLOSING for event in group)
            for event in group
            if event.kind in _OF_DECISIONS
        ]
        if chosen:
            # insert before delete: after an interruption some events are in both files
            moved_to.execute("BEGIN IMMEDIATE")
            moved_to.executemany("INSERT OR IGNORE INTO event VALUES (?, ?, ?, ?, ?, ?, ?)", chosen)
            moved_to.execute("COMMIT")
            store.move_to_archive(number, chosen, name)
            moved += len(chosen)
