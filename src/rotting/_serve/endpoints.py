"""The endpoints: each takes a request and returns its answer."""

from __future__ import annotations

import asyncio
import functools
import itertools
import time
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from rotting._provenance import VERSION
from rotting._serve import requests
from rotting._serve.access import Who
from rotting._serve.archive import all_events
from rotting._serve.book import Answer, Book
from rotting._serve.errors import Refusal
from rotting._serve.experiment import Experiment
from rotting._serve.export import FORMATS, check_format
from rotting._serve.http import (
    Reply,
    Request,
    Stream,
    check_unique,
    read_json,
    reply,
)
from rotting._serve.policy_change import change_policy
from rotting._serve.service import Service
from rotting._serve.store import Store
from rotting._serve.views import event_view, policy_of, summary

_MOMENT = 0.01  # seconds of work on a batch before other requests have their turn
_FIRST, _SLICE = 8, 250  # items of a batch worked on at a time: at first, and at most


Verb = Callable[[Service, Request, Who], Awaitable[Reply | Stream]]


def _items(kind: Any, data: bytes) -> tuple[list[Any], bool]:
    """The items of a request, each parsed or a refusal, and whether they came as a list."""
    try:
        found = kind.decode(data)
        if kind.may_repeat(data, found):
            check_unique(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):  # which is wrong?
        found = read_json(data)
    if not isinstance(found, list):
        return [requests.parse(kind.one, found)], False
    if len(found) > requests.MOST_ITEMS:
        raise Refusal("too_large", f"a batch has at most {requests.MOST_ITEMS} items")
    return [_parsed(kind.one, item) for item in found], True


def _parsed(kind: Any, item: Any) -> Any:
    if isinstance(item, kind):
        return item
    try:
        return requests.parse(kind, item)
    except Refusal as why:
        return why


async def _many(
    service: Service,
    request: Request,
    who: Who,
    kind: requests.OneOrMany,
    do: Callable[[Book, Experiment, list[Any]], list[Answer | Refusal]],
) -> Reply:
    """Carry out one item or a list of them, wait for one commit, and answer."""
    items, listed = _items(kind, await request.body(service.limits.body))
    journal = service.journal
    if not listed:
        found = journal.do(lambda book: do(book, service.experiment(book, request, who), items))
        if isinstance(found[0], Refusal):
            raise found[0]
        await journal.durable(found[0].seq)
        return reply(found[0].data)
    if len(items) > 1:
        service.rate.take(who.name, len(items) / 100)
    answers = await _in_turns(service, request, who, items, do)
    await journal.durable(max([one.seq for one in answers if type(one) is Answer], default=0))
    return reply([one.as_data() if isinstance(one, Refusal) else one.data for one in answers])


async def _in_turns(
    service: Service,
    request: Request,
    who: Who,
    items: list[Any],
    do: Callable[[Book, Experiment, list[Any]], list[Answer | Refusal]],
) -> list[Answer | Refusal]:
    """Work on a batch in parts of about `_MOMENT` seconds; other requests come in between."""
    found: list[Answer | Refusal] = []
    part: list[Any] = []
    size = service.slices.get(request.name, _FIRST)

    def work(book: Book) -> list[Answer | Refusal]:
        return do(book, service.experiment(book, request, who), part)

    while True:
        begin = time.perf_counter()
        part = items[len(found) : len(found) + size]
        found += service.journal.do(work)
        if len(part) > 1:
            fitting = len(part) * _MOMENT / max(time.perf_counter() - begin, 1e-6)
            size = max(1, min(_SLICE, 4 * size, int(fitting)))
        if len(found) == len(items):
            service.slices[request.name] = size
            return found
        await asyncio.sleep(0)


def _each(items: list[Any], do: Callable[[Any], Answer]) -> list[Answer | Refusal]:
    """Carry out each item; a refused one does not affect the others."""
    found: list[Answer | Refusal] = []
    for item in items:
        try:
            found.append(item if isinstance(item, Refusal) else do(item))
        except Refusal as why:
            found.append(why)
    return found


async def create(service: Service, request: Request, who: Who) -> Reply:
    """POST /v1/experiments."""
    data = read_json(await request.body(service.limits.body))
    wanted = requests.parse(requests.NewExperiment, data)
    if not who.sees(wanted.name):
        raise Refusal("forbidden", "this key may not make an experiment of that name", "name")
    made = await service.journal.answer(lambda book: book.create(wanted, who.name))
    service.warming.schedule(made.data)
    return reply(_view(service, made.data), made.status)


def _view(service: Service, experiment: Experiment) -> dict[str, Any]:
    data = service.views.of(experiment, time.time())
    return {**data, "last_error": _last_error(service, experiment.name)}


def _last_error(service: Service, name: str) -> dict[str, Any] | None:
    known = [service.errors.get(name), service.journal.last_error]
    latest = max((one for one in known if one is not None), default=None)
    return None if latest is None else dict(zip(("at", "message", "code"), latest, strict=True))


async def experiments(service: Service, request: Request, who: Who) -> Reply:
    """GET /v1/experiments."""
    book = service.journal.readable()
    found = [
        {**summary(one), "last_error": _last_error(service, one.name)}
        for one in book.experiments.values()
        if who.sees(one.name)
    ]
    return reply({"experiments": found})


