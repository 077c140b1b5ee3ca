"""Which arm to show when the service is away: the client's own, or what the experiment told."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rotting.serve.client import sending
from rotting.serve.client.answers import Away, Refused

ASK_AGAIN = 60.0  # seconds after which an experiment's fallback is asked for again


class Fallbacks:
    """Fallback arms by experiment; threads may share it."""

    def __init__(self, own: str | Mapping[str, str] | None) -> None:
        self._all: str | None = None
        self._own: dict[str, str] = {}
        if isinstance(own, Mapping):
            for experiment, arm in own.items():
                name = sending.experiment_name(experiment)
                self._own[name] = sending.text("fallback", arm, sending.LABEL)
        elif own is not None:
            self._all = sending.text("fallback", own, sending.LABEL)
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
