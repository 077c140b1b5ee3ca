"""Decisions, showings and rewards: each is checked, applied, and written down."""

from __future__ import annotations

import time
from typing import Any

from rotting.serve import bodies, events
from rotting.serve.bodies import fine_id, is_fine, is_fine_id
from rotting.serve.events import Event, Kind
from rotting.serve.experiment import Experiment, Open
from rotting.serve.ledger import Answer, Ledger
from rotting.serve.refusals import Refusal, bad
from rotting.serve.settings import finite

_new = tuple.__new__  # half the time of a NamedTuple's own
_AT_ONCE = 0.01  # seconds for which windows are ended before others have their turn


class Deciding(Ledger):
    """The part of the book that decides, and hears what became of it."""

    def decide(
        self,
        experiment: Experiment,
        asked: bodies.Decide,
        found: dict[str, list[Event]],
        keys: dict[str, int],
    ) -> Answer:
        """A decision, or the one that was made under this id."""
        key = self._key_of(experiment, asked.key, keys)
        among = self._numbers(experiment, asked.among)
        before = found.get(asked.id) or self._recent.get((experiment.number, asked.id))
        if before:
            return self._decided_before(experiment, asked, key, among, before)
        fine_id(asked.id)
        self._refuse_archived(experiment, asked.id)
        if among is not None and experiment.player.policy.verbs.reopen is None:
            title = experiment.player.policy.title
            raise bad("among", f"among must be left out: {title} cannot leave arms out")
        is_open = experiment.open
        if True not in (is_open if among is None else [is_open[arm] for arm in among]):
            what = "all arms are retired" if among is None else "all arms in among are retired"
            raise Refusal("no_open_arm", f"{what}: nothing can be decided", "among")
        if key is None and asked.key is not None:
            key = self._new_key(experiment, asked.key)
        at = self.now()
        made = experiment.decide(asked.id, key or 0, among, at, self.seq + 1)
        event = self.append(experiment.number, Kind.DECIDED, asked.id, at, made)
        return Answer(self._decision(experiment, asked, made, event.seq), event.seq)

    def decide_many(
        self,
        experiment: Experiment,
        items: list[Any],
        found: dict[str, list[Event]],
        keys: dict[str, int],
    ) -> list[Answer] | None:
        """A batch in one call into the policy, if nothing about it is special; else None."""
        ids = [item.id for item in items if isinstance(item, bodies.Decide) and item.among is None]
        settings, audience = experiment.settings, experiment.settings.audience
        if found or self.any_archived or settings.require_shown or True not in experiment.open:
            return None
        if len(set(ids)) < len(items) or not is_fine_id("".join(ids)):
            return None
        names = [item.key for item in items]
        if any((name is not None) != audience for name in names):
            return None
        numbers: list[int] = []
        if audience:
            if not is_fine("".join(names)):
                return None
            known, number = self._names, experiment.number
            for name in names:
                key = known.get((number, name))
                key = keys.get(name) if key is None else key
                numbers.append(self._new_key(experiment, name) if key is None else key)
        at, number, seq = self.now(), experiment.number, self.seq
        made = experiment.decide_many(ids, numbers, at, seq + 1)
        labels, kind, encode = experiment.labels, int(Kind.DECIDED), events.encode
        seqs = range(seq + 1, seq + 1 + len(ids))
        fresh = [
            _new(Event, (own, number, kind, id_, at, body, None))
            for own, id_, body in zip(seqs, ids, map(encode, made), strict=True)
        ]
        self._recent.update({(number, id_): [each] for id_, each in zip(ids, fresh, strict=True)})
        self.seq = seqs[-1]
        self.group.events += fresh
        self.uncommitted += fresh
        answers = [
            {"id": id_, "arm": labels[body.arm], "pull": body.pull, "key": name, "seq": own}
            for own, id_, name, body in zip(seqs, ids, names, made, strict=True)
        ]
        return [_new(Answer, (data, own, 200)) for own, data in zip(seqs, answers, strict=True)]

    def _decided_before(
        self,
        experiment: Experiment,
        asked: bodies.Decide,
        key: int | None,
        among: list[int] | None,
        before: list[Event],
    ) -> Answer:
        event = before[0]
        if event.kind != Kind.DECIDED:
            raise Refusal("conflict", f"id {asked.id!r} was used for something else", "id")
        body: events.Decided = events.decode(event)
        same = among == body.among
        if body.elsewhere:
            same = among is None or body.arm in among
        if (key or 0) != body.key or not same:
            field = "among" if (key or 0) == body.key else "key"
            raise Refusal("conflict", f"id {asked.id!r} was decided with another {field}", field)
        for other in before:
            if other.kind == Kind.CORRECTED:
                shown: events.Corrected = events.decode(other)
                body.arm, body.pull = shown.arm, shown.pull
        return Answer(self._decision(experiment, asked, body, event.seq), event.seq)

    def _decision(
        self, experiment: Experiment, asked: bodies.Decide, made: events.Decided, seq: int
    ) -> dict[str, Any]:
        arm = experiment.labels[made.arm]
        return {"id": asked.id, "arm": arm, "pull": made.pull or None, "key": asked.key, "seq": seq}

    def _number(self, experiment: Experiment, label: str) -> int:
        if label not in experiment.labels:
            raise bad("arm", f"arm must be an arm of the experiment, got {label!r}")
        return experiment.labels.index(label)

    def _numbers(self, experiment: Experiment, among: list[str] | None) -> list[int] | None:
        if among is None:
            return None
        numbers = experiment.player._numbers
        try:
            return sorted({numbers[label] for label in among})
        except KeyError as error:
            raise bad("among", f"among must hold arms of the experiment, got {error}") from None

    def show(self, experiment: Experiment, asked: bodies.Show) -> Answer:
        """What was decided came into view, or what the client showed in its place."""
        id_ = asked.decision
        if asked.arm is not None:
            return self._show_other(experiment, asked, asked.arm)
        if asked.key is not None or asked.confirmed is False:
            field = "confirmed" if asked.key is None else "key"
            raise bad(field, f"{field} goes with an arm, which must be given")
        entry = experiment.unshown.get(id_)
        if entry is not None and self._overdue(entry, experiment.settings.shown_window):
            self._happens(experiment, Kind.EXPIRED, id_, events.Expired())
        elif entry is not None:
            at, seq = self.now(), self.seq + 1
            pull = experiment.show(id_, at)
            experiment.seq, experiment.at = seq, at
            self.append(experiment.number, Kind.SHOWN, id_, at, events.Shown(pull))
            return _shown(id_, pull, seq)
        known = self._known(experiment, id_)
        if Kind.EXPIRED in known:
            raise Refusal("expired", f"decision {id_!r} was not shown in time", "decision")
        event = known.get(Kind.CORRECTED) or known.get(Kind.SHOWN) or known[Kind.DECIDED]
        pull = events.decode(event).pull
        if not pull:
            raise Refusal("expired", f"decision {id_!r} waits no longer", "decision")
        return _shown(id_, pull, event.seq)

    def _show_other(self, experiment: Experiment, asked: bodies.Show, label: str) -> Answer:
        """What the client showed of its own choice, where it had no answer in time.

        The decision has that arm from now on, or is made with it if its request never arrived.
        """
        id_ = asked.decision
        arm = self._number(experiment, label)
        key = self._key_of(experiment, asked.key, self.keys(experiment, [asked.key]))
        about = self.about(experiment, [id_]).get(id_)
        confirmed = asked.confirmed is not False or not experiment.settings.require_shown
        if about is None:
            fine_id(id_)
            self._refuse_archived(experiment, id_)
            if not confirmed:
                return _shown(id_, None, experiment.seq)
            if key is None and asked.key is not None:
                key = self._new_key(experiment, asked.key)
            at, rests, since = self.now(), experiment.seq, experiment.since
            pull = experiment.show_other(id_, arm, key or 0, at, self.seq + 1)
            made = events.Decided(arm, since, rests, pull, key or 0, elsewhere=True)
            return self._showed(experiment, Kind.DECIDED, id_, made, at)
        known = {event.kind: event for event in about}
        if Kind.DECIDED not in known:
            raise Refusal("conflict", f"id {id_!r} was used for something else", "decision")
        decided: events.Decided = events.decode(known[Kind.DECIDED])
        if decided.key != (key or 0):
            raise Refusal("conflict", f"decision {id_!r} was made for another key", "key")
        other = known.get(Kind.CORRECTED)
        stored = decided if other is None else events.decode(other)
        if stored.arm == arm:
            if id_ in experiment.unshown and confirmed:
                return self.show(experiment, bodies.Show(id_))
            event = other or known.get(Kind.SHOWN) or known[Kind.DECIDED]
            return _shown(id_, events.decode(event).pull or None, event.seq)
        if other is not None or decided.elsewhere or Kind.SHOWN in known:
            raise Refusal("conflict", f"another arm was shown for decision {id_!r}", "arm")
        entry = experiment.waiting.get(id_) or experiment.unshown.get(id_)
        if entry is None or self._is_over(experiment, entry):
            raise Refusal("expired", f"decision {id_!r} is closed: its arm stays", "decision")
        if not entry.pull and not confirmed:
            return _shown(id_, None, entry.seq)
        at = self.now()
        pull = experiment.show_other(id_, arm, key or 0, at, self.seq + 1)
        return self._showed(experiment, Kind.CORRECTED, id_, events.Corrected(arm, pull), at)

    def _showed(self, experiment: Experiment, kind: Kind, id_: str, body: Any, at: float) -> Answer:
        """An event of a showing that the experiment has counted."""
        event = self.append(experiment.number, kind, id_, at, body)
        experiment.seq, experiment.at = event.seq, at
        return _shown(id_, body.pull, event.seq)

    def _is_over(self, experiment: Experiment, entry: Open) -> bool:
        settings = experiment.settings
        window = settings.reward_window if entry.pull else settings.shown_window
        return window is not None and self._overdue(entry, window)

    def _known(self, experiment: Experiment, id_: str) -> dict[int, Event]:
        """The events of a decision by their kinds."""
        found = {event.kind: event for event in self.about(experiment, [id_]).get(id_, ())}
        if Kind.DECIDED not in found:
            self._refuse_archived(experiment, id_)
            raise Refusal("not_found", f"there is no decision {id_[:50]!r}", "decision")
        return found

    def reward(self, experiment: Experiment, asked: bodies.Reward) -> Answer:
        """The reward of a decision: applied once, in its window."""
        id_ = asked.decision
        value = finite("reward", asked.reward)
        if asked.id is not None:
            fine_id(asked.id)
        body = events.Rewarded(value, asked.id)
        entry = experiment.waiting.get(id_)
        if entry is not None:
            window = experiment.settings.reward_window
            if window is None or not self._overdue(entry, window):
                event = self._happens(experiment, Kind.REWARDED, id_, body)
                return Answer({"decision": id_, "applied": True, "seq": event.seq}, event.seq)
            self._time_out(experiment, id_)
        known = self._known(experiment, id_)
        before = known.get(Kind.REWARDED) or known.get(Kind.LATE)
        if before is not None:
            first: events.Rewarded = events.decode(before)
            same_id = asked.id is not None and asked.id == first.id
            if not same_id and first.reward != value:
                raise Refusal("conflict", f"decision {id_!r} has another reward", "reward")
            why = "late" if before.kind == Kind.LATE else "repeated"
            return _not_applied(id_, why, before.seq)
        if id_ in experiment.unshown:
            raise Refusal("not_shown", f"decision {id_!r} was not shown", "decision")
        decided: events.Decided = events.decode(known[Kind.DECIDED])
        shown = decided.elsewhere or Kind.SHOWN in known or Kind.CORRECTED in known
        if experiment.settings.require_shown and not shown:
            raise Refusal("expired", f"decision {id_!r} was not shown in time", "decision")
        return _not_applied(id_, "late", self._happens(experiment, Kind.LATE, id_, body).seq)

    def _overdue(self, entry: Open, window: float) -> bool:
        return self.now() - entry.since > window

    def _time_out(self, experiment: Experiment, id_: str) -> None:
        body = events.TimedOut(experiment.settings.default_reward)
        self._happens(experiment, Kind.TIMED_OUT, id_, body)

    def tick(self) -> bool:
        """End the windows whose time is over, for a moment; whether there may be more of them.

        Where there is no reward window, the oldest decisions end when too many wait.
        """
        until, now = time.perf_counter() + _AT_ONCE, self.now()
        for experiment in self.experiments.values():
            window, waiting = experiment.settings.reward_window, experiment.waiting
            while waiting:
                id_, entry = next(iter(waiting.items()))
                over = (
                    len(waiting) > self.most_waiting
                    if window is None
                    else now - entry.since > window
                )
                if not over:
                    break
                self._time_out(experiment, id_)
                if time.perf_counter() > until:
                    return True
            while experiment.unshown:
                id_, entry = next(iter(experiment.unshown.items()))
                if now - entry.since <= experiment.settings.shown_window:
                    break
                self._happens(experiment, Kind.EXPIRED, id_, events.Expired())
                if time.perf_counter() > until:
                    return True
        return False


def _shown(id_: str, pull: int | None, seq: int) -> Answer:
    return Answer({"decision": id_, "pull": pull, "seq": seq}, seq)


def _not_applied(id_: str, why: str, seq: int) -> Answer:
    """A late reward that is sent again is late as it was: an answer that was lost comes again."""
    return Answer({"decision": id_, "applied": False, "why": why, "seq": seq}, seq)
