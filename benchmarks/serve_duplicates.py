"""A million repeated rewards and decisions, 64 at a time: each counts once.

    python benchmarks/serve_duplicates.py --items 1000000 --seed 0          (make slow)

Every decision and every reward is sent about twenty times, by many clients at once, alone and in
batches (also twice in one batch). All answers about one id must be the same, and in the end the
service must have counted every id once.
"""

from __future__ import annotations

import argparse
import collections
import random
import shlex
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from record import record
from serve_process import ROTTING, Client, Server, all_events

CLIENTS = 64
COPIES = 20
BATCH = 200
EXPERIMENT = {"name": "twice", "arms": ["A", "B", "C"], "policy": "ucb1"}


class Sender(threading.Thread):
    """A client with its share of the requests."""

    def __init__(self, port: int, requests: list[tuple[str, list[Any]]]) -> None:
        super().__init__(daemon=True)
        self.client, self.requests = Client(port, timeout=120.0), requests
        self.answers: dict[tuple[str, str], Any] = {}
        self.applied: collections.Counter[str] = collections.Counter()
        self.wrong: list[str] = []

    def run(self) -> None:
        try:
            for verb, bodies in self.requests:
                one = len(bodies) == 1
                path = f"/v1/experiments/twice/{verb}"
                status, answer = self.client.post(path, bodies[0] if one else bodies)
                if status != 200:
                    self.wrong.append(f"{verb} {bodies[0]}: {status} {answer}")
                    continue
                for body, item in zip(bodies, [answer] if one else answer, strict=True):
                    self.keep(verb, body, item)
        except Exception as error:
            self.wrong.append(repr(error))
        finally:
            self.client.close()

    def keep(self, verb: str, body: dict[str, Any], answer: dict[str, Any]) -> None:
        if verb == "rewards" and "error" not in answer:
            answer = dict(answer)
            self.applied[body["decision"]] += bool(answer.pop("applied"))
            answer.pop("why", None)  # it goes with a repetition
        name = (verb, body["id"] if verb == "decisions" else body["decision"])
        if "error" in answer or self.answers.setdefault(name, answer) != answer:
            self.wrong.append(f"{verb} {body}: {answer}, before {self.answers.get(name)}")


def requests(verb: str, bodies: list[Any], copies: int, draw: random.Random) -> list[Any]:
    """All bodies so often, shuffled, a tenth of them alone and the others in batches."""
    items = bodies * copies
    draw.shuffle(items)
    alone = len(items) // 10
    made = [(verb, [body]) for body in items[:alone]]
    made += [(verb, items[begin : begin + BATCH]) for begin in range(alone, len(items), BATCH)]
    draw.shuffle(made)
    return made


def send(server: Server, work: list[Any], senders: list[Sender]) -> None:
    """By 64 clients at once."""
    now = [Sender(server.port, work[number::CLIENTS]) for number in range(CLIENTS)]
    for sender in now:
        sender.start()
    for sender in now:
        sender.join()
    senders += now


def repeat(
    folder: Path, items: int, seed: int, command: Sequence[str] = ROTTING
) -> tuple[list[str], dict[str, float]]:
    """Send that many items; what was wrong, and figures."""
    draw, begin = random.Random(seed), time.perf_counter()
    distinct = max(1, items // (2 * COPIES))
    decisions = [{"id": f"d{number}"} for number in range(distinct)]
    rewards = [{"decision": f"d{n}", "reward": (n % 10) / 10} for n in range(distinct)]
    for number in range(0, distinct, 3):
        rewards[number]["id"] = f"r{number}"
    senders: list[Sender] = []
    with Server(folder / "twice.db", command) as server:
        client = server.client(timeout=120.0)
        assert client.post("/v1/experiments", EXPERIMENT)[0] == 201
        # First copies of decisions before the rewards, for a reward needs its decision;
        # the other half of the decisions' copies goes among the rewards.
        half = COPIES // 2
        send(server, requests("decisions", decisions, half, draw), senders)
        mixed = requests("decisions", decisions, COPIES - half, draw)
        mixed += requests("rewards", rewards, COPIES, draw)
        draw.shuffle(mixed)
        send(server, mixed, senders)
        wrong = [fault for sender in senders for fault in sender.wrong]
        wrong += judge(client, senders, rewards)
        server.stop()
        code, said = server.verify()
        if code:
            wrong.append(f"--verify ended with {code}: {said}")
    spent = time.perf_counter() - begin
    sent = sum(len(bodies) for s in senders for _, bodies in s.requests)
    figures: dict[str, float] = {
        "items": sent,
        "requests": sum(len(s.requests) for s in senders),
        "distinct": 2 * distinct,
        "seconds": round(spent, 1),
        "items a second": round(sent / spent),
    }
    return wrong, figures


def judge(client: Client, senders: Sequence[Sender], rewards: list[Any]) -> list[str]:
    """Whether everybody heard the same, and each id was counted once."""
    wrong: list[str] = []
    heard: dict[tuple[str, str], Any] = {}
    applied: collections.Counter[str] = collections.Counter()
    for sender in senders:
        applied += sender.applied
        for name, answer in sender.answers.items():
            if heard.setdefault(name, answer) != answer:
                wrong.append(f"{name}: {answer} and {heard[name]}")
    distinct = len(rewards)
    if applied != {body["decision"]: 1 for body in rewards}:
        wrong.append("rewards were applied more or less than once")
    events = list(all_events(client, "twice"))
    for kind in ("decided", "rewarded"):
        found = collections.Counter(e["id"] for e in events if e["kind"] == kind)
        if len(found) != distinct or max(found.values()) != 1:
            wrong.append(f"{kind}: {len(found)} ids, some {max(found.values())} times")
    _, page = client.get("/v1/experiments/twice")
    total = sum(body["reward"] for body in rewards)
    for what, number, wanted in (
        ("decisions", page["decisions"], distinct),
        ("pulls", page["pulls"], distinct),
        ("rewards", page["rewards"], distinct),
        ("outstanding", page["outstanding"], 0),
        ("sum", round(page["mean"] * distinct, 6), round(total, 6)),
    ):
        if number != wanted:
            wrong.append(f"{what}: {number} instead of {wanted}")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--command", type=shlex.split, default=ROTTING, help="another service")
    parser.add_argument("--no-record", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        wrong, figures = repeat(Path(folder), options.items, options.seed, options.command)
    for name, value in figures.items():
        print(f"{name:20} {value:>12,}")
    for fault in wrong[:20]:
        print("WRONG", fault)
    print(f"{len(wrong)} things wrong")
    if not options.no_record:
        record("serve_duplicates", [{**figures, "wrong": len(wrong)}], seed=options.seed)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
