"""The lock of a player: which thread holds it, which ones wait, and what a fork leaves behind.

A decision and its reward take about a microsecond together, and twice `with threading.Lock()` would
add a quarter to that. So the lock is an attribute that exists while no thread holds it. Deleting it
takes the lock and setting it releases it: either is one instruction, atomic under the interpreter's
lock (GIL). Only a thread that finds it gone touches locks of the operating system.

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

This is written out where speed matters, in functions marked with `holder`; `alone` has it for the
rest. It is no context manager: CPython handles signals when a call returns and when a loop goes
round, so none can come between `del` and `try`, and Ctrl-C never leaves a player locked for ever.
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

_TIMEOUT = 0.1  # seconds; a wake-up that Ctrl-C has swallowed is made up for after that
_HOLDERS: set[CodeType] = set()
_ALL: weakref.WeakValueDictionary[int, Lock] = weakref.WeakValueDictionary()


def holder(function: F) -> F:
    """Marks a function that has the lines above."""
    _HOLDERS.add(function.__code__)
    return function


class Lock:
    """One thread at a time. A thread that holds the lock cannot take it again."""

    __slots__ = ("__weakref__", "_gate", "_woken", "free", "torn", "waiting")

    def __init__(self) -> None:
        self.free: None = None  # exists while no thread holds the lock
        self.torn = False  # whether a fork left it held by a thread that is not in this process
        self.renew()
        _ALL[id(self)] = self

    def renew(self) -> None:
        """No thread waits: at the start, and in the child of a fork."""
        self.waiting = False  # whether a thread waits for it to be free
        self._gate = threading.Lock()  # one thread waits on `_woken`, the rest queue here
        self._woken = threading.Lock()
        self._woken.acquire()

    @holder
    def alone(self, work: Callable[[], R]) -> R:
        """Do some work while no other thread has the lock."""
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

        Refused where it would wait for ever: the thread holds it itself, further up its own stack,
        or the thread that held it did not come along into this process.
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
                # Looked up after `waiting` was set, as the releasing thread looks at that after
                # setting `free`: one of the two sees the other.
                if not hasattr(self, "free"):
                    self._woken.acquire(timeout=_TIMEOUT)
            finally:
                self.waiting = False

    def wake(self) -> None:
        """Wake the thread that waits."""
        with contextlib.suppress(RuntimeError):  # woken before, and not yet gone
            self._woken.release()

    def _refuse_nesting(self) -> None:
        """Refuse a signal handler, or a verb, that calls the player its own thread is busy with."""
        frame = sys._getframe(2).f_back  # beyond `wait` and its caller
        while frame is not None:
            if frame.f_code in _HOLDERS and frame.f_locals.get("lock") is self:
                raise RuntimeError(
                    "player must not be used by a signal handler or a verb while the same thread "
                    "is inside one of its methods; let the handler set a flag, and look at it later"
                )
            frame = frame.f_back


def _after_fork() -> None:
    """In the child: threads that held or awaited a lock do not exist here."""
    for lock in list(_ALL.values()):
        lock.torn = not hasattr(lock, "free")
        lock.renew()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_after_fork)
