"""An experiment's state as bytes and back, so that a start need not apply all events.

A snapshot has the number of its last event, the version of the code, and a checksum. Invariant:
applying the events after it gives the same bits as applying all events.
"""

from __future__ import annotations

import hashlib
import zlib
from typing import Any

import msgspec

from rotting._online import save
from rotting._online.audience import AudiencePlayer
from rotting._online.player import Player
from rotting._serve.event_types import Event
from rotting._serve.experiment import Counts, Experiment, Open
from rotting._serve.statistics import Series


def state_of(experiment: Experiment) -> dict[str, Any]:
    """A copy of an experiment's whole state; the experiment may go on while it is encoded."""
    return {
        "player": experiment.player.core.snapshot(),
        "policy": experiment.policy,
        "horizon": experiment.horizon,
        "version": experiment.version,
        "since": experiment.since,
        "labels": list(experiment.labels),
        "open": list(experiment.open),
        "counts": msgspec.structs.astuple(experiment.counts),
        "series": msgspec.json.encode(experiment.series.to_plain()),
        "cells": msgspec.json.encode(experiment.cells.rows),
        "waiting": list(experiment.waiting.items()),
        "unshown": list(experiment.unshown.items()),
        "seq": experiment.seq,
        "at": experiment.at,
    }


def encode(state: dict[str, Any]) -> bytes:
    """A state as JSON, the same bytes for the same state. This takes longer than the copy."""
    # whether it is compiled is not part of the state
    saved = save.saved_of(state["player"]._replace(compiled=False))
    return msgspec.json.encode(
        {
            **state,
            "player": save.write_json(saved),
            "series": msgspec.Raw(state["series"]),
            "cells": msgspec.Raw(state["cells"]),
        }
    )


def content_of(experiment: Experiment) -> bytes:
    """The state of an experiment as JSON, while nothing changes it."""
    return encode(state_of(experiment))


def packed(content: bytes) -> tuple[bytes, str]:
    """Compressed content as it is stored, and its checksum."""
    body = zlib.compress(content, level=1)
    return body, hashlib.sha256(body).hexdigest()


def unpacked(body: bytes, checksum: str) -> bytes:
    """The content of a stored body; ValueError if the checksum differs."""
    if hashlib.sha256(body).hexdigest() != checksum:
        raise ValueError("snapshot is damaged: its checksum does not fit")
    return zlib.decompress(body)


def restored(number: int, created: Event, content: bytes, *, compiled: bool) -> Experiment:
    """The experiment of a snapshot."""
    data = msgspec.json.decode(content)
    experiment = Experiment(number, created)
    kind = AudiencePlayer if experiment.settings.audience else Player
    experiment.player = kind.from_json(data["player"], trusted=True)
    if compiled:
        experiment.player.go_compiled()
    for name in ("policy", "horizon", "version", "since", "labels", "open", "seq", "at"):
        setattr(experiment, name, data[name])
    experiment.numbers = {label: number for number, label in enumerate(experiment.labels)}
    experiment.counts = Counts(*data["counts"])
    experiment.series = Series.from_plain(data["series"])
    experiment.cells.rows = data["cells"]
    experiment.waiting.update((id_, Open(*entry)) for id_, entry in data["waiting"])
    experiment.unshown.update((id_, Open(*entry)) for id_, entry in data["unshown"])
    return experiment
