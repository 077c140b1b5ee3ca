"""The service as an ASGI application: routes, roles, and what each verb answers."""

from __future__ import annotations

import contextlib
import functools
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

import rotting.serve as here
from rotting.provenance import VERSION
from rotting.serve import bodies
from rotting.serve.access import Gate, Rate, Who
from rotting.serve.book import Answer, Book
from rotting.serve.connection import Connect, connect
from rotting.serve.experiment import Experiment
from rotting.serve.exporting import export
from rotting.serve.http import Protected, answer, body_of, check_origin, refusal
from rotting.serve.journal import Journal
from rotting.serve.metrics import Metrics
from rotting.serve.openapi import description
from rotting.serve.policies import change_policy
from rotting.serve.refusals import Refusal
from rotting.serve.views import Views, event_view, policy_of, summary
from rotting.serve.warming import Warming

_LOG = logging.getLogger("rotting.serve")
_STATIC = Path(here.__file__).parent / "static"
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1", "testserver"})


class Limits(msgspec.Struct, frozen=True):
    """How much one may ask for."""

    body: int = 1 << 20  # bytes
    seconds: float = 10.0  # for a body to come
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

    def who(self, request: Request) -> Who:
        """Who asks, if they may ask at all."""
        if self.gate.stale() and self.journal.book is not None:
            self.gate.refresh(self.journal.book.store.tokens())
        check_origin(request, None if self.gate.asks else self.hosts)
        address = request.client.host if request.client else ""
        try:
            who = self.gate.who(request.headers.get("authorization"))
        except Refusal:
            self.refused.take(address)
            raise
        self.rate.take(who.name)
        return who

    def experiment(self, book: Book, request: Request, who: Who) -> Experiment:
        """The experiment that is meant; one that they may not see does not exist for them."""
        name = request.path_params["name"]
        if not who.sees(name):
            raise Refusal("not_found", "there is no such experiment", "name")
        return book.find(name)


Verb = Callable[[Service, Request, Who], Awaitable[Response]]


def route(path: str, verb: Verb, method: str = "GET", *roles: str) -> Route:
    """A route for those who have one of the roles; none named: for everybody with a key."""

    async def endpoint(request: Request) -> Response:
        service: Service = request.app.state.service
        try:
            who = service.who(request)
            if roles and not who.may(*roles):
                raise Refusal("forbidden", f"this key may not do that: it needs {roles[0]}")
            return await verb(service, request, who)
        except Refusal as why:
            name = request.path_params.get("name")
            if name is not None and why.status not in (401, 403, 404):
                if len(service.errors) > 1000:
                    service.errors.clear()
                service.errors[name] = (time.time(), why.message)
            return refusal(why)
        except Exception:
            _LOG.exception("a request could not be answered")
            return refusal(Refusal("internal", "the service made a mistake; its log says which"))

    return Route(path, endpoint, methods=[method])


def _batch(kind: type[msgspec.Struct], data: Any) -> tuple[list[Any], bool]:
    """The items of a request, each parsed or a refusal, and whether they came as a list."""
    listed = isinstance(data, list)
    if listed and len(data) > bodies.MOST_ITEMS:
        raise Refusal("too_large", f"a batch has at most {bodies.MOST_ITEMS} items")
    found: list[Any] = []
    for item in data if listed else [data]:
        try:
            found.append(bodies.parse(kind, item))
        except Refusal as why:
            if not listed:
                raise
            found.append(why)
    return found, listed


async def _many(
    service: Service,
    request: Request,
    who: Who,
    kind: type[msgspec.Struct],
    do: Callable[[Book, Experiment, list[Any]], list[Answer | Refusal]],
) -> Response:
    """One or many of a verb: all of them happen, then one commit, then the answers."""
    limits = service.limits
    data = await body_of(request, limits.body, limits.seconds)
    items, listed = _batch(kind, data)
    if listed and len(items) > 1:
        service.rate.take(who.name, len(items) / 100)
    found: list[Answer | Refusal] = []

    def work(book: Book) -> Answer:
        experiment = service.experiment(book, request, who)
        found.extend(do(book, experiment, items))
        seqs = [one.seq for one in found if isinstance(one, Answer)]
        return Answer(None, max(seqs, default=0))

    await service.journal.answer(work)
    if not listed:
        if isinstance(found[0], Refusal):
            raise found[0]
        return answer(found[0].data)
    return answer([one.as_data() if isinstance(one, Refusal) else one.data for one in found])


