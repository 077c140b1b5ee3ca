"""Policies, models and arms as plain data (dicts, lists, numbers, words), and back.

For saved states and for files: `{"type": "Plateau", "theta": 0.3, "length": 100}`. Classes join by
`register`, policies under the word "policy" and the key that names them on the command line. Only
registered classes are made from such data; nothing else is ever imported or run.
"""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

T = TypeVar("T", bound=type)

TYPE, POLICY = "type", "policy"  # the word before a class's name in plain data
_CLASSES: dict[str, dict[str, type]] = {TYPE: {}, POLICY: {}}
_NAMES: dict[type, tuple[str, str]] = {}


def register(cls: T, kind: str = TYPE, name: str = "") -> T:
    """Make a class known, by its own name unless another is given; also a decorator.

    Its objects are written by their fields (or by what their method `plain_fields` returns) and
    made again with these as keyword arguments. The same class defined again, as in a notebook,
    takes the place of the old one; another class may not take its name.
    """
    name = name or cls.__name__
    before = _CLASSES[kind].get(name)
    if before is not None and _place(before) != _place(cls):
        raise ValueError(
            f"name of {_place(cls)} must be new, but the {kind} {name!r} is {_place(before)}"
        )
    _CLASSES[kind][name] = cls
    _NAMES[cls] = kind, name
    return cls


def _place(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def to_plain(value: Any) -> Any:
    """A value as plain data; ValueError if it holds what cannot be (a Python function)."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [to_plain(item) for item in value]
    kind, name = _NAMES.get(type(value), (TYPE, ""))
    if _CLASSES[kind].get(name) is not type(value):
        raise ValueError(f"{value!r} cannot be written as plain data")
    return {kind: name, **{field: to_plain(item) for field, item in _fields(value).items()}}


def _fields(value: Any) -> dict[str, Any]:
    if hasattr(value, "plain_fields"):
        return dict(value.plain_fields())
    if not dataclasses.is_dataclass(value):
        return {}
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def from_plain(data: Any) -> Any:
    """The value that `to_plain` wrote; ValueError if the data is not such."""
    if isinstance(data, list):
        return tuple(from_plain(item) for item in data)
    if not isinstance(data, dict):
        return data
    fields = {name: from_plain(item) for name, item in data.items()}
    kind = next((word for word in (POLICY, TYPE) if word in fields), None)
    if kind is None:
        raise ValueError(f"plain data must name its type or policy, got {sorted(fields)}")
    name, known = fields.pop(kind), _CLASSES[kind]
    if not isinstance(name, str) or name not in known:
        raise ValueError(f"unknown type or policy {name!r}; known: {', '.join(sorted(known))}")
    try:
        return known[name](**fields)
    except TypeError as error:
        raise ValueError(f"{name}: {error}") from None
