"""A few steps that belong together, with no signal between them."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any

from rotting.signals import STOPS


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Put off Ctrl-C and the like to the end of the block.

    Handlers are exchanged, not masked: a signal that another thread receives is handled in the main
    thread all the same.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread handles signals
        return
    came: list[int] = []

    def note(number: int, frame: Any) -> None:
        came.append(number)

    found = {number: signal.getsignal(number) for number in STOPS}
    before = {n: handler for n, handler in found.items() if handler not in (signal.SIG_IGN, None)}
    try:  # one may come, and raise, before all are exchanged
        for number in before:
            signal.signal(number, note)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])
