"""Verification of a database: all events are replayed and compared bit for bit."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from rotting._serve import event_types
from rotting._serve.archive import all_events, begun
from rotting._serve.book import Book
from rotting._serve.event_types import Event, Kind
from rotting._serve.experiment import Diverged, Experiment
from rotting._serve.mark import linked, loss, read_mark
from rotting._serve.recovery import load_one
from rotting._serve.settings import code_version
from rotting._serve.snapshots import content_of, restored, unpacked
from rotting._serve.sqlite import why
from rotting._serve.store import Snapshot, Store

_MANY = 3000  # events above which compiling pays


class Verified(NamedTuple):
    """The result of a verification."""

    lines: list[str]  # checks and their outcome
    problems: list[str]
    digests: dict[str, str]  # of every experiment's state, by name


def verify(
    path: Path, *, compiled: bool = True, progress: Callable[[int, int], None] | None = None
) -> Verified:
    """Check a database and its archives; ValueError if it cannot be opened."""
    store: Store | None = None
    try:
        store = Store.open(path, create=False)
        store.database.freeze()  # a server may be writing
        return _verify(store, compiled, progress or (lambda done, total: None))
    except Exception as error:
        reason = why(error)
        if reason is None:
            raise
        raise ValueError(f"data must be an intact database, got {path}: {reason}") from None
    finally:
        if store is not None:
            store.close()


def _verify(store: Store, compiled: bool, progress: Callable[[int, int], None]) -> Verified:
    found = Verified([], [], {})
    until = store.last()
    compiled = compiled and until > _MANY
    health = [row[0] for row in store.database.read("PRAGMA integrity_check")]
    if health != ["ok"]:
        found.problems.append(f"SQLite says: {'; '.join(health[:3])}")
    seen = 0
    chained = _Chain(found)

    def counted() -> Iterator[Event]:
        """All events; checks their numbers and checksums."""
        nonlocal seen
        for event in all_events(store, until=until):
            seen += 1
            if event.seq != seen:
                found.problems.append(f"event {seen} is missing: {event.seq} comes next")
                seen = event.seq
            chained.add(event)
            if seen % 1000 == 0:
                progress(seen, until)
            yield event

    names = dict(store.experiments())
    found.problems.extend(_unacknowledged(store))
    found.lines.extend(f"archive {name} was begun and is empty: ignored" for name in begun(store))
    rebuilt: dict[int, Experiment] = {}
    broken: set[int] = set()
    snapshots = {
        (one.experiment, one.seq): one for number in names for one in store.snapshots(number)
    }
    book = Book(store)
    for event in counted():
        if event.experiment in broken:
            continue
        try:
            _step(rebuilt, event, snapshots, book, compiled, found)
        except (Diverged, ValueError, KeyError, IndexError) as error:
            found.problems.append(f"event {event.seq}: {error}")
            broken.add(event.experiment)
    found.lines.append(f"{seen} events, numbered without a gap")
    chained.end(store)
    for number, name in names.items():
        if number in broken or number not in rebuilt:
            if number not in rebuilt:
                found.problems.append(f"experiment {name} has no beginning")
            continue
        _compare(store, number, rebuilt[number], compiled, found)
    return found


class _Chain:
    """The check of running checksums; older events have none."""

    def __init__(self, found: Verified) -> None:
        self._found = found
        self._chain, self._begun, self._broken, self._count = 0, False, False, 0

    def add(self, event: Event) -> None:
        """Check the next event."""
        if event.chain is None:
            if self._begun and not self._broken:
                self._found.problems.append(f"event {event.seq} has no checksum")
                self._broken = True
            return
        if not self._broken and linked(self._chain, event) != event.chain:
            text = f"event {event.seq} does not fit its checksum, or that of the event before it"
            self._found.problems.append(text)
            self._broken = True
        self._chain, self._begun, self._count = event.chain, True, self._count + 1

    def end(self, store: Store) -> None:
        """Check the end of the log."""
        if self._begun and not self._broken and self._chain != store.chain:
            self._found.problems.append("the last event is not the one of the last checksum")
        self._found.lines.append(f"{self._count} of them fit their running checksum")


def _unacknowledged(store: Store) -> list[str]:
    """Problems with acknowledged events, by the mark beside the database."""
    try:
        mark = read_mark(store.path)
    except ValueError as error:
        return [str(error)]
    lost = None if mark is None else loss(store, mark)
    return [] if lost is None else [lost]


def _step(
    rebuilt: dict[int, Experiment],
    event: Event,
    snapshots: dict[tuple[int, int], Snapshot],
    book: Book,
    compiled: bool,
    found: Verified,
) -> None:
    """Apply one event of the rebuild; a snapshot taken there must be the same."""
    number = event.experiment
    if event.kind == Kind.CREATED:
        rebuilt[number] = one = Experiment(number, event, compiled=compiled)
        one.past = book.past_of(one)
        return
    one = rebuilt[number]
    present = code_version()
    one.as_written = one.version != present
    one.apply(event)
    snapshot = snapshots.get((number, event.seq))
    if event.kind == Kind.UPGRADED:
        body: event_types.Upgraded = event_types.decode(event)
        found.lines.append(
            f"{one.name}: events before {event.seq} were decided by {body.before}, and are taken "
            "as written"
        )
        if body.version != present:
            return
        if snapshot is None:
            raise ValueError(f"{one.name} has no snapshot for the version that begins here")
        content = unpacked(snapshot.body, snapshot.checksum)
        created = book.store.created(number)
        rebuilt[number] = again = restored(number, created, content, compiled=compiled)
        again.past = book.past_of(again)
    elif (
        snapshot is not None
        and one.version == present
        and unpacked(snapshot.body, snapshot.checksum) != content_of(one)
    ):
        found.problems.append(
            f"{one.name}: the snapshot at {event.seq} is not what the events before it give"
        )


def _compare(store: Store, number: int, one: Experiment, compiled: bool, found: Verified) -> None:
    """Compare a start from the last snapshot with the full rebuild."""
    if one.version != code_version():
        found.lines.append(f"{one.name}: decided by {one.version}; a start will upgrade it")
        return
    full = content_of(one)
    short, behind = load_one(store, number, compiled=compiled)
    if content_of(short) != full:
        found.problems.append(f"{one.name}: a start from its snapshot gives another state")
    latest = next(iter(store.snapshots(number)), None)
    if latest is not None and behind > store.count(number, latest.seq):
        found.problems.append(f"{one.name}: the snapshot at {latest.seq} cannot be used")
    persons = store.persons(number)
    if any(surrogate > one.counts.keys for surrogate in persons):
        found.problems.append(f"{one.name}: a key has a number that no event gave it")
    erased = {
        event_types.decode(event).key
        for event in all_events(store, number)
        if event.kind == Kind.ERASED
    }
    if erased & set(persons):
        found.problems.append(f"{one.name}: an erased key is still there")
    digest = hashlib.sha256(full).hexdigest()
    found.digests[one.name] = digest
    found.lines.append(
        f"{one.name}: {one.counts.decisions} decisions decided again as written; full rebuild and "
        f"snapshot with {behind} events after it agree ({digest[:12]})"
    )


def as_data(found: Verified) -> dict[str, Any]:
    """The result as JSON data."""
    return {"ok": not found.problems, **found._asdict()}
