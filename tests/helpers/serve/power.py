"""Power failures: SQLite on a file system that loses unsynced writes.

`Outage` is a VFS of SQLite. Everything written goes to real files, as the operating system shows
them to programs; beside them it keeps what would be on the disk: what was synced, and in order the
writes and truncations since. At a chosen operation the power fails: that operation and all later
ones raise. `survive` then writes into a folder what is left of every file: of the unsynced writes
nothing, all, a torn beginning, or any sectors of them, in any order, by a seeded choice.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import apsw

SECTOR = 512
HOW = ("forgotten", "kept", "torn", "scattered")
_numbers = itertools.count()

Change = tuple[int, bytes | None]  # where and what was written; None: cut off there


class Disk:
    """One file as the disk has it: what is safe, and what is on its way."""

    def __init__(self, content: bytes = b"", listed: bool = False) -> None:
        self.safe = bytearray(content)
        self.waiting: list[Change] = []
        self.listed = listed  # its folder entry is synced
        self.deleted = False  # but its folder entry may not be synced

    def sync(self) -> None:
        for change in self.waiting:
            apply(self.safe, change)
        self.waiting.clear()

    def left(self, how: str, draw: random.Random) -> bytearray | None:
        """What is found after a loss; None if there is no such file."""
        if (self.deleted or not self.listed) and draw.random() < 0.5:
            return None
        found = bytearray(self.safe)
        if how == "forgotten":
            return found
        changes = list(self.waiting)
        if how == "torn":
            changes = torn(changes[: draw.randint(0, len(changes))], draw)
        elif how == "scattered":
            changes = scattered(changes, draw)
        for change in changes:
            apply(found, change)
        return found


def apply(content: bytearray, change: Change) -> None:
    """Make one change to the bytes of a file."""
    where, data = change
    if len(content) < where:
        content.extend(bytes(where - len(content)))
    if data is None:
        del content[where:]
    else:
        content[where : where + len(data)] = data


def sectors(change: Change) -> list[Change]:
    """A write as the pieces that a disk writes at once."""
    where, data = change
    if data is None:
        return [change]
    cuts = [0, *range(SECTOR - where % SECTOR, len(data), SECTOR), len(data)]
    return [(where + a, data[a:b]) for a, b in itertools.pairwise(cuts) if a < b]


def torn(changes: list[Change], draw: random.Random) -> list[Change]:
    """These changes, of the last one only the first sectors."""
    if not changes:
        return []
    pieces = sectors(changes[-1])
    return changes[:-1] + pieces[: draw.randint(0, len(pieces))]


def scattered(changes: list[Change], draw: random.Random) -> list[Change]:
    """Any sectors of the changes in any order, some of the lost ones as junk."""
    share = draw.choice([0.1, 0.5, 0.9])
    pieces: list[Change] = []
    for where, data in itertools.chain.from_iterable(sectors(change) for change in changes):
        if draw.random() < share:
            pieces.append((where, data))
        elif data is not None and draw.random() < 0.1:
            pieces.append((where, draw.randbytes(len(data))))
    draw.shuffle(pieces)
    return pieces


class Outage(apsw.VFS):  # type: ignore[misc,unused-ignore]
    """A file system whose power fails at its `at`-th write, sync, truncation or deletion."""

    def __init__(self, at: int | None = None) -> None:
        self.name = f"outage-{next(_numbers)}"
        self.at, self.count, self.lost = at, 0, False
        self.disks: dict[str, Disk] = {}
        super().__init__(self.name, "")

    def work(self) -> None:
        """One more operation, unless the power is gone or fails now."""
        self.count += 1
        if self.at is not None and self.count >= self.at:
            self.lost = True
        if self.lost:
            raise apsw.IOError("the power failed")

    def disk(self, name: str) -> Disk:
        return self.disks.setdefault(name, Disk())

    def sync_folder(self) -> None:
        """Which files there are is safe from now on."""
        self.disks = {name: disk for name, disk in self.disks.items() if not disk.deleted}
        for disk in self.disks.values():
            disk.listed = True

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        return File(self, name, flags)

    def xDelete(self, name: str, sync: bool) -> None:  # noqa: N802
        self.work()
        super().xDelete(name, sync)
        if name in self.disks:
            self.disks[name].deleted = True
        if sync:
            self.sync_folder()

    def survive(self, folder: Path, draw: random.Random) -> str:
        """Write what is left of all files into the folder; how the unsynced writes fared."""
        how = draw.choice(HOW)
        for name, disk in self.disks.items():
            found = disk.left(how, draw)
            if found is not None:
                (folder / Path(name).name).write_bytes(found)
        return how


class File(apsw.VFSFile):  # type: ignore[misc,unused-ignore]
    """An open file; temporary ones, without a name, are not looked up after a loss."""

    def __init__(self, vfs: Outage, name: Any, flags: list[int]) -> None:
        self.vfs = vfs
        filename = name.filename() if isinstance(name, apsw.URIFilename) else name
        kept = filename is not None and not flags[0] & apsw.SQLITE_OPEN_DELETEONCLOSE
        self.disk = vfs.disk(filename) if kept else Disk()
        if self.disk.deleted:  # created over one whose deletion was not synced
            self.disk.deleted = False
            self.disk.waiting.append((0, None))
        # As SQLite does on Unix: the first sync of a log or journal syncs the folder as well.
        logs = apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_WAL
        self.news = bool(flags[0] & logs and flags[0] & apsw.SQLITE_OPEN_CREATE)
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        try:
            self.vfs.work()
        except apsw.IOError:
            if self.vfs.count == self.vfs.at:  # it was on its way when the power failed
                self.disk.waiting.append((offset, bytes(data)))
            raise
        super().xWrite(data, offset)
        self.disk.waiting.append((offset, bytes(data)))

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        self.vfs.work()
        super().xTruncate(newsize)
        self.disk.waiting.append((newsize, None))

    def xSync(self, flags: int) -> None:  # noqa: N802
        self.vfs.work()
        if self.news:
            self.vfs.sync_folder()
            self.news = False
        self.disk.sync()  # the real file needs no sync: only what is kept here counts


class Connection:
    """The connection that the store needs, by apsw."""

    def __init__(self, base: apsw.Connection) -> None:
        self.base = base

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in self.base.execute(sql, tuple(parameters))]

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        self.base.executemany(sql, [tuple(row) for row in rows])

    def close(self) -> None:
        try:
            self.base.close()
        except apsw.Error:  # without power
            self.base.close(True)


def connect(path: str | Path, vfs: Outage | None = None) -> Connection:
    """Open a database whose power may fail."""
    name = None if vfs is None else vfs.name
    return Connection(apsw.Connection(str(path), vfs=name))
