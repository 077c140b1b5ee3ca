"""The service as an ASGI application: routes, roles, and what each verb answers."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

import rotting.serve as here
from rotting.provenance import VERSION
from rotting.serve import bodies
from rotting.serve.access import LOCAL, Gate, Rate, Who
from rotting.serve.archive import all_events
from rotting.serve.book import Answer, Book
from rotting.serve.connection import Connect, connect
from rotting.serve.experiment import Experiment
from rotting.serve.exporting import FORMATS, check_format
from rotting.serve.http import (
    PROTECTING,
    Asked,
    Reply,
    Stream,
    check_origin,
    read_json,
    refusal,
    reply,
    send_reply,
    send_stream,
)
from rotting.serve.journal import Journal
from rotting.serve.metrics import Metrics
from rotting.serve.openapi import description
from rotting.serve.policies import change_policy
from rotting.serve.refusals import Refusal
from rotting.serve.views import Views, event_view, policy_of, summary
from rotting.serve.warming import Warming

_LOG = logging.getLogger("rotting.serve")
_STATIC = Path(here.__file__).parent / "static"
_SLICE = 100  # items of a batch that are worked on at a time
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1", "testserver"})


class Limits(msgspec.Struct, frozen=True):
    """How much one may ask for."""

    body: int = 1 << 20  # bytes
    rate: float = 0.0  # requests a second for each key; 0 for no limit


class Service:
    """What the routes work on."""

    def __init__(
        self,
        path: Path,
        *,
        keys_required: bool = False,
        hosts: frozenset[str] | None = LOOPBACK,
        limits: Limits | None = None,
        connect: Connect = connect,
        compiled: bool = True,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.journal = Journal(path, connect=connect, compiled=compiled, clock=clock)
        self.limits = limits or Limits()
        self.gate, self.rate = Gate(keys_required), Rate(self.limits.rate)
        self.refused = Rate(10.0)  # keys that are wrong, by address
        self.hosts, self.views, self.metrics = hosts, Views(), Metrics(self.journal)
        self.started = time.time()
        self.errors: dict[str, tuple[float, str]] = {}
        self.warming = Warming(self.journal, compiled)
        self.journal.on_load = self.warming.want_all
        self.companions: list[Callable[[], Awaitable[None]]] = []  # what else runs meanwhile

    def who(self, asked: Asked) -> Who:
        """Who asks, if they may ask at all."""
        if self.gate.stale() and self.journal.book is not None:
            store = self.journal.book.store
            self.gate.refresh(store.tokens(), self.gate.asks or store.ever_tokens())
        check_origin(asked, None if self.gate.asks else self.hosts)
        if not self.gate.asks:
            return LOCAL
        try:
            who = self.gate.who(asked.headers.get(b"authorization", b"").decode("latin-1"))
        except Refusal:
            self.refused.take(asked.address)
            raise
        self.rate.take(who.name)
        return who

    def experiment(self, book: Book, asked: Asked, who: Who) -> Experiment:
        """The experiment that is meant; one that they may not see does not exist for them."""
        if not who.sees(asked.name):
            raise Refusal("not_found", "there is no such experiment", "name")
        return book.find(asked.name)


Verb = Callable[[Service, Asked, Who], Awaitable[Reply | Stream]]


def _items(kind: Any, data: bytes) -> tuple[list[Any], bool]:
    """The items of a request, each parsed or a refusal, and whether they came as a list."""
    try:
        found = kind.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):  # which is wrong?
        found = read_json(data)
    if not isinstance(found, list):
        return [bodies.parse(kind.one, found)], False
    if len(found) > bodies.MOST_ITEMS:
        raise Refusal("too_large", f"a batch has at most {bodies.MOST_ITEMS} items")
    return [_parsed(kind.one, item) for item in found], True


def _parsed(kind: Any, item: Any) -> Any:
    if isinstance(item, kind):
        return item
    try:
        return bodies.parse(kind, item)
    except Refusal as why:
        return why


async def _many(
    service: Service,
    asked: Asked,
    who: Who,
    kind: bodies.OneOrMany,
    do: Callable[[Book, Experiment, list[Any]], list[Answer | Refusal]],
) -> Reply:
    """One or many of a verb: all of them happen, then one commit, then the answers."""
    items, listed = _items(kind, await asked.body(service.limits.body))
    if listed and len(items) > 1:
        service.rate.take(who.name, len(items) / 100)
    found: list[Answer | Refusal] = []

    def work(book: Book) -> Answer:
        some = items[len(found) : len(found) + _SLICE]
        found.extend(do(book, service.experiment(book, asked, who), some))
        return Answer(None, 0)

    service.journal.do(work)
    while len(found) < len(items):  # others are answered between the parts of a large batch
        await asyncio.sleep(0)
        service.journal.do(work)
    await service.journal.durable(max([one.seq for one in found if type(one) is Answer], default=0))
    if not listed:
        if isinstance(found[0], Refusal):
            raise found[0]
        return reply(found[0].data)
    return reply([one.as_data() if isinstance(one, Refusal) else one.data for one in found])


def _each(items: list[Any], do: Callable[[Any], Answer]) -> list[Answer | Refusal]:
    """Do it with each item; one that is refused does not spoil the others."""
    found: list[Answer | Refusal] = []
    for item in items:
        try:
            found.append(item if isinstance(item, Refusal) else do(item))
        except Refusal as why:
            found.append(why)
    return found


async def create(service: Service, asked: Asked, who: Who) -> Reply:
    """POST /v1/experiments."""
    wanted = bodies.parse(bodies.Creation, read_json(await asked.body(service.limits.body)))
    if not who.sees(wanted.name):
        raise Refusal("forbidden", "this key may not make an experiment of that name", "name")
    made = await service.journal.answer(lambda book: book.create(wanted, who.name))
    service.warming.want(made.data)
    return reply(_view(service, made.data), made.status)


def _view(service: Service, experiment: Experiment) -> dict[str, Any]:
    data = service.views.of(experiment, time.time())
    return {**data, "last_error": _last_error(service, experiment.name)}


def _last_error(service: Service, name: str) -> dict[str, Any] | None:
    known = [service.errors.get(name), service.journal.last_error]
    latest = max((one for one in known if one is not None), default=None)
    return None if latest is None else {"at": latest[0], "message": latest[1]}


async def experiments(service: Service, asked: Asked, who: Who) -> Reply:
    """GET /v1/experiments."""
    book = service.journal.usable()
    found = [
        {**summary(one), "last_error": _last_error(service, one.name)}
        for one in book.experiments.values()
        if who.sees(one.name)
    ]
    return reply({"experiments": found})


async def experiment(service: Service, asked: Asked, who: Who) -> Reply:
    """GET /v1/experiments/{name}."""
    return reply(_view(service, service.experiment(service.journal.usable(), asked, who)))


async def decisions(service: Service, asked: Asked, who: Who) -> Reply:
    """POST /v1/experiments/{name}/decisions."""

    def do(book: Book, experiment: Experiment, items: list[Any]) -> list[Answer | Refusal]:
        fine = [item for item in items if isinstance(item, bodies.Decide)]
        found = book.about(experiment, (item.id for item in fine))
        keys = book.keys(experiment, (item.key for item in fine))
        if len(items) > 1:
            made = book.decide_many(experiment, items, found, keys)
            if made is not None:
                return [*made]
        return _each(items, lambda item: book.decide(experiment, item, found, keys))

    return await _many(service, asked, who, bodies.DECIDE, do)


async def shown(service: Service, asked: Asked, who: Who) -> Reply:
    """POST /v1/experiments/{name}/shown."""
    return await _many(
        service,
        asked,
        who,
        bodies.SHOW,
        lambda book, one, items: _each(items, lambda item: book.show(one, item)),
    )


async def rewards(service: Service, asked: Asked, who: Who) -> Reply:
    """POST /v1/experiments/{name}/rewards."""
    return await _many(
        service,
        asked,
        who,
        bodies.REWARD,
        lambda book, one, items: _each(items, lambda item: book.reward(one, item)),
    )


async def arms(service: Service, asked: Asked, who: Who) -> Reply:
    """POST /v1/experiments/{name}/arms."""
    return await _many(
        service,
        asked,
        who,
        bodies.ARM_CHANGE,
        lambda book, one, items: _each(items, lambda item: book.change_arm(one, item, who.name)),
    )


async def history(service: Service, asked: Asked, who: Who) -> Reply:
    """POST /v1/experiments/{name}/history."""
    return await _many(
        service,
        asked,
        who,
        bodies.PAST,
        lambda book, one, items: _each(items, lambda item: book.learn(one, item, who.name)),
    )


async def erase(service: Service, asked: Asked, who: Who) -> Reply:
    """POST /v1/experiments/{name}/erase."""
    return await _many(
        service,
        asked,
        who,
        bodies.ERASE,
        lambda book, one, items: _each(items, lambda item: book.erase(one, item, who.name)),
    )


async def policy(service: Service, asked: Asked, who: Who) -> Reply:
    """POST /v1/experiments/{name}/policy."""
    wanted = bodies.parse(bodies.PolicyChange, read_json(await asked.body(service.limits.body)))
    named = functools.partial(service.experiment, asked=asked, who=who)
    prepare = service.warming.prepared
    seq = await change_policy(service.journal, named, wanted, who.name, prepare)
    one = named(service.journal.usable())
    service.warming.want(one)
    return reply({"policy": policy_of(one), "seq": seq})


def _number(asked: Asked, name: str, default: int, least: int, most: int) -> int:
    text = asked.query(name)
    if text is None:
        return default
    fine = text.isascii() and text.isdigit() and len(text) < 20
    if not fine or not least <= int(text) <= most:
        raise Refusal("bad_request", f"{name} must be a whole number from {least} to {most}", name)
    return int(text)


async def events(service: Service, asked: Asked, who: Who) -> Reply:
    """GET /v1/experiments/{name}/events."""
    after = _number(asked, "after", 0, 0, 2**62)
    limit = _number(asked, "limit", 1000, 1, 10_000)
    book = service.journal.usable()
    one = service.experiment(book, asked, who)
    found = []
    try:
        for event in all_events(book.store, one.number, after=after):
            found.append(event_view(one, event))
            if len(found) == limit:
                break
    except ValueError as error:  # an archive is missing
        raise Refusal("unavailable", str(error)) from None
    return reply({"events": found, "last": found[-1]["seq"] if found else after})


async def export(service: Service, asked: Asked, who: Who) -> Stream:
    """GET /v1/experiments/{name}/export."""
    form = check_format(asked.query("format") or "csv")
    one = service.experiment(service.journal.usable(), asked, who)
    make, kind = FORMATS[form]
    pieces = make(service.journal.usable().store, one)
    loop = asyncio.get_running_loop()
    # the first piece here: what cannot be is refused before anything is sent
    first = await loop.run_in_executor(None, next, pieces, b"")
    name = f'attachment; filename="{one.name}.{form}"'.encode()
    return Stream(first, pieces, ((b"content-type", kind.encode()), (b"content-disposition", name)))


async def audit(service: Service, asked: Asked, who: Who) -> Reply:
    """GET /v1/audit."""
    if who.experiments:
        raise Refusal("forbidden", "this key sees some experiments only")
    rows = service.journal.usable().store.audits()
    return reply({"audit": [row._asdict() for row in rows]})


async def status(service: Service, asked: Asked, who: Who) -> Reply:
    """GET /v1/status."""
    journal = service.journal
    book = journal.book
    seen = [] if book is None else [name for name in book.experiments if who.sees(name)]
    return reply(
        {
            "version": VERSION,
            "started": service.started,
            "now": time.time(),
            "ready": journal.reason is None,
            "reason": journal.reason,
            "seq": 0 if book is None else book.committed,
            "experiments": len(seen),
            "keys_required": service.gate.asks,
        }
    )


async def metrics(service: Service, asked: Asked, who: Who) -> Reply:
    """GET /metrics."""
    text, kind = service.metrics.text(who)
    return Reply(200, text, ((b"content-type", kind.encode()),))


# Verbs by method and name, with the roles that may use them; none: everybody who has a key.
_OF_ONE: dict[tuple[str, str], tuple[Verb, tuple[str, ...]]] = {
    ("POST", "decisions"): (decisions, ("decide",)),
    ("POST", "rewards"): (rewards, ("reward",)),
    ("POST", "shown"): (shown, ("decide", "reward")),
    ("POST", "arms"): (arms, ("admin",)),
    ("POST", "policy"): (policy, ("admin",)),
    ("POST", "history"): (history, ("admin",)),
    ("POST", "erase"): (erase, ("admin",)),
    ("GET", "events"): (events, ("read",)),
    ("GET", "export"): (export, ("read",)),
    ("GET", ""): (experiment, ("read",)),
}
_OTHERS: dict[tuple[str, str], tuple[Verb, tuple[str, ...]]] = {
    ("POST", "/v1/experiments"): (create, ("admin",)),
    ("GET", "/v1/experiments"): (experiments, ("read",)),
    ("GET", "/v1/audit"): (audit, ("admin",)),
    ("GET", "/v1/status"): (status, ()),
    ("GET", "/metrics"): (metrics, ("read",)),
}
_ONES = {verb for _, verb in _OF_ONE}
_PLACES = {path for _, path in _OTHERS} | {"/health", "/ready", "/v1/openapi.json", "/"}


class App:
    """The service for an ASGI server."""

    def __init__(self, service: Service) -> None:
        self.service = service
        # Starlette begins and ends the service, and hands out the page's files
        self.others = Starlette(
            routes=[Mount("/static", StaticFiles(directory=_STATIC, check_dir=False))],
            lifespan=self._life,
        )
        self._page: bytes | None = None

    @contextlib.asynccontextmanager
    async def _life(self, app: Starlette) -> AsyncIterator[None]:
        await self.service.journal.start()
        self.service.warming.start()
        tasks = [asyncio.ensure_future(work()) for work in self.service.companions]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await self.service.warming.close()
            await self.service.journal.close()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.others(scope, receive, send)
            return
        began = time.perf_counter()
        verb, made = await self._answer(scope, receive, send)
        if made is None:
            return
        # who has gone is not told; the server's own exceptions for that differ
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
                return name, await self._asked(known, Asked(scope, receive, parts[3]))
            if verb in _ONES and (verb or len(parts) == 4):
                return name, _wrong_method(_OF_ONE, verb)
            return "other", _NOTHING_HERE
        known = _OTHERS.get((method, path))
        if known is not None:
            return path.rpartition("/")[2], await self._asked(known, Asked(scope, receive))
        if path.startswith("/static/") and method in ("GET", "HEAD"):
            await self._static(scope, receive, send)
            return "static", None
        if path not in _PLACES:
            return "other", _NOTHING_HERE
        if method not in ("GET", "HEAD"):
            return "other", _wrong_method(_OTHERS, path)
        return path.strip("/") or "page", self._open(path)

    async def _asked(self, known: tuple[Verb, tuple[str, ...]], asked: Asked) -> Reply | Stream:
        service, (verb, roles) = self.service, known
        who: Who | None = None
        try:
            who = service.who(asked)
            if roles and not who.may(*roles):
                raise Refusal("forbidden", f"this key may not do that: it needs {roles[0]}")
            return await verb(service, asked, who)
        except Refusal as why:
            book = service.journal.book
            known_here = book is not None and asked.name in book.experiments
            if (
                known_here
                and who is not None
                and who.sees(asked.name)
                and why.status not in (403, 404)
            ):
                service.errors[asked.name] = (time.time(), why.message)
            return refusal(why)
        except Exception:
            _LOG.exception("a request could not be answered")
            return refusal(Refusal("internal", "the service made a mistake; its log says which"))

    def _open(self, path: str) -> Reply:
        """What everybody may ask."""
        reason = self.service.journal.reason
        if path == "/health":
            return reply({"alive": True})
        if path == "/ready":
            if reason is None:
                return reply({"ready": True})
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
    """The application on a database file; `settings` are those of `Service`."""
    return App(Service(Path(path), **settings))
