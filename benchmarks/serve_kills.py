"""SIGKILL at random moments: nothing acknowledged is lost or changed, nothing counts twice.

    python benchmarks/serve_kills.py --kills 1000 --seed 0          (make slow)

Sixteen clients decide and reward, one at a time and in batches, and repeat a request under its id
until it is answered, while the service is killed and started again. They remember every answer.
After each start some of what was acknowledged is asked for again; at the end everything is compared
with the events, the counts and `--verify`. Then: how long a service with 100,000 events takes to
its first answer, beside one with none.
"""

from __future__ import annotations

import argparse
import collections
import http.client
import json
import random
import shlex
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from record import record
from serve_process import ROTTING, Client, Server, all_events

CLIENTS = 16
SHORTEST, LONGEST = 0.05, 0.6  # seconds of traffic before a kill
EXPERIMENTS: list[dict[str, Any]] = [
    {"name": "alone", "arms": ["A", "B", "C"], "policy": "ucb1"},
    {"name": "many", "arms": ["A", "B", "C"], "policy": "ucb1", "audience": True},
]
ABANDONED = 0.05  # of the requests whose answer did not come are never repeated
SAMPLE = 20  # acknowledged things asked for again after every start


@dataclass
class Kept:
    """What one client knows: answers that it has, and requests it gave up on."""

    decided: dict[tuple[str, str], tuple[Any, Any]] = field(default_factory=dict)
    rewarded: dict[tuple[str, str], tuple[Any, Any]] = field(default_factory=dict)
    answers: list[tuple[str, str, Any, Any]] = field(default_factory=list)
    abandoned: set[tuple[str, str, str]] = field(default_factory=set)
    unanswered: int = 0  # requests that were sent and not answered, at least once
    found_stored: int = 0  # of them, rewards that turned out to be stored
    wrong: list[str] = field(default_factory=list)


class Worker(threading.Thread):
    """A client that works until it is told to stop, and finishes what it has begun."""

    def __init__(
        self, number: int, seed: int, port: int, stop: threading.Event, pause: float = 0.0
    ) -> None:
        super().__init__(daemon=True)
        self.pause = pause
        self.number, self.random = number, random.Random(f"{seed}-{number}")
        self.client, self.stop, self.kept = Client(port, timeout=10.0), stop, Kept()
        self.count = 0
        self.waiting: dict[str, list[str]] = {e["name"]: [] for e in EXPERIMENTS}

    def run(self) -> None:
        try:
            while not self.stop.is_set():
                self.work()
                if self.pause:
                    time.sleep(self.random.random() * self.pause)
        except Exception as error:
            self.kept.wrong.append(f"client {self.number}: {error!r}")
        finally:
            self.client.close()

    def work(self) -> None:
        """One request, to its end."""
        name = self.random.choice(EXPERIMENTS)["name"]
        size = 1 if self.random.random() < 0.7 else self.random.randint(2, 20)
        waiting = self.waiting[name]
        if waiting and self.random.random() < 0.5:
            self.random.shuffle(waiting)
            chosen, waiting[:] = waiting[:size], waiting[size:]
            bodies = [self.reward(decision) for decision in chosen]
            self.send(name, "rewards", bodies, len(bodies) > 1)
            return
        bodies = [self.decision(name) for _ in range(size)]
        if self.send(name, "decisions", bodies, size > 1):
            waiting += [body["id"] for body in bodies]

    def decision(self, name: str) -> dict[str, Any]:
        self.count += 1
        body = {"id": f"{self.number}-{self.count}"}
        if name == "many":
            body["key"] = f"key {self.random.randrange(40)}"
        return body

    def reward(self, decision: str) -> dict[str, Any]:
        body = {"decision": decision, "reward": round(self.random.random(), 3)}
        if self.random.random() < 0.3:
            body["id"] = f"r {decision}"
        return body

    def send(self, name: str, verb: str, bodies: list[dict[str, Any]], batch: bool) -> bool:
        """Until it is answered; False if it was given up."""
        path, tries = f"/v1/experiments/{name}/{verb}", 0
        while True:
            tries += 1
            try:
                status, answer = self.client.post(path, bodies if batch else bodies[0])
            except (OSError, http.client.HTTPException, json.JSONDecodeError):
                self.kept.unanswered += tries == 1
                if tries == 1 and self.random.random() < ABANDONED:
                    self.kept.abandoned |= {(name, verb, key_of(verb, body)) for body in bodies}
                    return False
                time.sleep(0.02)
                continue
            if status == 503:
                time.sleep(0.02)
                continue
            if status != 200:
                self.kept.wrong.append(f"{path} {bodies}: {status} {answer}")
                return False
            self.keep(name, verb, bodies, answer if batch else [answer], tries)
            return True

    def keep(self, name: str, verb: str, bodies: list[Any], answers: list[Any], tries: int) -> None:
        for body, answer in zip(bodies, answers, strict=True):
            self.kept.answers.append((name, verb, body, answer))
            if "error" in answer:
                self.kept.wrong.append(f"{name}/{verb} {body}: {answer}")
            elif verb == "decisions":
                self.kept.decided[name, body["id"]] = (body, answer)
            else:
                self.kept.rewarded[name, body["decision"]] = (body, answer)
                if not answer["applied"]:
                    self.kept.found_stored += 1
                    if tries == 1:
                        self.kept.wrong.append(f"first reward {body} was not applied: {answer}")


