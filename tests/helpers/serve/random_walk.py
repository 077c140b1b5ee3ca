"""A seeded random walk over the whole interface, comparing the service with the model."""

from __future__ import annotations

import random
import tempfile
import time
from pathlib import Path
from typing import Any

from helpers.serve.caller import Called, Caller
from helpers.serve.pair import Clock, Open, Pair
from helpers.serve.standin import make_app as standin_app
from rotting._serve.app import App, Service
from rotting._serve.book import Answer, Book
from rotting._serve.journal import Journal
from rotting._serve.verify import verify

LABELS = ["A", "B", "C", "ä b/c", "🍌"]
KEYS = ["k1", "k2", "k3", "ключ"]
REWARDS = [0, 1, 0.5, -2.25, 1e3, 7]
WRONG: list[Any] = [None, True, "x", "", "a\x00b", "a\nb", [], {}, -1, "y" * 600, {"a": [1]}]
SPECIFICATIONS: dict[str, dict[str, Any]] = {
    "plain": {"policy": "ucb1"},
    "turns": {"policy": "roundrobin"},
    "many": {"policy": "ucb1", "audience": True},
    "shown": {"policy": "roundrobin", "require_shown": True, "shown_window": 50},
    "window": {"policy": "ucb1", "reward_window": 30, "default_reward": 0.0},
    "given-up": {"policy": "ucb1", "reward_window": 30, "audience": True, "control": 0.2},
    "all": {
        "policy": {"policy": "cellucb", "sigma": 0.5},
        "audience": {"rest": {"half_life": 20, "unit": "decisions"}},
        "control": 0.3,
        "require_shown": True,
        "shown_window": 20,
        "reward_window": 40,
        "default_reward": 0.25,
        "fallback": "B",
    },
}


def opener(data: Path, clock: Clock, standin: str | None = None) -> Open:
    """A function that makes and opens a service.

    `standin` names a broken stand-in to open instead, "" a correct one.
    """

    def opening() -> tuple[Caller, Any]:
        if standin is not None:
            app = standin_app(str(data), standin, clock)
            called = Called(app, app.state.tick)
        else:
            service = Service(data, clock=clock, compiled=False)
            called = Called(App(service), lambda: tick(service.journal))
        return called, called.close

    return opening


def policies(name: str) -> list[Any]:
    """Policies that the experiment can be given."""
    rest = isinstance(SPECIFICATIONS[name].get("audience"), dict)
    by_key = [{"policy": "cellucb", "sigma": sigma} for sigma in (0.5, 2.0)]
    return by_key if rest else ["ucb1", "roundrobin", {"policy": "ucb1", "c": 0.5}]


async def tick(journal: Journal) -> None:
    """What the service does every tenth of a second, now."""

    def work(book: Book) -> Answer:
        book.tick()
        return Answer(None, book.seq)

    await journal.answer(work)