def _each(items: list[Any], do: Callable[[Any], Answer]) -> list[Answer | Refusal]:
    """Do it with each item; one that is refused does not spoil the others."""
    found: list[Answer | Refusal] = []
    for item in items:
        try:
            found.append(item if isinstance(item, Refusal) else do(item))
        except Refusal as why:
            found.append(why)
    return found


async def create(service: Service, request: Request, who: Who) -> Response:
    """POST /v1/experiments."""
    limits = service.limits
    asked = bodies.parse(bodies.Creation, await body_of(request, limits.body, limits.seconds))
    if not who.sees(asked.name):
        raise Refusal("forbidden", "this key may not make an experiment of that name", "name")
    made = await service.journal.answer(lambda book: book.create(asked, who.name))
    service.warming.want(made.data)
    return answer(_view(service, made.data), made.status)


def _view(service: Service, experiment: Experiment) -> dict[str, Any]:
    data = service.views.of(experiment, time.time())
    return {**data, "last_error": _last_error(service, experiment.name)}


def _last_error(service: Service, name: str) -> dict[str, Any] | None:
    known = [service.errors.get(name), service.journal.last_error]
    latest = max((one for one in known if one is not None), default=None)
    return None if latest is None else {"at": latest[0], "message": latest[1]}


async def experiments(service: Service, request: Request, who: Who) -> Response:
    """GET /v1/experiments."""
    book = service.journal.usable()
    found = [
        {**summary(one), "last_error": _last_error(service, one.name)}
        for one in book.experiments.values()
        if who.sees(one.name)
    ]
    return answer({"experiments": found})


async def experiment(service: Service, request: Request, who: Who) -> Response:
    """GET /v1/experiments/{name}."""
    return answer(_view(service, service.experiment(service.journal.usable(), request, who)))


async def decisions(service: Service, request: Request, who: Who) -> Response:
    """POST /v1/experiments/{name}/decisions."""

    def do(book: Book, experiment: Experiment, items: list[Any]) -> list[Answer | Refusal]:
        fine = [item for item in items if isinstance(item, bodies.Decide)]
        found = book.about(experiment, (item.id for item in fine))
        keys = book.keys(experiment, (item.key for item in fine))
        return _each(items, lambda item: book.decide(experiment, item, found, keys))

    return await _many(service, request, who, bodies.Decide, do)


async def shown(service: Service, request: Request, who: Who) -> Response:
    """POST /v1/experiments/{name}/shown."""
    return await _many(
        service,
        request,
        who,
        bodies.Show,
        lambda book, one, items: _each(items, lambda item: book.show(one, item)),
    )


async def rewards(service: Service, request: Request, who: Who) -> Response:
    """POST /v1/experiments/{name}/rewards."""
    return await _many(
        service,
        request,
        who,
        bodies.Reward,
        lambda book, one, items: _each(items, lambda item: book.reward(one, item)),
    )


async def arms(service: Service, request: Request, who: Who) -> Response:
    """POST /v1/experiments/{name}/arms."""
    return await _many(
        service,
        request,
        who,
        bodies.ArmChange,
        lambda book, one, items: _each(items, lambda item: book.change_arm(one, item, who.name)),
    )


async def history(service: Service, request: Request, who: Who) -> Response:
    """POST /v1/experiments/{name}/history."""
    return await _many(
        service,
        request,
        who,
        bodies.Past,
        lambda book, one, items: _each(items, lambda item: book.learn(one, item, who.name)),
    )


async def erase(service: Service, request: Request, who: Who) -> Response:
    """POST /v1/experiments/{name}/erase."""
    return await _many(
        service,
        request,
        who,
        bodies.Erase,
        lambda book, one, items: _each(items, lambda item: book.erase(one, item, who.name)),
    )


async def policy(service: Service, request: Request, who: Who) -> Response:
    """POST /v1/experiments/{name}/policy."""
    limits = service.limits
    asked = bodies.parse(bodies.PolicyChange, await body_of(request, limits.body, limits.seconds))
    named = functools.partial(service.experiment, request=request, who=who)
    seq = await change_policy(service.journal, named, asked, who.name)
    one = named(service.journal.usable())
    service.warming.want(one)
    return answer({"policy": policy_of(one), "seq": seq})


