"""Is the database what it promises? Everything is played again, and compared bit for bit."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from rotting.serve import events
from rotting.serve.archive import all_events
from rotting.serve.book import Book
from rotting.serve.events import Event, Kind
from rotting.serve.experiment import Diverged, Experiment
from rotting.serve.loading import load_one
from rotting.serve.settings import code_version
from rotting.serve.snapshots import content_of, restored, unpacked
from rotting.serve.store import Snapshot, Store

_MANY = 3000  # events for which it is worth compiling


class Verified(NamedTuple):
    """What was found."""

    lines: list[str]  # what was checked, and what came out
    problems: list[str]
    digests: dict[str, str]  # of every experiment's state, by name


def verify(
    path: Path, *, compiled: bool = True, progress: Callable[[int, int], None] | None = None
) -> Verified:
    """Check a database, archives included: a ValueError if it cannot be opened at all."""
    store = Store(path, create=False)
    try:
        store.freeze()  # a server may be writing meanwhile
        return _verify(store, compiled, progress or (lambda done, total: None))
    finally:
        store.close()


def _verify(store: Store, compiled: bool, progress: Callable[[int, int], None]) -> Verified:
    found = Verified([], [], {})
    until = store.last()
    compiled = compiled and until > _MANY
    health = [row[0] for row in store._read("PRAGMA integrity_check")]
    if health != ["ok"]:
        found.problems.append(f"SQLite says: {'; '.join(health[:3])}")
    seen = 0

    def counted() -> Iterator[Event]:
        """Every event, with a look at its number."""
        nonlocal seen
        for event in all_events(store, until=until):
            seen += 1
            if event.seq != seen:
                found.problems.append(f"event {seen} is missing: {event.seq} comes next")
                seen = event.seq
            if seen % 1000 == 0:
                progress(seen, until)
            yield event

    names = dict(store.experiments())
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
    for number, name in names.items():
        if number in broken or number not in rebuilt:
            if number not in rebuilt:
                found.problems.append(f"experiment {name} has no beginning")
            continue
        _compare(store, number, rebuilt[number], compiled, found)
    return found


def _step(
    rebuilt: dict[int, Experiment],
    event: Event,
    snapshots: dict[tuple[int, int], Snapshot],
    book: Book,
    compiled: bool,
    found: Verified,
) -> None:
    """One event of the rebuild; snapshots that were taken there must be the same."""
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
        body: events.Upgraded = events.decode(event)
        found.lines.append(
            f"{one.name}: events before {event.seq} were decided by {body.before}, and are taken "
            "as they are written"
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
    """A start from the last snapshot must give what the full rebuild gives."""
    if one.version != code_version():
        found.lines.append(f"{one.name}: decided by {one.version}; a start will upgrade it")
        return
    full = content_of(one)
    short, behind = load_one(store, number, compiled=compiled)
    if content_of(short) != full:
        found.problems.append(f"{one.name}: a start from its snapshot gives another state")
    persons = store.persons(number)
    if any(surrogate > one.counts.keys for surrogate in persons):
        found.problems.append(f"{one.name}: a key has a number that no event gave it")
    erased = {
        events.decode(event).key for event in all_events(store, number) if event.kind == Kind.ERASED
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
    """For machines."""
    return {"ok": not found.problems, **found._asdict()}
