"""A stand-in for `rotting serve`: the naive model behind HTTP, its requests kept in SQLite.

    python -m helpers.serve.standin --data FILE --port N [--broken lazy | twice]

The harnesses are tried against it, and against its broken forms, which they must notice: `lazy`
answers before it commits, `twice` counts a repeated reward again.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import sqlite3
import sys
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from helpers.serve.model import Model, Reply

Clock = Callable[[], float]
LAZY = 40  # requests to a commit, where it is lazy


class Shop:
    """The model, and the log of requests that it is made from again."""

    def __init__(self, data: str, broken: str | None = None, clock: Clock = time.time) -> None:
        self.model, self.broken, self.clock = Model(), broken, clock
        self.base = sqlite3.connect(data, isolation_level=None, check_same_thread=False)
        self.base.execute("PRAGMA journal_mode=WAL")
        self.base.execute("PRAGMA synchronous=FULL")
        self.base.execute("CREATE TABLE IF NOT EXISTS log (n INTEGER PRIMARY KEY, line TEXT)")
        self.waiting = 0
        for (line,) in self.base.execute("SELECT line FROM log ORDER BY n").fetchall():
            self._apply(*json.loads(line))

    def _apply(self, verb: str, name: str, body: Any, now: float, seed: int) -> Reply:
        random_ = random.Random(seed)
        if self.broken == "twice" and verb == "rewards" and name in self.model.experiments:
            for item in body if isinstance(body, list) else [body]:
                found = self.model.experiments[name].decisions.get(item.get("decision"))
                if found is not None and found.state == "rewarded":
                    found.state = "open"
        if verb == "tick":
            self.model.wait(now)
            return Reply(200)
        if verb == "create":
            return self.model.create(body, now)
        return self.model.post(verb, name, body, now, lambda _, allowed: random_.choice(allowed))

    def do(self, verb: str, name: str, body: Any) -> Reply:
        """Apply, store, commit, answer."""
        line = [verb, name, body, self.clock(), random.getrandbits(32)]
        if not self.base.in_transaction:
            self.base.execute("BEGIN IMMEDIATE")
        reply = self._apply(*line)
        self.base.execute("INSERT INTO log (line) VALUES (?)", (json.dumps(line),))
        self.waiting += 1
        if self.broken != "lazy" or self.waiting % LAZY == 0:
            self.base.execute("COMMIT")
        return reply


def plain(reply: Reply) -> Any:
    """The JSON body of a reply of the model."""
    if isinstance(reply.body, list):
        return [plain(item) for item in reply.body]
    if reply.codes:
        return {"error": {"code": reply.codes[0], "message": "refused"}}
    return reply.body


def make_app(data: str, broken: str | None = None, clock: Clock = time.time) -> Starlette:
    """The service as an application."""
    shop = Shop(data, broken, clock)

    async def post(request: Request) -> JSONResponse:
        name, verb = request.path_params.get("name", ""), request.path_params.get("verb", "create")
        try:
            body = await request.json()
        except ValueError:
            return JSONResponse({"error": {"code": "bad_request", "message": "no JSON"}}, 400)
        reply = shop.do(verb, name, body)
        return JSONResponse(plain(reply), reply.status or 400)

    async def get(request: Request) -> JSONResponse:
        name = request.path_params["name"]
        if name not in shop.model.experiments:
            return JSONResponse({"error": {"code": "not_found", "message": "unknown"}}, 404)
        page = shop.model.page(name)
        page["arms"] = [{"arm": arm, **rest} for arm, rest in page["arms"].items()]
        return JSONResponse({**page, "seq": shop.model.experiments[name].last_seq})

    async def events(request: Request) -> JSONResponse:
        after = int(request.query_params.get("after", 0))
        limit = int(request.query_params.get("limit", 1000))
        name = request.path_params["name"]
        later = shop.model.events[after:]
        found = [event for event in later if event["experiment"] == name][:limit]
        return JSONResponse({"events": found, "last": found[-1]["seq"] if found else after})

    async def status(request: Request) -> JSONResponse:
        return JSONResponse({"ready": True, "seq": shop.model.seq})

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        shop.base.close()

    app = Starlette(
        lifespan=lifespan,
        routes=[
            Route("/v1/experiments", post, methods=["POST"]),
            Route("/v1/experiments/{name}", get),
            Route("/v1/experiments/{name}/events", events),
            Route("/v1/experiments/{name}/{verb}", post, methods=["POST"]),
            Route("/v1/status", status),
            Route("/ready", status),
        ],
    )

    async def tick() -> None:
        shop.do("tick", "", None)

    app.state.tick = tick
    return app


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--port", type=int, default=8100)
    parser.add_argument("--broken", choices=["lazy", "twice"])
    parser.add_argument("--verify", action="store_true")
    options = parser.parse_args()
    if options.verify:
        Shop(options.data)
        return 0
    import uvicorn

    uvicorn.run(
        make_app(options.data, options.broken), port=options.port, log_level="error", ws="none"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
