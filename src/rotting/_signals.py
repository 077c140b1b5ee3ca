"""The signals that ask the work to stop."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

# Ctrl-C, what service managers and schedulers send, a terminal that closes. Not every operating
# system knows them all.
STOPS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


def undivided(call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a function that Ctrl-C, or another signal to stop, cannot interrupt halfway.

    Handlers run after the call. In another thread than the main one, where Python runs no handlers,
    this is just the call.
    """
    if threading.get_ident() != threading.main_thread().ident:
        return call(*args, **kwargs)
    came: list[int] = []
    before: list[tuple[signal.Signals, Any]] = []
    try:
        for number in STOPS:
            handler = signal.getsignal(number)
            if callable(handler):
                before.append((number, handler))
                signal.signal(number, lambda number, frame: came.append(number))
        found = call(*args, **kwargs)
    finally:
        for number, handler in reversed(before):
            signal.signal(number, handler)
    for each in came:
        signal.raise_signal(each)
    return found
