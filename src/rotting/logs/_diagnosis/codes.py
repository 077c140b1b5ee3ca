"""The verdicts on a whole log, as words, and the names of the questions in their order."""

from __future__ import annotations

ROTS, STAYS, CALENDAR = "rots", "does-not-rot", "calendar"
BOTH, RECOVERS, UNKNOWN = "rots-and-calendar", "recovers", "cannot-tell"
CODES = (ROTS, STAYS, CALENDAR, BOTH, RECOVERS, UNKNOWN)

PARTS = ("contents", "exposure", "selection", "calendar", "recovery", "shape", "cost", "unknown")
