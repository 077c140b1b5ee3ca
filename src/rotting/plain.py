"""Policies, models and arms as plain data (dicts, lists, numbers, words), and back.

For saved states and for files: `{"type": "Plateau", "theta": 0.3, "length": 100}`. Only known types
are made from such data; nothing else is ever imported or run.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from rotting import models
from rotting.bandits import Arm
from rotting.policies.base import POLICIES, Policy

_TYPES: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        models.Polynomial,
        models.Plateau,
        models.Exponential,
        models.Constant,
        models.Step,
        models.Table,
        models.Family,
        models.Interval,
        models.Scaled,
        Arm,
    )
}


def _field_names(value: Any) -> list[str]:
    return (
        [field.name for field in dataclasses.fields(value)]
        if dataclasses.is_dataclass(value)
        else []
    )


def to_plain(value: Any) -> Any:
    """A value as plain data; ValueError if it holds what cannot be (a Python function)."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [to_plain(item) for item in value]
    fields = {name: to_plain(getattr(value, name)) for name in _field_names(value)}
    if isinstance(value, Policy) and POLICIES.get(value.key) is type(value):
        return {"policy": value.key, **fields}
    if _TYPES.get(type(value).__name__) is type(value):
        return {"type": type(value).__name__, **fields}
    raise ValueError(f"{value!r} cannot be written as plain data")


def from_plain(data: Any) -> Any:
    """The value that `to_plain` wrote; ValueError if the data is not such."""
    if isinstance(data, list):
        return tuple(from_plain(item) for item in data)
    if not isinstance(data, dict):
        return data
    fields = {name: from_plain(item) for name, item in data.items()}
    known: dict[str, type] = {}
    if "policy" in fields:
        name, known = fields.pop("policy"), dict(POLICIES)
    elif "type" in fields:
        name, known = fields.pop("type"), _TYPES
    else:
        raise ValueError(f"plain data must name its type or policy, got {sorted(fields)}")
    if name not in known:
        raise ValueError(f"unknown type or policy {name!r}; known: {', '.join(sorted(known))}")
    try:
        return known[name](**fields)
    except TypeError as error:
        raise ValueError(f"{name}: {error}") from None
