"""The library's log lines and warnings on standard error, one line each."""

from __future__ import annotations

import contextlib
import logging
import sys
import warnings
from collections.abc import Iterator
from typing import Any


class _Lines(logging.Handler):
    """Prints to the current `sys.stderr`, which a progress bar replaces."""

    def emit(self, record: logging.LogRecord) -> None:
        print(f"rotting: {record.getMessage()}", file=sys.stderr)


@contextlib.contextmanager
def shown(verbose: bool) -> Iterator[None]:
    """Show log lines if `verbose` or on a terminal, and every warning as one line."""

    def one_line(message: Any, *others: Any) -> str:
        return f"rotting: {message}\n"

    log, handler = logging.getLogger("rotting"), _Lines()
    before, usual = log.level, warnings.formatwarning
    if verbose or sys.stderr.isatty():
        log.addHandler(handler)
        log.setLevel(logging.DEBUG if verbose else logging.INFO)
    warnings.formatwarning = one_line  # type: ignore[assignment]
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(before)
        warnings.formatwarning = usual
