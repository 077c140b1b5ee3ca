"""The service behind the endpoints: journal, access, limits, metrics."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec

from rotting._serve.access import LOCAL, Gate, Rate, Who
from rotting._serve.book import Book
from rotting._serve.config import MOST_WAITING
from rotting._serve.errors import Refusal
from rotting._serve.experiment import Experiment
from rotting._serve.http import Request, check_origin
from rotting._serve.journal import Journal
from rotting._serve.metrics import Metrics
from rotting._serve.sqlite import Connect, connect
from rotting._serve.views import Views
from rotting._serve.warmup import Warming

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class Limits(msgspec.Struct, frozen=True):
    """Limits of requests."""

    body: int = 1 << 20  # bytes
    rate: float = 0.0  # requests a second for each key; 0 for no limit
    waiting: int = MOST_WAITING  # waiting decisions of an experiment without a reward window


class Service:
    """All that the endpoints use."""

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
        accept_loss: bool = False,
    ) -> None:
        self.limits = limits or Limits()
        self.journal = Journal(
            path,
            connect=connect,
            compiled=compiled,
            clock=clock,
            waiting=self.limits.waiting,
            accept_loss=accept_loss,
        )
        self.failed: str | None = None  # why it could not start
        self.gate, self.rate = Gate(keys_required), Rate(self.limits.rate)
        self.refused = Rate(10.0)  # invalid keys, by address
        self.hosts, self.views, self.metrics = hosts, Views(), Metrics(self.journal)
        self.started = time.time()
        self.slices: dict[str, int] = {}  # items of a batch worked on at a time, by experiment
        self.errors: dict[str, tuple[float, str, str]] = {}  # time, message, code
        self.warming = Warming(self.journal, compiled)
        self.journal.on_load = self.warming.schedule_all
        self.background: list[Callable[[], Awaitable[None]]] = []  # what else runs meanwhile

    def who(self, request: Request) -> Who:
        """The sender of a request, or a refusal."""
        if self.gate.stale() and self.journal.book is not None:
            store = self.journal.book.store
            self.gate.refresh(store.tokens(), self.gate.requires_key or store.ever_tokens())
        check_origin(request, None if self.gate.requires_key else self.hosts)
        if not self.gate.requires_key:
            return LOCAL
        try:
            who = self.gate.who(request.headers.get(b"authorization", b"").decode("latin-1"))
        except Refusal:
            self.refused.take(request.address)
            raise
        self.rate.take(who.name)
        return who

    def experiment(self, book: Book, request: Request, who: Who) -> Experiment:
        """The request's experiment; one that the sender may not see is not found."""
        if not who.sees(request.name):
            raise Refusal("not_found", "there is no such experiment", "name")
        return book.find(request.name)
