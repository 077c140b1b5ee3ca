"""Service time: it advances by elapsed time, whatever the machine's clock is set to.

Windows of rewards and showings end by it. A start takes the machine's clock, or the time of the
last event if that is later. After that, changes of the machine's clock are logged and change
nothing.
"""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Callable

_LOG = logging.getLogger("rotting.serve")
_JUMP = 5.0  # seconds; smaller steps are ignored
_DAY = 86_400.0


if hasattr(time, "CLOCK_BOOTTIME"):  # advances while the machine sleeps
    seconds_passed: Callable[[], float] = functools.partial(time.clock_gettime, time.CLOCK_BOOTTIME)
else:
    seconds_passed = time.monotonic


class Clock:
    """Service time.

    Args:
        wall: The machine's clock.
        elapsed: A clock that is never set. Without it, a `wall` given by a test is that clock too.
    """

    def __init__(
        self,
        wall: Callable[[], float] = time.time,
        elapsed: Callable[[], float] | None = None,
    ) -> None:
        self._wall = wall
        self._elapsed = elapsed or (seconds_passed if wall is time.time else wall)
        self._base, self._since = wall(), self._elapsed()
        self._reported = 0.0  # the offset logged last
        self.jumps = 0

    def now(self) -> float:
        return self._base + (self._elapsed() - self._since)

    @property
    def offset(self) -> float:
        """Seconds that service time is ahead of the machine's clock."""
        return self.now() - self._wall()

    def begin(self, last: float) -> None:
        """Begin at the machine's clock, or at `last`, the last event's time, if that is later."""
        now = self.now()
        if last > now:
            _LOG.warning(
                "the clock is %.0f s behind the last event: service time continues from the event",
                last - now,
            )
            self._base, self._since = last, self._elapsed()
            self._reported = self.offset
        elif last > 0.0 and now - last > _DAY:
            _LOG.info("by the clock the last event was %.1f days ago", (now - last) / _DAY)

    def watch(self) -> None:
        """Log a jump of the machine's clock."""
        offset = self.offset
        if abs(offset - self._reported) > _JUMP:
            _LOG.warning(
                "the clock jumped by %+.0f s: windows end by elapsed time, and service time is "
                "%+.0f s from the clock",
                self._reported - offset,
                offset,
            )
            self._reported, self.jumps = offset, self.jumps + 1
