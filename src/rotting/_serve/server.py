"""The process: one server on one database, its log, and how it ends."""

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
_READ = 1 << 18  # bytes that come at once
_IDLE = 75.0  # seconds that a connection may wait for its next request
_AHEAD = 16  # requests that one connection may send before it reads the answers
_PIECE = 4096  # bytes that are parsed at a time


class Patient(HttpToolsProtocol):
    """HTTP with bounds that the usual protocol does not have.

    That one waits for ever for a request to end, so that a few bytes an hour hold a connection, and
    takes headers without end. It also goes on reading a connection that sends requests and reads no
    answers; here what came with too many requests is kept unparsed, at most one reading of the
    socket, and nothing more is read until answers were taken. `Server` looks at all connections
    every second and lets go those that are slow to ask, or slow to read what they asked for.
    """

    since: float | None = None  # when the request began that is on its way
    stuck: float | None = None  # since when the client reads nothing
    used = 0.0  # when it was last heard of
    most = 1 << 20  # bytes of a body
    crowd = 1000  # connections at once
    served = False  # whether it ever asked something
    _head = True  # whether headers are expected
    _bytes = 0  # of the request so far
    _rest = b""  # what came, and is parsed when there is room for more requests

    def connection_made(self, transport: Any) -> None:
        """A client came; if there are too many, one goes that asked nothing, or long ago."""
        super().connection_made(transport)
        self.since = self.used = time.monotonic()
        if len(self.connections) > self.crowd:
            idle = [one for one in self.connections if isinstance(one, Patient) and one.is_idle]
            silent = min(idle, key=lambda one: (one.served, one.used), default=self)
            silent.transport.close()
            self.connections.discard(silent)

    @property
    def is_idle(self) -> bool:
        """Whether nobody waits for an answer: no request is there, or not all of one."""
        return self.since is not None or self.cycle is None or self.cycle.response_complete

    def data_received(self, data: bytes) -> None:
        """Some bytes came."""
        self._rest = self._rest + data if self._rest else data
        if len(data) > _PIECE or self.pipeline or self._rest is not data:
            self._parse()
            return
        self._rest = b""  # the usual case: all of one request, and none before it
        self._take(data)

    def _take(self, piece: bytes) -> None:
        """Parse a piece, if the request has not become too long."""
        self._bytes += len(piece)
        if self._bytes > _HEAD + _READ + (0 if self._head else 2 * self.most):
            self.transport.close()
        else:
            super().data_received(piece)

    def _parse(self) -> None:
        """Parse what came, as long as not too many requests wait for their turn."""
        while self._rest and len(self.pipeline) < _AHEAD and not self.transport.is_closing():
            # a body is parsed as it comes; heads in pieces, for a piece may hold many requests
            size = _PIECE if self._head else len(self._rest)
            piece, self._rest = self._rest[:size], self._rest[size:]
            self._take(piece)
        if self._rest:
            self.flow.pause_reading()

    def on_response_complete(self) -> None:
        """An answer is on its way: the next request has its turn, and perhaps more are read."""
        super().on_response_complete()  # which reads on, whoever waits
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
        """The client has gone: nothing that it asked is kept."""
        self._rest = b""
        super().connection_lost(error)
        self.pipeline.clear()

    def on_message_begin(self) -> None:
        """The first byte of a request."""
        super().on_message_begin()
        self.since = self.used = time.monotonic()

    def on_headers_complete(self) -> None:
        """All headers are there."""
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
        """All of a request is there."""
        self.since, self._head, self._bytes, self.served = None, True, 0, True
        super().on_message_complete()


class Server(uvicorn.Server):
    """A server that ends well when it is told to: the usual one dies of the signal afterwards."""

    seconds = 10.0  # for a request to come
    ready: Callable[[str], None] | None = None  # is told where it listens

    async def startup(self, sockets: Any = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        if self.started:
            host, port = self.servers[0].sockets[0].getsockname()[:2]
            address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
            if self.ready is not None:
                self.ready(address)
            else:
                _LOG.info("listening on %s", address)

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second."""
        if counter % 10 == 0:
            now = time.monotonic()
            for one in list(self.server_state.connections):
                if not isinstance(one, Patient):
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
    """End a connection at once: what the client does not read is not kept for it."""
    made = transport.get_extra_info("socket")
    with contextlib.suppress(OSError):
        made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()


def _is_news(record: logging.LogRecord) -> bool:
    """Clients that leave before they are answered are none, nor is the trace of a failed start.

    Why it failed is said in one line (`serve`).
    """
    message = record.getMessage()
    failed = record.name == "uvicorn.error" and (
        message.startswith("Traceback") or "startup failed" in message
    )
    return "without completing response" not in message and not failed


class JsonLines(logging.Formatter):
    """A line of JSON for each record."""

    def format(self, record: logging.LogRecord) -> str:
        """One record."""
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
    """What is said goes to standard error, a line each."""
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
    """What would keep a server from starting is a ValueError; else some lines about it."""
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
    """Refuse an address at which nobody can listen now: it is tried, and let go."""
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
    """Serve until somebody stops it."""
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
            http=Patient,
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
        Patient.most, Patient.crowd = config.body_limit, config.connections
        server = Server(made)
        server.seconds = config.body_seconds
        if demo:
            from rotting._serve.demo import begin

            begin(service)
        server.ready = ready
        # what waits lives long, and has no cycles: looking through it often would be in vain
        gc.set_threshold(50_000, 20, 50)
        # windows end by events of ours, later than the player thinks
        warnings.filterwarnings("ignore", message=".*decisions have a reward, and all rewards are")
        logging.captureWarnings(True)
        sys.setswitchinterval(0.001)  # a commit that is done should not wait for the event loop
        with contextlib.suppress(SystemExit):  # which it raises where it cannot begin
            server.run()
        if service.failed is not None:
            raise ValueError(f"data cannot be served: {service.failed}")
        _LOG.info("stopped")
