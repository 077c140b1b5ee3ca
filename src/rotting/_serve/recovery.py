"""Loading of experiments from the log: the latest snapshot of each, and the events after it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

import msgspec

from rotting._serve import event_types
from rotting._serve.archive import all_events
from rotting._serve.book import Book
from rotting._serve.event_types import Kind
from rotting._serve.experiment import Diverged, Experiment
from rotting._serve.settings import code_version
from rotting._serve.snapshots import content_of, packed, restored, unpacked
from rotting._serve.store import Snapshot, Store
from rotting._serve.warmup import is_warm

_LOG = logging.getLogger("rotting.serve")
_FEW = 300  # events
_MOMENT = 2.0  # seconds between log lines on the progress of a start
_LARGE = 1 << 20  # bytes of a snapshot that is logged, since reading it takes a while


def load(store: Store, *, compiled: bool = True, clock: Callable[[], float] = time.time) -> Book:
    """Load all experiments; those decided by another version of the code are upgraded."""
    book = Book(store, clock)
    book.seq = book.committed = store.last()
    begin = time.monotonic()
    for number, name in store.experiments():
        experiment, behind = load_one(store, number, compiled=compiled)
        experiment.past = book.past_of(experiment)
        book.experiments[name] = experiment
        book.at = max(book.at, experiment.at)
        book.since_snapshot[number] = behind
        if experiment.as_written or experiment.version != code_version():
            upgrade(book, experiment)
    took = time.monotonic() - begin
    if took > _MOMENT:
        _LOG.info("%s is loaded, which took %.1f s", store.path.name, took)
    return book


def load_one(store: Store, number: int, *, compiled: bool) -> tuple[Experiment, int]:
    """An experiment, and the number of events after its snapshot.

    Arms are taken as written for events that another version of the code decided, and if this
    version decides differently.
    """
    for snapshot in (*store.snapshots(number), None):
        after = 0 if snapshot is None else snapshot.seq
        size = 0 if snapshot is None else len(snapshot.body)
        if size > _LARGE:
            name = dict(store.experiments())[number]
            _LOG.info("loading %s: a snapshot of %.1f MB", name, size / 1e6)
        for as_written in (False, True):
            try:
                found = _beginning(store, number, snapshot)
            except ValueError as error:
                _LOG.warning("snapshot %d is not used: %s", after, error)
                break
            # Loading compiled code takes longer than replaying a few events, and compiling longer
            # still: `warmup` does that later.
            wanted = msgspec.to_builtins(found.settings), found.policy, found.horizon
            if compiled and store.count(number, after) > _FEW and is_warm(*wanted):
                found.player.go_compiled()
            try:
                return found, _play(found, store, after, as_written)
            except Diverged as why:
                _LOG.warning("%s", why)
    raise ValueError(f"experiment {number} cannot be loaded")


def _beginning(store: Store, number: int, snapshot: Snapshot | None) -> Experiment:
    """An experiment as it was at a snapshot, or when it was created."""
    created = store.created(number)
    if snapshot is None:
        return Experiment(number, created)
    content = unpacked(snapshot.body, snapshot.checksum)
    return restored(number, created, content, compiled=False)


def _play(found: Experiment, store: Store, after: int, as_written: bool = False) -> int:
    """Apply the events after a sequence number; returns their number."""
    book = Book(store)
    found.past = book.past_of(found)
    count = 0
    present = code_version()
    total, say = 0, time.monotonic() + _MOMENT
    for event in all_events(store, found.number, after=after):
        if event.kind == Kind.CREATED:
            continue
        found.as_written = as_written or found.version != present
        found.apply(event)
        count += 1
        if count % 100 == 0 and time.monotonic() > say:
            total = total or store.count(found.number, after)
            _LOG.info("loading %s: %d of %d events", found.name, count, total)
            say = time.monotonic() + _MOMENT
    found.as_written = as_written or found.version != present
    return count


def upgrade(book: Book, experiment: Experiment) -> None:
    """Append the event that this version of the code plays from here on, with a snapshot."""
    body = event_types.Upgraded(code_version(), experiment.version)
    event = book.append(experiment.number, Kind.UPGRADED, None, book.now(), body)
    experiment.apply(event)
    experiment.as_written = False
    snap(book, experiment)


def snap(book: Book, experiment: Experiment) -> None:
    """Add a snapshot to the group that is committed next."""
    body, checksum = packed(content_of(experiment))
    book.group.snapshots.append(
        Snapshot(experiment.number, experiment.seq, experiment.version, checksum, body)
    )
    book.since_snapshot[experiment.number] = 0
