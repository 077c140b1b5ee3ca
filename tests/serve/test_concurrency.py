"""Everything at once: clients, administrators and readers; then a restart and a verification."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from serve_process import Client, Server

SECONDS = 1.0
EXPERIMENTS: list[dict[str, Any]] = [
    {"name": "alone", "arms": ["A", "B", "C"], "policy": "ucb1", "control": 0.2},
    {"name": "many", "arms": ["A", "B", "C"], "policy": "ucb1", "audience": True},
    {
        "name": "short",
        "arms": ["A", "B", "C"],
        "policy": "ucb1",
        "require_shown": True,
        "shown_window": 0.4,
        "reward_window": 0.3,
        "default_reward": 0.0,
    },
]


class AudienceScratch:
    """Threads that share a service until it is enough; answers of 5xx are kept."""

    def __init__(self, server: Server) -> None:
        self.server, self.end = server, time.monotonic() + SECONDS
        self.wrong: list[str] = []
        self.counts = dict.fromkeys(("decisions", "changes", "reads"), 0)

    def run(self, work: Callable[[Client, random.Random], str], number: int) -> threading.Thread:
        def loop() -> None:
            client, draw = self.server.client(), random.Random(number)
            try:
                while time.monotonic() < self.end:
                    self.counts[work(client, draw)] += 1
            except Exception as error:
                self.wrong.append(repr(error))

        thread = threading.Thread(target=loop, daemon=True)
        thread.start()
        return thread

    def post(self, client: Client, path: str, body: Any) -> Any:
        status, answer = client.post(f"/v1/experiments/{path}", body)
        if status >= 500:
            self.wrong.append(f"{path} {body}: {status} {answer}")
        return answer

    def play(self, client: Client, draw: random.Random) -> str:
        """Some decisions, shown and rewarded, most of them."""
        name = draw.choice(EXPERIMENTS)["name"]
        bodies: list[dict[str, Any]] = [
            {"id": f"{draw.getrandbits(60):x}"} for _ in range(draw.randint(1, 10))
        ]
        for body in bodies:
            if name == "many":
                body["key"] = f"k{draw.randrange(30)}"
            if draw.random() < 0.2:
                body["among"] = draw.sample("ABC", 2)
        answers = self.post(client, f"{name}/decisions", bodies)
        done = [a["id"] for a in answers if "error" not in a and draw.random() < 0.8]
        if name == "short":
            self.post(client, f"{name}/shown", [{"decision": id_} for id_ in done])
        rewards = [{"decision": id_, "reward": draw.random()} for id_ in done]
        self.post(client, f"{name}/rewards", rewards * 2)
        return "decisions"

    def administer(self, client: Client, draw: random.Random) -> str:
        """Policies, arms, history and erasures."""
        name = draw.choice(EXPERIMENTS)["name"]
        key = {"key": f"k{draw.randrange(30)}"} if name == "many" else {}
        verb, body = draw.choices(
            [
                # seldom: every one has to learn all that came before, at a restart too
                ("policy", {"policy": draw.choice(["ucb1", "roundrobin"])}),
                ("arms", {draw.choice(["retire", "restore"]): draw.choice("ABC")}),
                ("arms", {"add": draw.choice("DEF")}),
                ("erase", key),
                (
                    "history",
                    {"id": f"h{draw.getrandbits(40)}", "rows": [{"arm": "A", "reward": 1, **key}]},
                ),
            ],
            [1, 9, 9, 9, 9],
        )[0]
        self.post(client, f"{name}/{verb}", body)
        time.sleep(0.01)
        return "changes"

    def read(self, client: Client, draw: random.Random) -> str:
        """Pages, the log, the export."""
        name = draw.choice(EXPERIMENTS)["name"]
        path = draw.choice(["", "/events?limit=50", "/export?format=csv"])
        status, _, read = client.send("GET", f"/v1/experiments/{name}{path}", None)
        if status >= 500:
            self.wrong.append(f"{name}{path}: {status} {read!r:.300}")
        time.sleep(0.02)
        return "reads"


def pages(server: Server) -> dict[str, Any]:
    """All that the pages say and that does not depend on the time."""
    found = {}
    for experiment in EXPERIMENTS:
        _, page = server.client().get(f"/v1/experiments/{experiment['name']}")
        for name in ("now", "last_error", "policy"):
            page.pop(name)
        found[experiment["name"]] = page
    return found


def test_everything_at_once(tmp_path: Path) -> None:
    with Server(tmp_path / "rotting.db") as server:
        for experiment in EXPERIMENTS:
            status, answer = server.client().post("/v1/experiments", experiment)
            assert status == 201, answer
        crowd = AudienceScratch(server)
        threads = [crowd.run(crowd.play, number) for number in range(6)]
        threads += [crowd.run(crowd.administer, 100), crowd.run(crowd.read, 101)]
        for thread in threads:
            thread.join(60)
        assert crowd.wrong == []
        assert min(crowd.counts["decisions"], crowd.counts["changes"], crowd.counts["reads"]) > 10
        time.sleep(1.0)  # all windows have ended
        before = pages(server)
        server.kill()
        server.start()
        assert pages(server) == before
        server.stop()
        code, said = server.verify()
        assert code == 0, said
        server.start()
        assert pages(server) == before
        assert "Traceback" not in server.said(), server.said()
