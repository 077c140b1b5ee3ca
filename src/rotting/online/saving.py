"""Saving a player and continuing from there, exactly.

One JSON document with a checksum; as bytes, the same compressed. Arrays are stored bit for bit.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from rotting import checks, plain
from rotting.online.player import Player
from rotting.policies.base import POLICIES, Policy

_FORMAT = 1
_MAGIC = b"rotting\x01"


def to_json(player: Player) -> str:
    """See `Player.to_json`."""
    content = {
        "format": _FORMAT,
        "policy": _plain_or_none(player.policy),
        "policy_name": player.policy.label,
        "arms": _labels_or_none(player.arms),
        "arm_count": len(player.arms),
        "seed": player.seed,
        "horizon": player.horizon,
        "compiled": player.compiled,
        "capacity": player._capacity,
        "reach": player._reach,
        "decided": player._decided,
        "counts": player._counts,
        "outstanding": sorted(player._outstanding),
        "draw": _pack(player._draw),
        "state": {
            name: _pack(array)
            for name, array in zip(player._state._fields, player._state, strict=True)
        },
    }
    return json.dumps({"checksum": _checksum(content), **content})


def to_bytes(player: Player) -> bytes:
    """See `Player.to_bytes`."""
    return _MAGIC + zlib.compress(to_json(player).encode())


def from_bytes(data: bytes, arms: Iterable[Hashable] | None, policy: Policy | None) -> Player:
    """See `Player.from_bytes`."""
    if not isinstance(data, bytes) or not data.startswith(_MAGIC):
        raise ValueError("saved state must be bytes written by Player.to_bytes")
    try:
        text = zlib.decompress(data[len(_MAGIC) :]).decode()
    except (zlib.error, UnicodeDecodeError):
        raise ValueError("saved state is damaged: it cannot be decompressed") from None
    return from_json(text, arms, policy)


def from_json(text: str, arms: Iterable[Hashable] | None, policy: Policy | None) -> Player:
    """See `Player.from_json`."""
    try:
        content = json.loads(text)
        checksum = content.pop("checksum")
    except (TypeError, ValueError, KeyError, AttributeError):
        raise ValueError("saved state is damaged: it is not a saved player") from None
    if checksum != _checksum(content):
        raise ValueError("saved state is damaged: its checksum does not fit")
    if content.get("format") != _FORMAT:
        raise ValueError(f"saved state has format {content.get('format')!r}, this reads {_FORMAT}")
    return _restore(content, arms, policy)


def _restore(content: Any, arms: Iterable[Hashable] | None, policy: Policy | None) -> Player:
    if policy is None:
        if content["policy"] is None:
            raise ValueError(
                f"policy must be given: {content['policy_name']} holds a Python function, which is "
                "not saved"
            )
        key = content["policy"].get("policy")
        if key not in POLICIES:
            raise ValueError(
                f"policy must be given, or its module imported first: {key!r} is not registered"
            )
        policy = plain.from_plain(content["policy"])
    elif not isinstance(policy, Policy) or policy.label != content["policy_name"]:
        raise ValueError(f"policy must be the saved {content['policy_name']}, got {policy!r}")
    if arms is None:
        if content["arms"] is None:
            raise ValueError("arms must be given: the labels could not be saved")
        arms = [_thaw(label) for label in content["arms"]]
    labels = checks.labels("arms", arms)
    if len(labels) != content["arm_count"]:
        raise ValueError(f"arms must be {content['arm_count']} labels, got {len(labels)}")
    assert isinstance(policy, Policy)
    player = Player(
        policy, labels, seed=content["seed"], horizon=content["horizon"],
        compiled=content["compiled"],
    )  # fmt: skip
    params = policy.prepare(len(labels), content["horizon"], content["reach"])
    state_type: Any = policy.verbs.state
    if set(content["state"]) != set(state_type._fields):
        raise ValueError(f"saved state does not fit this version of {policy.title}")
    state = state_type(**{name: _unpack(packed) for name, packed in content["state"].items()})
    player._counts = list(content["counts"])
    player._decided = content["decided"]
    player._outstanding = {(number, pull) for number, pull in content["outstanding"]}
    player._capacity, player._reach = content["capacity"], content["reach"]
    player._begin(params, state, _unpack(content["draw"]))
    return player


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


def _plain_or_none(policy: Policy) -> Any:
    try:
        return plain.to_plain(policy)
    except ValueError:
        return None


def _labels_or_none(labels: tuple[Hashable, ...]) -> list[Any] | None:
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


def _thaw(label: Any) -> Any:
    return tuple(_thaw(item) for item in label["tuple"]) if isinstance(label, dict) else label
