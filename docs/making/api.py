"""The pages of the Python interface: which public names stand on which page.

A page asks mkdocstrings for every name that its modules export, so that a new policy or theorem
has its entry without a line here.
"""

from __future__ import annotations

import importlib
import inspect
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from rotting.models import Family, Model
from rotting.parameters import Checked
from stories import GALLERY

ROOT = Path(__file__).parents[2]
# Exported for the package itself, not for users.
HELPERS = {"check_means", "check_positive", "function_name", "world_tables"}
# Public in name only: what the engines and other modules ask of an object.
INTERNAL = {"arrive", "bandits", "chunk", "first", "grown"}
INTERNAL |= {"notes", "parts", "settle", "shared", "wrong"}


class Chapter(NamedTuple):
    """A page: its title, what it is for, and the modules whose names it holds."""

    title: str
    purpose: str
    modules: tuple[str, ...]


PARTS = "rotting.policies.parts"
CHAPTERS = {
    "rotting": Chapter(
        "rotting",
        "simulate, compare and tune policies, and play them online",
        ("rotting",),
    ),
    "models": Chapter("rotting.models", "describe how a reward falls", ("rotting.models",)),
    "bandits": Chapter(
        "rotting.bandits", "describe arms, noise, audiences and scenarios", ("rotting.bandits",)
    ),
    "policies": Chapter(
        "rotting.policies",
        "find a policy, its parameters and its formula ([all in one table](../policies.md))",
        ("rotting.policies",),
    ),
    "theory": Chapter(
        "rotting.theory",
        "ask what is proved ([the same in words and formulas](../../paper/theory.md))",
        ("rotting.theory",),
    ),
    "logs": Chapter(
        "rotting.logs",
        "read, diagnose, fit and replay a log ([guide](../../guides/logs.md))",
        ("rotting.logs",),
    ),
    "serve": Chapter(
        "rotting.client",
        "use the client of the service ([guide](../../guides/serving.md))",
        ("rotting.client",),
    ),
    "reports": Chapter(
        "Plots and statistics",
        "draw results and test differences",
        (
            "rotting.plots",
            "rotting.stats",
        ),
    ),
    "papers": Chapter(
        "Papers and league",
        "use the scenarios and published figures of a paper, and play the league",
        (
            "rotting.papers",
            "rotting.papers.levine2017",
            "rotting.papers.seznec2019",
            "rotting.league",
        ),
    ),
    "parts": Chapter(
        "To build policies with",
        "look up what a policy of your own is made of ([guide](../../guides/own-policy.md))",
        (
            "rotting.testing",
            "rotting.kernel.verbs",
            "rotting.kernel.state",
            "rotting.kernel.random",
            *(f"{PARTS}.{part}" for part in ("arms", "argmax", "openings", "ranking", "window")),
        ),
    ),
}


def exported(module: Any) -> list[str]:
    """The public names of a module: classes and functions."""
    names = getattr(module, "__all__", None) or [
        name for name, value in vars(module).items() if _made_in(value, module.__name__)
    ]
    values = {name: getattr(module, name) for name in names if name not in HELPERS}
    return [name for name, value in values.items() if inspect.isclass(value) or callable(value)]


def _made_in(value: Any, module: str) -> bool:
    named = inspect.isclass(value) or callable(value)
    return named and getattr(value, "__module__", "") == module and not _private(value)


def _private(value: Any) -> bool:
    return str(getattr(value, "__name__", "_")).startswith("_")


def page(chapter: Chapter) -> str:
    """The page of a chapter, as Markdown."""
    parts = [f"# {chapter.title}", f"Here you can look up what you need to {chapter.purpose}."]
    for name in chapter.modules:
        module = importlib.import_module(name)
        if len(chapter.modules) > 1:
            parts.append(f"## {name}\n\n{(module.__doc__ or '').strip().splitlines()[0]}")
        parts += [_entry(name, thing, len(chapter.modules) > 1) for thing in exported(module)]
    return "\n\n".join(parts) + "\n"


def _entry(module: str, name: str, lower: bool) -> str:
    """What asks mkdocstrings for one name."""
    value = getattr(importlib.import_module(module), name)
    options: dict[str, Any] = {"heading_level": 3 if lower else 2}
    lines = [
        f"::: {value.__module__}.{value.__qualname__}" if _moved(value) else f"::: {module}.{name}"
    ]
    if inspect.isclass(value):
        options["members"] = [] if _is_policy(value) else members(value)
        options["inherited_members"] = not _is_policy(value)
    lines += ["    options:", *(f"      {key}: {_plain(item)}" for key, item in options.items())]
    return "\n".join(lines)


def _moved(value: Any) -> bool:
    """Found by a late import, which cannot be followed in the source."""
    return str(getattr(value, "__module__", "")).startswith("rotting._serve")


def _is_policy(value: type) -> bool:
    """A policy is its docstring and its parameters; what it inherits stands at `Policy`."""
    from rotting.policies import Policy

    return issubclass(value, Policy) and value is not Policy


def members(value: type) -> list[str]:
    """Methods and properties that some page speaks of: the others are for the package itself."""
    ours = set(dir(value)) - set(dir(Checked)) - set(dir(tuple)) - INTERNAL
    for base in (Model, Family):  # what all of them have stands there
        ours -= set(dir(base)) if issubclass(value, base) and value is not base else set()
    return sorted(key for key in ours if key in spoken_of() and _documented(value, key))


@cache
def spoken_of() -> frozenset[str]:
    """All names of the documents that follow a dot or begin a piece of code."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *GALLERY.glob("*.py")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    return frozenset(re.findall(r"[.`]([a-z]\w*)", text))


def _documented(value: type, key: str) -> bool:
    found = inspect.getattr_static(value, key)
    for inner in ("__func__", "fget", "func"):  # of a class method, a property, a cached one
        found = getattr(found, inner, found)
    return callable(found) and bool((getattr(found, "__doc__", None) or "").strip())


def _plain(item: Any) -> str:
    if isinstance(item, list):
        return "[" + ", ".join(item) + "]" if item else "false"
    return str(item).lower()
