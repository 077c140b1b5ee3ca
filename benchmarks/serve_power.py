"""Power lost at random moments: every acknowledged event is there after it.

    python benchmarks/serve_power.py --losses 2000 --seed 0          (make slow)

Events are written in group commits, and counted as acknowledged after each COMMIT, onto a file
system that forgets what was not synced (tests/helpers/serve/power.py). With `synchronous=OFF` the
same must lose some, or the test could not fail.
"""

from __future__ import annotations

import argparse
import collections
import random
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import apsw

from helpers.serve import power
from record import record
from rotting._serve.event_types import Event
from rotting._serve.store import Group, Store

GROUPS = 60  # commits in one life of the database
CHECKPOINT = 40  # pages of log before they go to the database: often, to lose power in it too


Row = tuple[int, str, str]  # number, id and body of an event


class Plain:
    """A table of events with the pragmas of the service's store."""

    def __init__(self, path: Path, vfs: power.Outage, synchronous: str) -> None:
        self.connection = connection = power.connect(path, vfs)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(f"PRAGMA synchronous={synchronous}")
        connection.execute(f"PRAGMA wal_autocheckpoint={CHECKPOINT}")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS event (seq INTEGER PRIMARY KEY, id TEXT UNIQUE, body TEXT)"
        )

    def write(self, events: list[Row]) -> None:
        """One group commit."""
        self.connection.execute("BEGIN IMMEDIATE")
        self.connection.executemany("INSERT INTO event VALUES (?, ?, ?)", events)
        self.connection.execute("COMMIT")

    def read(self) -> list[Row]:
        rows = self.connection.execute("SELECT seq, id, body FROM event ORDER BY seq")
        return [(int(seq), str(id_), str(body)) for seq, id_, body in rows]

    def close(self) -> None:
        self.connection.close()


class Often:
    """A connection that writes its log into the file often, whatever the store sets."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.executemany, self.close = inner.executemany, inner.close

    def execute(self, sql: str, parameters: Any = ()) -> list[Any]:
        if sql.startswith("PRAGMA wal_autocheckpoint"):
            sql = f"PRAGMA wal_autocheckpoint = {CHECKPOINT}"
        found: list[Any] = self.inner.execute(sql, parameters)
        return found


class Real(Plain):
    """The service's own store."""

    def __init__(self, path: Path, vfs: power.Outage, synchronous: str) -> None:
        self.store = Store.open(
            path, lambda where: Often(power.connect(where, vfs)), synchronous=synchronous
        )

    def write(self, events: list[Row]) -> None:
        group = Group()
        group.events = [Event(seq, 1, 2, id_, 0.0, body.encode()) for seq, id_, body in events]
        self.store.append(group)

    def read(self) -> list[Row]:
        return [(e.seq, str(e.id), e.body.decode()) for e in self.store.events()]

    def close(self) -> None:
        self.store.close()


def life(
    path: Path, vfs: power.Outage, draw: random.Random, synchronous: str, kind: type[Plain]
) -> list[Row]:
    """Write groups of events until the power fails, or all are written; the acknowledged ones."""
    acknowledged: list[Row] = []
    store = None
    try:
        store = kind(path, vfs, synchronous)
        acknowledged = store.read()
        for _ in range(GROUPS):
            seq = len(acknowledged)
            group = [
                (seq + n, f"id {seq + n}", "x" * draw.randrange(400))
                for n in range(1, draw.randint(1, 30) + 1)
            ]
            store.write(group)
            acknowledged += group
    except apsw.Error:
        assert vfs.lost, "an error before the power failed"
    finally:
        vfs.lost = True  # what closing would still write is lost as well
        if store is not None:
            store.close()
    return acknowledged


def lose(
    folder: Path, losses: int, seed: int, synchronous: str = "FULL", kind: type[Plain] = Real
) -> tuple[list[str], dict[str, int]]:
    """Lose power so often, each time going on with what is left; what was wrong, and counts."""
    draw, wrong = random.Random(seed), list[str]()
    counts: collections.Counter[str] = collections.Counter()
    trial = power.Outage()
    here = folder / "measure"
    here.mkdir()
    life(here / "events.db", trial, random.Random(seed), synchronous, kind)
    here = folder / "0"
    here.mkdir()
    for number in range(1, losses + 1):
        vfs = power.Outage(draw.randint(1, trial.count))
        for file in here.iterdir():
            vfs.disks[str(file)] = power.Disk(file.read_bytes(), listed=True)
        acknowledged = life(here / "events.db", vfs, draw, synchronous, kind)
        there = folder / str(number)
        there.mkdir()
        counts[vfs.survive(there, draw)] += 1
        shutil.rmtree(here)
        here = there
        fault = judge(here / "events.db", acknowledged)
        counts["events acknowledged"] += len(acknowledged)
        if fault:
            wrong.append(f"loss {number}, {synchronous}: {fault}")
        if fault or len(acknowledged) > 5000:  # begin anew
            shutil.rmtree(here)
            here.mkdir()
    return wrong, dict(counts)


def judge(path: Path, acknowledged: list[Row]) -> str | None:
    """What is wrong with the database that is left, if anything."""
    # A copy is looked at, for opening repairs: the next life begins with what the loss left.
    copy = path.parent / "copy"
    copy.mkdir()
    for file in path.parent.glob("events.db*"):
        shutil.copy(file, copy)
    try:
        connection = power.connect(copy / path.name)
        try:
            (sound,) = connection.execute("PRAGMA integrity_check")[0]
            if sound != "ok":
                return f"integrity_check says {sound}"
            tables = connection.execute("SELECT name FROM sqlite_master WHERE name = 'event'")
            rows = (
                connection.execute("SELECT seq, id, body FROM event ORDER BY seq") if tables else []
            )
            found = [(s, i, b.decode() if isinstance(b, bytes) else b) for s, i, b in rows]
        finally:
            connection.close()
    except apsw.Error as error:
        return f"the database cannot be read: {error!r}"
    finally:
        shutil.rmtree(copy)
    if [row[0] for row in found] != list(range(1, len(found) + 1)):
        return "the numbers of the events have gaps"
    if found[: len(acknowledged)] != acknowledged:
        return f"of {len(acknowledged)} acknowledged events {len(found)} are left, or changed"
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--losses", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-record", action="store_true")
    options = parser.parse_args()
    rows = []
    for synchronous in ("FULL", "OFF"):
        with tempfile.TemporaryDirectory() as folder:
            wrong, counts = lose(Path(folder), options.losses, options.seed, synchronous)
        print(
            f"synchronous={synchronous}: {options.losses:,} losses, {len(wrong):,} lost something"
        )
        print("   ", ", ".join(f"{name}: {count:,}" for name, count in sorted(counts.items())))
        for fault in wrong[:5]:
            print("   ", fault)
        rows.append({"synchronous": synchronous, "losses": options.losses, "wrong": len(wrong)})
    if not options.no_record:
        record("serve_power", rows, seed=options.seed)
    return 1 if rows[0]["wrong"] or not rows[1]["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
