"""A circuit breaker: a service that is away is not asked by everybody, all the time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

FAILURES = 5  # in a row, after which it opens
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0  # seconds; it doubles with each probe that fails


class Breaker:
    """Lets calls through until several in a row have failed; then, after a pause, one at a time.

    `enter` before a call, and `leave` after it with what `enter` gave. Threads may share it.

    >>> now = 0.0
    >>> breaker = Breaker(clock=lambda: now)
    >>> for _ in range(5):
    ...     breaker.leave(breaker.enter(), ok=False)
    >>> breaker.enter()
    'closed to calls'
    >>> now = 1.0
    >>> breaker.enter(), breaker.enter()
    ('probe', 'closed to calls')
    """

    CALL, PROBE, STOP = "call", "probe", "closed to calls"

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._pause = FIRST_PAUSE
        self._until: float | None = None  # when the next probe may go; None while all may
        self._probing = False

    def enter(self) -> str:
        """Whether a call may be made: CALL, or as the one PROBE, or not at all: STOP."""
        with self._lock:
            if self._until is None:
                return self.CALL
            if self._probing or self.clock() < self._until:
                return self.STOP
            self._probing = True
            return self.PROBE

    def leave(self, entered: str, ok: bool | None) -> None:
        """Say how the call went; None if it was broken off and says nothing of the service."""
        with self._lock:
            if entered == self.PROBE:
                self._probing = False
            if ok is None:
                return
            if ok:
                self._failures, self._pause, self._until = 0, FIRST_PAUSE, None
                return
            self._failures += 1
            if entered == self.PROBE:
                self._pause = min(2 * self._pause, LONGEST_PAUSE)
                self._until = self.clock() + self._pause
            elif self._until is None and self._failures >= FAILURES:
                self._until = self.clock() + self._pause
