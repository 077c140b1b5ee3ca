"""`rotting serve --demo`: an experiment with simulated visitors, for a first look.

Visitors see one of a few banners, tire of each at its own pace, and click, some of them late. If
the experiment is new, a day of visits is simulated at once. After that visitors come one by one.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import logging
import math
import random
import time
from typing import Any, NamedTuple

from rotting._serve import requests
from rotting._serve.app import Service
from rotting._serve.book import Answer, Book
from rotting._serve.clock import Clock
from rotting._serve.errors import Refusal

_LOG = logging.getLogger("rotting.serve")
NAME = "demo-banner"  # the guide creates one called banner
_DAY, _VISITS = 86_400.0, 4000
_AT_ONCE = 40  # visits before other requests have their turn
_LIVE = 12.0  # visits a second
_VISITORS = 1200
_WINDOW = 300.0


class Banner(NamedTuple):
    """A banner's click rate at the first showing, the share of it that stays, and the decay."""

    rate: float
    floor: float
    pace: float

    def chance(self, showing: int) -> float:
        """The click probability at the n-th showing to a visitor."""
        return self.rate * (self.floor + (1.0 - self.floor) * math.exp(-self.pace * (showing - 1)))


BANNERS = {
    "winter sale": Banner(0.24, 0.15, 0.50),
    "free shipping": Banner(0.15, 0.80, 0.10),
    "new arrivals": Banner(0.19, 0.30, 0.25),
    "loyalty card": Banner(0.08, 1.00, 0.00),
}
_NEW = ("gift finder", Banner(0.22, 0.20, 0.35))  # added in the afternoon, when one is retired
_RETIRED = "loyalty card"


class Demo:
    """The simulated visitors of a service."""

    def __init__(self, service: Service, seed: int = 7) -> None:
        self.service, self.random = service, random.Random(seed)
        self.banners = dict(BANNERS)
        self.clicks: list[tuple[float, str]] = []  # time and decision of clicks to come
        self.number = 0
        self.mark = format(random.SystemRandom().getrandbits(24), "06x")
        self.now: float | None = None  # the simulated time, while the past day is played

    def clock(self) -> float:
        """The service's time."""
        return time.time() if self.now is None else self.now

    async def run(self) -> None:
        """Play the past day if the experiment is new, then go on live."""
        journal = self.service.journal
        while journal.reason is not None:
            await asyncio.sleep(0.05)
        try:
            new = NAME not in journal.usable().experiments
            self.now = time.time() - _DAY if new else None
            await journal.answer(self._create)  # changes nothing if it exists
            if new:
                await self._past()
        except Refusal as why:
            if why.code == "conflict":
                _LOG.warning("experiment %s is not the demo's: no visitors are simulated", NAME)
                self.now = None
                return
        self.now = None
        self.service.warming.schedule(journal.usable().experiments[NAME])
        _LOG.info("the demo's visitors come, %g a second", _LIVE)
        while True:
            await asyncio.sleep(self.random.expovariate(_LIVE))
            with contextlib.suppress(Refusal):
                await journal.answer(self._visit)

    def _create(self, book: Book) -> Answer:
        return book.create(
            requests.NewExperiment(
                NAME,
                list(BANNERS),
                audience=True,
                control=0.15,
                reward_window=_WINDOW,
                default_reward=0.0,
                fallback="free shipping",
                seed=1,
            ),
            "demo",
        )

    async def _past(self) -> None:
        journal = self.service.journal
        assert self.now is not None
        step = _DAY / _VISITS
        for visit in range(_VISITS):
            self.now += step
            if visit == _VISITS * 6 // 10:
                journal.do(self._turn_over)
            journal.do(self._visit)
            if visit % _AT_ONCE == 0:
                journal.do(_end_windows)
                await journal.settle()

    def _turn_over(self, book: Book) -> Answer:
        """Retire one banner and add another."""
        label, banner = _NEW
        self.banners[label] = banner
        one = book.find(NAME)
        book.change_arm(one, requests.ArmChange(add=label), "demo")
        return book.change_arm(one, requests.ArmChange(retire=_RETIRED), "demo")

    def _visit(self, book: Book) -> Answer:
        """Send the clicks that are due, then one visit."""
        one = book.find(NAME)
        now = book.now()
        while self.clicks and self.clicks[0][0] <= now:
            _, id_ = heapq.heappop(self.clicks)
            with contextlib.suppress(Refusal):
                book.reward(one, requests.NewReward(id_, 1.0))
        self.number += 1
        # a power of a uniform number: some visitors come often
        who = f"visitor {int(_VISITORS * self.random.random() ** 2.2)}"
        wanted = requests.NewDecision(f"demo-{self.mark}-{self.number}", who)
        keys = book.keys(one, [who])
        made = book.decide(one, wanted, book.about(one, [wanted.id]), keys)
        banner = {**self.banners, _NEW[0]: _NEW[1]}[made.data["arm"]]
        if self.random.random() < banner.chance(made.data["pull"]):
            later = self.random.expovariate(1 / 20.0)
            if self.random.random() < 0.02:
                later += _WINDOW  # too late
            heapq.heappush(self.clicks, (now + later, wanted.id))
        return made


def _end_windows(book: Book) -> Answer:
    while book.tick():
        pass
    return Answer(None, 0)


def begin(service: Service) -> Any:
    """Simulate visitors as soon as the service is up."""
    demo = Demo(service)
    service.journal.clock = Clock(demo.clock)
    service.background.append(demo.run)
    return demo
