"""A `rotting serve` in a process of its own, and a small client: for tests and benchmarks."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

SILENT_PULLS = 60.0  # seconds to become ready, or to stop
ROTTING = (sys.executable, "-m", "rotting", "serve")


def free_port() -> int:
    """A port nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Client:
    """One connection that is made anew when it breaks; requests are not repeated by themselves."""

    def __init__(self, port: int, timeout: float = 30.0) -> None:
        self.port, self.timeout = port, timeout
        self.line: http.client.HTTPConnection | None = None

    def close(self) -> None:
        if self.line is not None:
            self.line.close()
            self.line = None

    def send(
        self, method: str, path: str, data: bytes | None, headers: dict[str, str] | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body; an OSError or HTTPException if no whole answer comes."""
        try:
            if self.line is None:
                self.line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.timeout)
                self.line.connect()
                self.line.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.line.request(method, path, data, headers or {"Content-Type": "application/json"})
            answer = self.line.getresponse()
            read = answer.read()
        except BaseException:
            self.close()
            raise
        if answer.will_close:
            self.close()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, read

    def post(self, path: str, body: Any) -> tuple[int, Any]:
        """POST this as JSON."""
        status, _, read = self.send("POST", path, json.dumps(body).encode())
        return status, json.loads(read)

    def get(self, path: str) -> tuple[int, Any]:
        """GET JSON."""
        status, _, read = self.send("GET", path, None)
        return status, json.loads(read)


class Server:
    """A service in a process: started, stopped, killed and started again, on one port and file."""

    def __init__(
        self,
        data: Path,
        command: Sequence[str] = ROTTING,
        options: Sequence[str] = (),
        port: int | None = None,
        before: Callable[[], None] | None = None,
        environment: dict[str, str] | None = None,
    ) -> None:
        self.data, self.command, self.options = data, tuple(command), tuple(options)
        self.port = free_port() if port is None else port
        self.before, self.environment = before, environment
        self.process: subprocess.Popen[bytes] | None = None
        self.clients: list[Client] = []
        self.errors = data.with_name(data.name + ".stderr")

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def words(self) -> list[str]:
        return [*self.command, "--data", str(self.data)]

    @property
    def surroundings(self) -> dict[str, str]:
        path = os.pathsep.join(filter(None, sys.path))
        return {**os.environ, "PYTHONPATH": path, **(self.environment or {})}

    def launch(self) -> None:
        """Start the process; it is not ready yet."""
        with self.errors.open("ab") as errors:
            self.process = subprocess.Popen(
                [*self.words, "--port", str(self.port), *self.options],
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                env=self.surroundings,
                preexec_fn=self.before,
            )

    def start(self) -> float:
        """Start the process and wait until it is ready; seconds that took."""
        begin = time.perf_counter()
        self.launch()
        self.wait_ready()
        return time.perf_counter() - begin

    def wait_ready(self, patience: float = SILENT_PULLS) -> None:
        end = time.monotonic() + patience
        while True:
            with (
                contextlib.suppress(OSError, http.client.HTTPException, ValueError),
                contextlib.closing(Client(self.port, timeout=5.0)) as client,
            ):
                if client.get("/ready")[0] == 200:
                    return
            if self.process is not None and self.process.poll() is not None:
                raise RuntimeError(f"ended with {self.process.returncode}: {self.said()}")
            if time.monotonic() > end:
                raise TimeoutError(f"not ready after {patience} s: {self.said()}")
            time.sleep(0.01)

    def said(self) -> str:
        """The end of what the process wrote."""
        return self.errors.read_text(errors="replace")[-3000:] if self.errors.exists() else ""

    def client(self, timeout: float = 30.0) -> Client:
        """A client that is closed when the process ends."""
        made = Client(self.port, timeout)
        self.clients.append(made)
        return made

    def _ended(self) -> None:
        self.process = None
        while self.clients:
            self.clients.pop().close()

    def kill(self) -> None:
        """SIGKILL, at once."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        self._ended()

    def stop(self) -> int:
        """SIGTERM, and how it ended."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(SILENT_PULLS)
        self._ended()
        return code

    def verify(self) -> tuple[int, str]:
        """Exit status and words of `--verify`."""
        done = subprocess.run(
            [*self.words, "--verify"],
            capture_output=True,
            text=True,
            env=self.surroundings,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    def memory(self) -> int:
        """Bytes of it in memory now."""
        assert self.process is not None
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        raise RuntimeError("the kernel does not say how much memory the service takes")


def all_events(client: Client, name: str, after: int = 0) -> Iterator[dict[str, Any]]:
    """Every event of an experiment after this one, page by page."""
    while True:
        status, page = client.get(f"/v1/experiments/{name}/events?after={after}&limit=1000")
        assert status == 200, page
        if not page["events"]:
            return
        yield from page["events"]
        after = page["events"][-1]["seq"]