def key_of(verb: str, body: dict[str, Any]) -> str:
    return str(body["id"] if verb == "decisions" else body["decision"])


def repeat(client: Client, workers: Sequence[Worker], draw: random.Random, size: int) -> list[str]:
    """Ask again for things that were acknowledged; what is wrong with the answers."""
    wrong = []
    for _ in range(size):
        answers = draw.choice(workers).kept.answers
        if answers:
            name, verb, body, before = draw.choice(answers)
            status, answer = client.post(f"/v1/experiments/{name}/{verb}", body)
            again = {"applied": False, "why": "repeated"}
            wanted = before if verb == "decisions" else {**before, **again}
            if status != 200 or answer != wanted:
                wrong.append(f"{verb} {body} was {before}, is now {status} {answer}")
    return wrong


def judge(client: Client, workers: Sequence[Worker]) -> tuple[list[str], dict[str, int]]:
    """Everything acknowledged against events and counts."""
    wrong: list[str] = []
    totals: collections.Counter[str] = collections.Counter()
    decided = {k: v for worker in workers for k, v in worker.kept.decided.items()}
    rewarded = {k: v for worker in workers for k, v in worker.kept.rewarded.items()}
    abandoned = {a for worker in workers for a in worker.kept.abandoned}
    numbers: list[int] = []
    for experiment in EXPERIMENTS:
        name = experiment["name"]
        seen: dict[str, dict[str, Any]] = {}
        paid: dict[str, dict[str, Any]] = {}
        pulls: collections.Counter[Any] = collections.Counter()
        for event in all_events(client, name):
            numbers.append(event["seq"])
            totals["events"] += 1
            if event["kind"] not in ("decided", "rewarded"):
                continue
            one = seen if event["kind"] == "decided" else paid
            id_ = event["id"]
            if id_ in one:
                wrong.append(f"{name}: two events of one id, {one[id_]} and {event}")
            one[id_] = event
            if event["kind"] == "decided":
                place = (event.get("key"), event["arm"])
                pulls[place] += 1
                if event["pull"] != pulls[place]:
                    wrong.append(
                        f"{name}: pull {event['pull']} where {pulls[place]} is next, {event}"
                    )
        for verb, events, kept, same in (
            ("decisions", seen, decided, ("arm", "pull", "seq")),
            ("rewards", paid, rewarded, ("seq",)),
        ):
            mine = {id_: pair for (where, id_), pair in kept.items() if where == name}
            for id_, (body, answer) in mine.items():
                if id_ not in events:
                    wrong.append(f"{name}: lost, {body} answered {answer}")
                    continue
                for part in same:
                    if events[id_][part] != answer[part]:
                        wrong.append(f"{name}: answered {answer}, stored {events[id_]}")
                if verb == "rewards" and events[id_]["reward"] != body["reward"]:
                    wrong.append(f"{name}: given {body}, stored {events[id_]}")
            for id_ in events.keys() - mine.keys():
                totals["stored and never acknowledged"] += 1
                if (name, verb, id_) not in abandoned:
                    wrong.append(f"{name}: nobody asked for {events[id_]}")
        _, page = client.get(f"/v1/experiments/{name}")
        arms = collections.Counter(event["arm"] for event in seen.values())
        for what, found, wanted in (
            ("decisions", page["decisions"], len(seen)),
            ("pulls", page["pulls"], len(seen)),
            ("rewards", page["rewards"], len(paid)),
            ("outstanding", page["outstanding"], len(seen) - len(paid)),
            (
                "pulls of arms",
                {a["arm"]: a["pulls"] for a in page["arms"]},
                {a: arms[a] for a in "ABC"},
            ),
        ):
            if found != wanted:
                wrong.append(f"{name}: {what} is {found}, by its events {wanted}")
        totals["decisions"] += len(seen)
        totals["rewards"] += len(paid)
    if sorted(numbers) != list(range(1, len(numbers) + 1)):
        wrong.append("the numbers of the events are not 1, 2, 3, ...")
    return wrong, dict(totals)


