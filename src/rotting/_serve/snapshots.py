"""An experiment's state as bytes, and back: so that a start need not apply all events.

A snapshot carries the number of the last event in it, the version of the code, and a checksum. What
holds for it: applying the events after it gives the same bits as applying all of them.
"""

from __future__ import annotations

import hashlib
import zlib
from typing import Any

import msgspec

from rotting._online import save
from rotting._online.audience import AudiencePlayer
from rotting._online.player import Player
from rotting._serve.events import Event
from rotting._serve.experiment import Counts, Experiment, Open
from rotting._serve.statistics import Series


def picture_of(experiment: Experiment) -> dict[str, Any]:
    """All that an experiment knows at this moment, copied: it may go on while this is written."""
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


def encode(picture: dict[str, Any]) -> bytes:
    """A picture as JSON; the same bytes for the same state. That takes longer than the picture."""
    # whether it is compiled is no part of what it is
    saved = save.saved_of(picture["player"]._replace(compiled=False))
    return msgspec.json.encode(
        {
            **picture,
            "player": save.write_json(saved),
            "series": msgspec.Raw(picture["series"]),
            "cells": msgspec.Raw(picture["cells"]),
        }
    )


def content_of(experiment: Experiment) -> bytes:
    """The same for an experiment that nobody changes meanwhile."""
    return encode(picture_of(experiment))


def packed(content: bytes) -> tuple[bytes, str]:
    """What is stored, and its checksum."""
    body = zlib.compress(content, level=1)
    return body, hashlib.sha256(body).hexdigest()


def unpacked(body: bytes, checksum: str) -> bytes:
    """What was stored, if it is what was written."""
    if hashlib.sha256(body).hexdigest() != checksum:
        raise ValueError("snapshot is damaged: its checksum does not fit")
    return zlib.decompress(body)


def restored(number: int, created: Event, content: bytes, *, compiled: bool) -> Experiment:
    """An experiment as it was when its picture was taken."""
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
