"""Papers, found by name: a package each, with its scenarios, policies, tables and figures.

A package in this folder that exposes a `PAPER` (see `rotting.papers._paper.Paper`) is a paper: its
scenarios get names and `rotting reproduce` runs it, without an edit anywhere else.
"""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType
from typing import TYPE_CHECKING, Any

from rotting import _checks
from rotting.papers._paper import Paper

__all__ = ["Paper", "find", "names"]


def names() -> list[str]:
    """The papers there are, in order of the alphabet.

    >>> "levine2017" in names()
    True
    """
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if module.ispkg)


def find(name: str) -> Paper[Any]:
    """A paper by name.

    >>> find("levine2017").title
    'Levine, Crammer & Mannor, "Rotting Bandits", NIPS 2017'
    """
    found = getattr(_package(_checks.known("paper", name, names())), "PAPER", None)
    if not isinstance(found, Paper):
        raise ValueError(f"{__name__}.{name} must expose a Paper as PAPER, got {found!r}")
    return found


def _package(name: str) -> ModuleType:
    return importlib.import_module(f"{__name__}.{name}")


if not TYPE_CHECKING:  # a type checker would take any attribute for a paper

    def __getattr__(name: str) -> ModuleType:
        """`papers.levine2017` without a further import: lazily, at its first use."""
        if not name.startswith("_") and name in names():
            return _package(name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
