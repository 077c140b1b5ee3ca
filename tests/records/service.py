"""A database that 0.2.0 wrote: it opens, what is folded from its events is what it was, and the
next decisions are those that 0.2.0 would have made.

`service_by_0.2.0.db.xz` was written by that version: `python -m records.service FILE`.
"""

from __future__ import annotations

import functools
import hashlib
import json
import lzma
import sys
import tempfile
from pathlib import Path
from typing import Any

from helpers.serve.in_process import Time, serving
from helpers.serve.pair import Clock, Pair
from helpers.serve.random_walk import SPECIFICATIONS, Walk, opener
from records import Plays
from rotting._serve.backup import backup
from rotting._serve.snapshots import content_of

FILE = Path(__file__).with_name("service_by_0.2.0.db.xz")
NOW = 1_890_000_000.0  # later than all windows in it


def opened(name: str) -> Any:
    """An experiment's page and its events' digest after a start, and the decisions that follow."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "service.db"
        path.write_bytes(lzma.decompress(FILE.read_bytes()))
        with serving(path, Time(NOW)) as inside:
            inside.book.tick()
            page = inside.get(name=name)
            made: list[Any] = []
            inside.post("arms", {"restore": "A"}, name=name)  # they may all be retired
            for number in range(30):
                body: dict[str, Any] = {"id": f"after {number}"}
                if page["audience"]:
                    body["key"] = f"k{number % 4}"
                answer = inside.post("decisions", body, name=name)
                made.append([answer["arm"], answer["pull"]])
                if number % 3 and answer["pull"]:
                    reward = {"decision": body["id"], "reward": number % 2}
                    inside.post("rewards", reward, name=name)
            content = content_of(inside.live(name))
        fields = ("decisions", "pulls", "rewards", "outstanding", "late", "missing", "unshown")
        arms = [
            [arm["arm"], arm["open"], arm["pulls"], arm["observed"], arm["mean"], arm["estimate"]]
            for arm in page["arms"]
        ]
        digest = hashlib.sha256(json.dumps(values(content)).encode()).hexdigest()[:16]
        counts = {field: page[field] for field in fields}
        return {**counts, "arms": arms, "then": made, "snapshot": digest}


def values(content: bytes) -> list[Any]:
    """All that is in a snapshot but the names: of fields, of formats, of the version."""
    snapshot = json.loads(content)
    player = json.loads(snapshot.pop("player"))
    for name in ("checksum", "format", "rotting"):
        del player[name]
    parts = [list(each.values()) if isinstance(each, dict) else each for each in player.values()]
    return [parts, snapshot]


def banner(pair: Pair) -> None:
    """The policy that is recommended for an audience, with rewards late, missing and in time."""
    settings = {"reward_window": 100, "default_reward": 0, "control": 0.1, "fallback": "A"}
    body = {"name": "banner", "arms": ["A", "B", "C"], "audience": True, "seed": 2, **settings}
    assert pair.service.post("/v1/experiments", body)[0] == 201
    for number in range(400):
        asked = {"id": f"b{number}", "key": f"k{number * number % 23}"}
        made = pair.service.post("/v1/experiments/banner/decisions", asked)[1]
        if number % 4:
            value = int((number * 7919) % 10 < {"A": 5, "B": 3, "C": 2}[made["arm"]])
            reward = {"decision": asked["id"], "reward": value}
            pair.service.post("/v1/experiments/banner/rewards", reward)
        pair.clock.now += 1.0
        pair.service.tick()


def plays() -> Plays:
    return {name: functools.partial(opened, name) for name in [*SPECIFICATIONS, "banner"]}


def write(target: Path) -> None:
    """A walk through all that may happen, and the database that it leaves."""
    with tempfile.TemporaryDirectory() as folder:
        clock, path = Clock(), Path(folder) / "rotting.db"
        pair = Pair(opener(path, clock, None), clock)
        walking = Walk(pair, seed=4)
        for name in SPECIFICATIONS:
            walking.create(name)
        for _ in range(2500):
            walking.step()
        banner(pair)
        pair.end()
        copy = Path(folder) / "copy.db"
        backup(path, copy)
        target.write_bytes(lzma.compress(copy.read_bytes(), preset=9))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
