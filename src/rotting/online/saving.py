"""A player as text or bytes, and back.

One JSON document with a checksum; as bytes, the same compressed. Arrays are stored bit for bit.
The checksum shows damage, not forgery: `online.loading` looks at what the document says.

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
from rotting.provenance import VERSION
from rotting.state import check_form

FORMAT = 3
_MAGIC = b"rotting\x01"


def _from_2(content: dict[str, Any]) -> dict[str, Any]:
    """Format 3: SteadyUCB, alone or in Guarded, keeps other numbers for a sigma not known."""
    policy, state, counts = (content.get(name) for name in ("policy", "state", "counts"))
    content = {**content, "format": 3}
    if not isinstance(state, dict) or not isinstance(counts, list):
        return content  # which is refused as any other
    if isinstance(policy, dict) and policy.get("policy") == "steadyucb" and not policy.get("sigma"):
        raise ValueError(
            "saved state has format 2, whose SteadyUCB estimated sigma from other numbers than are "
            "needed now; play its log again to get there"
        )
    state = dict(state)
    for part in ("", "fallback."):
        if {f"{part}squares", f"{part}scatter", f"{part}scattered"} <= state.keys():
            # zeros, all of them, where sigma is known
            del state[f"{part}scatter"]
            state[f"{part}shift"] = state.pop(f"{part}scattered")
            state[f"{part}noise.latest"] = state.pop(f"{part}squares")
            state[f"{part}noise.totals"] = _pack(np.zeros(10))
    if "doubted" in state:  # Guarded did not compare arms, nor hope: it begins to
        state["unsure"] = _pack(np.zeros(1, dtype=np.int64))
        state["hope"] = _pack(np.full(len(counts), -np.inf))
    return {**content, "state": state}


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
    state: dict[str, Any]  # arrays by path; like draw and turn still packed after reading


def write_json(saved: Saved) -> str:
    """The document as text."""
    content = saved._asdict()
    content["draw"], content["turn"] = _pack(saved.draw), _pack(saved.turn)
    content["state"] = {path: _pack(array) for path, array in saved.state.items()}
    content = {"format": FORMAT, "rotting": VERSION, **content}
    return json.dumps({"checksum": _checksum(content), **content})


def read_json(text: str | bytes) -> Saved:
    """The document that `write_json` wrote, or an earlier version of the library.

    Its arrays stay packed, see `unpack`.
    """
    try:
        content = json.loads(text)
        checksum = content.pop("checksum")
        fits = checksum == _checksum(content)
    except (TypeError, ValueError, KeyError, AttributeError, RecursionError):
        raise ValueError("saved state is damaged: it is not a saved player") from None
    if not fits:
        raise ValueError("saved state is damaged: its checksum does not fit")
    form = content.get("format")
    while type(form) is int and form in _READERS:
        content = _READERS[form](content)
        form = content["format"]
    if type(form) is not int or form != FORMAT:
        writer = content.get("rotting", "an unknown version")
        unknown = f"saved state has format {form!r}, written by rotting {writer}; this reads "
        refused = _REFUSED.get(form) if type(form) is int else None
        raise ValueError(refused or f"{unknown}{FORMAT}")
    missing = [name for name in Saved._fields if name not in content]
    if missing:
        raise ValueError(f"saved state is damaged: it has no {missing[0]}")
    saved = Saved(**{name: content[name] for name in Saved._fields})
    for name, kind in _KINDS.items():
        if type(getattr(saved, name)) not in kind:
            raise ValueError(
                f"saved state is damaged: {name} cannot be {str(getattr(saved, name))[:80]}"
            )
    return saved


# what the fields of a document may be; what is not here is checked where it is used
_KINDS: dict[str, tuple[type, ...]] = {
    "policy": (dict, type(None)),
    "policy_name": (str,),
    "arms": (list, type(None)),
    "arm_count": (int,),
    "horizon": (int, type(None)),
    "compiled": (bool,),
    "capacity": (int,),
    "reach": (int,),
    "decided": (int,),
    "counts": (list,),
    "outstanding": (list,),
    "state": (dict,),
}


def write_bytes(saved: Saved) -> bytes:
    """The document, compressed."""
    text = write_json(saved).encode()
    packed = zlib.compress(text)
    if len(text) > _longest(packed):  # all zeros, say: then as it is, for the reader's bound
        packed = zlib.compress(text, level=0)
    return _MAGIC + packed


def read_bytes(data: bytes) -> Saved:
    """The document that `write_bytes` wrote."""
    if not isinstance(data, bytes) or not data.startswith(_MAGIC):
        raise ValueError("saved state must be bytes written by Player.to_bytes")
    packed = data[len(_MAGIC) :]
    return read_json(_decompressed(packed, _longest(packed)))


def _longest(packed: bytes) -> int:
    """How long the text of compressed bytes may be: random states compress little."""
    return (16 << 20) + 64 * len(packed)


def _decompressed(packed: bytes, most: int) -> bytes:
    """What was compressed, and never more than `most` bytes of it."""
    reader = zlib.decompressobj()
    try:
        found = reader.decompress(packed, most + 1)
    except zlib.error:
        raise ValueError("saved state is damaged: it cannot be decompressed") from None
    if len(found) > most:
        raise ValueError(f"saved state is damaged: it expands to more than {most} bytes")
    if not reader.eof or reader.unused_data:
        raise ValueError("saved state is damaged: it cannot be decompressed")
    return found


def _checksum(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _pack(array: Any) -> dict[str, Any]:
    little = array.astype(array.dtype.newbyteorder("<"))
    data = base64.b64encode(zlib.compress(little.tobytes())).decode()
    return {"dtype": array.dtype.name, "shape": list(array.shape), "data": data}


def unpack(path: str, packed: Any, like: Any) -> Any:
    """An array of the type and shape of another one; nothing else is ever expanded."""
    if not isinstance(packed, dict):
        raise ValueError(f"saved state is damaged: {path} must be an array")
    shape = packed.get("shape")
    check_form(path, like, packed.get("dtype"), tuple(shape) if type(shape) is list else shape)
    try:
        data = base64.b64decode(packed["data"], validate=True)
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"saved state is damaged: {path} cannot be decoded") from None
    raw = _decompressed(data, like.nbytes)
    if len(raw) < like.nbytes:
        raise ValueError(f"saved state is damaged: {path} must be {like.nbytes} bytes long")
    little = np.frombuffer(raw, dtype=like.dtype.newbyteorder("<"))
    return little.astype(like.dtype).reshape(like.shape)


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
    if not isinstance(label, dict):
        return label
    if set(label) != {"tuple"} or not isinstance(label["tuple"], list):
        raise ValueError(f"saved state is damaged: {str(label)[:80]} is no label")
    return tuple(thaw(item) for item in label["tuple"])
