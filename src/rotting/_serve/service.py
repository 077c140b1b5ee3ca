"""What the routes work on: the journal, who may ask, and what goes with them."""

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
from rotting._serve.http import Asked, check_origin
from rotting._serve.journal import Journal
from rotting._serve.metrics import Metrics
from rotting._serve.sqlite import Connect, connect
from rotting._serve.views import Views
from rotting._serve.warmup import Warming

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class Limits(msgspec.Struct, frozen=True):
    """How much one may ask for."""

    body: int = 1 << 20  # bytes
    rate: float = 0.0  # requests a second for each key; 0 for no limit
    waiting: int = MOST_WAITING  # decisions of an experiment without a reward window


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
        self.failed: str | None = None  # why it could not begin
        self.gate, self.rate = Gate(keys_required), Rate(self.limits.rate)
        self.refused = Rate(10.0)  # keys that are wrong, by address
        self.hosts, self.views, self.metrics = hosts, Views(), Metrics(self.journal)
        self.started = time.time()
        self.slices: dict[str, int] = {}  # items of a batch that fit into a moment, by experiment
        self.errors: dict[str, tuple[float, str, str]] = {}  # when, what, and its code
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