def _number(request: Request, name: str, default: int, least: int, most: int) -> int:
    text = request.query_params.get(name)
    if text is None:
        return default
    if not text.isascii() or not text.isdigit() or not least <= int(text[:20]) <= most:
        raise Refusal("bad_request", f"{name} must be a whole number from {least} to {most}", name)
    return int(text)


async def events(service: Service, request: Request, who: Who) -> Response:
    """GET /v1/experiments/{name}/events."""
    after = _number(request, "after", 0, 0, 2**62)
    limit = _number(request, "limit", 1000, 1, 10_000)
    book = service.journal.usable()
    one = service.experiment(book, request, who)
    found = []
    for event in book.store.events(after=after, experiment=one.number):
        found.append(event_view(one, event))
        if len(found) == limit:
            break
    return answer({"events": found, "last": found[-1]["seq"] if found else after})


async def audit(service: Service, request: Request, who: Who) -> Response:
    """GET /v1/audit."""
    if who.experiments:
        raise Refusal("forbidden", "this key sees some experiments only")
    rows = service.journal.usable().store.audits()
    return answer({"audit": [row._asdict() for row in rows]})


async def status(service: Service, request: Request, who: Who) -> Response:
    """GET /v1/status."""
    journal = service.journal
    book = journal.book
    seen = [] if book is None else [name for name in book.experiments if who.sees(name)]
    return answer(
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


async def metrics(service: Service, request: Request, who: Who) -> Response:
    """GET /metrics."""
    text, kind = service.metrics.text(who)
    return Response(text, headers={"content-type": kind})


async def _health(request: Request) -> Response:
    return answer({"alive": True})


async def _ready(request: Request) -> Response:
    journal = request.app.state.service.journal
    if journal.reason is None:
        return answer({"ready": True})
    return refusal(Refusal("unavailable", f"not ready: {journal.reason}"))


async def _openapi(request: Request) -> Response:
    return answer(description(VERSION))


async def _page(request: Request) -> Response:
    return FileResponse(_STATIC / "index.html", media_type="text/html")


async def _http_error(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    code = {404: "not_found", 405: "method_not_allowed"}.get(status, "bad_request")
    words = {404: "there is nothing at this address", 405: "this method is not for this address"}
    made = refusal(Refusal(code, words.get(status, "the request cannot be understood")))
    if isinstance(error, HTTPException) and error.headers:
        made.headers.update(error.headers)
    return made


def make_app(path: Path | str, **settings: Any) -> Any:
    """The application on a database file; `settings` are those of `Service`."""
    return app_of(Service(Path(path), **settings))


def app_of(service: Service) -> Any:
    """The application of a service."""
    one = "/v1/experiments/{name}"
    routes = [
        route("/v1/experiments", create, "POST", "admin"),
        route("/v1/experiments", experiments, "GET", "read"),
        route(one, experiment, "GET", "read"),
        route(f"{one}/decisions", decisions, "POST", "decide"),
        route(f"{one}/shown", shown, "POST", "decide", "reward"),
        route(f"{one}/rewards", rewards, "POST", "reward"),
        route(f"{one}/arms", arms, "POST", "admin"),
        route(f"{one}/policy", policy, "POST", "admin"),
        route(f"{one}/history", history, "POST", "admin"),
        route(f"{one}/erase", erase, "POST", "admin"),
        route(f"{one}/events", events, "GET", "read"),
        route(f"{one}/export", export, "GET", "read"),
        route("/v1/audit", audit, "GET", "admin"),
        route("/v1/status", status),
        route("/metrics", metrics, "GET", "read"),
        Route("/health", _health),
        Route("/ready", _ready),
        Route("/v1/openapi.json", _openapi),
        Route("/", _page),
        Mount("/static", StaticFiles(directory=_STATIC, check_dir=False)),
    ]

    @contextlib.asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        await service.journal.start()
        service.warming.start()
        try:
            yield
        finally:
            await service.warming.close()
            await service.journal.close()

    app = Starlette(routes=routes, lifespan=life, exception_handlers={HTTPException: _http_error})
    app.state.service = service
    app.router.redirect_slashes = False
    return Protected(app, service.metrics.note)
