"""HTTP with one deadline for a whole call and safe retries.

A call has a budget of seconds for all its tries and the pauses between them. Each try may take half
of what is left to connect, and as much again to wait for its answer, so a try that hangs leaves
time for another. httpx limits each read of the socket, which a server never exceeds that sends the
head of its answer byte by byte. Here every operation on a connection ends at the call's deadline,
except the DNS lookup, which takes the operating system's own time.
"""

from __future__ import annotations

import json
import math
import random
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from rotting._serve.client.answers import Away, Refused, refusal

try:
    import httpcore
    import httpx
except ImportError:
    raise ImportError("the client needs httpx: pip install 'rotting[serve]'") from None

MOST = 4 << 20  # bytes of an answer; a batch of the longest ids and keys has less
FIRST_WAIT, LONGEST_WAIT = 0.05, 2.0  # seconds: longest pause before the second try, and before any
AGAIN = (429, 503)
AGAIN_CODES = ("too_many_requests", "unavailable")
FAILURES = 5  # in a row, after which the breaker stops calls
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0  # seconds; the pause doubles with each failed probe
_EXTENSION = "rotting.deadline"


class Later(Exception):  # noqa: N818
    """A try failed and another may succeed, after `wait` seconds at the earliest."""

    def __init__(self, why: str, wait: float = 0.0) -> None:
        super().__init__(why)
        self.wait = wait


class Deadline:
    """The end of a call, on the given clock."""

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        self._clock, self._end = clock, clock() + seconds

    def left(self) -> float:
        """Seconds left; negative after the deadline."""
        return self._end - self._clock()


class Caller:
    """Requests to one service. Thread-safe.

    Tests replace `clock`, `sleep` and `uniform`.
    """

    def __init__(
        self, url: str, key: str | None, retries: int, transport: httpx.BaseTransport | None
    ) -> None:
        # no compression: a short answer could unpack into a very long one
        headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"  # kept here only, and never shown
        # no proxies or passwords from the environment: the key goes to `url` and nowhere else
        self._http = httpx.Client(
            base_url=url,
            headers=headers,
            transport=transport or Transport(url.startswith("https:")),
            trust_env=False,
            follow_redirects=False,
        )
        self._retries = retries
        self.clock: Callable[[], float] = time.monotonic
        self.sleep: Callable[[float], None] = time.sleep
        self.uniform: Callable[[float, float], float] = random.uniform

    def close(self) -> None:
        self._http.close()

    def check_open(self) -> None:
        """Raise if the client is closed."""
        if self._http.is_closed:
            raise RuntimeError("the client is closed: make another one")

    def deadline(self, seconds: float) -> Deadline:
        """The deadline this many seconds from now."""
        return Deadline(seconds, self.clock)

    def retried(
        self, work: Callable[[], Any], deadline: Deadline, retries: int | None = None
    ) -> Any:
        """The result of `work`, retried after a `Later` while there is time; else `Away`."""
        most = self._retries if retries is None else retries
        for tried in range(most + 1):
            try:
                return work()
            except Later as error:
                why = str(error)
                longest = min(LONGEST_WAIT, FIRST_WAIT * 2.0**tried)
                # "full jitter": clients that failed together do not all retry together
                pause = max(self.uniform(0.0, longest), error.wait)
            if tried == most or pause >= deadline.left():
                break
            self.sleep(pause)
        raise Away(f"no answer after {tried + 1} {'try' if tried == 0 else 'tries'}: {why}")

    def request(
        self,
        method: str,
        path: str,
        deadline: Deadline,
        body: bytes | None = None,
        *,
        query: dict[str, str | int] | None = None,
        retries: int | None = None,
        check: Callable[[Any], None] | None = None,
        most: int = MOST,
    ) -> Any:
        """The JSON of the answer, with retries; `check` raises `Later` to cause another."""

        def once() -> Any:
            with self.sent(method, path, deadline, body, query) as response:
                found = json_of(response, _whole(response, deadline, most))
            if check is not None:
                check(found)
            return found

        return self.retried(once, deadline, retries)

    @contextmanager
    def sent(
        self,
        method: str,
        path: str,
        deadline: Deadline,
        body: bytes | None = None,
        query: dict[str, str | int] | None = None,
    ) -> Iterator[httpx.Response]:
        """One try: an answer with status 2xx and its body unread, or an exception."""
        self.check_open()
        half = deadline.left() / 2
        if half <= 0:
            raise Later("the time is up")
        request = self._http.build_request(
            method,
            path,
            content=body,
            params=query,
            headers=None if body is None else {"Content-Type": "application/json"},
            timeout=httpx.Timeout(half),
            extensions={_EXTENSION: deadline},
        )
        try:
            response = self._http.send(request, stream=True)
            try:
                if not response.is_success:
                    raise _failure(response, _whole(response, deadline, MOST))
                yield response
            finally:
                response.close()
        except httpx.TimeoutException as error:
            raise Later(f"{_word(error)} after {half:.3g} s") from None
        except httpx.TransportError as error:
            raise Later(f"{_word(error)}: {error}" if str(error) else _word(error)) from None
        except httpx.DecodingError as error:
            raise Away(f"the answer cannot be read: {error}") from None


