"""The signals that request a stop, and calls that they cannot interrupt."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

# Ctrl-C, the signal of service managers and schedulers, and a terminal that closes. Not every
# operating system has them all.
STOPS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


def undivided(call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a function that Ctrl-C, or another signal to stop, cannot interrupt halfway.

    Handlers run after the call. Outside the main thread, where Python runs no handlers, this is a
    plain call.
    """
    if threading.get_ident() != threading.main_thread().ident:
        return call(*args, **kwargs)
    received: list[int] = []
    before: list[tuple[signal.Signals, Any]] = []
    try:
        for number in STOPS:
            handler = signal.getsignal(number)
            if callable(handler):
                before.append((number, handler))
                signal.signal(number, lambda number, frame: received.append(number))
        found = call(*args, **kwargs)
    finally:
        for number, handler in reversed(before):
            signal.signal(number, handler)
    for each in received:
        signal.raise_signal(each)
    return found
