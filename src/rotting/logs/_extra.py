"""The optional dependency that reads tables."""

from __future__ import annotations

from typing import Any


class NotInstalledError(ImportError, ValueError):
    """An optional dependency is missing. The command line reports it like a wrong value."""


def polars() -> Any:
    """The module polars, imported at first use: an optional dependency that reads large tables."""
    try:
        import polars
    except ImportError:
        raise NotInstalledError("logs need polars: pip install 'rotting[logs]'") from None
    return polars
