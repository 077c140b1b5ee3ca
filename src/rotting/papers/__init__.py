"""Papers by name: a package each, with its scenarios, policies, tables and figures.

Every package in this folder is a paper and has a `PAPER` (see `rotting.papers.Paper`). That gives
its scenarios names and makes `rotting reproduce` play it; nothing else needs an edit.
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
    """The names of the papers, in alphabetical order.

    Returns:
        The names that `find` and `rotting reproduce` take.

    >>> names()
    ['levine2017', 'seznec2019']
    """
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if module.ispkg)


def find(name: str) -> Paper[Any]:
    """A paper by name.

    Args:
        name: One of `names()`.

    Returns:
        The paper, with its scenarios and its reproduction.

    Raises:
        ValueError: There is no such paper.

    >>> find("levine2017").title
    'Levine, Crammer & Mannor, "Rotting Bandits", NIPS 2017'
    """
    found = getattr(_package(_checks.known("paper", name, names())), "PAPER", None)
    if not isinstance(found, Paper):
        raise ValueError(f"{__name__}.{name} must expose a Paper as PAPER, got {found!r}")
    return found


def _package(name: str) -> ModuleType:
    return importlib.import_module(f"{__name__}.{name}")


if not TYPE_CHECKING:  # a type checker would then accept any attribute as a paper

    def __getattr__(name: str) -> ModuleType:
        """Import `papers.levine2017` at its first use."""
        if not name.startswith("_") and name in names():
            return _package(name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
