"""Service time: it goes on by elapsed time, whatever the machine's clock is set to.

Windows of rewards and showings end by it. At a start it is the machine's clock, or the time of the
last event if that is later; from then on a clock that is set to another time changes nothing, and
is said.
"""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Callable

_LOG = logging.getLogger("rotting.serve")
_JUMP = 5.0  # seconds: a smaller step is none
_DAY = 86_400.0


if hasattr(time, "CLOCK_BOOTTIME"):  # goes on while the machine sleeps
    seconds_passed: Callable[[], float] = functools.partial(time.clock_gettime, time.CLOCK_BOOTTIME)
else:
    seconds_passed = time.monotonic


class Clock:
    """Service time.

    wall     the machine's clock
    elapsed  what goes on evenly; that of a test's own `wall` is the same clock
    """

    def __init__(
        self,
        wall: Callable[[], float] = time.time,
        elapsed: Callable[[], float] | None = None,
    ) -> None:
        self._wall = wall
        self._elapsed = elapsed or (seconds_passed if wall is time.time else wall)
        self._base, self._since = wall(), self._elapsed()
        self._told = 0.0  # the offset that was last said
        self.jumps = 0

    def now(self) -> float:
        """The time now."""
        return self._base + (self._elapsed() - self._since)

    @property
    def offset(self) -> float:
        """How far service time is ahead of the machine's clock, in seconds."""
        return self.now() - self._wall()

    def begin(self, last: float) -> None:
        """Go on from the last event at the earliest, which was at this time."""
        now = self.now()
        if last > now:
            _LOG.warning(
                "the clock is %.0f s behind the last event: service time goes on from there",
                last - now,
            )
            self._base, self._since = last, self._elapsed()
            self._told = self.offset
        elif last > 0.0 and now - last > _DAY:
            _LOG.info("by the clock the last event was %.1f days ago", (now - last) / _DAY)

    def watch(self) -> None:
        """Say it if the machine's clock was set to another time."""
        offset = self.offset
        if abs(offset - self._told) > _JUMP:
            _LOG.warning(
                "the clock jumped by %+.0f s: windows go on by elapsed time, and service time is "
                "%+.0f s beside the clock",
                self._told - offset,
                offset,
            )
            self._told, self.jumps = offset, self.jumps + 1