class Walk:
    """A pair of service and model, and a die."""

    def __init__(self, pair: Pair, seed: int) -> None:
        self.pair, self.random = pair, random.Random(seed)
        self.ids: dict[str, list[dict[str, Any]]] = {}
        self.rewards: dict[str, list[dict[str, Any]]] = {}
        self.number = 0

    def create(self, name: str, arms: int = 3) -> None:
        body = {"name": name, "arms": LABELS[:arms], "seed": 5, **SPECIFICATIONS[name]}
        self.pair.create(body)
        self.ids.setdefault(name, [])
        self.rewards.setdefault(name, [])

    def fresh(self) -> str:
        self.number += 1
        return f"d{self.number}"

    def decision(self, name: str) -> dict[str, Any]:
        """A decision to request: mostly a new one, else a repeated one, or an old id changed."""
        chance = self.random.random()
        if self.ids[name] and chance < 0.15:
            return self.random.choice(self.ids[name])
        body: dict[str, Any] = {"id": self.fresh()}
        if "audience" in SPECIFICATIONS[name]:
            body["key"] = self.random.choice(KEYS)
        arms = list(self.pair.model.experiments[name].arms)
        if self.random.random() < 0.3:
            body["among"] = self.random.sample(arms, self.random.randint(1, len(arms)))
        if self.ids[name] and chance < 0.2:
            body["id"] = self.random.choice(self.ids[name])["id"]
        elif chance < 0.23:
            body["key" if "key" not in body else "id"] = self.random.choice(WRONG)
        elif chance < 0.25:
            body["among"] = self.random.choice([[], ["nobody"], "A", 5, [None]])
        else:
            self.ids[name].append(body)
        return body

    def reward(self, name: str) -> dict[str, Any]:
        """A reward to give: a new one, an old one again, one of nothing, or a wrong one."""
        chance = self.random.random()
        if chance < 0.04 or not self.ids[name]:
            return {"decision": f"never {self.number}", "reward": 1}
        if chance < 0.2 and self.rewards[name]:
            return self.random.choice(self.rewards[name])
        decision = self.random.choice(self.ids[name][-30:])["id"]
        body: dict[str, Any] = {"decision": decision, "reward": self.random.choice(REWARDS)}
        if self.random.random() < 0.3:
            body["id"] = f"r-{decision}-{self.random.randint(0, 1)}"
        if chance < 0.24:
            wrong = [value for value in WRONG if value not in (-1, None)]
            body["reward"] = self.random.choice(wrong)
        elif decision in self.pair.model.experiments[name].decisions:
            self.rewards[name].append(body)
        return body

    def shown(self, name: str) -> dict[str, Any]:
        if self.random.random() < 0.05 or not self.ids[name]:
            return {"decision": self.random.choice(["never", None, 5, ""])}
        found = self.random.choice(self.ids[name][-30:])
        body: dict[str, Any] = {"decision": found["id"]}
        if self.random.random() < 0.3:  # the client showed an arm by its own choice
            body["arm"] = self.random.choice([*self.pair.model.experiments[name].arms, "nobody"])
            body["key"] = found.get("key")
            if self.random.random() < 0.1:
                body["decision"], body["key"] = self.fresh(), self.random.choice([None, *KEYS])
            if self.random.random() < 0.3:
                body["confirmed"] = self.random.choice([True, False])
        return body

    def arms(self, name: str) -> dict[str, Any]:
        verb = self.random.choice(["add", "retire", "restore", "retire", "restore", "paint"])
        return {verb: self.random.choice([*LABELS, "nobody"] if verb != "add" else LABELS)}

    def history(self, name: str) -> dict[str, Any]:
        arms = list(self.pair.model.experiments[name].arms)
        rows: list[dict[str, Any]] = []
        for _ in range(self.random.randint(1, 5)):
            rows.append({"arm": self.random.choice(arms), "reward": self.random.choice(REWARDS)})
            if "audience" in SPECIFICATIONS[name]:
                rows[-1]["key"] = self.random.choice(KEYS)
        return {"id": f"h{self.random.randint(0, 30)}", "rows": rows}

    def step(self) -> None:
        """One request at random, or a restart, or time goes by."""
        name = self.random.choice(list(self.ids))
        chance = self.random.random()
        some = {"decisions": self.decision, "rewards": self.reward, "shown": self.shown}
        if chance < 0.86:
            verb = self.random.choices(list(some), [5, 5, 3 if name in ("shown", "all") else 0.5])[
                0
            ]
            if self.random.random() < 0.2:
                items: list[Any] = [some[verb](name) for _ in range(self.random.randint(0, 12))]
                if self.random.random() < 0.1:
                    items.insert(0, self.random.choice(WRONG))
                self.pair.post(verb, name, items)
            else:
                self.pair.post(verb, name, some[verb](name))
        elif chance < 0.90:
            self.pair.post("arms", name, self.arms(name))
        elif chance < 0.91:
            self.pair.post("history", name, self.history(name))
        elif chance < 0.912:
            self.pair.post("policy", name, {"policy": self.random.choice(policies(name))})
        elif chance < 0.917:
            self.pair.post("erase", name, {"key": self.random.choice(KEYS)})
        elif chance < 0.92:
            self.pair.post("decisions", "nowhere", {"id": "1"})
        elif chance < 0.93:
            self.create(self.random.choice(list(SPECIFICATIONS)), self.random.randint(2, 4))
        elif chance < 0.998:
            self.pair.wait(self.random.choice([0.5, 5, 20, 60]))
        else:
            self.pair.restart()
        self.pair.compare_page(name)


def check_walk(steps: int, seed: int, report: bool = False, standin: str | None = None) -> None:
    """Random steps on one service, compared with the model."""
    clock, begin = Clock(), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        pair = Pair(opener(Path(folder) / "rotting.db", clock, standin), clock)
        walking = Walk(pair, seed)
        try:
            for name in SPECIFICATIONS:
                walking.create(name)
            for number in range(1, steps + 1):
                walking.step()
                if number % 50 == 0:
                    pair.compare()
                if report and number % 5000 == 0:
                    spent = time.perf_counter() - begin
                    print(f"{number:,} steps, {pair.model.seq:,} events, {spent:.0f} s", flush=True)
            pair.restart()
        finally:
            pair.end()
        if standin is None:
            found = verify(Path(folder) / "rotting.db", compiled=False)
            assert found.problems == []
