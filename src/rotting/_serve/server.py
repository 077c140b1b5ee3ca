"""The process: one server on one database, its logging and its shutdown."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import json
import logging
import os
import signal
import socket
import struct
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from rotting._serve.app import LOOPBACK, App, Limits, Service
from rotting._serve.config import Config, is_loopback
from rotting._serve.database import Unusable
from rotting._serve.lease import is_held, lease, served
from rotting._serve.mark import WAY_ON, loss, read_mark
from rotting._serve.store import Store

_LOG = logging.getLogger("rotting.serve")
_HEAD = 1 << 16  # bytes of all headers together
_HEADERS = 100
_READ = 1 << 18  # bytes of one read of the socket
_IDLE = 75.0  # seconds that a connection may wait for its next request
_AHEAD = 16  # requests that a connection may send before it reads the answers
_PIECE = 4096  # bytes parsed at a time


class BoundedHttp(HttpToolsProtocol):
    """Uvicorn's HTTP protocol with limits that it lacks.

    Uvicorn's protocol waits for ever for the end of a request, so a few bytes an hour hold a
    connection, and it accepts endless headers. It also continues to read from a client that sends
    requests and reads no answers. Here, bytes after too many requests are kept unparsed, at most
    one read of the socket, and no more is read until answers were taken. `Server` checks all
    connections every second, and closes those that send or read too slowly.
    """

    since: float | None = None  # start of the request that is being received
    stuck: float | None = None  # time since which the client reads nothing
    used = 0.0  # time of the last sign of the client
    most_bytes = 1 << 20  # of a body
    most_connections = 1000  # at once
    served = False  # whether it sent a whole request
    _head = True  # whether headers are expected
    _bytes = 0  # of the request so far
    _rest = b""  # received, to be parsed when there is room for more requests

    def connection_made(self, transport: Any) -> None:
        """A new connection; beyond the limit the idle one is closed that was unused for longest."""
        super().connection_made(transport)
        self.since = self.used = time.monotonic()
        if len(self.connections) > self.most_connections:
            idle = [one for one in self.connections if isinstance(one, BoundedHttp) and one.is_idle]
            silent = min(idle, key=lambda one: (one.served, one.used), default=self)
            silent.transport.close()
            self.connections.discard(silent)

    @property
    def is_idle(self) -> bool:
        """Whether no answer is due: there is no request, or only part of one."""
        return self.since is not None or self.cycle is None or self.cycle.response_complete

    def data_received(self, data: bytes) -> None:
        self._rest = self._rest + data if self._rest else data
        if len(data) > _PIECE or self.pipeline or self._rest is not data:
            self._parse()
            return
        self._rest = b""  # the usual case: one whole request, and none before it
        self._take(data)

    def _take(self, piece: bytes) -> None:
        """Parse a piece, or close the connection if the request is too long."""
        self._bytes += len(piece)
        if self._bytes > _HEAD + _READ + (0 if self._head else 2 * self.most_bytes):
            self.transport.close()
        else:
            super().data_received(piece)

    def _parse(self) -> None:
        """Parse received bytes, until too many requests wait."""
        while self._rest and len(self.pipeline) < _AHEAD and not self.transport.is_closing():
            # bodies are parsed whole; heads in pieces, since a piece may hold many requests
            size = _PIECE if self._head else len(self._rest)
            piece, self._rest = self._rest[:size], self._rest[size:]
            self._take(piece)
        if self._rest:
            self.flow.pause_reading()

    def on_response_complete(self) -> None:
        """Continue with the next request, and read more if there is room."""
        super().on_response_complete()  # resumes reading in any case
        if self.transport.is_closing():
            self._rest = b""
            return
        if self.pipeline or self._rest:
            self.flow.pause_reading()
            asyncio.get_running_loop().call_soon(self._go_on)

    def _go_on(self) -> None:
        if self.transport.is_closing() or self.parser is None:
            return
        self._parse()
        if not self._rest and len(self.pipeline) < _AHEAD:
            self.flow.resume_reading()

    def connection_lost(self, error: Exception | None) -> None:
        """Discard the client's requests."""
        self._rest = b""
        super().connection_lost(error)
        self.pipeline.clear()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.since = self.used = time.monotonic()

    def on_headers_complete(self) -> None:
        """Check the headers of a request."""
        self._head = False
        names = [name for name, _ in self.headers]
        if len(names) > _HEADERS:
            self.transport.close()
            return
        if names.count(b"host") > 1:
            self.send_400_response("A request must have one Host header.")
            return
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self.since, self._head, self._bytes, self.served = None, True, 0, True
        super().on_message_complete()


