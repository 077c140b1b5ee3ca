"""A player as text or bytes, and back.

One JSON document with a checksum; as bytes, the same compressed. Arrays are stored bit for bit.

The document names its format and the version of the library that wrote it. Whoever changes what it
holds raises `FORMAT`, adds to `_READERS` a function that turns the format before into the new one,
and keeps a file of the old format in tests/files, which a test reads.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np

from rotting import plain
from rotting.engines import steps
from rotting.policies.base import POLICIES, Policy
from rotting.provenance import VERSION
from rotting.state import leaves

FORMAT = 3
_MAGIC = b"rotting\x01"


def _from_2(content: dict[str, Any]) -> dict[str, Any]:
    """Format 3: SteadyUCB, alone or in Guarded, keeps other numbers for a sigma not known."""
    policy, state = content.get("policy"), dict(content["state"])
    if isinstance(policy, dict) and policy.get("policy") == "steadyucb" and not policy.get("sigma"):
        raise ValueError(
            "saved state has format 2, whose SteadyUCB estimated sigma from other numbers than are "
            "needed now; play its log again to get there"
        )
    for part in ("", "fallback."):
        if {f"{part}squares", f"{part}scatter", f"{part}scattered"} <= state.keys():
            # zeros, all of them, where sigma is known
            del state[f"{part}scatter"]
            state[f"{part}shift"] = state.pop(f"{part}scattered")
            state[f"{part}noise.latest"] = state.pop(f"{part}squares")
            state[f"{part}noise.totals"] = _pack(np.zeros(10))
    if "doubted" in state:  # Guarded did not compare arms, nor hope: it begins to
        state["unsure"] = _pack(np.zeros(1, dtype=np.int64))
        state["hope"] = _pack(np.full(content["arm_count"], -np.inf))
    return {**content, "format": 3, "state": state}


# by the format that they read; each gives a document of the next one
_READERS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {2: _from_2}
_REFUSED = {
    1: "saved state has format 1, of a library before its first release, whose states were built "
    "otherwise; play its log again to get there"
}


class Saved(NamedTuple):
    """What is saved of a player."""

    policy: Any  # as plain data; None if it holds a Python function
    policy_name: str  # its label
    arms: list[Any] | None  # labels; None if JSON cannot hold them
    arm_count: int
    seed: int  # as a 64-bit word
    horizon: int | None  # None if not given
    compiled: bool  # whether its verbs were
    capacity: int  # decisions that the state has space for
    reach: int  # pulls that the tables of the params reach
    decided: int  # decisions made
    counts: list[int]  # pulls of each arm
    outstanding: list[list[int]]  # pairs (arm, pull) that wait for their rewards
    draw: Any  # where the random numbers stand
    turn: Any  # see `engines.steps`
    state: dict[str, Any]  # arrays by path


def write_json(saved: Saved) -> str:
    """The document as text."""
    content = saved._asdict()
    content["draw"], content["turn"] = _pack(saved.draw), _pack(saved.turn)
    content["state"] = {path: _pack(array) for path, array in saved.state.items()}
    content = {"format": FORMAT, "rotting": VERSION, **content}
    return json.dumps({"checksum": _checksum(content), **content})


def read_json(text: str) -> Saved:
    """The document that `write_json` wrote, or an earlier version of the library."""
    try:
        content = json.loads(text)
        checksum = content.pop("checksum")
    except (TypeError, ValueError, KeyError, AttributeError):
        raise ValueError("saved state is damaged: it is not a saved player") from None
    if checksum != _checksum(content):
        raise ValueError("saved state is damaged: its checksum does not fit")
    form = content.get("format")
    while form in _READERS:
        content = _READERS[form](content)
        form = content["format"]
    if form != FORMAT:
        writer = content.get("rotting", "an unknown version")
        unknown = f"saved state has format {form!r}, written by rotting {writer}; this reads "
        raise ValueError(_REFUSED.get(form, f"{unknown}{FORMAT}"))
    fields = {name: content[name] for name in Saved._fields}
    fields["draw"], fields["turn"] = _unpack(content["draw"]), _unpack(content["turn"])
    fields["state"] = {path: _unpack(packed) for path, packed in content["state"].items()}
    return Saved(**fields)


def write_bytes(saved: Saved) -> bytes:
    """The document, compressed."""
    return _MAGIC + zlib.compress(write_json(saved).encode())


def read_bytes(data: bytes) -> Saved:
    """The document that `write_bytes` wrote."""
    if not isinstance(data, bytes) or not data.startswith(_MAGIC):
        raise ValueError("saved state must be bytes written by Player.to_bytes")
    try:
        text = zlib.decompress(data[len(_MAGIC) :]).decode()
    except (zlib.error, UnicodeDecodeError):
        raise ValueError("saved state is damaged: it cannot be decompressed") from None
    return read_json(text)


def _checksum(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _pack(array: Any) -> dict[str, Any]:
    little = array.astype(array.dtype.newbyteorder("<"))
    data = base64.b64encode(zlib.compress(little.tobytes())).decode()
    return {"dtype": array.dtype.name, "shape": list(array.shape), "data": data}


def _unpack(packed: dict[str, Any]) -> Any:
    raw = zlib.decompress(base64.b64decode(packed["data"]))
    dtype = np.dtype(packed["dtype"])
    little = np.frombuffer(raw, dtype=dtype.newbyteorder("<"))
    return little.astype(dtype).reshape(packed["shape"])


def plain_or_none(policy: Any) -> Any:
    """A policy as plain data, if it can be."""
    try:
        return plain.to_plain(policy)
    except ValueError:
        return None


def labels_or_none(labels: tuple[Hashable, ...]) -> list[Any] | None:
    """Labels as JSON, if JSON can tell them apart: words, numbers, None, and tuples of them."""
    try:
        return [_freeze(label) for label in labels]
    except ValueError:
        return None


def _freeze(label: Any) -> Any:
    if label is None or type(label) in (bool, int, float, str):
        return label
    if type(label) is tuple:
        return {"tuple": [_freeze(item) for item in label]}
    raise ValueError(f"{label!r} is not a JSON label")


def thaw(label: Any) -> Any:
    """A label as it was before it was written."""
    return tuple(thaw(item) for item in label["tuple"]) if isinstance(label, dict) else label


def policy_of(saved: Saved, policy: Policy | None) -> Policy:
    """The policy of a saved player: as it was saved, or the one given if that could not be."""
    if policy is not None:
        if not isinstance(policy, Policy) or policy.label != saved.policy_name:
            raise ValueError(f"policy must be the saved {saved.policy_name}, got {policy!r}")
        return policy
    if saved.policy is None:
        raise ValueError(
            f"policy must be given: {saved.policy_name} holds a Python function, which is not saved"
        )
    key = saved.policy.get("policy")
    if key not in POLICIES:
        raise ValueError(
            f"policy must be given, or its module imported first: {key!r} is not registered"
        )
    made: Policy = plain.from_plain(saved.policy)
    return made


def check_counts(saved: Saved, state: Any) -> None:
    """Refuse counts that contradict each other: compiled code trusts them."""
    counts = saved.counts
    draw, turn = saved.draw, saved.turn
    if draw.dtype != np.uint64 or draw.shape != (3,):
        raise ValueError("saved state is damaged: its random stream must be three 64-bit words")
    if turn.dtype != np.int64 or turn.shape != (2,) or turn[steps.ARMS] != len(counts):
        raise ValueError(f"saved state is damaged: its turn must be of {len(counts)} arms")
    if not steps.NOBODY <= turn[steps.LATE] < len(counts):
        raise ValueError(f"saved state is damaged: nobody can wait for arm {turn[steps.LATE]}")
    if sum(counts) != saved.decided or not all(0 <= n <= saved.reach for n in counts):
        raise ValueError(f"saved state is damaged: pulls {counts} of {saved.decided} decisions")
    for leaf in leaves(state):
        if leaf.path.endswith("arms.pulls") and leaf.value.tolist() != counts:
            raise ValueError(f"saved state is damaged: {leaf.path} must be {counts}")
    for number, pull in saved.outstanding:
        if not (0 <= number < len(counts) and 1 <= pull <= counts[number]):
            raise ValueError(f"saved state is damaged: pull {pull} of arm {number} was not made")
