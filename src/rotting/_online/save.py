"""Players as text or bytes, and back.

The saved form is one JSON document with a checksum; bytes are the same, compressed. Arrays are
stored bit for bit. The checksum detects damage, not forgery: `_online.load` checks the content.

The document names its format and the version of the library that wrote it. A change of its content
needs a higher `FORMAT`, and a reader of the one before: `tests/records` has players of 0.2.0.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import zlib
from typing import Any, NamedTuple

import numpy as np

from rotting import _plain
from rotting._live import ledger as at
from rotting._live.keys import exposure_of
from rotting._live.ledger import Ledger, Row, listed
from rotting._online.core import Snapshot
from rotting._online.labels import freeze
from rotting._provenance import VERSION
from rotting.kernel.state import check_form, leaves

FORMAT = 6
# arrays of the ledger that are saved; waiting decisions are saved as a list
LEDGER = ("pulls", "rewarded", "total", "last_chosen", "open", "clock", "numbers", "draw")
_MAGIC = b"rotting\x01"

# Format 5, of rotting 0.2.0, differs only by these names: of fields of the document and the ledger,
# and of the last parts of an array's path.
_BEFORE_6 = {"desk": "ledger", "seen": "rewarded", "chosen": "last_chosen"}
_PATHS_BEFORE_6 = {
    "exposure.shown": "exposure.counts",
    "exposure.present": "exposure.current",
    "exposure.left": "exposure.effective",
    "exposure.last": "exposure.last_met",
    "shelf.own.told": "per_key.current.open",
    "shelf.own": "per_key.current",
    "shelf.whose": "per_key.loaded",
    "shelf": "per_key",
}


class Saved(NamedTuple):
    """The content of a saved player."""

    policy: Any  # as plain data; None if it holds a Python function
    policy_name: str  # its label
    arms: list[Any]  # labels, see `_online.labels`
    arm_count: int
    start: int  # number of open arms at the start
    seed: int  # as a 64-bit word
    horizon: int | None  # None if not given
    compiled: bool | None  # the setting
    dated: bool | None  # whether times are dates
    capacity: int  # decisions for which the state has space
    reach: int  # pulls covered by the tables of the params
    waiting: list[list[Any]]  # rows of `_live.ledger.listed`
    draw: Any  # the state of the random numbers
    ledger: dict[str, Any]  # arrays by name; like draw and state still packed after reading
    state: dict[str, Any]  # arrays by path
    audience: dict[str, Any] | None  # keys, see `_online.keys`


def saved_ledger(ledger: Ledger) -> dict[str, Any]:
    """The saved arrays of a ledger by name, with counts by key under their path."""
    counts = {f"exposure.{leaf.path}": leaf.value for leaf in leaves(ledger.exposure)}
    return {**{name: getattr(ledger, name) for name in LEDGER}, **counts}


def saved_of(snapshot: Snapshot) -> Saved:
    """The content of a snapshot to save; ValueError for labels that cannot be saved."""
    ledger, keys = snapshot.ledger, snapshot.keys
    # space made ahead is not part of a player's state
    ledger.clock[[at.GROW_AT, at.GROW_AT_PULL, at.UNHASHED]] = 0
    columns = 6 if keys is None else 8
    places = 0 if keys is None else int(exposure_of(snapshot.state, ledger).counts.shape[0])
    return Saved(
        policy=_plain_or_none(snapshot.policy),
        policy_name=snapshot.policy.label,
        arms=[freeze(label) for label in snapshot.arms],
        arm_count=len(snapshot.arms),
        start=snapshot.start,
        seed=snapshot.seed,
        horizon=snapshot.horizon,
        compiled=snapshot.compiled,
        dated=snapshot.dated,
        capacity=snapshot.capacity,
        reach=snapshot.reach,
        waiting=[_plain_row(row)[:columns] for row in listed(ledger.waiting)],
        draw=snapshot.draw,
        ledger=saved_ledger(ledger),
        state={leaf.path: leaf.value for leaf in leaves(snapshot.state)},
        audience=None if keys is None else keys.to_plain(places),
    )


def _plain_row(row: Row) -> list[Any]:
    """A waiting decision as JSON, with null for NaN."""
    return [*row[:3], None if math.isnan(row[3]) else row[3], *row[4:]]


def write_json(saved: Saved) -> str:
    """The document as text."""
    content = saved._asdict()
    content["draw"] = _pack(saved.draw)
    content["ledger"] = {name: _pack(array) for name, array in saved.ledger.items()}
    content["state"] = {path: _pack(array) for path, array in saved.state.items()}
    if saved.audience is None:
        del content["audience"]
    content = {"format": FORMAT, "rotting": VERSION, **content}
    return json.dumps({"checksum": _checksum(content), **content})


def read_json(text: str | bytes) -> Saved:
    """The document that `write_json` wrote; its arrays stay packed, see `unpack`."""
    try:
        content = json.loads(text)
        checksum = content.pop("checksum")
        fits = checksum == _checksum(content)
    except (TypeError, ValueError, KeyError, AttributeError, RecursionError):
        raise ValueError("saved state is damaged: it is not a saved player") from None
    if not fits:
        raise ValueError("saved state is damaged: its checksum does not fit")
    form = content.get("format")
    if type(form) is int and form == 5:
        content = _renamed(content)
    elif type(form) is not int or form != FORMAT:
        writer = content.get("rotting", "an unknown version")
        raise ValueError(
            f"saved state has format {form!r}, written by rotting {writer}; this reads {FORMAT}: "
            "replay its log instead (Player.learn)"
        )
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


# types of a document's fields; the other fields are checked where they are used
_KINDS: dict[str, tuple[type, ...]] = {
    "policy": (dict, type(None)),
    "policy_name": (str,),
    "arms": (list,),
    "arm_count": (int,),
    "start": (int,),
    "horizon": (int, type(None)),
    "compiled": (bool, type(None)),
    "dated": (bool, type(None)),
    "capacity": (int,),
    "reach": (int,),
    "waiting": (list,),
    "ledger": (dict,),
    "state": (dict,),
    "audience": (dict, type(None)),
}


def _renamed(content: dict[str, Any]) -> dict[str, Any]:
    """A document of format 5 with the present names."""
    content = {_BEFORE_6.get(name, name): value for name, value in content.items()}
    for part, names in (("ledger", _BEFORE_6), ("state", {})):
        if isinstance(content.get(part), dict):
            arrays = content[part].items()
            content[part] = {names.get(path, _renamed_path(path)): found for path, found in arrays}
    return content


def _renamed_path(path: str) -> str:
    """The present path of one of format 5, also inside the state of a wrapped policy."""
    for before, now in _PATHS_BEFORE_6.items():
        path = re.sub(rf"(^|\.){re.escape(before)}(?=\.|$)", rf"\g<1>{now}", path)
    return path


def write_bytes(saved: Saved) -> bytes:
    """The document, compressed."""
    text = write_json(saved).encode()
    packed = zlib.compress(text)
    if len(text) > _longest(packed):  # beyond the reader's bound, all zeros for instance
        packed = zlib.compress(text, level=0)
    return _MAGIC + packed


def read_bytes(data: bytes) -> Saved:
    """The document that `write_bytes` wrote."""
    if not isinstance(data, bytes) or not data.startswith(_MAGIC):
        raise ValueError("saved state must be bytes written by a player's to_bytes")
    packed = data[len(_MAGIC) :]
    return read_json(_decompressed(packed, _longest(packed)))


def _longest(packed: bytes) -> int:
    """The longest text that compressed bytes may expand to."""
    return (16 << 20) + 64 * len(packed)


def _decompressed(packed: bytes, most: int) -> bytes:
    """Decompress, but never more than `most` bytes."""
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
    """A saved array; it is decompressed only if its type and shape are those of `like`."""
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
    return little.reshape(like.shape).astype(like.dtype)  # the copy of `astype` owns its data


def _plain_or_none(policy: Any) -> Any:
    """A policy as plain data; None if it holds a Python function."""
    try:
        return _plain.to_plain(policy)
    except ValueError:
        return None