async def experiment(service: Service, request: Request, who: Who) -> Reply:
    """GET /v1/experiments/{name}."""
    return reply(_view(service, service.experiment(service.journal.readable(), request, who)))


async def decisions(service: Service, request: Request, who: Who) -> Reply:
    """POST /v1/experiments/{name}/decisions."""

    def do(book: Book, experiment: Experiment, items: list[Any]) -> list[Answer | Refusal]:
        fine = [item for item in items if isinstance(item, requests.NewDecision)]
        found = book.about(experiment, (item.id for item in fine))
        keys = book.keys(experiment, (item.key for item in fine))
        if len(items) > 1:
            made = book.decide_many(experiment, items, found, keys)
            if made is not None:
                return [*made]
        return _each(items, lambda item: book.decide(experiment, item, found, keys))

    return await _many(service, request, who, requests.DECIDE, do)


def _of_items(kind: requests.OneOrMany, do: Callable[[Book, Experiment, Any, str], Answer]) -> Verb:
    """An endpoint for one item or many; the last argument of `do` is the sender's name."""

    async def verb(service: Service, request: Request, who: Who) -> Reply:
        return await _many(
            service,
            request,
            who,
            kind,
            lambda book, one, items: _each(items, lambda item: do(book, one, item, who.name)),
        )

    return verb


# POST /v1/experiments/{name}/...
shown = _of_items(requests.SHOW, lambda book, one, item, by: book.show(one, item))
rewards = _of_items(requests.REWARD, lambda book, one, item, by: book.reward(one, item))
arms = _of_items(requests.ARM_CHANGE, Book.change_arm)
history = _of_items(requests.PAST, Book.learn)
erase = _of_items(requests.ERASE, Book.erase)


async def policy(service: Service, request: Request, who: Who) -> Reply:
    """POST /v1/experiments/{name}/policy."""
    wanted = requests.parse(requests.NewPolicy, read_json(await request.body(service.limits.body)))
    named = functools.partial(service.experiment, request=request, who=who)
    prepare = service.warming.prepare
    seq = await change_policy(service.journal, named, wanted, who.name, prepare)
    one = named(service.journal.usable())
    service.warming.schedule(one)
    return reply({"policy": policy_of(one), "seq": seq})


def _number(request: Request, name: str, default: int, least: int, most: int) -> int:
    text = request.query(name, str(default))
    fine = text.isascii() and text.isdigit() and len(text) < 20
    if not fine or not least <= int(text) <= most:
        raise Refusal("bad_request", f"{name} must be a whole number from {least} to {most}", name)
    return int(text)


async def events(service: Service, request: Request, who: Who) -> Reply:
    """GET /v1/experiments/{name}/events."""
    request.only("after", "limit")
    after = _number(request, "after", 0, 0, 2**62)
    limit = _number(request, "limit", 1000, 1, requests.MOST_EVENTS)
    book = service.journal.readable()
    one = service.experiment(book, request, who)
    loop = asyncio.get_running_loop()
    try:
        return await loop.run_in_executor(None, _listed, book.store, one, after, limit)
    except ValueError as error:  # an archive is missing
        raise Refusal("unavailable", str(error)) from None


def _listed(store: Store, one: Experiment, after: int, limit: int) -> Reply:
    """A page of events, read on its own connection: rare events take long to find."""
    own = store.aside()
    try:
        page = itertools.islice(all_events(own, one.number, after=after), limit)
        found = [event_view(one, event) for event in page]
    finally:
        own.close()
    return reply({"events": found, "last": found[-1]["seq"] if found else after})


async def export(service: Service, request: Request, who: Who) -> Stream:
    """GET /v1/experiments/{name}/export."""
    request.only("format")
    form = check_format(request.query("format", "csv"))
    book = service.journal.readable()
    one = service.experiment(book, request, who)
    make, kind = FORMATS[form]
    pieces = make(book.store, one)
    if service.journal.reason is None:
        await service.journal.settle()  # until all it has to contain is on the disk
    loop = asyncio.get_running_loop()
    # make the first piece here, so that a refusal comes before anything is sent
    first = await loop.run_in_executor(None, next, pieces, b"")
    name = f'attachment; filename="{one.name}.{form}"'.encode()
    return Stream(first, pieces, ((b"content-type", kind.encode()), (b"content-disposition", name)))


async def audit(service: Service, request: Request, who: Who) -> Reply:
    """GET /v1/audit."""
    if who.experiments:
        raise Refusal("forbidden", "this key sees some experiments only")
    rows = service.journal.readable().store.audits()
    return reply({"audit": [row._asdict() for row in rows]})


async def status(service: Service, request: Request, who: Who) -> Reply:
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
            "clock_offset": journal.clock.offset,
            "seq": 0 if book is None else book.committed,
            "experiments": len(seen),
            "keys_required": service.gate.requires_key,
        }
    )


async def metrics(service: Service, request: Request, who: Who) -> Reply:
    """GET /metrics."""
    text, kind = service.metrics.text(who)
    return Reply(200, text, ((b"content-type", kind.encode()),))
