"""The lock of a player.

A decision and its reward take about a microsecond together, and twice `with threading.Lock()` would
add a quarter to that. The lock is therefore an attribute that exists while no thread holds it.
Deleting it takes the lock and setting it releases it; either is one instruction, atomic under the
interpreter's lock (GIL). Only a thread that finds it gone uses locks of the operating system.

    lock = core.lock
    while True:
        try:
            del lock.free
            break
        except AttributeError:
            lock.wait()
    try:
        ...
    finally:
        lock.free = None
        if lock.waiting:
            lock.wake()

These lines are repeated where speed matters, in functions marked with `holder`; all others use
`alone`. A context manager would not be safe: CPython handles signals when a call returns and when a
loop jumps back, so here none can come between `del` and `try`, and Ctrl-C never leaves a player
locked.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import weakref
from collections.abc import Callable
from types import CodeType
from typing import Any, TypeVar

R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])

_TIMEOUT = 0.1  # seconds after which a thread looks again, if Ctrl-C has lost a wake-up
_HOLDERS: set[CodeType] = set()
_ALL: weakref.WeakValueDictionary[int, Lock] = weakref.WeakValueDictionary()


def holder(function: F) -> F:
    """Mark a function that contains the lines above."""
    _HOLDERS.add(function.__code__)
    return function


class Lock:
    """A lock that is not reentrant."""

    __slots__ = ("__weakref__", "_gate", "_woken", "free", "torn", "waiting")

    def __init__(self) -> None:
        self.free: None = None  # exists while no thread holds the lock
        self.torn = False  # whether it was held at a fork, by a thread that does not exist here
        self.renew()
        _ALL[id(self)] = self

    def renew(self) -> None:
        """Reset the waiting threads, at the start and in the child of a fork."""
        self.waiting = False  # whether a thread waits for it to be free
        self._gate = threading.Lock()  # one thread waits on `_woken`, the rest queue here
        self._woken = threading.Lock()
        self._woken.acquire()

    @holder
    def alone(self, work: Callable[[], R]) -> R:
        """Run `work` while holding the lock."""
        lock = self
        while True:
            try:
                del lock.free
                break
            except AttributeError:
                lock.wait()
        try:
            return work()
        finally:
            lock.free = None
            if lock.waiting:
                lock.wake()

    def wait(self) -> None:
        """Wait until the lock may be free; the caller then tries again.

        Raises:
            RuntimeError: It would wait for ever, because this thread holds the lock further up its
                stack, or because the thread that held it does not exist after a fork.
        """
        self._refuse_nesting()
        if self.torn and not hasattr(self, "free"):
            raise RuntimeError(
                "player must not be used here: another thread was changing it when this process "
                "was forked; save it before the fork and load it after"
            )
        with self._gate:
            self.waiting = True
            try:
                # Check `free` after setting `waiting`; the releasing thread checks `waiting` after
                # setting `free`. So one of the two sees the other.
                if not hasattr(self, "free"):
                    self._woken.acquire(timeout=_TIMEOUT)
            finally:
                self.waiting = False

    def wake(self) -> None:
        with contextlib.suppress(RuntimeError):  # woken already
            self._woken.release()

    def _refuse_nesting(self) -> None:
        """Raise if a signal handler or a verb calls the player that its own thread is using."""
        frame = sys._getframe(2).f_back  # beyond `wait` and its caller
        while frame is not None:
            if frame.f_code in _HOLDERS and frame.f_locals.get("lock") is self:
                raise RuntimeError(
                    "player must not be used by a signal handler or a verb while the same thread "
                    "is inside one of its methods; let the handler set a flag, and look at it later"
                )
            frame = frame.f_back


def _after_fork() -> None:
    """Reset locks in the child, where threads that held or awaited one do not exist."""
    for lock in list(_ALL.values()):
        lock.torn = not hasattr(lock, "free")
        lock.renew()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_after_fork)
