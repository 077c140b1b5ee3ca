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
import math
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rotting import plain
from rotting.engines import desk as at
from rotting.engines.desk import Desk, new_desk
from rotting.provenance import VERSION
from rotting.state import check_form, leaves

FORMAT = 5
# arrays of the desk that are saved; what waits is saved as a list, the rest follows
DESK = ("pulls", "seen", "total", "chosen", "open", "clock", "numbers", "draw")
_MAGIC = b"rotting\x01"
_CLOCK_4 = 16  # numbers on the clock in format 4


_REMEMBERED = (
    "saved state has format {}, whose SteadyUCB remembered every reward; play its log again to get "
    "there (Player.learn)"
)


def _from_2(content: dict[str, Any]) -> dict[str, Any]:
    """Format 3: SteadyUCB, alone or in Guarded, kept other numbers."""
    state = content.get("state")
    if isinstance(state, dict) and any(path.endswith("scattered") for path in state):
        raise ValueError(_REMEMBERED.format(2))
    return {**content, "format": 3}


def _from_3(content: dict[str, Any]) -> dict[str, Any]:
    """Format 4: arms come and go, what is seen of them is counted, and SteadyUCB is another."""
    state, counts = content.get("state"), content.get("counts")
    outstanding = content.get("outstanding")
    content = {**content, "format": 4}
    if not isinstance(state, dict) or not isinstance(counts, list):
        return content  # which is refused as any other
    if any(path.endswith("noise.totals") for path in state):
        raise ValueError(_REMEMBERED.format(3))
    try:
        return {**content, **_desk_of(content, state, counts, outstanding)}
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError):
        raise ValueError("saved state is damaged: it is not a saved player") from None


def _desk_of(content: Any, state: Any, counts: Any, outstanding: Any) -> dict[str, Any]:
    """What a player of format 3 has on its desk; the sums of its rewards are not known."""
    arms = len(counts)
    desk = new_desk(arms, int(content["seed"]))
    desk = desk._replace(clock=desk.clock[:_CLOCK_4].copy())
    rows = [
        [int(arm), int(pull), k + 1, math.nan, 0.0, 0.0]
        for k, (arm, pull) in enumerate(outstanding)
    ]
    if not all(0 <= row[0] < arms for row in rows):
        raise ValueError
    desk.pulls[:] = counts
    desk.seen[:] = desk.pulls - np.bincount([row[0] for row in rows], minlength=arms)[:arms]
    desk.total[desk.pulls > 0] = math.nan
    desk.clock[at.DECIDED] = int(content["decided"])
    like = np.zeros(2, dtype=np.int64)
    desk.clock[at.LATE] = unpack("turn", content["turn"], like)[1]
    state = _states_of(content, dict(state), desk.pulls)
    for path in [path for path in state if path.endswith("arms.pulls")]:
        part = path.removesuffix("pulls") + "opening."
        state[f"{part}flags"] = _pack(np.ones(arms, dtype=np.int64))
        state[f"{part}count"] = _pack(np.full(1, arms, dtype=np.int64))
    return {
        "start": arms,
        "dated": None,
        "waiting": rows,
        "desk": {name: _pack(getattr(desk, name)) for name in DESK},
        "state": state,
    }


def _states_of(content: Any, state: Any, pulls: Any) -> Any:
    """The states of format 4 of policies that count something more now."""

    def numbers(*values: int) -> Any:
        return _pack(np.array(values, dtype=np.int64))

    arms, decided = pulls.size, int(content["decided"])
    key = content["policy"].get("policy") if content["policy"] is not None else ""
    if key in ("uniform", "roundrobin"):
        del state["time"]
        state["arms.pulls"], state["arms.observed"] = _pack(pulls), numbers(*[0] * arms)
        state["arms.clock"] = numbers(decided, arms, 0)
    if key == "roundrobin":
        state["last"] = numbers((decided - 1) % arms if decided else -1)
    if key in ("swa", "wswa"):
        state["short"] = numbers(arms)  # or fewer: then nothing is found, and all is as it should
    if key == "exp3s":
        state["chosen"], state["joined"] = numbers(-1), numbers(*[1] * arms)
    return state


def _from_4(content: dict[str, Any]) -> dict[str, Any]:
    """Format 5: a player may have an audience; there are two more numbers on the clock."""
    desk = content.get("desk")
    content = {**content, "format": 5}
    if not isinstance(desk, dict) or "clock" not in desk:
        return content  # which is refused as any other
    before = unpack("clock", desk["clock"], np.zeros(_CLOCK_4, dtype=np.int64))
    clock = np.zeros(at.CLOCK, dtype=np.int64)
    clock[:_CLOCK_4] = before
    return {**content, "desk": {**desk, "clock": _pack(clock)}}


# by the format that they read; each gives a document of the next one
_READERS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {
    2: _from_2,
    3: _from_3,
    4: _from_4,
}
_REFUSED = {
    1: "saved state has format 1, of a library before its first release, whose states were built "
    "otherwise; play its log again to get there"
}


class Saved(NamedTuple):
    """What is saved of a player."""

    policy: Any  # as plain data; None if it holds a Python function
    policy_name: str  # its label
    arms: list[Any] | None  # labels, see `online.labels`; None in some files of earlier formats
    arm_count: int
    start: int  # how many were open when it started
    seed: int  # as a 64-bit word
    horizon: int | None  # None if not given
    compiled: bool  # whether its verbs were
    dated: bool | None  # whether times are dates
    capacity: int  # decisions that the state has space for
    reach: int  # pulls that the tables of the params reach
    waiting: list[list[Any]]  # rows as `engines.waiting.listed` gives them
    draw: Any  # where the random numbers stand
    desk: dict[str, Any]  # arrays by name; like draw and state still packed after reading
    state: dict[str, Any]  # arrays by path
    audience: dict[str, Any] | None  # keys and what goes with them, see `online.attendance`


def saved_desk(desk: Desk) -> dict[str, Any]:
    """The arrays of a desk that are saved, by name; those of the counts by key by their path."""
    counts = {f"exposure.{leaf.path}": leaf.value for leaf in leaves(desk.exposure)}
    return {**{name: getattr(desk, name) for name in DESK}, **counts}


def write_json(saved: Saved) -> str:
    """The document as text."""
    content = saved._asdict()
    content["draw"] = _pack(saved.draw)
    content["desk"] = {name: _pack(array) for name, array in saved.desk.items()}
    content["state"] = {path: _pack(array) for path, array in saved.state.items()}
    if saved.audience is None:
        del content["audience"]
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
    content.setdefault("audience", None)
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
    "start": (int,),
    "horizon": (int, type(None)),
    "compiled": (bool,),
    "dated": (bool, type(None)),
    "capacity": (int,),
    "reach": (int,),
    "waiting": (list,),
    "desk": (dict,),
    "state": (dict,),
    "audience": (dict, type(None)),
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
        raise ValueError("saved state must be bytes written by a player's to_bytes")
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
    return little.reshape(like.shape).astype(like.dtype)  # in this order it is no view of another


def plain_or_none(policy: Any) -> Any:
    """A policy as plain data, if it can be."""
    try:
        return plain.to_plain(policy)
    except ValueError:
        return None
