"""A name with settings in words, as on the command line: wswa:alpha=0.2,restart=keep."""

from __future__ import annotations

from typing import Any


def split(what: str, text: str) -> tuple[str, dict[str, Any]]:
    """A name and its settings from words; a refusal calls them `what`.

    >>> split("policy", "wswa:alpha=0.2,restart=keep")
    ('wswa', {'alpha': 0.2, 'restart': 'keep'})
    """
    name, _, rest = text.partition(":")
    settings: dict[str, Any] = {}
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if not equals or not key or not value:
            raise ValueError(f"{what} must read like name:parameter=value, got {text!r}")
        if key in settings:
            raise ValueError(f"{what} must set {key} once, got {text!r}")
        settings[key] = read_value(value)
    return name, settings


def read_value(text: str) -> int | float | str:
    """The value of a word: an int, a float or a text.

    >>> [read_value(word) for word in ("4000", "4e3", "keep")]
    [4000, 4000.0, 'keep']
    """
    for reader in (int, float):
        try:
            return reader(text)
        except ValueError:
            continue
    return text


def first_line(thing: Any) -> str:
    """The first paragraph of a docstring, in one line."""
    return " ".join((thing.__doc__ or "").strip().split("\n\n")[0].split())
