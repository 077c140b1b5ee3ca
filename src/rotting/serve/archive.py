"""Old events moved to a file of their own: the database stays small, and nothing is lost.

What is archived is closed: decisions that wait stay where they are. Of an archived decision the
database keeps a digest of its id, so that it is never decided again. An archive lies beside the
database, and whoever verifies or changes a policy reads both.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from pathlib import Path

from rotting.serve.connection import connect
from rotting.serve.events import Event, Kind
from rotting.serve.store import Store

_PAGE = 1000  # events that are moved in one transaction
_CLOSING = (Kind.REWARDED, Kind.TIMED_OUT, Kind.EXPIRED)
_OF_DECISIONS = (Kind.DECIDED, Kind.SHOWN, Kind.REWARDED, Kind.TIMED_OUT, Kind.EXPIRED, Kind.LATE)


def all_events(
    store: Store, experiment: int | None = None, until: int | None = None
) -> Iterator[Event]:
    """Events in order, archived ones included; ValueError if an archive is missing."""
    sources = [store.events(until=until, experiment=experiment)]
    for name, *_ in store.archives():
        path = store.path.with_name(name)
        if not path.is_file():
            raise ValueError(f"archive {name} must lie beside {store.path.name}, but is not there")
        sources.append(_archived(path, experiment, until))
    last = 0
    for event in heapq.merge(*sources):  # sequence numbers come first
        if event.seq > last:  # an event is in both if moving it was interrupted
            yield event
        last = event.seq


def _archived(path: Path, experiment: int | None, until: int | None) -> Iterator[Event]:
    made = connect(path)
    after = 0
    try:
        while True:
            rows = made.execute(
                "SELECT * FROM event WHERE seq > ? AND seq <= ? AND (? IS NULL OR experiment = ?) "
                "ORDER BY seq LIMIT ?",
                (after, 2**62 if until is None else until, experiment, experiment, _PAGE),
            )
            for row in rows:
                yield Event(*row)
            if len(rows) < _PAGE:
                return
            after = rows[-1][0]
    finally:
        made.close()
