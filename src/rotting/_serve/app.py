"""The service as an ASGI application: routes of requests and the roles that may use them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

import rotting._serve as here
from rotting._provenance import VERSION
from rotting._serve import endpoints
from rotting._serve.access import Who
from rotting._serve.endpoints import Verb
from rotting._serve.errors import Refusal
from rotting._serve.http import (
    PROTECTING,
    Reply,
    Request,
    Stream,
    refusal,
    reply,
    send_reply,
    send_stream,
)
from rotting._serve.openapi import description
from rotting._serve.service import LOOPBACK, Limits, Service
from rotting._serve.sqlite import why as database_error

__all__ = ["LOOPBACK", "App", "Limits", "Service", "make_app"]

_LOG = logging.getLogger("rotting.serve")
_STATIC = Path(here.__file__).parent / "static"


# Verbs by method and name, with the roles that may use them; no role: any valid key.
_OF_ONE: dict[tuple[str, str], tuple[Verb, tuple[str, ...]]] = {
    ("POST", "decisions"): (endpoints.decisions, ("decide",)),
    ("POST", "rewards"): (endpoints.rewards, ("reward",)),
    ("POST", "shown"): (endpoints.shown, ("decide", "reward")),
    ("POST", "arms"): (endpoints.arms, ("admin",)),
    ("POST", "policy"): (endpoints.policy, ("admin",)),
    ("POST", "history"): (endpoints.history, ("admin",)),
    ("POST", "erase"): (endpoints.erase, ("admin",)),
    ("GET", "events"): (endpoints.events, ("read",)),
    ("GET", "export"): (endpoints.export, ("read",)),
    ("GET", ""): (endpoints.experiment, ("read",)),
}
_OTHERS: dict[tuple[str, str], tuple[Verb, tuple[str, ...]]] = {
    ("POST", "/v1/experiments"): (endpoints.create, ("admin",)),
    ("GET", "/v1/experiments"): (endpoints.experiments, ("read",)),
    ("GET", "/v1/audit"): (endpoints.audit, ("admin",)),
    ("GET", "/v1/status"): (endpoints.status, ()),
    ("GET", "/metrics"): (endpoints.metrics, ("read",)),
}
_ONES = {verb for _, verb in _OF_ONE}
_PLACES = {path for _, path in _OTHERS} | {"/health", "/ready", "/v1/openapi.json", "/"}


class App:
    """The ASGI application."""

    def __init__(self, service: Service) -> None:
        self.service = service
        # Starlette runs the lifespan and serves the page's files
        self.others = Starlette(
            routes=[Mount("/static", StaticFiles(directory=_STATIC, check_dir=False))],
            lifespan=self._life,
        )
        self._page: bytes | None = None

    @contextlib.asynccontextmanager
    async def _life(self, app: Starlette) -> AsyncIterator[None]:
        try:
            await self.service.journal.start()
        except Exception as error:
            reason = database_error(error) or (str(error) if isinstance(error, ValueError) else "")
            self.service.failed = reason or None
            raise
        self.service.warming.start()
        tasks = [asyncio.ensure_future(work()) for work in self.service.background]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await self.service.warming.close()
            await self.service.journal.close()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.others(scope, receive, send)
            return
        began = time.perf_counter()
        verb, made = await self._answer(scope, receive, send)
        if made is None:
            return
        # the client may have gone, for which servers raise different exceptions
        with contextlib.suppress(OSError, RuntimeError):
            if isinstance(made, Stream):
                await send_stream(send, made)
            else:
                await send_reply(send, made)
        self.service.metrics.note(verb, made.status, time.perf_counter() - began)

    async def _answer(
        self, scope: Any, receive: Any, send: Any
    ) -> tuple[str, Reply | Stream | None]:
        path, method = scope["path"], scope["method"]
        parts = path.split("/")
        if path.startswith("/v1/experiments/") and len(parts) in (4, 5) and parts[3]:
            verb = parts[4] if len(parts) == 5 else ""
            known = _OF_ONE.get((method, verb)) if len(parts) == 4 or verb else None
            name = verb or "experiment"
            if known is not None:
                return name, await self._respond(known, Request(scope, receive, parts[3]))
            if verb in _ONES and (verb or len(parts) == 4):
                return name, _wrong_method(_OF_ONE, verb)
            return "other", _NOTHING_HERE
        known = _OTHERS.get((method, path))
        if known is not None:
            return path.rpartition("/")[2], await self._respond(known, Request(scope, receive))
        if path.startswith("/static/") and method in ("GET", "HEAD"):
            await self._static(scope, receive, send)
            return "static", None
        if path not in _PLACES:
            return "other", _NOTHING_HERE
        if method not in ("GET", "HEAD"):
            return "other", _wrong_method(_OTHERS, path)
        return path.strip("/") or "page", self._open(path)

    async def _respond(
        self, known: tuple[Verb, tuple[str, ...]], request: Request
    ) -> Reply | Stream:
        service, (verb, roles) = self.service, known
        who: Who | None = None
        try:
            who = service.who(request)
            if roles and not who.may(*roles):
                raise Refusal("forbidden", f"this key may not do that: it needs {roles[0]}")
            return await verb(service, request, who)
        except Refusal as why:
            book = service.journal.book
            known_here = book is not None and request.name in book.experiments
            if (
                known_here
                and who is not None
                and who.sees(request.name)
                and why.status not in (403, 404)
            ):
                service.errors[request.name] = (time.time(), why.message, why.code)
            return refusal(why)
        except Exception as error:
            reason = database_error(error)
            if reason is not None:  # the database failed during a read
                return refusal(Refusal("unavailable", f"the database cannot be read now: {reason}"))
            _LOG.exception("a request could not be answered")
            return refusal(Refusal("internal", "the service made a mistake; its log says which"))

    def _open(self, path: str) -> Reply:
        """Answers that need no key."""
        reason = self.service.journal.reason
        if path == "/health":
            return reply({"alive": True})
        if path == "/ready":
            if reason is None:
                offset = self.service.journal.clock.offset
                beside = {"clock_offset": round(offset, 1)} if abs(offset) >= 1.0 else {}
                return reply({"ready": True, **beside})
            return refusal(Refusal("unavailable", f"not ready: {reason}"))
        if path == "/":
            if self._page is None:
                self._page = (_STATIC / "index.html").read_bytes()
            kind = (b"content-type", b"text/html; charset=utf-8")
            return Reply(200, self._page, (kind,), page=True)
        return reply(description(VERSION))

    async def _static(self, scope: Any, receive: Any, send: Any) -> None:
        async def send_protected(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *PROTECTING]
            await send(message)

        await self.others(scope, receive, send_protected)


_NOTHING_HERE = refusal(Refusal("not_found", "there is nothing at this address"))


def _wrong_method(verbs: Any, name: str) -> Reply:
    allowed = sorted({method for method, verb in verbs if verb == name}) or ["GET"]
    made = refusal(Refusal("method_not_allowed", f"{name or 'this'} takes {', '.join(allowed)}"))
    return made._replace(headers=(*made.headers, (b"allow", ", ".join(allowed).encode())))


def make_app(path: Path | str, **settings: Any) -> App:
    """The application for a database file, with the settings of `Service`."""
    return App(Service(Path(path), **settings))