class Server(uvicorn.Server):
    """A uvicorn server that exits normally after a signal, which the original raises again."""

    seconds = 10.0  # to receive a request
    ready: Callable[[str], None] | None = None  # called with the address

    async def startup(self, sockets: Any = None) -> None:
        """Begin to listen, and report the address."""
        await super().startup(sockets)
        if self.started:
            host, port = self.servers[0].sockets[0].getsockname()[:2]
            address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
            if self.ready is not None:
                self.ready(address)
            else:
                _LOG.info("listening on %s", address)

    async def on_tick(self, counter: int) -> bool:
        """Close slow connections; called ten times a second."""
        if counter % 10 == 0:
            now = time.monotonic()
            for one in list(self.server_state.connections):
                if not isinstance(one, BoundedHttp):
                    continue
                if one.since is not None and now - one.since > self.seconds:
                    one.transport.close()
                if not one.flow.write_paused:
                    one.stuck = None
                elif one.stuck is None:
                    one.stuck = now
                elif now - one.stuck > self.seconds:
                    _drop(one.transport)
        return await super().on_tick(counter)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at the first signal, at once at the second."""
        before = {
            number: signal.signal(number, self.handle_exit)
            for number in (signal.SIGINT, signal.SIGTERM)
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _drop(transport: Any) -> None:
    """Reset a connection at once, discarding what the client did not read."""
    made = transport.get_extra_info("socket")
    with contextlib.suppress(OSError):
        made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()


def _is_news(record: logging.LogRecord) -> bool:
    """Filter out clients that leave before their answer, and the traceback of a failed start.

    `serve` reports in one line why a start failed.
    """
    message = record.getMessage()
    failed = record.name == "uvicorn.error" and (
        message.startswith("Traceback") or "startup failed" in message
    )
    return "without completing response" not in message and not failed


class JsonLines(logging.Formatter):
    """A line of JSON for each record."""

    def format(self, record: logging.LogRecord) -> str:
        data: dict[str, Any] = {
            "at": round(record.created, 3),
            "level": record.levelname.lower(),
            "from": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            data["trace"] = self.formatException(record.exc_info)
        return json.dumps(data, ensure_ascii=True)


def set_up_logs(form: str, verbose: bool) -> None:
    """Log to standard error, one line for each record."""
    handler = logging.StreamHandler(sys.stderr)
    plain = logging.Formatter("%(asctime)s %(levelname)s %(message)s")
    handler.addFilter(_is_news)
    handler.setFormatter(JsonLines() if form == "json" else plain)
    for name, level in (
        ("rotting", logging.INFO),
        ("uvicorn", logging.WARNING),
        ("rotting.serve.requests", logging.DEBUG if verbose else logging.WARNING),
    ):
        logger = logging.getLogger(name)
        logger.setLevel(level)
        if "." not in name:
            logger.handlers[:] = [handler]
            logger.propagate = False


def check(config: Config) -> list[str]:
    """Lines on what a server would serve; ValueError if it could not start."""
    lines = []
    path = config.path
    if not path.absolute().parent.is_dir():
        raise ValueError(f"data must lie in a folder that exists, got {path}")
    keys = 0
    mark = None if config.accept_loss else read_mark(path)
    if path.exists():
        try:
            store = Store.open(path, create=False)
        except Unusable as error:
            raise ValueError(f"data must be usable, got {path}: {error}") from None
        except ValueError:
            raise
        except Exception as error:  # of the database
            raise ValueError(f"data must be a database of rotting serve: {error}") from None
        try:
            lost = None if mark is None else loss(store, mark)
            if lost is not None:
                raise ValueError(f"{lost}; {WAY_ON}")
            keys = len(store.tokens())
            names = ", ".join(name for _, name in store.experiments()) or "none"
            lines.append(f"{path}: {store.last()} events; experiments: {names}; {keys} API keys")
        finally:
            store.close()
    elif mark is not None and mark.seq:
        raise ValueError(
            f"{path} is not there, but event {mark.seq} of it was acknowledged; {WAY_ON}"
        )
    else:
        lines.append(f"{path}: new")
    if not is_loopback(config.host) and not keys:
        raise ValueError(
            f"host must be 127.0.0.1 unless there are API keys, got {config.host}: make one with "
            f"rotting serve keys add --data {path} --name NAME --role admin"
        )
    if is_held(path):
        raise served(path)
    _check_address(config.host, config.port)
    return lines


def _check_address(host: str, port: int) -> None:
    """Refuse an address that cannot be bound now."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError:
        raise ValueError(f"host must be an address of this machine, got {host!r}") from None
    for family, kind, protocol, _, address in dict.fromkeys(found):
        with socket.socket(family, kind, protocol) as made:
            if os.name == "posix":
                made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            try:
                made.bind(address)
            except OSError as error:
                raise ValueError(_cannot_listen(host, port, error)) from None


def _cannot_listen(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port must be free, but {port} is in use on {host}: give another one by --port"
    if error.errno == errno.EADDRNOTAVAIL:
        return f"host must be an address of this machine, got {host!r}"
    return f"port must be one to listen on, got {port} on {host}: {error.strerror}"


def serve(
    config: Config, *, demo: bool = False, ready: Callable[[str], None] | None = None
) -> None:
    """Serve until a signal stops it."""
    check(config)
    with lease(config.path):
        service = Service(
            config.path,
            keys_required=not is_loopback(config.host),
            hosts=LOOPBACK | {config.host} if is_loopback(config.host) else None,
            limits=Limits(config.body_limit, config.rate_limit, config.waiting_limit),
            compiled=config.compiled,
            accept_loss=config.accept_loss,
        )
        made = uvicorn.Config(
            App(service),
            host=config.host,
            port=config.port,
            http=BoundedHttp,
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=int(_IDLE),
            timeout_graceful_shutdown=int(config.grace) or 1,
            backlog=2048,
        )
        BoundedHttp.most_bytes, BoundedHttp.most_connections = config.body_limit, config.connections
        server = Server(made)
        server.seconds = config.body_seconds
        if demo:
            from rotting._serve.demo import begin

            begin(service)
        server.ready = ready
        # waiting decisions live long and have no cycles: frequent collections find nothing
        gc.set_threshold(50_000, 20, 50)
        # the service ends windows by its own events, later than the player expects
        warnings.filterwarnings("ignore", message=".*decisions have a reward, and all rewards are")
        logging.captureWarnings(True)
        sys.setswitchinterval(0.001)  # a finished commit should not wait for the event loop
        with contextlib.suppress(SystemExit):  # raised if it cannot start
            server.run()
        if service.failed is not None:
            raise ValueError(f"data cannot be served: {service.failed}")
        _LOG.info("stopped")
