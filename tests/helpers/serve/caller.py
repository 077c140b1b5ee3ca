"""An application called in this process: its lifespan, and requests without a socket."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Protocol, TypeVar

Result = TypeVar("Result")
PATIENCE = 60.0


class Caller(Protocol):
    """The interface of a service for tests, wherever it runs."""

    def post(self, path: str, body: Any) -> tuple[int, Any]: ...

    def get(self, path: str) -> tuple[int, Any]: ...

    def tick(self) -> None: ...


class Called:
    """An ASGI application on its own event loop, from startup to shutdown."""

    def __init__(self, app: Any, tick: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self.app, self._tick = app, tick
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.told: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.heard: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.life: asyncio.Task[None] | None = None
        self._wait(self._begin())

    def _wait(self, work: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(PATIENCE)

    async def _say(self, what: str) -> None:
        await self.told.put({"type": f"lifespan.{what}"})
        heard = await self.heard.get()
        assert heard["type"] == f"lifespan.{what}.complete", heard

    async def _begin(self) -> None:
        scope = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}
        self.life = asyncio.create_task(self.app(scope, self.told.get, self.heard.put))
        await self._say("startup")

    def close(self) -> None:
        """Shut it down as a server does at SIGTERM."""
        self._wait(self._say("shutdown"))
        if self.life is not None:
            self._wait(asyncio.wait_for(self.life, PATIENCE))
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(PATIENCE)
        self.loop.close()

    def tick(self) -> None:
        """Let it do what it does now and then, for its clock has moved."""

        self._wait(self._tick())

    def request(self, method: str, path: str, data: bytes) -> tuple[int, bytes]:
        """One request; status and body."""
        return self._wait(self._request(method, path, data))

    async def _request(self, method: str, path: str, data: bytes) -> tuple[int, bytes]:
        where, _, query = path.partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": where,
            "raw_path": where.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [
                (b"host", b"127.0.0.1"),
                (b"content-type", b"application/json"),
                (b"content-length", str(len(data)).encode()),
            ],
            "client": ("127.0.0.1", 50000),
            "server": ("127.0.0.1", 8100),
            "state": {},
        }
        asked = [{"type": "http.request", "body": data, "more_body": False}]
        answered: list[dict[str, Any]] = []
        never = asyncio.Event()

        async def receive() -> dict[str, Any]:
            if asked:
                return asked.pop()
            await never.wait()  # the client stays until it has its answer
            raise AssertionError

        async def send(message: dict[str, Any]) -> None:
            answered.append(message)

        await self.app(scope, receive, send)
        body = b"".join(part.get("body", b"") for part in answered[1:])
        return int(answered[0]["status"]), body

    def post(self, path: str, body: Any) -> tuple[int, Any]:
        """POST this as JSON."""
        status, read = self.request("POST", path, json.dumps(body).encode())
        return status, json.loads(read)

    def get(self, path: str) -> tuple[int, Any]:
        """GET JSON."""
        status, read = self.request("GET", path, b"")
        return status, json.loads(read)
