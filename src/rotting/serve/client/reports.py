"""What the client showed of its own choice, until the service knows of it.

A choice that fell back may be stored at the service, with another arm: its answer came too late.
So what was shown in its place is reported when the service answers again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

MOST = 10_000  # reports that are kept; the oldest are given up
BATCH = 100  # sent behind one decision: it must not hold up the answer that is there


class Report:
    """One choice: the body that tells the service, and the reward that goes with it."""

    __slots__ = ("experiment", "reward", "shown")

    def __init__(self, experiment: str, shown: dict[str, Any]) -> None:
        self.experiment, self.shown = experiment, shown
        self.reward: dict[str, Any] | None = None


class Reports:
    """Choices of which the service has not heard; threads may share it."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[tuple[str, str], Report] = OrderedDict()
        self._lock = threading.Lock()
        self.given_up = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, experiment: str, id: str, arm: str, key: str | None) -> None:
        """The client shows this arm."""
        shown = {"decision": id, "arm": arm, "key": key, "confirmed": False}
        made = Report(experiment, {k: value for k, value in shown.items() if value is not None})
        with self._lock:
            self._waiting[experiment, id] = made
            self._shorten()

    def _shorten(self) -> None:
        while len(self._waiting) > MOST:
            self._waiting.popitem(last=False)
            self.given_up += 1

    def confirm(self, experiment: str, id: str) -> bool:
        """It came into view; whether the report of it is still here."""
        with self._lock:
            found = self._waiting.get((experiment, id))
            if found is not None:
                found.shown.pop("confirmed", None)
            return found is not None

    def reward(self, experiment: str, reward: dict[str, Any]) -> bool:
        """Its reward; whether the report of it is still here, and takes the reward along."""
        with self._lock:
            found = self._waiting.get((experiment, reward["decision"]))
            if found is not None:
                found.reward = reward
            return found is not None

    def forget(self, experiment: str, id: str) -> None:
        """The service's own decision is shown after all."""
        if self._waiting:
            with self._lock:
                self._waiting.pop((experiment, id), None)

    def take(self) -> list[Report]:
        """The oldest reports, all of one experiment."""
        with self._lock:
            first = next(iter(self._waiting), None)
            if first is None:
                return []
            names = [name for name in self._waiting if name[0] == first[0]][:BATCH]
            return [self._waiting.pop(name) for name in names]

    def put_back(self, reports: list[Report]) -> None:
        """They could not be sent."""
        with self._lock:
            for report in reversed(reports):
                name = report.experiment, report.shown["decision"]
                self._waiting.setdefault(name, report)
                self._waiting.move_to_end(name, last=False)
            self._shorten()
