"""Ctrl-C, or another signal to stop, during compilation.

`KeyboardInterrupt` is raised wherever Python happens to be. The compiler calls back into Python
from C, where an exception is reported and dropped: the compiler then continues without the result
of that call, and fails with a meaningless error or does not fail at all.
"""

from __future__ import annotations

import _thread
import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from rotting._signals import STOPS

_AGAIN = 0.05  # seconds


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """A context in which exceptions of signal handlers are raised, at its end at the latest.

    That is `KeyboardInterrupt`, unless Ctrl-C has another handler.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # Python handles signals in the main thread only
        return
    raised: list[BaseException] = []
    signals: list[signal.Signals] = []  # those that raised; emptied at the end

    def noting(handler: Callable[..., Any]) -> Callable[..., None]:
        def handle(signum: int, frame: Any) -> None:
            try:
                handler(signum, frame)
            except BaseException as error:
                raised.append(error)
                signals.append(signal.Signals(signum))
                raise

        return handle

    def again() -> None:
        if signals:
            _thread.interrupt_main(signals[-1])

    def report(unraisable: Any) -> None:
        if unraisable.exc_value not in raised:
            usual(unraisable)
        else:  # lost: raise it again shortly, at a place where it may survive
            timer = threading.Timer(_AGAIN, again)
            timer.daemon = True
            timer.start()

    usual = sys.unraisablehook
    before = {number: signal.getsignal(number) for number in STOPS}
    try:  # a signal may come, and raise, before all handlers are replaced
        sys.unraisablehook = report
        for number, handler in before.items():
            if callable(handler):
                signal.signal(number, noting(handler))
        yield
    except Exception as error:
        if raised and error not in raised:
            raise raised[0] from error
        raise
    finally:
        signals.clear()
        for number, handler in before.items():
            if callable(handler):
                signal.signal(number, handler)
        sys.unraisablehook = usual
    if raised:
        raise raised[0]
