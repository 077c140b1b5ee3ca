"""What the client shows when the service is away, and what it then has to report.

The fallback arm is the client's own or the experiment's. The service may have stored another arm
for a decision whose answer came too late: so what was shown is reported when it answers again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rotting._serve.client import bodies
from rotting._serve.client.answers import Away, Refused

MOST = 10_000  # reports that are kept; the oldest are given up
BATCH = 100  # sent behind one decision: it must not hold up the answer that is there
ASK_AGAIN = 60.0  # seconds after which an experiment's fallback is asked for again


class Fallbacks:
    """Fallback arms by experiment; threads may share it."""

    def __init__(self, own: str | Mapping[str, str] | None) -> None:
        self._all: str | None = None
        self._own: dict[str, str] = {}
        if isinstance(own, Mapping):
            for experiment, arm in own.items():
                name = bodies.experiment_name(experiment)
                self._own[name] = bodies.text("fallback", arm, bodies.LABEL)
        elif own is not None:
            self._all = bodies.text("fallback", own, bodies.LABEL)
        self._told: dict[str, str | None] = {}
        self._ask_at: dict[str, float] = {}
        self._lock = threading.Lock()

    def arm(self, experiment: str, among: Sequence[str] | None) -> str | None:
        """The arm to show; the first of `among` if the fallback is not among them."""
        own = self._own.get(experiment, self._all)
        arm = own if own is not None else self._told.get(experiment)
        if arm is None or among is None or arm in among:
            return arm
        return among[0]

    def remember(self, experiment: str, answer: Mapping[str, Any]) -> None:
        """Keep what a description of the experiment says."""
        fallback = answer.get("fallback")
        with self._lock:
            self._told[experiment] = fallback if isinstance(fallback, str) else None

    def ask(self, experiment: str, now: float, describe: Callable[[], Mapping[str, Any]]) -> None:
        """Have the experiment described if its fallback is needed and not known; now and then."""
        with self._lock:
            known = self._all is not None or experiment in self._own or experiment in self._told
            if known or now < self._ask_at.get(experiment, now):
                return
            self._ask_at[experiment] = now + ASK_AGAIN
        try:
            self.remember(experiment, describe())
        except Away:
            return
        except Refused:  # a key that may decide but not read: there is nothing to learn
            self.remember(experiment, {})


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
