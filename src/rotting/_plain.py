"""Policies, models and arms as plain data (dicts, lists, numbers, words), and back.

For saved states and for files: `{"type": "Plateau", "theta": 0.3, "length": 100}`. Classes join by
`register`; kinds with a registry of their own, such as policies, by `register_kind`. Reading makes
objects of registered classes only and never imports or runs anything else, so files need no trust.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar

T = TypeVar("T", bound=type)

_TYPES: dict[str, type] = {}
# registries of classes, by the key that holds a class name in plain data
_KINDS: dict[str, Mapping[str, type]] = {"type": _TYPES}


def register(cls: T) -> T:
    """Register a class by its name; also a decorator.

    Its objects are written by their fields (or by the result of their method `plain_fields`) and
    made again with these as keyword arguments. The same class defined again, as in a notebook,
    replaces the old one; another class of the same name is refused.
    """
    before = _TYPES.get(cls.__name__)
    if before is not None and _place(before) != _place(cls):
        raise ValueError(
            f"name of {_place(cls)} must be new, but the type {cls.__name__!r} is {_place(before)}"
        )
    _TYPES[cls.__name__] = cls
    return cls


def register_kind(word: str, classes: Mapping[str, type]) -> None:
    """Register all classes of a registry, now and later: their data is {word: name, ...}."""
    _KINDS[word] = classes


def _place(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def to_plain(value: Any) -> Any:
    """A value as plain data; ValueError if a part, such as a Python function, has no such form."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [to_plain(item) for item in value]
    for word, classes in _KINDS.items():
        for name, known in classes.items():
            if known is type(value):
                fields = {field: to_plain(item) for field, item in _fields(value).items()}
                return {word: name, **fields}
    raise ValueError(f"{value!r} cannot be written as plain data")


def _fields(value: Any) -> dict[str, Any]:
    if hasattr(value, "plain_fields"):
        return dict(value.plain_fields())
    if not dataclasses.is_dataclass(value):
        return {}
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def from_plain(data: Any) -> Any:
    """The value that `to_plain` wrote; ValueError for other data."""
    if isinstance(data, list):
        return tuple(from_plain(item) for item in data)
    if not isinstance(data, dict):
        return data
    fields = {name: from_plain(item) for name, item in data.items()}
    word = next((word for word in reversed(_KINDS) if word in fields), None)
    if word is None:
        raise ValueError(f"plain data must name its type or policy, got {sorted(fields)}")
    name, known = fields.pop(word), _KINDS[word]
    if not isinstance(name, str) or name not in known:
        raise ValueError(f"unknown type or policy {name!r}; known: {', '.join(sorted(known))}")
    try:
        return known[name](**fields)
    except (TypeError, AttributeError, LookupError, ArithmeticError, RecursionError) as error:
        raise ValueError(f"{name}: {error}") from None  # fields of a wrong kind
