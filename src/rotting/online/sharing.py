"""What threads may share: who holds it, who waits for it, and what a fork leaves behind.

A decision and its reward take about a microsecond together, and twice `with threading.Lock()` would
add a quarter to that. So the lock is an attribute that exists while nobody holds the object.
Deleting it takes the object and setting it lets go: either is one instruction, atomic under the
interpreter's lock (GIL). Only a thread that finds it gone touches locks of the operating system.

    while True:
        try:
            del self._free
            break
        except AttributeError:
            self._wait()
    try:
        ...
    finally:
        self._free = None
        if self._waiting:
            self._wake()

This is written out where speed matters, and `_alone` has it for the rest. It is no context manager:
CPython handles signals when a call returns and when a loop goes round, so none can come between
`del` and `try`, and Ctrl-C never leaves an object locked for ever.
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

_PATIENCE = 0.1  # seconds; a wake-up that Ctrl-C has swallowed is made up for after that
_HOLDERS: set[CodeType] = set()
_ALL: weakref.WeakValueDictionary[int, Shared] = weakref.WeakValueDictionary()


def holder(method: F) -> F:
    """Marks a method that has the lines above."""
    _HOLDERS.add(method.__code__)
    return method


class Shared:
    """One thread at a time. A thread that holds the object cannot take it again."""

    __slots__ = ("__weakref__", "_free", "_gate", "_torn", "_waiting", "_woken")

    def _share(self) -> None:
        """Nobody holds it yet."""
        self._free: None = None
        self._torn = False
        self._renew()
        _ALL[id(self)] = self

    def _renew(self) -> None:
        self._waiting = False  # whether somebody waits for it to be free
        self._gate = threading.Lock()  # one waits for that, the others for the one
        self._woken = threading.Lock()
        self._woken.acquire()

    @holder
    def _alone(self, work: Callable[[], R]) -> R:
        """Do something while no other thread uses the object."""
        while True:
            try:
                del self._free
                break
            except AttributeError:
                self._wait()
        try:
            return work()
        finally:
            self._free = None
            if self._waiting:
                self._wake()

    def _wait(self) -> None:
        """Wait until the object may be free; the caller then tries again.

        Refused where it would wait for ever: the thread holds it itself, further up its own stack,
        or the thread that held it did not come along into this process.
        """
        self._refuse_nesting()
        if self._torn and not hasattr(self, "_free"):
            raise RuntimeError(
                "player must not be used here: another thread was changing it when this process "
                "was forked; save it before the fork and load it after"
            )
        with self._gate:
            self._waiting = True
            try:
                # Looked up after `_waiting` was set, as who lets go looks at that after freeing it:
                # one of the two sees the other.
                if not hasattr(self, "_free"):
                    self._woken.acquire(timeout=_PATIENCE)
            finally:
                self._waiting = False

    def _wake(self) -> None:
        """Tell the thread that waits."""
        with contextlib.suppress(RuntimeError):  # told before, and not yet gone
            self._woken.release()

    def _refuse_nesting(self) -> None:
        """A signal handler, or a verb, calls the player that its own thread is busy with."""
        frame = sys._getframe(2).f_back  # beyond `_wait` and who called it
        while frame is not None:
            if frame.f_code in _HOLDERS and frame.f_locals.get("self") is self:
                raise RuntimeError(
                    "player must not be used by a signal handler or a verb while the same thread "
                    "is inside one of its methods; let the handler set a flag, and look at it later"
                )
            frame = frame.f_back


def _after_fork() -> None:
    """In the child: threads that held or awaited an object do not exist here."""
    for shared in list(_ALL.values()):
        shared._torn = not hasattr(shared, "_free")
        shared._renew()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_after_fork)
