"""The book: all experiments and the operations on them.

Requests become events here: each is checked, applied, and put into the group to be committed.
Nothing here waits. `journal` commits the group, and answers are sent only after that: each names
the sequence number that must be on the disk before it may be sent.
"""

from __future__ import annotations

import json
import secrets
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import msgspec

from rotting import _plain
from rotting._serve import event_types, requests
from rotting._serve.archive import all_events
from rotting._serve.config import MOST_WAITING
from rotting._serve.errors import Refusal, bad
from rotting._serve.event_types import Event, Kind
from rotting._serve.experiment import Experiment, Open
from rotting._serve.requests import fine_id, fine_text, is_fine, is_fine_id
from rotting._serve.settings import code_version, finite, make_player, make_policy, settled
from rotting._serve.store import Audit, Group, Store

_NAMES = 200_000  # keys whose surrogates are cached; others are looked up
_AT_ONCE = 0.01  # seconds of ending windows before other work has its turn
_new = tuple.__new__  # half the time of a NamedTuple's own


class Answer(NamedTuple):
    """An answer, to be sent once everything up to `seq` is on the disk."""

    data: Any
    seq: int
    status: int = 200


class Book:
    """All experiments, the events since the last commit, and the operations.

    Args:
        store: The committed events.
        clock: The time in seconds. The book's own time never runs backwards.
    """

    def __init__(self, store: Store, clock: Callable[[], float] = time.time) -> None:
        self.store, self.clock = store, clock
        self.experiments: dict[str, Experiment] = {}
        self.seq = self.committed = 0
        self.at = 0.0
        self.group = Group()
        self.uncommitted: deque[Event] = deque()
        self._recent: dict[tuple[int, str], list[Event]] = {}  # uncommitted events by their ids
        self._names: dict[tuple[int, str], int] = {}  # surrogates of keys
        self._marks: dict[tuple[int, int], int] = {}  # of keys with uncommitted rows
        self._erased: set[tuple[int, int]] = set()  # surrogates
        self.since_snapshot: Counter[int] = Counter()  # events of each experiment
        self.any_archived = bool(store.archives())
        self.most_waiting = MOST_WAITING

    def now(self) -> float:
        """The time; it never runs backwards."""
        self.at = max(self.at, self.clock())
        return self.at

    def find(self, name: str) -> Experiment:
        """The experiment of a name, or a refusal."""
        found = self.experiments.get(name)
        if found is None:
            raise Refusal("not_found", "there is no such experiment", "name")
        return found

    # ------------------------------------------------------------------ decisions and their rewards

    def decide(
        self,
        experiment: Experiment,
        request: requests.NewDecision,
        found: dict[str, list[Event]],
        keys: dict[str, int],
    ) -> Answer:
        """Make a decision, or return the one with this id."""
        key = self._key_of(experiment, request.key, keys)
        among = self._numbers(experiment, request.among)
        before = found.get(request.id) or self._recent.get((experiment.number, request.id))
        if before:
            return self._decided_before(experiment, request, key, among, before)
        fine_id(request.id)
        self._refuse_archived(experiment, request.id)
        if among is not None and experiment.player.policy.verbs.set_open is None:
            title = experiment.player.policy.title
            raise bad("among", f"among must be left out: {title} cannot leave arms out")
        is_open = experiment.open
        if True not in (is_open if among is None else [is_open[arm] for arm in among]):
            what = "all arms are retired" if among is None else "all arms in among are retired"
            raise Refusal("no_open_arm", f"{what}: nothing can be decided", "among")
        if key is None and request.key is not None:
            key = self._new_key(experiment, request.key)
        at = self.now()
        made = experiment.decide(request.id, key or 0, among, at, self.seq + 1)
        event = self.append(experiment.number, Kind.DECIDED, request.id, at, made)
        return Answer(self._decision(experiment, request, made, event.seq), event.seq)

    def decide_many(
        self,
        experiment: Experiment,
        items: list[Any],
        found: dict[str, list[Event]],
        keys: dict[str, int],
    ) -> list[Answer] | None:
        """A batch in one call to the policy; None if it has a special case.

        Special are repeated or malformed ids, `among`, archives, `require_shown` and wrong keys.
        """
        kind = requests.NewDecision
        ids = [item.id for item in items if isinstance(item, kind) and item.among is None]
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
        labels, what, encode = experiment.labels, int(Kind.DECIDED), event_types.encode
        seqs = range(seq + 1, seq + 1 + len(ids))
        fresh = [
            _new(Event, (own, number, what, id_, at, body, None))
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
        request: requests.NewDecision,
        key: int | None,
        among: list[int] | None,
        before: list[Event],
    ) -> Answer:
        event = before[0]
        if event.kind != Kind.DECIDED:
            raise Refusal("conflict", f"id {request.id!r} was used for something else", "id")
        body: event_types.Decided = event_types.decode(event)
        same = among == body.among
        if body.elsewhere:
            same = among is None or body.arm in among
        if (key or 0) != body.key or not same:
            field = "among" if (key or 0) == body.key else "key"
            raise Refusal("conflict", f"id {request.id!r} was decided with another {field}", field)
        for other in before:
            if other.kind == Kind.CORRECTED:
                shown: event_types.Corrected = event_types.decode(other)
                body.arm, body.pull = shown.arm, shown.pull
        return Answer(self._decision(experiment, request, body, event.seq), event.seq)

    def _decision(
        self,
        experiment: Experiment,
        request: requests.NewDecision,
        made: event_types.Decided,
        seq: int,
    ) -> dict[str, Any]:
        arm = experiment.labels[made.arm]
        return {
            "id": request.id,
            "arm": arm,
            "pull": made.pull or None,
            "key": request.key,
            "seq": seq,
        }

    def _number(self, experiment: Experiment, label: str) -> int:
        if label not in experiment.numbers:
            raise bad("arm", f"arm must be an arm of the experiment, got {label!r}")
        return experiment.numbers[label]

    def _numbers(self, experiment: Experiment, among: list[str] | None) -> list[int] | None:
        if among is None:
            return None
        numbers = experiment.numbers
        try:
            return sorted({numbers[label] for label in among})
        except KeyError as error:
            raise bad("among", f"among must hold arms of the experiment, got {error}") from None

    def show(self, experiment: Experiment, request: requests.NewShown) -> Answer:
        """Confirm the showing of a decision, or of the arm that the client showed instead."""
        id_ = request.decision
        if request.arm is not None:
            return self._show_other(experiment, request, request.arm)
        if request.key is not None or request.confirmed is False:
            field = "confirmed" if request.key is None else "key"
            raise bad(field, f"{field} goes with an arm, which must be given")
        entry = experiment.unshown.get(id_)
        if entry is not None and self._overdue(entry, experiment.settings.shown_window):
            self._happens(experiment, Kind.EXPIRED, id_, event_types.Expired())
        elif entry is not None:
            at, seq = self.now(), self.seq + 1
            pull = experiment.show(id_, at)
            experiment.seq, experiment.at = seq, at
            self.append(experiment.number, Kind.SHOWN, id_, at, event_types.Shown(pull))
            return _shown(id_, pull, seq)
        known = self._known(experiment, id_)
        if Kind.EXPIRED in known:
            raise Refusal("expired", f"decision {id_!r} was not shown in time", "decision")
        event = known.get(Kind.CORRECTED) or known.get(Kind.SHOWN) or known[Kind.DECIDED]
        pull = event_types.decode(event).pull
        if not pull:
            raise Refusal("expired", f"decision {id_!r} waits no longer", "decision")
        return _shown(id_, pull, event.seq)

    def _show_other(self, experiment: Experiment, request: requests.NewShown, label: str) -> Answer:
        """Record the arm that the client showed because it had no answer in time.

        The decision has that arm from now on. If its request never arrived, it is made with it.
        """
        id_ = request.decision
        arm = self._number(experiment, label)
        key = self._key_of(experiment, request.key, self.keys(experiment, [request.key]))
        about = self.about(experiment, [id_]).get(id_)
        confirmed = request.confirmed is not False or not experiment.settings.require_shown
        if about is None:
            fine_id(id_)
            self._refuse_archived(experiment, id_)
            if not confirmed:
                return _shown(id_, None, experiment.seq)
            if key is None and request.key is not None:
                key = self._new_key(experiment, request.key)
            at, rests, since = self.now(), experiment.seq, experiment.since
            pull = experiment.show_other(id_, arm, key or 0, at, self.seq + 1)
            made = event_types.Decided(arm, since, rests, pull, key or 0, elsewhere=True)
            return self._showed(experiment, Kind.DECIDED, id_, made, at)
        known = {event.kind: event for event in about}
        if Kind.DECIDED not in known:
            raise Refusal("conflict", f"id {id_!r} was used for something else", "decision")
        decided: event_types.Decided = event_types.decode(known[Kind.DECIDED])
        if decided.key != (key or 0):
            raise Refusal("conflict", f"decision {id_!r} was made for another key", "key")
        other = known.get(Kind.CORRECTED)
        stored = decided if other is None else event_types.decode(other)
        if stored.arm == arm:
            if id_ in experiment.unshown and confirmed:
                return self.show(experiment, requests.NewShown(id_))
            event = other or known.get(Kind.SHOWN) or known[Kind.DECIDED]
            return _shown(id_, event_types.decode(event).pull or None, event.seq)
        if other is not None or decided.elsewhere or Kind.SHOWN in known:
            raise Refusal("conflict", f"another arm was shown for decision {id_!r}", "arm")
        entry = experiment.waiting.get(id_) or experiment.unshown.get(id_)
        if entry is None or self._is_over(experiment, entry):
            raise Refusal("expired", f"decision {id_!r} is closed: its arm stays", "decision")
        if not entry.pull and not confirmed:
            return _shown(id_, None, entry.seq)
        at = self.now()
        pull = experiment.show_other(id_, arm, key or 0, at, self.seq + 1)
        return self._showed(experiment, Kind.CORRECTED, id_, event_types.Corrected(arm, pull), at)

    def _showed(self, experiment: Experiment, kind: Kind, id_: str, body: Any, at: float) -> Answer:
        """Append the event of a showing that the experiment has counted already."""
        event = self.append(experiment.number, kind, id_, at, body)
        experiment.seq, experiment.at = event.seq, at
        return _shown(id_, body.pull, event.seq)

    def _is_over(self, experiment: Experiment, entry: Open) -> bool:
        settings = experiment.settings
        window = settings.reward_window if entry.pull else settings.shown_window
        return window is not None and self._overdue(entry, window)

    def _known(self, experiment: Experiment, id_: str) -> dict[int, Event]:
        """The events of a decision by kind, or a refusal."""
        found = {event.kind: event for event in self.about(experiment, [id_]).get(id_, ())}
        if Kind.DECIDED not in found:
            self._refuse_archived(experiment, id_)
            raise Refusal("not_found", f"there is no decision {id_[:50]!r}", "decision")
        return found

    def reward(self, experiment: Experiment, request: requests.NewReward) -> Answer:
        """Apply the reward of a decision, once and only within its window."""
        id_ = request.decision
        value = finite("reward", request.reward)
        if request.id is not None:
            fine_id(request.id)
        body = event_types.Rewarded(value, request.id)
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
            first: event_types.Rewarded = event_types.decode(before)
            same_id = request.id is not None and request.id == first.id
            if not same_id and first.reward != value:
                raise Refusal("conflict", f"decision {id_!r} has another reward", "reward")
            why = "late" if before.kind == Kind.LATE else "repeated"
            return _not_applied(id_, why, before.seq)
        if id_ in experiment.unshown:
            raise Refusal("not_shown", f"decision {id_!r} was not shown", "decision")
        decided: event_types.Decided = event_types.decode(known[Kind.DECIDED])
        shown = decided.elsewhere or Kind.SHOWN in known or Kind.CORRECTED in known
        if experiment.settings.require_shown and not shown:
            raise Refusal("expired", f"decision {id_!r} was not shown in time", "decision")
        return _not_applied(id_, "late", self._happens(experiment, Kind.LATE, id_, body).seq)

    def _overdue(self, entry: Open, window: float) -> bool:
        return self.now() - entry.since > window

    def _time_out(self, experiment: Experiment, id_: str) -> None:
        body = event_types.TimedOut(experiment.settings.default_reward)
        self._happens(experiment, Kind.TIMED_OUT, id_, body)

    def tick(self) -> bool:
        """End overdue windows for at most `_AT_ONCE` seconds; whether some may be left.

        Without a reward window, the oldest decisions end when more than `most_waiting` wait.
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
                self._happens(experiment, Kind.EXPIRED, id_, event_types.Expired())
                if time.perf_counter() > until:
                    return True
        return False

    # --------------------------------------------------------- experiments, arms, policies and keys

    def create(self, request: requests.NewExperiment, by: str = "") -> Answer:
        """Create an experiment, or return the existing one if its request was the same."""
        wanted = msgspec.to_builtins(request)
        known = self.experiments.get(request.name)
        if known is not None:
            if known.asked["request"] == wanted:
                return Answer(known, known.since, 200)
            raise _other_settings(request.name, known.asked["request"], wanted)
        settings = settled(request)
        number = 1 + max((one.number for one in self.experiments.values()), default=0)
        kept = msgspec.to_builtins(settings)
        body = event_types.Created(
            asked={"request": wanted, "settled": kept},
            policy=kept.pop("policy"),
            version=code_version(),
            seed=kept.pop("seed"),
            by=by,
        )
        event = self.append(number, Kind.CREATED, "", self.now(), body)
        self.group.experiments.append((number, settings.name))
        made = Experiment(number, event)
        made.past = self.past_of(made)
        self.experiments[settings.name] = made
        self._audit(by, "created", settings.name)
        return Answer(made, event.seq, 201)

    def change_arm(self, experiment: Experiment, request: requests.ArmChange, by: str) -> Answer:
        """Add, retire or restore an arm."""
        wanted = [(what, getattr(request, what)) for what in ("add", "retire", "restore")]
        wanted = [(what, label) for what, label in wanted if label is not None]
        if len(wanted) != 1:
            raise bad("add", "one of add, retire and restore must be given")
        ((what, label),) = wanted
        known = label in experiment.numbers
        if what == "add":
            fine_text("add", label)
        elif not known:
            raise Refusal("not_found", f"there is no arm {label!r}", what)
        is_open = known and experiment.open[experiment.numbers[label]]
        if what == "add" and known and not is_open:
            raise Refusal("conflict", f"arm {label!r} is retired: restore it", "add")
        if what == "add" and len(experiment.labels) >= requests.MOST_ARMS:
            raise bad("add", f"arms must be at most {requests.MOST_ARMS}, retired ones included")
        applied = is_open if what == "retire" else not is_open
        seq = experiment.seq
        if applied:
            if experiment.player.policy.verbs.set_open is None:
                title = experiment.player.policy.title
                raise bad(what, f"arms of {title} cannot come and go")
            kind = {
                "add": Kind.ARM_ADDED,
                "retire": Kind.ARM_RETIRED,
                "restore": Kind.ARM_RESTORED,
            }[what]
            seq = self._happens(experiment, kind, None, event_types.Arm(label, by)).seq
            self._audit(by, kind.name.lower(), experiment.name, label)
        data = {"arm": label, "open": what != "retire", "applied": applied, "seq": seq}
        return Answer(data, seq)

    def check_policy(self, experiment: Experiment, request: requests.NewPolicy) -> Any:
        """The new policy as plain data, if the experiment can be played by it."""
        policy, _ = make_policy(
            request.policy, experiment.settings.audience, len(experiment.labels)
        )
        data = _plain.to_plain(policy)
        make_player(experiment.settings, data, request.horizon)
        if policy.verbs.set_open is None and experiment.labels != experiment.settings.arms:
            raise bad("policy", f"arms of {policy.title} cannot come and go")
        return data

    def change_policy(
        self, experiment: Experiment, policy: Any, horizon: int | None, other: Experiment, by: str
    ) -> Answer:
        """Change the policy from now on; `other` is a successor that has replayed the past."""
        body = event_types.PolicyChanged(policy, code_version(), horizon, by)
        event = self.append(experiment.number, Kind.POLICY_CHANGED, None, self.now(), body)
        experiment.take_over(other, body, event.seq)
        experiment.seq, experiment.at = event.seq, event.at
        self._audit(by, "policy_changed", experiment.name, policy)
        return Answer(None, event.seq)

    def learn(self, experiment: Experiment, request: requests.NewHistory, by: str) -> Answer:
        """Learn pulls made elsewhere, with their rewards; the same id again changes nothing."""
        fine_id(request.id)
        numbers = experiment.numbers
        arms: list[int] = []
        for place, row in enumerate(request.rows):
            if row.arm not in numbers:
                raise bad(f"rows[{place}].arm", f"there is no arm {row.arm[:50]!r}")
            finite(f"rows[{place}].reward", row.reward)
            arms.append(numbers[row.arm])
        rewards, size = [row.reward for row in request.rows], len(request.rows)
        known = self.keys(experiment, (row.key for row in request.rows))
        # check all keys before making any
        found = [self._key_of(experiment, row.key, known) for row in request.rows]
        before = self.about(experiment, [request.id]).get(request.id)
        if before:
            body = event_types.decode(before[0]) if before[0].kind == Kind.HISTORY else None
            keys = found if experiment.settings.audience else None
            if body is None or (body.arms, body.rewards, body.keys) != (arms, rewards, keys):
                raise Refusal("conflict", f"id {request.id!r} was used for something else", "id")
            data = {"id": request.id, "rows": size, "applied": False, "seq": before[0].seq}
            return Answer(data, before[0].seq)
        if experiment.player.policy.verbs.set_propensity is not None:
            title = experiment.player.policy.title
            raise bad("rows", f"{title} cannot learn history: it needs propensities")
        surrogates: list[int] | None = None
        if experiment.settings.audience:
            surrogates = []
            for row in request.rows:
                key = self._key_of(experiment, row.key, known)
                fresh = key is None and row.key is not None
                surrogates.append(self._new_key(experiment, str(row.key)) if fresh else key or 0)
        body = event_types.History(arms, rewards, surrogates, by)
        event = self._happens(experiment, Kind.HISTORY, request.id, body)
        self._audit(by, "history", experiment.name, {"id": request.id, "rows": size})
        data = {"id": request.id, "rows": size, "applied": True, "seq": event.seq}
        return Answer(data, event.seq)

    def erase(self, experiment: Experiment, request: requests.Erasure, by: str) -> Answer:
        """Erase a key: its events can no longer be assigned to a person."""
        key = self._key_of(experiment, request.key, self.keys(experiment, [request.key]))
        if key is None:
            return Answer({"erased": False, "seq": experiment.seq}, experiment.seq)
        self._names.pop((experiment.number, request.key), None)
        return self.erase_surrogate(experiment, key, by)

    def erase_surrogate(self, experiment: Experiment, key: int, by: str) -> Answer:
        """The same by surrogate."""
        event = self._happens(experiment, Kind.ERASED, None, event_types.Erased(key, by))
        number = experiment.number
        mark = self._marks.get((number, key)) or self.store.mark(number, key)
        # a key that is new in this group has no row yet, and gets none
        self.group.persons = [
            row for row in self.group.persons if (row[0], row[2]) != (number, key)
        ]
        self.group.erased.append((number, key))
        self._erased.add((number, key))
        if mark is not None:
            self.group.marks.append((mark,))
        self._audit(by, "erased", experiment.name, {"surrogate": key})
        return Answer({"erased": True, "seq": event.seq}, event.seq)

    # ------------------------------------------------------------ events that are not committed yet

    def append(self, number: int, kind: Kind, id_: str | None, at: float, body: Any) -> Event:
        """Append the next event, without applying it."""
        self.seq += 1
        event = _new(Event, (self.seq, number, int(kind), id_, at, event_types.encode(body), None))
        self.group.events.append(event)
        self.uncommitted.append(event)
        if id_:
            self._recent.setdefault((number, id_), []).append(event)
        return event

    def _happens(self, to: Experiment, kind: Kind, id_: str | None, body: Any) -> Event:
        """Append an event and apply it as if read from the log."""
        event = self.append(to.number, kind, id_, self.now(), body)
        to.apply(event)
        return event

    def note_commit(self, seq: int) -> None:
        """Note that events up to `seq` are on the disk."""
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
        """Events of these ids, committed or not."""
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
        """A function that yields its events before `seq` and after `after`, committed or not."""

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
        """The surrogate of a key; None for a new key, and without an audience."""
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
        """Look up the surrogates of keys that are not cached; new keys are left out."""
        if not experiment.settings.audience:
            return {}
        number, known = experiment.number, self._names
        wanted = [name for name in names if name is not None and (number, name) not in known]
        found = self.store.surrogates(number, wanted) if wanted else {}
        # rows whose deletion is not committed yet are still there
        found = {name: key for name, key in found.items() if (number, key) not in self._erased}
        for name, surrogate in found.items():
            known[number, name] = surrogate
        return found


def _shown(id_: str, pull: int | None, seq: int) -> Answer:
    return Answer({"decision": id_, "pull": pull, "seq": seq}, seq)


def _not_applied(id_: str, why: str, seq: int) -> Answer:
    """The answer for a late or repeated reward; a repetition gets the first answer again."""
    return Answer({"decision": id_, "applied": False, "why": why, "seq": seq}, seq)


def _other_settings(name: str, known: dict[str, Any], wanted: dict[str, Any]) -> Refusal:
    """The refusal that names the settings that differ, and how to change them where possible."""
    other = [field for field, value in wanted.items() if known.get(field) != value]
    ways = {"arms": "arms are added and retired", "policy": "another policy is set"}
    hints = [
        f"; {ways[field]} by POST /v1/experiments/{name}/{field}"
        for field in other
        if field in ways
    ]
    text = f"experiment {name} exists, with another {' and another '.join(other)}{''.join(hints)}"
    return Refusal("conflict", text, other[0] if other else "name")
