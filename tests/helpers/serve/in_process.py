"""The service without a network: its application, called from a test."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rotting._serve.access import add_token
from rotting._serve.app import App, Service, make_app
from rotting._serve.archive import all_events, archive
from rotting._serve.book import Answer, Book
from rotting._serve.experiment import Experiment
from rotting._serve.recovery import load_one
from rotting._serve.snapshots import content_of
from rotting._serve.store import Store

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it would rather have another library than httpx
    from starlette.testclient import TestClient

START = 1_790_000_000.0
WHO = "Ann Person <ann@example.org>"


class Time:
    """A clock that stands still until it is moved."""

    def __init__(self, now: float = START) -> None:
        self.now = now

    def __call__(self) -> float:
        """The time."""
        return self.now


class Inside:
    """A client, and the service behind it."""

    def __init__(self, client: TestClient, service: Service, time: Time) -> None:
        self.client, self.service, self.time = client, service, time

    @property
    def book(self) -> Book:
        """The service's answer about an experiment."""
        assert self.service.journal.book is not None
        return self.service.journal.book

    def live(self, name: str = "e") -> Experiment:
        """An experiment as it is now."""
        return self.book.experiments[name]

    def create(self, **settings: Any) -> dict[str, Any]:
        """An experiment e with arms A, B, C unless said otherwise."""
        body = {"name": "e", "arms": ["A", "B", "C"], "policy": "ucb1", "seed": 1, **settings}
        answer = self.client.post("/v1/experiments", json=body)
        assert answer.status_code == 201, answer.text
        made: dict[str, Any] = answer.json()
        return made

    def post(self, verb: str, body: Any, status: int = 200, name: str = "e") -> Any:
        """One request to an experiment, and what it answers."""
        answer = self.client.post(f"/v1/experiments/{name}/{verb}", json=body)
        assert answer.status_code == status, answer.text
        return answer.json()

    def get(self, path: str = "", status: int = 200, name: str = "e") -> Any:
        """What there is to read."""
        answer = self.client.get(f"/v1/experiments/{name}{path}")
        assert answer.status_code == status, answer.text
        return answer.json()


@contextmanager
def serving(path: Path, time: Time | None = None, **settings: Any) -> Iterator[Inside]:
    """The service on a database, until the end of the block."""
    clock = time or Time()
    app: App = make_app(path, compiled=False, clock=clock, **settings)
    with TestClient(app, "http://127.0.0.1", raise_server_exceptions=False) as client:
        yield Inside(client, app.service, clock)


def make_key(path: Path, *roles: str, name: str = "somebody", only: tuple[str, ...] = ()) -> str:
    """A new API key."""
    store = Store.open(path)
    try:
        return add_token(store, name, list(roles), list(only))
    finally:
        store.close()


def rebuilt(store: Store, number: int) -> Experiment:
    """From the first event, without any snapshot."""
    log = list(all_events(store, number))
    made = Experiment(number, log[0])
    made.past = lambda seq: (event for event in log if event.seq < seq)
    for event in log[1:]:
        made.apply(event)
    return made


def check_same(inside: Inside, name: str = "e") -> bytes:
    """Live, snapshot with its tail, and full rebuild: bit for bit the same."""

    async def compare() -> bytes:
        await inside.service.journal.settle()
        return _same(inside.live(name), inside.service.journal.path)  # no request comes in between

    assert inside.client.portal is not None
    return inside.client.portal.call(compare)


def _same(live: Experiment, path: Path) -> bytes:
    state = content_of(live)
    store = Store.open(path)
    try:
        assert content_of(rebuilt(store, live.number)) == state
        short, _ = load_one(store, live.number, compiled=False)
        assert content_of(short) == state
        assert not short.as_written
    finally:
        store.close()
    return state


def take_snapshot(inside: Inside) -> None:
    """Of every experiment, now."""
    portal = inside.client.portal
    assert portal is not None
    portal.call(lambda: inside.service.journal.snapshot(everything=True))


def wait(inside: Inside, seconds: float) -> None:
    """Let time go by, and windows end."""
    inside.time.now += seconds

    async def tick() -> None:
        while inside.service.journal.do(_ticked).data:
            pass
        await inside.service.journal.settle()

    assert inside.client.portal is not None
    inside.client.portal.call(tick)


def _ticked(book: Book) -> Answer:
    return Answer(book.tick(), 0)


def play(inside: Inside, first: int, last: int, closed: bool = True, **more: Any) -> None:
    """Decisions d<first> to d<last - 1>, and their rewards unless they are to stay open."""
    items = [{"id": f"d{number}", **more} for number in range(first, last)]
    assert not any("error" in item for item in inside.post("decisions", items))
    if closed:
        rewards = [{"decision": item["id"], "reward": float(n % 2)} for n, item in enumerate(items)]
        assert all(item["applied"] for item in inside.post("rewards", rewards))


def archive_closed(inside: Inside, name: str = "old.db") -> int:
    """Archive all that is closed and covered by two snapshots."""
    for _ in range(2):
        take_snapshot(inside)
        inside.post("arms", {"add": f"more {inside.book.seq}"})
    take_snapshot(inside)
    path = inside.service.journal.path
    moved = archive(path, path.with_name(name), older=0.0, wait=0.0, now=inside.time.now)
    inside.book.any_archived = True
    return moved


def files_with(folder: Path, text: str) -> list[str]:
    """Which files of a folder have a text in them."""
    return [
        path.name
        for path in sorted(folder.iterdir())
        if path.is_file() and text.encode() in path.read_bytes()
    ]
