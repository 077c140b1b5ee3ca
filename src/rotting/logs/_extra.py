"""The optional dependency that reads tables."""

from __future__ import annotations

from typing import Any


class NotInstalledError(ImportError, ValueError):
    """An optional dependency is missing; the command line refuses by it as by a wrong value."""


def polars() -> Any:
    """The module polars, imported where it is used.

    Reading a hundred million rows takes a library made for it: `pip install 'rotting[logs]'`.
    """
    try:
        import polars
    except ImportError:
        raise NotInstalledError("logs need polars: pip install 'rotting[logs]'") from None
    return polars
