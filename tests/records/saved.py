"""Players that 0.2.0 saved: they load, and go on as they would have.

`saved_by_0.2.0.json.xz` was written by that version: `python -m records.saved FILE`.
"""

from __future__ import annotations

import functools
import json
import lzma
import random
import sys
from pathlib import Path
from typing import Any

import recorded
from records import Plays
from records.players import AUDIENCES, RESTS, digest
from rotting import AudiencePlayer, Player
from rotting.policies import Oracle

FILE = Path(__file__).with_name("saved_by_0.2.0.json.xz")


def goes_on(player: Any, decisions: int, seed: int) -> list[Any]:
    """Some more decisions, with rewards that are late, and of those that were waiting."""
    chance, said = random.Random(seed), []
    waiting = list(player.outstanding)
    for number in range(decisions):
        key = (f"k{number % 5}",) if isinstance(player, AudiencePlayer) else ()
        made = player.select(*key)
        said.append(tuple(made))
        waiting.append(made)
        while len(waiting) > 5:
            late = waiting.pop(chance.randrange(len(waiting)))
            player.update(late, float(chance.random() < 0.6 / late.pull**0.3))
    return said


def beginnings() -> dict[str, Any]:
    """Players of every example, and of audiences, after some decisions."""
    made: dict[str, Any] = {}
    for name, policy in recorded.examples().items():
        if not isinstance(policy, Oracle):
            made[name] = policy.online(["A", "B", "C"], seed=3, horizon=400, compiled=False)
    for name, policy in AUDIENCES.items():
        made[f"audience of {name}"] = policy.audience(["A", "B", "C"], seed=3, compiled=False)
    for name, rest in RESTS.items():
        player = AUDIENCES["fatigue"].audience(["A", "B", "C"], seed=3, compiled=False, rest=rest)
        made[f"audience of fatigue, {name}"] = player
    for player in made.values():
        goes_on(player, 60, 1)
    return made


def loaded(text: str) -> Any:
    kind = AudiencePlayer if "audience" in json.loads(text) else Player
    return kind.from_json(text)


def continued(text: str) -> str:
    return digest(goes_on(loaded(text), 80, 2))


def plays() -> Plays:
    kept: dict[str, str] = json.loads(lzma.decompress(FILE.read_bytes()))
    return {name: functools.partial(continued, text) for name, text in kept.items()}


if __name__ == "__main__":
    texts = {name: player.to_json() for name, player in beginnings().items()}
    Path(sys.argv[1]).write_bytes(lzma.compress(json.dumps(texts).encode(), preset=9))
