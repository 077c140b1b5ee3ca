"""What once brought the service down, at length: floods, batches, damaged logs, a million keys.

    python benchmarks/serve_attacks.py [--keys 1000000] [--damages 100] [--quick]
                                                                  (make serve-study)

- flood: connections that send requests for fifteen seconds and read no answers. How much memory the
  process takes for them.
- batch: 1,000 decisions among 1,000 arms in plain Python, in one request. How long others wait.
- rare: the events of an experiment that has 20 among hundreds of thousands, listed again and again.
  How long others wait (99th percentile), over the same without it.
- damage: the process is killed after some answers, and its write-ahead log has a byte flipped, is
  cut short or removed. A start must be refused, or have everything that was acknowledged.
- start: killed with a million keys. How long the next start takes, and how long its log is silent.
- log: how large the write-ahead log becomes meanwhile.

The limits are some times what is usual here, and far below what was found: gigabytes, seconds.
Each has a short form in tests/serve. The exit code is 1 if a limit is not kept.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import random
import socket
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from record import record
from serve_process import Client, Server

PLAIN = {"ROTTING_SERVE_COMPILED": "false"}
HEALTH = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
DECISIONS = "/v1/experiments/e/decisions"
Row = dict[str, Any]


def row(what: str, measured: float, unit: str, most: float | None, **more: Any) -> Row:
    return {
        "what": what,
        "measured": round(measured, 3),
        "unit": unit,
        "at_most": most,
        "kept": most is None or measured <= most,
        **more,
    }


@contextlib.contextmanager
def waits_of_others(server: Server) -> Iterator[list[float]]:
    """Seconds that a request for the status takes, every 5 ms, until the end of the block."""
    waits: list[float] = []
    done = threading.Event()

    def look() -> None:
        client = Client(server.port)
        while not done.wait(0.005):
            begin = time.perf_counter()
            client.get("/v1/status")
            waits.append(time.perf_counter() - begin)
        client.close()

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield waits
    finally:
        done.set()
        thread.join()


def made(client: Client, **settings: Any) -> None:
    status, answer = client.post("/v1/experiments", settings)
    assert status == 201, answer


def flood(folder: Path, seconds: float) -> list[Row]:
    with Server(folder / "flood.db", environment=PLAIN) as server:
        before = most = server.memory()
        lines = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(20)]
        sent, until = 0, time.monotonic() + seconds
        for line in lines:
            line.setblocking(False)
        while time.monotonic() < until:
            for line in lines:
                with contextlib.suppress(OSError):
                    sent += line.send(HEALTH * 2000)
            most = max(most, server.memory())
        for line in lines:
            line.close()
        grown = (most - before) / 1e6
        return [row("flood: memory taken", grown, "MB", 64.0, sent_mb=round(sent / 1e6, 1))]


def batch(folder: Path) -> list[Row]:
    with Server(folder / "batch.db", environment=PLAIN) as server:
        client = server.client(600.0)
        arms = [f"a{number}" for number in range(1000)]
        made(client, name="e", arms=arms, policy={"policy": "swucb", "tau": 50})
        begin = time.perf_counter()
        with waits_of_others(server) as waits:
            status, found = client.post(DECISIONS, [{"id": f"d{n}"} for n in range(1000)])
        assert status == 200
        assert len(found) == 1000
        took = time.perf_counter() - begin
        return [row("batch: longest wait of others", max(waits), "s", 0.25, batch_seconds=took)]


def rare(folder: Path, events: int) -> list[Row]:
    with Server(folder / "rare.db", environment=PLAIN) as server:
        client = server.client(600.0)
        for name in ("e", "rare"):
            made(client, name=name, arms=["A", "B"], policy="roundrobin", reward_window=1.0)
        for start in range(0, events, 1000):
            client.post(DECISIONS, [{"id": f"d{n}"} for n in range(start, start + 1000)])
            if start % (events // 20) < 1000:
                client.post("/v1/experiments/rare/decisions", {"id": f"r{start}"})
        time.sleep(3.0)  # windows end
        p99 = []
        for listing in (False, True):
            done = time.monotonic() + 5.0
            with waits_of_others(server) as waits:
                while time.monotonic() < done:
                    if listing:
                        client.get("/v1/experiments/rare/events?after=0&limit=1000")
                    time.sleep(0.001)
            p99.append(statistics.quantiles(waits, n=100)[98])
        more = {"p99_alone": p99[0], "p99_listing": p99[1]}
        return [
            row("rare: wait of others, over that without", p99[1] / p99[0], "times", 10, **more)
        ]


def flipped(log: Path, chance: random.Random) -> None:
    data = bytearray(log.read_bytes())
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    log.write_bytes(data)


def cut(log: Path, chance: random.Random) -> None:
    os.truncate(log, chance.randrange(log.stat().st_size))


def removed(log: Path, chance: random.Random) -> None:
    log.unlink()


def damage(folder: Path, count: int) -> list[Row]:
    """Each start is refused, or has all; that of an undamaged one is counted, too."""
    chance = random.Random(7)
    kinds: list[Callable[[Path, random.Random], None]] = [flipped, cut, removed]
    refused = whole = lost = 0
    for number in range(count):
        path = folder / f"damage{number}.db"
        with Server(path, environment=PLAIN) as server:
            client = server.client()
            made(client, name="e", arms=["A", "B"], policy="ucb1")
            for n in range(chance.randrange(1, 60)):
                assert client.post(DECISIONS, {"id": f"d{n}"})[0] == 200
            server.kill()
            kinds[number % len(kinds)](path.with_name(path.name + "-wal"), chance)
            try:
                server.start()
            except RuntimeError as error:
                if "ended with 2" not in str(error):
                    raise
                refused += 1
                continue
            status, page = server.client().get("/v1/experiments/e")
            if status == 200 and page["decisions"] == n + 1:
                whole += 1
            else:
                lost += 1
    more = {"starts": count, "refused": refused, "whole": whole}
    return [row("damage: starts without what was acknowledged", lost, "starts", 0, **more)]


def start(folder: Path, keys: int) -> list[Row]:
    path = folder / "start.db"
    largest = 0
    with Server(path) as server:
        client = server.client(600.0)
        made(client, name="e", arms=["A", "B", "C"], audience=True, policy="fatigue")
        for first in range(0, keys, 1000):
            items = [{"id": f"d{n}", "key": f"visitor {n}"} for n in range(first, first + 1000)]
            assert client.post(DECISIONS, items)[0] == 200
            largest = max(largest, path.with_name(path.name + "-wal").stat().st_size)
        server.kill()
        server.errors.unlink()
        heard = [time.perf_counter()]
        done = threading.Event()

        def listen() -> None:
            length = 0
            while not done.wait(0.01):
                if len(server.said()) != length:
                    length = len(server.said())
                    heard.append(time.perf_counter())

        thread = threading.Thread(target=listen)
        server.launch()
        thread.start()
        server.wait_ready(600.0)
        heard.append(time.perf_counter())
        done.set()
        thread.join()
        said = [line for line in server.said().splitlines() if "load" in line]
    silent = max(b - a for a, b in itertools.pairwise(heard))
    took = heard[-1] - heard[0]
    more = {"keys": keys, "said": [line.partition("INFO ")[2] for line in said]}
    return [
        row("start: until it is ready", took, "s", None, **more),
        row("start: longest silence of its log", silent, "s", None),
        row("log: the largest write-ahead log", largest / 1e6, "MB", 128.0),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--keys", type=int, default=1_000_000, help="people known at the start")
    parser.add_argument("--damages", type=int, default=100, help="logs that are damaged")
    parser.add_argument("--quick", action="store_true", help="a hundredth of it; not recorded")
    asked = parser.parse_args()
    part = 0.01 if asked.quick else 1.0
    console = Console()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        works: tuple[Callable[[], list[Row]], ...] = (
            lambda: flood(folder, 2.0 if asked.quick else 15.0),
            lambda: batch(folder),
            lambda: rare(folder, int(300_000 * part)),
            lambda: damage(folder, max(3, int(asked.damages * part))),
            lambda: start(folder, int(asked.keys * part)),
        )
        for work in works:
            found = work()
            rows += found
            for each in found:
                console.print(each)
    table = Table("what", "measured", "at most", "kept")
    for each in rows:
        most = "" if each["at_most"] is None else f"{each['at_most']:g}"
        table.add_row(each["what"], f"{each['measured']:g} {each['unit']}", most, str(each["kept"]))
    console.print(table)
    if not asked.quick:
        record("serve_attacks", rows)
    return 0 if all(each["kept"] for each in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
