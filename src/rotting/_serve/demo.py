"""`rotting serve --demo`: an experiment with simulated visitors, to look at before the first own.

Visitors see one of a few banners, tire of each at its own pace, and click, some of them late. A day
of them is played at once when there is none yet; then they come one by one.
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
NAME = "demo-banner"  # not banner, which the guide makes
_DAY, _VISITS = 86_400.0, 4000
_AT_ONCE = 40  # visits between two looks at who else wants something
_LIVE = 12.0  # visits a second
_VISITORS = 1200
_WINDOW = 300.0


class Banner(NamedTuple):
    """How often the first showing is clicked, what is left of it, and how fast it goes there."""

    rate: float
    floor: float
    pace: float

    def chance(self, showing: int) -> float:
        """Of a click at the n-th showing to a visitor."""
        return self.rate * (self.floor + (1.0 - self.floor) * math.exp(-self.pace * (showing - 1)))


BANNERS = {
    "winter sale": Banner(0.24, 0.15, 0.50),
    "free shipping": Banner(0.15, 0.80, 0.10),
    "new arrivals": Banner(0.19, 0.30, 0.25),
    "loyalty card": Banner(0.08, 1.00, 0.00),
}
_NEW = ("gift finder", Banner(0.22, 0.20, 0.35))  # comes in the afternoon, when another one goes
_RETIRED = "loyalty card"


class Demo:
    """Visitors of a service."""

    def __init__(self, service: Service, seed: int = 7) -> None:
        self.service, self.random = service, random.Random(seed)
        self.banners = dict(BANNERS)
        self.clicks: list[tuple[float, str]] = []  # when, and of which decision
        self.number = 0
        self.mark = format(random.SystemRandom().getrandbits(24), "06x")
        self.now: float | None = None  # the time of day, while the past is played

    def clock(self) -> float:
        """The service's time."""
        return time.time() if self.now is None else self.now

    async def run(self) -> None:
        """Play the past if there is none, and then go on."""
        journal = self.service.journal
        while journal.reason is not None:
            await asyncio.sleep(0.05)
        try:
            new = NAME not in journal.usable().experiments
            self.now = time.time() - _DAY if new else None
            await journal.answer(self._create)  # the same again is no new one
            if new:
                await self._past()
        except Refusal as why:
            if why.code == "conflict":
                _LOG.warning("experiment %s is not the demo's: nobody is simulated", NAME)
                self.now = None
                return
        self.now = None
        self.service.warming.want(journal.usable().experiments[NAME])
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
        """One banner goes, another one comes."""
        label, banner = _NEW
        self.banners[label] = banner
        one = book.find(NAME)
        book.change_arm(one, requests.ArmChange(add=label), "demo")
        return book.change_arm(one, requests.ArmChange(retire=_RETIRED), "demo")

    def _visit(self, book: Book) -> Answer:
        """Somebody comes; and clicks that are due arrive."""
        one = book.find(NAME)
        now = book.now()
        while self.clicks and self.clicks[0][0] <= now:
            _, id_ = heapq.heappop(self.clicks)
            with contextlib.suppress(Refusal):
                book.reward(one, requests.NewReward(id_, 1.0))
        self.number += 1
        # some come often: the number is a power of a uniform one
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
    """Let visitors come as soon as the service is up."""
    demo = Demo(service)
    service.journal.clock = Clock(demo.clock)
    service.companions.append(demo.run)
    return demo
