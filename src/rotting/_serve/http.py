"""HTTP around the service: requests with limits, answers, and security headers.

Endpoints use ASGI directly, since a framework's request and response objects would take longer than
a decision does.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import msgspec

from rotting._serve.errors import Refusal, bad

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
# for JSON and files: no type sniffing, no caching, no framing
_DATA = [
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
# for the page and its files
PROTECTING = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", PAGE_POLICY.encode()),
]
_JSON = (b"content-type", b"application/json")
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode
_SAME_SITE = (b"same-origin", b"none")


class Request:
    """A request."""

    __slots__ = ("_receive", "headers", "method", "name", "scope")

    def __init__(self, scope: Any, receive: Any, name: str = "") -> None:
        self.scope, self._receive, self.name = scope, receive, name
        self.method: str = scope["method"]
        self.headers: dict[bytes, bytes] = dict(scope["headers"])

    @property
    def address(self) -> str:
        """The client's IP address."""
        client = self.scope.get("client")
        return client[0] if client else ""

    def parameters(self) -> dict[str, list[str]]:
        """All query parameters."""
        text = self.scope["query_string"].decode("latin-1")
        try:
            return parse_qs(text, keep_blank_values=True, max_num_fields=50)
        except ValueError:
            raise Refusal("bad_request", "an address has at most 50 parameters") from None

    def only(self, *names: str) -> None:
        """Refuse query parameters other than these, and repeated ones."""
        for name, values in self.parameters().items():
            if name not in names:
                raise bad(name[:50], f"parameters must be of {', '.join(names)}, got {name[:50]!r}")
            if len(values) > 1:
                raise bad(name, f"{name} must be given once")

    def query(self, name: str, default: str) -> str:
        """A query parameter."""
        return self.parameters().get(name, [default])[-1]

    async def body(self, most: int) -> bytes:
        """The body, of at most `most` bytes; `server` limits the time."""
        headers = self.headers
        kind = headers.get(b"content-type", b"")
        if kind != b"application/json" and _plain_kind(kind) != b"application/json":
            # browsers send JSON across sites only after a preflight, which fails here
            raise Refusal("unsupported_media_type", "Content-Type must be application/json")
        length = headers.get(b"content-length", b"0")
        if len(length) > 15 or not length.isdigit() or int(length) > most:
            raise Refusal("too_large", f"a body must have at most {most} bytes")
        message = await self._receive()
        data: bytes = message.get("body", b"")
        parts, size = [data], len(data)
        while message.get("more_body"):
            if size > most:
                break
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise Refusal("bad_request", "the body ended too soon")
            part = message.get("body", b"")
            size += len(part)
            parts.append(part)
        if size > most:
            raise Refusal("too_large", f"a body must have at most {most} bytes")
        return data if len(parts) == 1 else b"".join(parts)


def _plain_kind(kind: bytes) -> bytes:
    return kind.partition(b";")[0].strip().lower()


class Reply(NamedTuple):
    """An answer."""

    status: int
    body: bytes
    headers: tuple[tuple[bytes, bytes], ...] = (_JSON,)
    page: bool = False  # whether it is the dashboard


class Stream(NamedTuple):
    """An answer in pieces, each made when the one before it was sent."""

    first: bytes
    pieces: Iterator[bytes]
    headers: tuple[tuple[bytes, bytes], ...]
    status: int = 200


def reply(data: Any, status: int = 200) -> Reply:
    """An answer in JSON."""
    return Reply(status, _encode(data) + b"\n")


def refusal(why: Refusal) -> Reply:
    """A refusal as an answer."""
    more: tuple[tuple[bytes, bytes], ...] = ()
    if why.status in (429, 503):
        more = ((b"retry-after", b"1"),)
    elif why.status == 401:
        more = ((b"www-authenticate", b"Bearer"),)
    return Reply(why.status, _encode(why.as_data()) + b"\n", (_JSON, *more))


async def send_reply(send: Any, made: Reply) -> None:
    length = (b"content-length", b"%d" % len(made.body))
    headers = [*made.headers, length, *(PROTECTING if made.page else _DATA)]
    await send({"type": "http.response.start", "status": made.status, "headers": headers})
    await send({"type": "http.response.body", "body": made.body})


async def send_stream(send: Any, made: Stream) -> None:
    """Send an answer in pieces, made in a thread so that other requests go on."""
    headers = [*made.headers, *_DATA]
    await send({"type": "http.response.start", "status": made.status, "headers": headers})
    piece = made.first
    loop = asyncio.get_running_loop()
    while piece:
        await send({"type": "http.response.body", "body": piece, "more_body": True})
        piece = await loop.run_in_executor(None, next, made.pieces, b"")
    await send({"type": "http.response.body", "body": b""})


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        name = next(name for name in names if names.count(name) > 1)
        raise Refusal("bad_request", f"{name[:50]!r} is given twice in one object", name)
    return found


def check_unique(data: bytes) -> None:
    """Refuse JSON in which an object has a name twice, since either value could be meant."""
    try:
        json.loads(data, object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        return  # the decoder reports it


def read_json(data: bytes) -> Any:
    """Plain data from JSON, without NaN and with limited nesting."""
    check_unique(data)
    try:
        return _decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Refusal("bad_request", f"the body must be JSON: {error}") from None


def check_origin(request: Request, hosts: frozenset[str] | None) -> None:
    """Refuse requests of other sites' pages, and foreign host names (DNS rebinding).

    `hosts` are the names by which the service may be called; None for any.
    """
    headers = request.headers
    if hosts is not None:
        host = headers.get(b"host", b"").decode("latin-1")
        name, _, port = host.rpartition(":")
        name = name if port.isdigit() and name else host
        if name.strip("[]").lower() not in hosts:
            raise Refusal("forbidden", f"the service is not called {name[:100]!r} here")
    if request.method == "POST":
        if headers.get(b"sec-fetch-site", b"none") not in _SAME_SITE:
            raise Refusal("forbidden", "requests of other sites' pages are not answered")
        origin = headers.get(b"origin")
        if origin is not None:
            try:
                place = urlsplit(origin.decode("latin-1")).netloc
            except ValueError:  # not a URL
                place = ""
            if place != headers.get(b"host", b"").decode("latin-1"):
                raise Refusal("forbidden", "requests of other sites' pages are not answered")
