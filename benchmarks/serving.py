"""How fast the service is, as ratios within one run.

    python benchmarks/serving.py [--seconds 5] [--keys 1000000] [--quick]

Servers run in processes of their own; one process with 64 connections asks as fast as it is
answered. Rounds of a Starlette handler that does nothing, of the service, and of plain writes with
fsync on the same disk are taken in turn; medians are told.

- decide and reward, alternately, at synchronous FULL: requests a second over those of the handler
  that does nothing (asked: at least 0.4);
- 300 decisions a second, evenly: the 99th percentile of the time to answer over the 99th percentile
  of a write with fsync (at most 6);
- batches of 100 decisions: decisions a second over those of single ones (at least 20);
- decisions a second with so many keys known over those with 1,000 (nearly 1).

The exit code is 1 if a limit is not kept.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from record import record
from rotting._provenance import versions

CONNECTIONS = 64
RATIO, SLOWER, BATCH, ROUNDS = 0.4, 6.0, 20.0, 3

NOTHING = """
import sys
import uvicorn
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

async def nothing(request):
    return Response(b'{}', media_type="application/json")

app = Starlette(routes=[Route("/", nothing, methods=["POST"])])
uvicorn.run(app, port=int(sys.argv[1]), log_level="critical", access_log=False)
"""


def free_port() -> int:
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return int(made.getsockname()[1])


class Server:
    """A process that listens, until it is stopped."""

    def __init__(self, *command: str, port: int) -> None:
        self.port = port
        self.process = subprocess.Popen([sys.executable, *command], stderr=subprocess.DEVNULL)
        for _ in range(600):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise SystemExit("the server does not start")

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


def request(port: int, path: str, body: Any) -> bytes:
    data = json.dumps(body).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(data)}\r\n\r\n"
    )
    return head.encode() + data


class Link(asyncio.Protocol):
    """One connection that asks again as soon as it is answered."""

    def __init__(self, load: Load) -> None:
        self.load, self.data, self.sent = load, b"", 0.0

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.ask()

    def ask(self) -> None:
        wanted = self.load.next(self)
        if wanted is None:
            self.transport.close()
            return
        self.sent = time.perf_counter()
        self.transport.write(wanted)

    def data_received(self, data: bytes) -> None:
        self.data += data
        head, found, body = self.data.partition(b"\r\n\r\n")
        if not found:
            return
        size = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        if len(body) < size:
            return
        self.data = b""
        status = int(head[9:12])
        self.load.answered(status, body, time.perf_counter() - self.sent, self)
        if self.load.pace is None:
            self.ask()

    def connection_lost(self, error: Exception | None) -> None:
        self.load.closed()


class Load:
    """Requests from many connections for some seconds."""

    def __init__(self, port: int, requests: Iterator[bytes], seconds: float) -> None:
        self.port, self.requests, self.seconds = port, requests, seconds
        self.count = self.failed = self.open = 0
        self.times: list[float] = []
        self.pace: float | None = None
        self.until = 0.0

    def next(self, link: Link) -> bytes | None:
        return next(self.requests) if time.perf_counter() < self.until else None

    def answered(self, status: int, body: bytes, took: float, link: Link) -> None:
        self.count += 1
        self.failed += status != 200 or b'"error"' in body[:12]
        self.times.append(took)

    def closed(self) -> None:
        self.open -= 1
        if self.open == 0:
            self.done.set_result(None)

    async def run(self) -> float:
        loop = asyncio.get_running_loop()
        self.done: asyncio.Future[None] = loop.create_future()
        self.open = CONNECTIONS
        began = time.perf_counter()
        self.until = began + self.seconds
        for _ in range(CONNECTIONS):
            await loop.create_connection(lambda: Link(self), "127.0.0.1", self.port)
        await self.done
        if self.failed:
            raise SystemExit(f"{self.failed} of {self.count} requests failed")
        return self.count / (time.perf_counter() - began)

    async def paced(self, per_second: float) -> list[float]:
        """Requests at even times, each on a connection that is free."""
        loop = asyncio.get_running_loop()
        free: asyncio.Queue[Any] = asyncio.Queue()
        self.pace, times = 1.0 / per_second, []
        load = self

        class Waiting(Link):
            def connection_made(self, transport: Any) -> None:
                self.transport = transport
                free.put_nowait(self)

            def connection_lost(self, error: Exception | None) -> None:
                pass

        def answered(status: int, body: bytes, took: float, link: Link) -> None:
            assert status == 200, body
            times.append(time.perf_counter() - link.sent)
            free.put_nowait(link)

        self.answered = answered  # type: ignore[method-assign]
        for _ in range(CONNECTIONS):
            await loop.create_connection(lambda: Waiting(load), "127.0.0.1", self.port)
        start = time.perf_counter()
        for number in range(int(self.seconds * per_second)):
            due = start + number * self.pace
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            waited = free.empty()
            link = await free.get()
            # our own clock has steps of a millisecond, for which the service is not to blame; that
            # no connection is free is its doing
            link.sent = due if waited else time.perf_counter()
            link.transport.write(next(self.requests))
        await asyncio.sleep(1.0)
        return times


def fsyncs(folder: Path, count: int) -> list[float]:
    """Appending a page and waiting for the disk, again and again."""
    times = []
    with (folder / "fsync").open("wb", buffering=0) as file:
        for _ in range(count):
            begin = time.perf_counter()
            file.write(bytes(4096))
            os.fsync(file.fileno())
            times.append(time.perf_counter() - begin)
    return times


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


class Traffic:
    """Requests to one experiment, made on the way."""

    def __init__(self, port: int, name: str, keys: int) -> None:
        self.port, self.name, self.keys, self.number = port, name, keys, 0

    def _path(self, verb: str) -> str:
        return f"/v1/experiments/{self.name}/{verb}"

    def _wanted(self) -> dict[str, Any]:
        self.number += 1
        key = {"key": f"user {self.number * 7919 % self.keys}"} if self.keys else {}
        return {"id": f"{self.name}-{self.number}", **key}

    def decisions(self) -> Iterator[bytes]:
        while True:
            yield request(self.port, self._path("decisions"), self._wanted())

    def pairs(self, lag: int = 4 * CONNECTIONS) -> Iterator[bytes]:
        """A decision, and the reward of one that was answered long ago."""
        while True:
            yield request(self.port, self._path("decisions"), self._wanted())
            due = self.number - lag
            body = {"decision": f"{self.name}-{due}", "reward": float(due % 7 == 0)}
            if due > 0:
                yield request(self.port, self._path("rewards"), body)

    def batches(self, size: int) -> Iterator[bytes]:
        while True:
            yield request(self.port, self._path("decisions"), [self._wanted() for _ in range(size)])


def create(port: int, name: str, **settings: Any) -> None:
    import httpx

    body = {"name": name, "arms": [f"arm {i}" for i in range(10)], **settings}
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
        client.post("/v1/experiments", json=body).raise_for_status()
        for _ in range(600):  # until it is compiled, as any experiment is after its first minute
            if client.get(f"/v1/experiments/{name}").json()["policy"]["compiled"]:
                return
            time.sleep(0.25)
    raise SystemExit("the policy is not compiled after 150 s")


def rate(port: int, requests: Iterator[bytes], seconds: float) -> float:
    return asyncio.run(Load(port, requests, seconds).run())


def in_turn(rounds: int, *works: Callable[[], float]) -> list[float]:
    """Medians of works done in turn."""
    found = [[work() for work in works] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*found, strict=True)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--quick", action="store_true", help="do not record")
    asked = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        port, other = free_port(), free_port()
        command = ("-m", "rotting", "serve", "--data", str(folder / "service.db"))
        service = Server(*command, "--port", str(port), port=port)
        nothing = Server("-c", NOTHING, str(other), port=other)
        try:
            measure(asked, folder, port, other, rows)
        finally:
            service.stop()
            nothing.stop()
    table = Table("what", "measured", "over", "ratio", "limit", "kept")
    for row in rows:
        kept = "yes" if row["kept"] else "NO"
        cells = (f"{row['value']:,.4g}", f"{row['over']:,.4g}", f"{row['ratio']:.2f}")
        table.add_row(row["what"], *cells, row["limit"], kept)
    Console().print(table)
    if not asked.quick:
        record("serving", rows, libraries=versions("starlette", "uvicorn", "msgspec"))
    return 0 if all(row["kept"] for row in rows) else 1


def measure(
    asked: argparse.Namespace, folder: Path, port: int, other: int, rows: list[dict[str, Any]]
) -> None:
    def add(what: str, value: float, over: float, least: float | None, most: float | None) -> None:
        ratio = value / over
        kept = (least is None or ratio >= least) and (most is None or ratio <= most)
        limit = f"at least {least:g}" if least is not None else f"at most {most:g}"
        rows.append(
            {
                "what": what,
                "value": value,
                "over": over,
                "ratio": ratio,
                "limit": limit,
                "kept": kept,
            }
        )

    def empty() -> Iterator[bytes]:
        made = request(other, "/", {"id": "id-1"})
        while True:
            yield made

    seconds = asked.seconds
    create(port, "plain", reward_window=3600)
    create(port, "few", audience=True, reward_window=3600)
    create(port, "many", audience=True, reward_window=3600)
    traffic = Traffic(port, "plain", 0)
    few, many = Traffic(port, "few", 1000), Traffic(port, "many", asked.keys)
    pairs, keyed = traffic.pairs(), few.pairs()
    rate(port, pairs, 1.0)
    rate(port, keyed, 1.0)
    bare, service, audience = in_turn(
        ROUNDS,
        lambda: rate(other, empty(), seconds),
        lambda: rate(port, pairs, seconds),
        lambda: rate(port, keyed, seconds),
    )
    add("requests a second, decide and reward", service, bare, RATIO, None)
    add("the same for an audience of 1,000", audience, bare, RATIO, None)

    slow = asyncio.run(Load(port, pairs, 4 * seconds).paced(300))
    disk = fsyncs(folder, 1000)
    slow += asyncio.run(Load(port, pairs, 4 * seconds).paced(300))
    disk += fsyncs(folder, 1000)
    add(
        "99th percentile at 300 a second, s",
        percentile(slow, 0.99),
        percentile(disk, 0.99),
        None,
        SLOWER,
    )

    singles, hundreds = traffic.decisions(), traffic.batches(100)
    one, batch = in_turn(
        ROUNDS,
        lambda: rate(port, singles, seconds),
        lambda: 100 * rate(port, hundreds, seconds),
    )
    add("decisions a second, batches of 100", batch, one, BATCH, None)

    while many.number < asked.keys:
        rate(port, many.batches(1000), 5.0)
    small, large = in_turn(
        ROUNDS,
        lambda: rate(port, few.decisions(), seconds),
        lambda: rate(port, many.decisions(), seconds),
    )
    add(f"decisions a second, {asked.keys:,} keys over 1,000", large, small, 0.8, None)


if __name__ == "__main__":
    sys.exit(main())
