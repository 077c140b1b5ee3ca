"""HTTP by httpcore, with one deadline for all of a call.

httpx has a time limit for each reading of the socket: a server that sends the head of an answer
byte by byte stays within it for ever. Here every operation of a connection ends at the call's
deadline, which the request carries in its extensions. Looking up the name of a host is the one
thing that takes the operating system's own time.
"""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import httpcore
import httpx

if TYPE_CHECKING:
    from rotting.serve.client.retrying import Deadline

EXTENSION = "rotting.deadline"


class _Limits(threading.local):
    """The deadline of the call that this thread is in."""

    deadline: Deadline | None = None

    def least(self, timeout: float | None, error: type[Exception]) -> float | None:
        """The seconds that an operation may take."""
        if self.deadline is None:
            return timeout
        left = self.deadline.left()
        if left <= 0.0:
            raise error("the time is up")
        return left if timeout is None else min(timeout, left)


class _Stream(httpcore.NetworkStream):
    def __init__(self, inner: httpcore.NetworkStream, limits: _Limits) -> None:
        self._inner, self._limits = inner, limits

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, self._limits.least(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, self._limits.least(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        left = self._limits.least(timeout, httpcore.ConnectTimeout)
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, left), self._limits)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


class _Backend(httpcore.NetworkBackend):
    def __init__(self, limits: _Limits) -> None:
        self._inner, self._limits = httpcore.SyncBackend(), limits

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        left = self._limits.least(timeout, httpcore.ConnectTimeout)
        made = self._inner.connect_tcp(host, port, left, local_address, socket_options)
        return _Stream(made, self._limits)


class Transport(httpx.BaseTransport):
    """Connections that are kept open, each call with a deadline of its own."""

    def __init__(self, secure: bool) -> None:
        self._limits = _Limits()
        context = httpx.create_ssl_context(verify=True, trust_env=False) if secure else None
        self._pool = httpcore.ConnectionPool(
            ssl_context=context,
            max_connections=100,
            max_keepalive_connections=20,
            keepalive_expiry=5.0,
            network_backend=_Backend(self._limits),
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; the head of its answer is there, the body is still to be read."""
        assert isinstance(request.stream, httpx.SyncByteStream)
        url = request.url
        made = httpcore.Request(
            request.method,
            httpcore.URL(
                scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
            ),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        self._limits.deadline = request.extensions.get(EXTENSION)
        try:
            answer = self._pool.handle_request(made)
        except Exception as error:
            raise _as_httpx(error) from error
        finally:
            self._limits.deadline = None
        return httpx.Response(
            answer.status,
            headers=answer.headers,
            stream=_Body(answer, self._limits, request.extensions.get(EXTENSION)),
            extensions=answer.extensions,
        )

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()


class _Body(httpx.SyncByteStream):
    def __init__(
        self, answer: httpcore.Response, limits: _Limits, deadline: Deadline | None
    ) -> None:
        self._answer, self._limits, self._deadline = answer, limits, deadline

    def __iter__(self) -> Iterator[bytes]:
        parts = self._answer.iter_stream()
        while True:
            self._limits.deadline = self._deadline
            try:
                part = next(parts, None)
            except Exception as error:
                raise _as_httpx(error) from error
            finally:
                self._limits.deadline = None
            if part is None:
                return
            yield part

    def close(self) -> None:
        self._answer.close()


def _as_httpx(error: Exception) -> Exception:
    """An error of httpcore as the one of the same name in httpx."""
    kind = getattr(httpx, type(error).__name__, None)
    return error if kind is None else kind(str(error))