def json_of(response: httpx.Response, body: bytes) -> Any:
    """The JSON of a 2xx answer; `Away` if it is no JSON, which some other server must have sent."""
    try:
        return json.loads(body)
    except RecursionError:
        raise Away(f"status {response.status_code}, but the JSON is nested too deeply") from None
    except ValueError:
        kind = response.headers.get("content-type", "no type")[:80]
        raise Away(f"status {response.status_code}, but no JSON ({kind!r})") from None


def _whole(response: httpx.Response, deadline: Deadline, most: int) -> bytes:
    """The body; `Away` if it has more than `most` bytes, `Later` after the deadline."""
    parts, size = [], 0
    for part in response.iter_bytes():
        parts.append(part)
        size += len(part)
        if size > most:
            raise Away(f"the answer has more than {most} bytes")
        if deadline.left() <= 0:
            raise Later("the answer was not complete in time")
    return b"".join(parts)


def _failure(response: httpx.Response, body: bytes) -> Exception:
    """The exception for an answer with a status other than 2xx."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        data = None
    status = response.status_code
    found = refusal(data.get("error") if isinstance(data, dict) else None, status)
    words = f"status {status}" if found is None else str(found)
    if status in AGAIN:
        return Later(words, _retry_after(response))
    if status < 500 and found is not None:
        return found
    if status in (401, 403):
        return Refused(f"status_{status}", "refused, without a reason", None, status)
    return Away(words)  # not an answer of the service, but perhaps of a proxy


def _retry_after(response: httpx.Response) -> float:
    """The seconds in Retry-After; 0 if there is none, or a date."""
    try:
        wait = float(response.headers.get("retry-after", "0"))
    except ValueError:
        return 0.0
    return wait if math.isfinite(wait) and wait > 0 else 0.0


def _word(error: Exception) -> str:
    return type(error).__name__


# ------------------------------------------------------------------------- connections


class _Limits(threading.local):
    """The deadline of this thread's current call."""

    deadline: Deadline | None = None

    def least(self, timeout: float | None, error: type[Exception]) -> float | None:
        """The seconds that an operation may take; raises `error` after the deadline."""
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
    """A pool of connections in which every operation ends at its call's deadline."""

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
        """Send a request and read the head of its answer; the body is read by the caller."""
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
        self._limits.deadline = request.extensions.get(_EXTENSION)
        try:
            answer = self._pool.handle_request(made)
        except Exception as error:
            raise _as_httpx(error) from error
        finally:
            self._limits.deadline = None
        return httpx.Response(
            answer.status,
            headers=answer.headers,
            stream=_Body(answer, self._limits, request.extensions.get(_EXTENSION)),
            extensions=answer.extensions,
        )

    def close(self) -> None:
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
    """The httpx exception with the name of this httpcore one."""
    kind = getattr(httpx, type(error).__name__, None)
    return error if kind is None else kind(str(error))


# --------------------------------------------------------------------- circuit breaker


class Breaker:
    """A circuit breaker: after `FAILURES` failures in a row it admits one probe after each pause.

    Call `enter` before a call and `leave` after it, with the value that `enter` returned.
    Thread-safe.

    >>> now = 0.0
    >>> breaker = Breaker(clock=lambda: now)
    >>> for _ in range(5):
    ...     breaker.leave(breaker.enter(), ok=False)
    >>> breaker.enter()
    'closed to calls'
    >>> now = 1.0
    >>> breaker.enter(), breaker.enter()
    ('probe', 'closed to calls')
    """

    CALL, PROBE, STOP = "call", "probe", "closed to calls"

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._pause = FIRST_PAUSE
        self._until: float | None = None  # time of the next probe; None while all calls may pass
        self._probing = False

    def enter(self) -> str:
        """CALL if the call may be made, PROBE if it is the one probe, STOP if it must not."""
        with self._lock:
            if self._until is None:
                return self.CALL
            if self._probing or self.clock() < self._until:
                return self.STOP
            self._probing = True
            return self.PROBE

    def leave(self, entered: str, ok: bool | None) -> None:
        """Record whether the service answered; None if the call was interrupted."""
        with self._lock:
            if entered == self.PROBE:
                self._probing = False
            if ok is None:
                return
            if ok:
                self._failures, self._pause, self._until = 0, FIRST_PAUSE, None
                return
            self._failures += 1
            if entered == self.PROBE:
                self._pause = min(2 * self._pause, LONGEST_PAUSE)
                self._until = self.clock() + self._pause
            elif self._until is None and self._failures >= FAILURES:
                self._until = self.clock() + self._pause
