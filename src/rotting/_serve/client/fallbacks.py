"""Fallback arms for when the service is away, and the reports of what was shown.

The fallback arm is the client's own or the experiment's. The service may have stored another arm
for a decision whose answer came too late. The client therefore reports the arm that it showed, as
soon as the service answers again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rotting._serve.client import bodies
from rotting._serve.client.answers import Away, Refused

MOST = 10_000  # reports kept; beyond it the oldest are discarded
BATCH = 100  # reports sent after one decision, whose answer has to wait for them
LOOK_UP_AGAIN = 60.0  # seconds after a failed request for an experiment's fallback


class Fallbacks:
    """Fallback arms by experiment. Thread-safe."""

    def __init__(self, own: str | Mapping[str, str] | None) -> None:
        self._all: str | None = None
        self._own: dict[str, str] = {}
        if isinstance(own, Mapping):
            for experiment, arm in own.items():
                name = bodies.experiment_name(experiment)
                self._own[name] = bodies.text("fallback", arm, bodies.LABEL)
        elif own is not None:
            self._all = bodies.text("fallback", own, bodies.LABEL)
        self._of_service: dict[str, str | None] = {}
        self._look_up_at: dict[str, float] = {}
        self._lock = threading.Lock()

    def arm(self, experiment: str, among: Sequence[str] | None) -> str | None:
        """The arm to show; the first of `among` if the fallback is not among them."""
        own = self._own.get(experiment, self._all)
        arm = own if own is not None else self._of_service.get(experiment)
        if arm is None or among is None or arm in among:
            return arm
        return among[0]

    def remember(self, experiment: str, answer: Mapping[str, Any]) -> None:
        """Keep the fallback in the service's description of an experiment."""
        fallback = answer.get("fallback")
        with self._lock:
            self._of_service[experiment] = fallback if isinstance(fallback, str) else None

    def look_up(
        self, experiment: str, now: float, describe: Callable[[], Mapping[str, Any]]
    ) -> None:
        """Get the experiment's fallback by `describe` if it is needed and not known.

        After a failure it is tried again after `LOOK_UP_AGAIN` seconds at the earliest.
        """
        with self._lock:
            known = self._all is not None or experiment in self._own
            known = known or experiment in self._of_service
            if known or now < self._look_up_at.get(experiment, now):
                return
            self._look_up_at[experiment] = now + LOOK_UP_AGAIN
        try:
            self.remember(experiment, describe())
        except Away:
            return
        except Refused:  # this API key may decide but not read, so do not try again
            self.remember(experiment, {})


class Report:
    """One fallback: the body that reports it, and the reward to send with it."""

    __slots__ = ("experiment", "reward", "shown")

    def __init__(self, experiment: str, shown: dict[str, Any]) -> None:
        self.experiment, self.shown = experiment, shown
        self.reward: dict[str, Any] | None = None


class Reports:
    """Fallbacks that are still to be reported. Thread-safe."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[tuple[str, str], Report] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, experiment: str, id: str, arm: str, key: str | None) -> None:
        """Add the fallback `arm`, which the client is about to show."""
        shown = {"decision": id, "arm": arm, "key": key, "confirmed": False}
        made = Report(experiment, {k: value for k, value in shown.items() if value is not None})
        with self._lock:
            self._waiting[experiment, id] = made
            self._shorten()

    def _shorten(self) -> None:
        while len(self._waiting) > MOST:
            self._waiting.popitem(last=False)

    def confirm(self, experiment: str, id: str) -> bool:
        """Mark a fallback as seen; whether its report is still to be sent."""
        with self._lock:
            found = self._waiting.get((experiment, id))
            if found is not None:
                found.shown.pop("confirmed", None)
            return found is not None

    def reward(self, experiment: str, reward: dict[str, Any]) -> bool:
        """Keep a fallback's reward for its report; False if that was sent already."""
        with self._lock:
            found = self._waiting.get((experiment, reward["decision"]))
            if found is not None:
                found.reward = reward
            return found is not None

    def discard(self, experiment: str, id: str) -> None:
        """Remove a report: a repeated call got the service's decision, which is shown."""
        if self._waiting:
            with self._lock:
                self._waiting.pop((experiment, id), None)

    def take(self) -> list[Report]:
        """Remove and return the oldest reports of one experiment, up to `BATCH`."""
        with self._lock:
            first = next(iter(self._waiting), None)
            if first is None:
                return []
            names = [name for name in self._waiting if name[0] == first[0]][:BATCH]
            return [self._waiting.pop(name) for name in names]

    def put_back(self, reports: list[Report]) -> None:
        """Return reports that could not be sent to the front."""
        with self._lock:
            for report in reversed(reports):
                name = report.experiment, report.shown["decision"]
                self._waiting.setdefault(name, report)
                self._waiting.move_to_end(name, last=False)
            self._shorten()
