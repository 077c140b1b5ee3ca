"""Connections by hand, for requests that no proper client sends."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Iterable
from typing import Any


class Raw:
    """A TCP connection to a service."""

    def __init__(self, port: int, timeout: float = 10.0) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout)

    def __enter__(self) -> Raw:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, data: bytes) -> bool:
        """Send it; False if the other side has hung up."""
        try:
            self.socket.sendall(data)
        except (ConnectionError, TimeoutError):
            return False
        return True

    def answer(self) -> bytes:
        """What comes until a whole answer is there, or nothing more comes; perhaps nothing."""
        got = b""
        with contextlib.suppress(ConnectionError, TimeoutError):
            while True:
                part = self.socket.recv(65536)
                if not part:
                    break
                got += part
                if whole(got):
                    break
        return got

    def hung_up(self, patience: float) -> bool:
        """Whether the other side ends the connection within the given seconds."""
        self.socket.settimeout(patience)
        try:
            while self.socket.recv(65536):
                pass
        except TimeoutError:
            return False
        except ConnectionError:
            return True
        return True


def whole(got: bytes) -> bool:
    """Whether this is a whole answer with a Content-Length."""
    head, found, body = got.partition(b"\r\n\r\n")
    if not found:
        return False
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return len(body) >= int(line.split(b":")[1])
    return False


def status(got: bytes) -> int | None:
    """The status of an answer; None if there is none."""
    return int(got.split(b" ", 2)[1]) if got.startswith(b"HTTP/1.1 ") else None


def error(got: bytes) -> Any:
    """The error in an answer."""
    return json.loads(got.partition(b"\r\n\r\n")[2])["error"]


def head(path: str, headers: Iterable[str] = (), method: str = "POST") -> bytes:
    """The head of a request with JSON."""
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json"]
    return "\r\n".join([*lines, *headers, "", ""]).encode()


def post(port: int, path: str, body: bytes, *headers: str) -> bytes:
    """One POST with this body, as bytes; the answer."""
    with Raw(port) as raw:
        raw.send(head(path, [f"Content-Length: {len(body)}", "Connection: close", *headers]) + body)
        return raw.answer()
