"""Documents that are nearly right: inputs of the fuzzer (tests/fuzz.py) for everything that loads.

A mutant is a function of (seed, number) alone, so that a failure can be made again from its number.
Most are changed in their structure and given a checksum that fits, or nothing behind the checksum
would ever be reached; the others have bytes flipped, cut out or doubled.
"""

from __future__ import annotations

import base64
import contextlib
import copy
import functools
import io
import json
import random
import re
import zlib
from typing import Any

import numpy as np

import recorded
from rotting import HalfLife, policies
from rotting._catalogue.experiment_file import EXAMPLE
from rotting._live import ledger as at
from rotting._online import save as saving
from rotting._online import space
from rotting.models import Plateau
from rotting.policies import Policy

Random = random.Random

NUMBERS = [0, 1, -1, 2, 255, 256, 2**31, -(2**31), 2**62, 2**63 - 1, -(2**63), 2**64, 10**30]
FLOATS = [0.5, -0.0, 1e-320, 1e308, -1e308, float("nan"), float("inf"), -float("inf")]
ODD: list[Any] = [
    *NUMBERS,
    *FLOATS,
    *[None, True, False, "", "x", "\x00\ud800", [], {}, [[]], [1, 2], {"type": "Plateau"}],
    *[{"tuple": [1]}, {"policy": "ucb1"}, {"type": "Family", "model": 3, "thetas": [1]}, [0] * 50],
]


def played(
    policy: Policy, arms: int, decisions: int, keys: int = 0, **settings: Any
) -> dict[str, Any]:
    """The document of a player whose rewards came late, out of order, or never.

    With keys it is one of an audience.
    """
    horizon = 3000 if policy.needs_horizon else None
    make: Any = policy.audience if keys else policy.online
    player = make(range(arms), seed=1, horizon=horizon, compiled=False, **settings)
    rng = Random(decisions)
    waiting = []
    for _ in range(decisions):
        waiting.append(player.select(rng.randrange(keys)) if keys else player.select())
        while waiting and rng.random() < 0.6:
            late = waiting.pop(rng.randrange(len(waiting)) if rng.random() < 0.3 else -1)
            player.update(late, rng.gauss(0.4, 0.3))
    content: dict[str, Any] = json.loads(player.to_json())
    del content["checksum"]
    return content


@functools.cache
def players() -> list[dict[str, Any]]:
    """Players of every policy, young and older, and some whose many arms are in a tree."""
    found = []
    for policy in recorded.examples().values():
        found += [played(policy, 3, decisions) for decisions in (9, 150)]
    family = Plateau(length=10).over([0.1, 0.3])
    wide = (policies.CTO(family), policies.GreedyLast(), policies.WSWA(0.05, 0.5))
    found += [played(policy, 50, 120) for policy in wide]
    return [*found, played(policies.UCB1(), 4, 150, **SETTINGS)]


def audiences() -> list[dict[str, Any]]:
    """Players of audiences: by key, by key with counts that fade, and pooled."""
    family = Plateau(length=10).over([0.1, 0.3])
    return [
        played(policies.CTO(family), 3, 150, keys=30, **SETTINGS),
        played(policies.LCTO(family), 3, 60, keys=5, rest=HalfLife(3.0)),
        played(policies.UCB1(), 3, 150, keys=30),
    ]


# a player with every option
SETTINGS: dict[str, Any] = {"reward_window": 20, "default_reward": 0.0, "explore": 0.2}


@functools.cache
def _texts() -> list[str]:
    return [
        json.dumps(content) for content in [*players(), *audiences()]
    ]  # read faster than copied


def forged(content: dict[str, Any]) -> str:
    """A document as text, with a checksum that fits."""
    return json.dumps({"checksum": saving._checksum(content), **content})


def unpacked(packed: dict[str, Any]) -> Any:
    """An array of a document, writable."""
    raw = zlib.decompress(base64.b64decode(packed["data"]))
    return np.frombuffer(raw, dtype=packed["dtype"]).reshape(packed["shape"]).copy()


