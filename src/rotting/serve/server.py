"""The process: one server on one database, its log, and how it ends."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from rotting.serve.access import Gate
from rotting.serve.app import LOOPBACK, Limits, Service, app_of
from rotting.serve.config import Config, is_loopback
from rotting.serve.connection import Unusable
from rotting.serve.store import Store

_LOG = logging.getLogger("rotting.serve")
_HEADERS = 10.0  # seconds for the headers of a request to come
_IDLE = 75.0  # seconds that a connection may wait for its next request


class Patient(HttpToolsProtocol):
    """HTTP, with an end to patience: a client that never ends its headers is let go.

    The usual protocol waits for them for ever, so that a few bytes an hour hold a connection.
    """

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """A client came."""
        super().connection_made(transport)
        self._expect()

    def _expect(self) -> None:
        self._forget()
        self._late = self.loop.call_later(_HEADERS, self._let_go)

    def _forget(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _let_go(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()

    def on_message_begin(self) -> None:
        """The first byte of a request."""
        super().on_message_begin()
        self._expect()

    def on_headers_complete(self) -> None:
        """All headers are there; the body has a time of its own."""
        self._forget()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client went."""
        self._forget()
        super().connection_lost(exc)


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


@contextlib.contextmanager
def only_one(path: Path) -> Iterator[None]:
    """Refuse a second server on the same database."""
    file: IO[str] | None = None
    try:
        import fcntl
    except ImportError:  # Windows: SQLite's own locks have to do
        yield
        return
    try:
        file = path.with_name(path.name + ".lock").open("w")
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ValueError(f"data must not be served already, but {path} is") from None
    except OSError as error:
        raise ValueError(f"data must lie in a folder that can be written: {error}") from None
    try:
        yield
    finally:
        file.close()


def check(config: Config) -> list[str]:
    """What would keep a server from starting is a ValueError; else some lines about it."""
    lines = []
    path = config.path
    if not path.absolute().parent.is_dir():
        raise ValueError(f"data must lie in a folder that exists, got {path}")
    keys = 0
    if path.exists():
        try:
            store = Store(path, create=False)
        except Unusable as error:
            raise ValueError(f"data must be usable, got {path}: {error}") from None
        except Exception as error:  # of the database
            raise ValueError(f"data must be a database of rotting serve: {error}") from None
        try:
            keys = len(store.tokens())
            names = ", ".join(name for _, name in store.experiments()) or "none"
            lines.append(f"{path}: {store.last()} events; experiments: {names}; {keys} API keys")
        finally:
            store.close()
    else:
        lines.append(f"{path}: new")
    if not is_loopback(config.host) and not keys:
        raise ValueError(
            f"host must be 127.0.0.1 unless there are API keys, got {config.host}: make one with "
            f"rotting serve keys add --data {path} --name NAME --role admin"
        )
    return lines


def serve(config: Config, *, demo: bool = False, ready: Any = None) -> None:
    """Serve until somebody stops it."""
    check(config)
    with only_one(config.path):
        service = Service(
            config.path,
            keys_required=not is_loopback(config.host),
            hosts=LOOPBACK if is_loopback(config.host) else None,
            limits=Limits(config.body_limit, config.body_seconds, config.rate_limit),
            compiled=config.compiled,
        )
        app = app_of(service)
        made = uvicorn.Config(
            app,
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
            limit_concurrency=config.connections,
            backlog=2048,
        )
        server = uvicorn.Server(made)
        if demo:
            from rotting.serve.demo import begin

            begin(service)
        if ready is not None:
            ready(service, server)
        sys.setswitchinterval(0.001)  # a commit that is done should not wait for the event loop
        server.run()
        _LOG.info("stopped")


__all__ = ["Gate", "check", "serve", "set_up_logs", "time"]
