"""The signatures of every public name: those of docs/reference/names.md, with their attributes.

What writers of policies use (`rotting.kernel`, `rotting.policies.parts`) moves with the code and is
not on record here.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import re
from pathlib import Path
from typing import Any

from records import Plays

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "names.md"
_WHERE = re.compile(r"rotting(?:\.\w+)+\.| at 0x[0-9a-f]+")  # modules may move
_NAMED = re.compile(r"^## .*", re.MULTILINE)
_TOOLKIT = ("rotting.kernel.", "rotting.policies.parts", "rotting.parameters")


def modules() -> list[Any]:
    """The page's modules that say what is public in them, and the client."""
    names = re.findall(r"`(rotting[\w.]*)`", "\n".join(_NAMED.findall(PAGE.read_text("utf-8"))))
    found = [importlib.import_module(name) for name in names]
    return [
        one for one in found if hasattr(one, "__all__") and not one.__name__.startswith(_TOOLKIT)
    ]


def signature(value: Any) -> str:
    try:
        return _WHERE.sub("", str(inspect.signature(value)))
    except (TypeError, ValueError):
        return ""


def about(value: Any) -> Any:
    """A name in a line, or a class with its public attributes."""
    if inspect.isclass(value):
        found = {"()": signature(value)}
        for name in sorted(dir(value)):
            if not name.startswith("_") and not hasattr(object, name):
                found[name] = attribute(inspect.getattr_static(value, name))
        return found
    if callable(value):
        return signature(value)
    return type(value).__name__


def attribute(value: Any) -> str:
    if isinstance(value, staticmethod | classmethod):
        value = value.__func__
    if inspect.isfunction(value):
        return signature(value)
    if isinstance(value, property | functools.cached_property):
        return "property"
    return "attribute"


def public(module: Any) -> dict[str, Any]:
    return {name: about(getattr(module, name)) for name in sorted(module.__all__)}


def plays() -> Plays:
    return {module.__name__: functools.partial(public, module) for module in modules()}
