"""The mark of a database: `service.db.mark`, which notes the last acknowledged event.

SQLite takes a write-ahead log that was damaged, cut short or lost for the end of the log, and
continues from an older state without a word. The number and the running checksum of the last
acknowledged event are therefore kept in a small file of their own. It is written with every commit,
before answers are sent, and synced once a second. After a crash of the process it is exact; after a
power failure it may be a second behind. A database may be ahead of its mark, never behind.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

import msgspec

from rotting._serve.sqlite import touch_private

if TYPE_CHECKING:
    from rotting._serve.event_types import Event
    from rotting._serve.store import Store

_SLOT = 64  # bytes; two slots are written in turn, so that one is always whole
_encode = msgspec.msgpack.Encoder().encode


def linked(chain: int, event: Event) -> int:
    """The running checksum after an event: CRC-32 of its MessagePack, starting from the last one.

    >>> from rotting._serve.event_types import Event
    >>> first = linked(0, Event(1, 1, 2, "a", 5.0, b"{}"))
    >>> linked(first, Event(2, 1, 2, "b", 5.0, b"{}")) == linked(0, Event(2, 1, 2, "b", 5.0, b"{}"))
    False
    """
    return crc32(_encode(event[:6]), chain)


def chained(chain: int, events: Iterable[Event]) -> list[tuple[Any, ...]]:
    """Rows of events as they are stored, each with the running checksum after it (`linked`)."""
    rows = []
    for event in events:
        row = event[:6]
        chain = crc32(_encode(row), chain)
        rows.append((*row, chain))
    return rows


class Mark(NamedTuple):
    """The last acknowledged event, and the running checksum there."""

    seq: int
    chain: int


def mark_of(path: Path) -> Path:
    """The path of a database's mark."""
    return path.with_name(path.name + ".mark")


def read_mark(path: Path) -> Mark | None:
    """The mark of a database; None if it has none. ValueError if it cannot be read."""
    try:
        data = mark_of(path).read_bytes()
    except FileNotFoundError:
        return None
    slots = [_read(data[start : start + _SLOT]) for start in (0, _SLOT)]
    found = [slot for slot in slots if slot is not None]
    if not found and data:
        raise ValueError(f"{mark_of(path).name} must be a mark of rotting serve, but is damaged")
    return max(found, default=None)


def _read(slot: bytes) -> Mark | None:
    words = slot.decode("ascii", "replace").split()
    if len(words) != 4 or words[0] != "mark" or words[3] != _sum(words[1], words[2]):
        return None
    return Mark(int(words[1]), int(words[2]))


def _sum(*words: str) -> str:
    return f"{crc32(' '.join(words).encode()):08x}"


class MarkFile:
    """An open mark file, to be written with every commit."""

    def __init__(self, path: Path) -> None:
        touch_private(mark_of(path))
        self._handle = os.open(mark_of(path), os.O_RDWR)
        self._slot, self._dirty = 0, False

    def write(self, mark: Mark) -> None:
        """Overwrite the older of the two slots."""
        words = str(mark.seq), str(mark.chain)
        text = f"mark {words[0]} {words[1]} {_sum(*words)}"
        os.lseek(self._handle, self._slot * _SLOT, os.SEEK_SET)
        os.write(self._handle, text.ljust(_SLOT - 1).encode() + b"\n")
        self._slot, self._dirty = 1 - self._slot, True

    def sync(self) -> None:
        """Sync the file if it was written since the last time."""
        if self._dirty:
            self._dirty = False
            os.fsync(self._handle)

    def close(self) -> None:
        """Sync and close the file."""
        self.sync()
        os.close(self._handle)


def set_mark(path: Path, mark: Mark) -> None:
    """Write the mark of a replaced database, in both slots."""
    file = MarkFile(path)
    try:
        file.write(mark)
        file.write(mark)
    finally:
        file.close()


def loss(store: Store, mark: Mark) -> str | None:
    """A sentence on the acknowledged events that a database lacks; None if it has all."""
    name, last = store.path.name, store.last()
    if last < mark.seq:
        return (
            f"{name} ends at event {last}, but event {mark.seq} was acknowledged: "
            f"{mark.seq - last} events are missing"
        )
    chain = store.chain_at(mark.seq)
    if chain is not None and chain != mark.chain:
        return f"event {mark.seq} of {name} is not the one that was acknowledged"
    return None


WAY_ON = (
    "the write-ahead log may be damaged or missing, or the file an older copy: put the right files "
    "back, restore a backup, or start once with --accept-loss to go on without what is missing"
)