def _places(value: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Every place in nested lists and dicts, as container and key."""
    items = enumerate(value) if isinstance(value, list) else value.items()
    for key, item in items:
        found.append((value, key))
        if isinstance(item, (list, dict)) and len(found) < 400:
            _places(item, found)
    return found


def _odd(rng: Random, value: Any) -> Any:
    """Something else in the place of a value; often only slightly so."""
    if type(value) in (int, float) and rng.random() < 0.5:
        return rng.choice([value + 1, value - 1, -value, 2 * value, value / 2])
    return copy.deepcopy(rng.choice(ODD))


def change_structure(rng: Random, content: Any) -> None:
    """Replace, remove, double or swap something anywhere in a document."""
    places = _places(content, [])
    if not places:
        return
    holder, key = rng.choice(places)
    action = rng.random()
    if action < 0.6:
        holder[key] = _odd(rng, holder[key])
    elif action < 0.75:
        del holder[key]
    elif isinstance(holder, list):
        holder.insert(rng.randrange(len(holder) + 1), copy.deepcopy(holder[key]))
    else:
        other, where = rng.choice(places)
        holder[key] = copy.deepcopy(other[where])
    if rng.random() < 0.02:
        for _ in range(rng.choice([50, 400, 990])):
            holder = content = {"type": "Scaled", "model": content}  # too deep for some


def change_array(rng: Random, content: dict[str, Any]) -> None:
    """Change elements of an array of the state or the ledger, or its shape or type."""
    state = content.get("state")
    ledger = content.get("ledger")
    held = ledger if isinstance(ledger, dict) and rng.random() < 0.25 else state
    packed: Any = rng.choice(list(held.values())) if isinstance(held, dict) and held else None
    if rng.random() < 0.02:
        packed = content.get("draw")
    try:
        array = unpacked(packed)
    except Exception:  # changed before
        return
    if array.dtype.kind not in "fiu":
        return
    flat = array.reshape(-1)
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        if flat.size == 0:
            break
        place = rng.randrange(flat.size)
        if array.dtype.kind == "f":
            now = float(flat[place])
            flat[place] = rng.choice([*FLOATS, now * 2, -now, 0.0])
        else:
            near = [int(flat[place]) + d for d in (-1, 1, 64, -64)]
            value = rng.choice([*near, *near, int(rng.choice(flat)), flat.size, *NUMBERS])
            info = np.iinfo(array.dtype)
            flat[place] = min(max(value, info.min), info.max)
    action = rng.random()
    if action < 0.05:
        array = array.reshape(-1)[: rng.randrange(flat.size + 1)]
    elif action < 0.08:
        array = np.concatenate([flat, flat])
    elif action < 0.1:
        array = array.astype(rng.choice(["int32", "float64", "uint64", "bool"]))
    elif action < 0.15:
        rng.shuffle(flat)
    packed.update(saving._pack(array))


def set_pulls(content: dict[str, Any], pulls: list[int]) -> None:
    """Other pulls, and all that follows from them; what waits stays as it is."""
    ledger, state = content["ledger"], content["state"]
    clock = unpacked(ledger["clock"])
    clock[at.DECIDED] = sum(pulls)
    ledger["clock"] = saving._pack(clock)
    content["capacity"] = space.capacity_of(content["start"], sum(pulls))
    content["reach"] = max(space.reaches_of(max(pulls)))
    ledger["pulls"] = saving._pack(np.array(pulls))
    for path in state:
        if path.endswith("arms.pulls"):
            state[path] = saving._pack(np.array(pulls))


def change_play(rng: Random, content: dict[str, Any]) -> None:
    """Other pulls, consistently: what follows from them is changed with them."""
    with contextlib.suppress(Exception):  # changed before
        pulls = [int(n) for n in unpacked(content["ledger"]["pulls"])]
        arm = rng.randrange(len(pulls))
        more = rng.choice([1, -1, 5, 100, 10**12] if rng.random() < 0.95 else [10**4, 10**7])
        pulls[arm] = max(0, pulls[arm] + more)
        set_pulls(content, pulls)
        if rng.random() < 0.5:
            rows = [[arm, n, n, None, 0.0, 0.0] for n in range(1, min(pulls[arm], 9))]
            content["waiting"] = rows


def change_bytes(rng: Random, data: bytes) -> bytes:
    """Flip, cut out, double or put in some bytes."""
    for _ in range(rng.choice([1, 1, 2, 8])):
        at = rng.randrange(len(data) + 1)
        some = rng.choice([1, 1, 2, 16, 100])
        action = rng.randrange(4)
        if action == 0:
            data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
        elif action == 1:
            data = data[:at] + data[at + some :]
        elif action == 2:
            data = data[:at] + data[at : at + some] * rng.choice([2, 50]) + data[at + some :]
        else:
            data = data[:at] + rng.randbytes(some) + data[at:]
    return data


def player(rng: Random, block: Random, compiled: float = 0.0) -> bytes:
    """A saved player as JSON text or bytes; `compiled` is the share of those played compiled."""
    content = json.loads(block.choice(_texts()))
    content["compiled"] = rng.random() < compiled
    for _ in range(rng.choice([0, 1, 1, 1, 1, 2, 3])):
        rng.choice([change_structure, change_array, change_array, change_play])(rng, content)
    try:
        text = forged(content).encode()
    except (RecursionError, ValueError):
        text = b"[" * 10**5
    if rng.random() < 0.2:
        text = saving._MAGIC + zlib.compress(text, level=1)
    return change_bytes(rng, text) if rng.random() < 0.1 else text


@functools.cache
def _result() -> tuple[dict[str, Any], bytes]:
    runs, arms = 3, 2
    arrays: dict[str, Any] = {
        "about": np.array(json.dumps({"format": 1, "provenance": {"policy": "UCB1", "seed": 1}})),
        "checkpoints": np.array([10, 20, 50]),
        "regret": np.linspace(0, 9, 9).reshape(runs, 3),
        "pulls": np.full((runs, arms), 25),
        "total_reward": np.ones(runs),
        "adversarial_regret": np.zeros(runs),
    }
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return arrays, file.getvalue()


def _other_array(rng: Random, array: Any) -> Any:
    """Another array in the place of one of a result's."""
    action = rng.randrange(8)
    if action == 0:
        return array.astype(rng.choice(["int64", "f4", "U9", "S3", "?", "c16"]))
    if action == 1:
        return array.reshape(-1)[: rng.randrange(4)]
    if action == 2:
        return array[None]
    if action == 3:
        return np.zeros(rng.choice([(0,), (0, 3), (3, 0), (1 << 12,)]))
    if action == 4:
        return np.array([None, {}], dtype=object)
    if action == 5:
        return np.array(rng.choice(['{"format": 1}', "[" * 5000, '{"format": 1e999}', "3"]))
    if action == 6:
        about = [{"format": 1, "provenance": rng.choice(ODD)}, {"format": rng.choice(ODD)}]
        return np.array(json.dumps(rng.choice(about)))
    return np.full(array.shape, rng.choice([*FLOATS, -1, 0, 2**62]))


def result(rng: Random) -> bytes:
    """A saved result."""
    arrays, data = dict(_result()[0]), _result()[1]
    if rng.random() < 0.5:
        return change_bytes(rng, data)
    for _ in range(rng.choice([1, 1, 2])):
        name = rng.choice(list(arrays))
        with contextlib.suppress(ValueError, OverflowError, TypeError):  # words are no numbers
            arrays[name] = _other_array(rng, arrays[name])
        if rng.random() < 0.1:
            arrays["more"] = arrays.pop(name)
    file = io.BytesIO()
    np.savez(file, **arrays)
    data = file.getvalue()
    return change_bytes(rng, data) if rng.random() < 0.2 else data


_TOKEN = re.compile(r"[\w.+-]+|\"[^\"\n]*\"|\n|.", re.DOTALL)
_WORDS = [
    *["0", "-1", "1e999", "nan", "inf", "9999999999999999999999", "0.5", "true", '""', "[]", "{}"],
    *["1979-05-27T07:32:00Z", '"av"', '"anv"', '"bernoulli"', "[[1]]", "[0.1, 0.2]", "=", "[", "]"],
    *["name", "horizon", "random_arms", "thetas", "count", "constants", "values", '"table"', "[["],
    *[f'"{key}"' for key in sorted(policies.POLICIES)],
]


_OPENINGS = "openings = [{ arm = 2, first = 1001 }, { arm = 0, first = 1, last = 4000 }]"


def experiment(rng: Random) -> bytes:
    """An experiment file."""
    text = EXAMPLE
    if rng.random() < 0.3:
        text = text.replace("[scenario]\n", f"[scenario]\n{_OPENINGS}\n")
    if rng.random() < 0.7:
        tokens = _TOKEN.findall(re.sub(r"#.*", "", text))
        for _ in range(rng.choice([1, 1, 2, 4])):
            place, word = rng.randrange(len(tokens)), rng.choice([*_WORDS, rng.choice(tokens)])
            action = rng.randrange(3)
            tokens[place] = word if action else ""
            if action == 2 and rng.random() < 0.1:
                tokens[place] = "[" * rng.choice([100, 5000])
        text = "".join(tokens)
    data = text.encode()
    return change_bytes(rng, data) if rng.random() < 0.3 else data


def mutant(kind: str, seed: int, number: int, compiled: float = 0.0) -> bytes:
    """The mutant of that number."""
    rng = Random((seed << 48) + (KINDS.index(kind) << 44) + number)
    if kind == "players":
        # the same policy a hundred times in a row: its tables are then found in their caches
        return player(rng, Random((seed << 48) + number // 100), compiled)
    return result(rng) if kind == "results" else experiment(rng)


KINDS = ("players", "results", "experiments")

__all__ = [
    "KINDS",
    "ODD",
    "SETTINGS",
    "forged",
    "mutant",
    "played",
    "players",
    "set_pulls",
    "unpacked",
]