def kill_often(
    folder: Path,
    kills: int,
    seed: int,
    command: Sequence[str] = ROTTING,
    *,
    pause: float = 0.0,
    report: bool = False,
) -> tuple[list[str], dict[str, float]]:
    """Kill it so often; what was wrong, and figures. Clients pause for up to so many seconds."""
    draw, begin = random.Random(seed), time.perf_counter()
    server = Server(folder / "kills.db", command)
    stop, wrong, starts = threading.Event(), list[str](), list[float]()
    with server:
        for experiment in EXPERIMENTS:
            status, answer = server.client().post("/v1/experiments", experiment)
            assert status == 201, answer
        workers = [Worker(number, seed, server.port, stop, pause) for number in range(CLIENTS)]
        for worker in workers:
            worker.start()
        for number in range(1, kills + 1):
            time.sleep(draw.uniform(SHORTEST, LONGEST))
            server.kill()
            starts.append(server.start())
            wrong += repeat(server.client(), workers, draw, SAMPLE)
            wrong += [fault for worker in workers for fault in worker.kept.wrong]
            if wrong:
                break
            if report and number % 50 == 0:
                print(f"{number} kills, {time.perf_counter() - begin:.0f} s", flush=True)
        stop.set()
        for worker in workers:
            worker.join(60.0)
            if worker.is_alive():
                wrong.append(f"client {worker.number} never got an answer")
        wrong += [fault for worker in workers for fault in worker.kept.wrong]
        found, totals = judge(server.client(), workers)
        wrong += found
        wrong += repeat(server.client(), workers, draw, 10 * SAMPLE)
        server.stop()
    code, said = server.verify()
    if code:
        wrong.append(f"--verify ended with {code}: {said}")
    figures: dict[str, float] = {
        "kills": len(starts),
        **totals,
        "requests unanswered at first": sum(w.kept.unanswered for w in workers),
        "rewards stored though unanswered": sum(w.kept.found_stored for w in workers),
        "seconds to be ready, median": round(statistics.median(starts), 3),
        "seconds to be ready, most": round(max(starts), 3),
        "seconds": round(time.perf_counter() - begin, 1),
    }
    return list(dict.fromkeys(wrong)), figures


def first_answer(server: Server, name: str, number: int) -> float:
    """Seconds from the start of the process to its first decision."""
    begin = time.perf_counter()
    server.start()
    status, answer = server.client().post(f"/v1/experiments/{name}/decisions", {"id": f"s{number}"})
    spent = time.perf_counter() - begin
    assert status in (200, 404), answer  # an empty service knows no experiment
    return spent


def restarts(
    folder: Path, events: int, repeats: int = 5, command: Sequence[str] = ROTTING
) -> dict[str, float]:
    """Start to first answer with so many events, killed before, and with none, in turn."""
    full, bare = Server(folder / "full.db", command), Server(folder / "bare.db", command)
    with full:
        client = full.client()
        client.post("/v1/experiments", EXPERIMENTS[0])
        for begin in range(0, events // 2, 500):
            ids = [f"d{number}" for number in range(begin, begin + 500)]
            for verb, bodies in (
                ("decisions", [{"id": id_} for id_ in ids]),
                ("rewards", [{"decision": id_, "reward": 0.5} for id_ in ids]),
            ):
                status, answer = client.post(f"/v1/experiments/alone/{verb}", bodies)
                assert status == 200, answer
    times: dict[str, list[float]] = {"full": [], "bare": []}
    for number in range(repeats):
        for what, server in (("full", full), ("bare", bare)):
            times[what].append(first_answer(server, "alone", number))
            server.kill()
    with_events, without = statistics.median(times["full"]), statistics.median(times["bare"])
    return {
        "events": events,
        "first answer with events, s": round(with_events, 3),
        "first answer without, s": round(without, 3),
        "ratio": round(with_events / without, 3),
        "difference, s": round(with_events - without, 3),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument(
        "--command", type=shlex.split, default=ROTTING, help="another service to kill"
    )
    parser.add_argument("--no-record", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        wrong, figures = kill_often(
            Path(folder), options.kills, options.seed, options.command, report=True
        )
        for name, value in figures.items():
            print(f"{name:40} {value:>12,}")
        for fault in wrong[:20]:
            print("WRONG", fault)
        print(f"{len(wrong)} things wrong")
        starting = restarts(Path(folder), options.events, command=options.command)
        for name, value in starting.items():
            print(f"{name:40} {value:>12,}")
    if not options.no_record:
        record("serve_kills", [{**figures, "wrong": len(wrong)}, starting], seed=options.seed)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
