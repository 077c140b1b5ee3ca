"""The log that is being written: events that are not committed yet, and who has which number."""

from __future__ import annotations

import json
import secrets
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from rotting.serve import events
from rotting.serve.archive import all_events
from rotting.serve.bodies import fine_text
from rotting.serve.events import Event, Kind
from rotting.serve.experiment import Experiment
from rotting.serve.refusals import Refusal, bad
from rotting.serve.store import Audit, Group, Store

MOST_WAITING = 1_000_000  # decisions of an experiment without a reward window, by default
_NAMES = 200_000  # keys whose numbers are remembered; others are looked up
_new = tuple.__new__  # half the time of a NamedTuple's own


class Answer(NamedTuple):
    """What to say once everything up to `seq` is on the disk."""

    data: Any
    seq: int
    status: int = 200


class Ledger:
    """All experiments, and what was done to them since the last commit."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.time) -> None:
        self.store, self.clock = store, clock
        self.experiments: dict[str, Experiment] = {}
        self.seq = self.committed = 0
        self.at = 0.0
        self.group = Group()
        self.uncommitted: deque[Event] = deque()
        self._recent: dict[tuple[int, str], list[Event]] = {}  # uncommitted events by their ids
        self._names: dict[tuple[int, str], int] = {}  # surrogates of keys
        self._marks: dict[tuple[int, int], int] = {}  # of keys that are not committed yet
        self._erased: set[tuple[int, int]] = set()  # surrogates
        self.since_snapshot: Counter[int] = Counter()  # events of each experiment
        self.any_archived = bool(store.archives())
        self.most_waiting = MOST_WAITING

    def now(self) -> float:
        """The time, which never goes back."""
        self.at = max(self.at, self.clock())
        return self.at

    def find(self, name: str) -> Experiment:
        """An experiment by its name."""
        found = self.experiments.get(name)
        if found is None:
            raise Refusal("not_found", "there is no such experiment", "name")
        return found

    def append(self, number: int, kind: Kind, id_: str | None, at: float, body: Any) -> Event:
        """The next event; it is not applied here."""
        self.seq += 1
        event = _new(Event, (self.seq, number, int(kind), id_, at, events.encode(body), None))
        self.group.events.append(event)
        self.uncommitted.append(event)
        if id_:
            self._recent.setdefault((number, id_), []).append(event)
        return event

    def _happens(self, to: Experiment, kind: Kind, id_: str | None, body: Any) -> Event:
        """An event that is applied as it would be from the log."""
        event = self.append(to.number, kind, id_, self.now(), body)
        to.apply(event)
        return event

    def note_commit(self, seq: int) -> None:
        """Everything up to there is on the disk."""
        self.committed = seq
        waiting, recent, since = self.uncommitted, self._recent, self.since_snapshot
        while waiting and waiting[0][0] <= seq:
            event = waiting.popleft()
            number, id_ = event[1], event[3]
            since[number] += 1
            if id_:
                about = recent.get((number, id_))
                if about is not None and about[-1][0] <= seq:
                    del recent[number, id_]
        if not self.uncommitted:
            fresh = self.group.persons
            self._marks = {(number, key): mark for number, _, key, mark in fresh}
            if len(self._names) > _NAMES:
                self._names = {(number, name): key for number, name, key, _ in fresh}

    def about(self, experiment: Experiment, ids: Iterable[str]) -> dict[str, list[Event]]:
        """What is in the log of these ids, committed or not."""
        wanted = list(ids)
        found = self.store.about(experiment.number, wanted)
        for id_ in wanted:
            recent = self._recent.get((experiment.number, id_))
            if recent:
                known = {event.seq for event in found.get(id_, ())}
                found.setdefault(id_, []).extend(e for e in recent if e.seq not in known)
        return found

    def _audit(self, by: str, what: str, experiment: str, details: Any = None) -> None:
        text = "" if details is None else json.dumps(details, sort_keys=True)
        self.group.audits.append(Audit(self.now(), by, what, experiment, text))

    def past_of(self, experiment: Experiment) -> Callable[..., Iterable[Event]]:
        """Its events before a sequence number, and after another one, committed or not."""

        def past(seq: int, after: int = 0) -> Iterable[Event]:
            last = after
            for event in all_events(self.store, experiment.number, seq - 1, after=after):
                last = event.seq
                yield event
            for event in list(self.uncommitted):
                if event.experiment == experiment.number and last < event.seq < seq:
                    yield event

        return past

    def _refuse_archived(self, experiment: Experiment, id_: str) -> None:
        if self.any_archived and self.store.archived(experiment.number, id_):
            raise Refusal("archived", f"decision {id_!r} is closed, and its events are archived")

    def _key_of(self, experiment: Experiment, name: str | None, keys: dict[str, int]) -> int | None:
        """The surrogate of a key; None for a new one, and without an audience."""
        if not experiment.settings.audience:
            if name is not None:
                raise bad("key", "key must be left out: the experiment has no audience")
            return None
        if name is None:
            raise bad("key", "key must be given: the experiment has an audience")
        fine_text("key", name)
        found = self._names.get((experiment.number, name))
        return keys.get(name) if found is None else found

    def _new_key(self, experiment: Experiment, name: str) -> int:
        surrogate = experiment.counts.keys + 1
        experiment.counts.keys = surrogate
        self._names[experiment.number, name] = surrogate
        mark = secrets.randbits(62)
        self._marks[experiment.number, surrogate] = mark
        self.group.persons.append((experiment.number, name, surrogate, mark))
        return surrogate

    def keys(self, experiment: Experiment, names: Iterable[str | None]) -> dict[str, int]:
        """The surrogates of keys, of those that are known and not remembered."""
        if not experiment.settings.audience:
            return {}
        number, known = experiment.number, self._names
        wanted = [name for name in names if name is not None and (number, name) not in known]
        found = self.store.surrogates(number, wanted) if wanted else {}
        # a row may still be there whose deletion is not committed yet
        found = {name: key for name, key in found.items() if (number, key) not in self._erased}
        for name, surrogate in found.items():
            known[number, name] = surrogate
        return found
