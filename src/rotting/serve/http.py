"""HTTP around the service: reading bodies with limits, answering, and headers that protect."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from rotting.serve.refusals import Refusal

Handler = Callable[[Request], Awaitable[Response]]
_JSON = b"application/json"
_DEEPEST = 64  # levels of JSON
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", PAGE_POLICY.encode()),
]


def answer(data: Any, status: int = 200) -> Response:
    """JSON."""
    made = Response(None, status)
    made.body = msgspec.json.encode(data)
    made.raw_headers = [
        (b"content-type", _JSON),
        (b"content-length", str(len(made.body)).encode()),
    ]
    return made


def refusal(why: Refusal) -> Response:
    """An answer that says no."""
    made = answer(why.as_data(), why.status)
    if why.status in (429, 503):
        made.headers["retry-after"] = "1"
    if why.status == 401:
        made.headers["www-authenticate"] = "Bearer"
    return made


async def body_of(request: Request, most: int, seconds: float) -> Any:
    """The JSON of a request: not too long, not too deep, and not too slow to come."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":  # a page of another site cannot send this without being asked
        raise Refusal("unsupported_media_type", "Content-Type must be application/json")
    length = request.headers.get("content-length", "0")
    if not length.isdigit() or int(length) > most:
        raise Refusal("too_large", f"a body must have at most {most} bytes, got {length[:20]}")
    parts, size = [], 0
    try:
        async with asyncio.timeout(seconds):
            async for part in request.stream():
                size += len(part)
                if size > most:
                    raise Refusal("too_large", f"a body must have at most {most} bytes, got more")
                parts.append(part)
    except TimeoutError:
        raise Refusal("timed_out", f"a body must come within {seconds:g} s") from None
    except ClientDisconnect:
        raise Refusal("bad_request", "the body ended too soon") from None
    data = parts[0] if len(parts) == 1 else b"".join(parts)
    _check_depth(data)
    try:
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Refusal("bad_request", f"the body must be JSON: {error}") from None


def _check_depth(data: bytes) -> None:
    """Refuse JSON that is nested too deeply, before a parser meets it."""
    if data.count(b"[") + data.count(b"{") <= _DEEPEST:
        return
    depth, text, escaped = 0, False, False
    for byte in data:
        if text:
            if escaped:
                escaped = False
            elif byte == 0x5C:
                escaped = True
            elif byte == 0x22:
                text = False
        elif byte == 0x22:
            text = True
        elif byte in (0x5B, 0x7B):
            depth += 1
            if depth > _DEEPEST:
                raise Refusal("bad_request", f"JSON must have at most {_DEEPEST} levels")
        elif byte in (0x5D, 0x7D):
            depth -= 1


def check_origin(request: Request, hosts: frozenset[str] | None) -> None:
    """Refuse what a page of another site sends, and names that were bent to this machine.

    `hosts` are the names by which the service may be called; None for any.
    """
    host = request.headers.get("host", "")
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
    if hosts is not None and name.strip("[]").lower() not in hosts:
        raise Refusal("forbidden", f"the service is not called {name[:100]!r} here")
    if request.method in ("GET", "HEAD"):
        return
    if request.headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        raise Refusal("forbidden", "requests of other sites' pages are not answered")
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != host:
        raise Refusal("forbidden", "requests of other sites' pages are not answered")


class Protected:
    """An ASGI application with headers that protect, and a word about every request."""

    def __init__(self, inner: Any, note: Callable[[Any, int, float], None]) -> None:
        self._inner, self._note = inner, note

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def send_more(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *_HEADERS]
            await send(message)

        try:
            await self._inner(scope, receive, send_more)
        finally:
            self._note(scope, status, time.perf_counter() - began)
