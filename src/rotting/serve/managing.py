"""What administrators do to a running experiment: its arms, its policy, its past, its keys."""

from __future__ import annotations

from typing import Any

from rotting import plain
from rotting.serve import bodies, events
from rotting.serve.bodies import fine_id, fine_text
from rotting.serve.events import Kind
from rotting.serve.experiment import Experiment
from rotting.serve.ledger import Answer, Ledger
from rotting.serve.refusals import Refusal, bad
from rotting.serve.settings import code_version, finite, make_player, make_policy


class Managing(Ledger):
    """The part of the book that changes experiments."""

    def change_arm(self, experiment: Experiment, asked: bodies.ArmChange, by: str) -> Answer:
        """Add, retire or restore an arm."""
        wanted = [(what, getattr(asked, what)) for what in ("add", "retire", "restore")]
        wanted = [(what, label) for what, label in wanted if label is not None]
        if len(wanted) != 1:
            raise bad("add", "one of add, retire and restore must be given")
        ((what, label),) = wanted
        known = label in experiment.labels
        if what == "add":
            fine_text("add", label)
        elif not known:
            raise Refusal("not_found", f"there is no arm {label!r}", what)
        is_open = known and experiment.open[experiment.labels.index(label)]
        if what == "add" and known and not is_open:
            raise Refusal("conflict", f"arm {label!r} is retired: restore it", "add")
        if what == "add" and len(experiment.labels) >= bodies.MOST_ARMS:
            raise bad("add", f"arms must be at most {bodies.MOST_ARMS}, retired ones included")
        applied = is_open if what == "retire" else not is_open
        seq = experiment.seq
        if applied:
            if experiment.player.policy.verbs.reopen is None:
                title = experiment.player.policy.title
                raise bad(what, f"arms of {title} cannot come and go")
            kind = {
                "add": Kind.ARM_ADDED,
                "retire": Kind.ARM_RETIRED,
                "restore": Kind.ARM_RESTORED,
            }[what]
            seq = self._happens(experiment, kind, None, events.Arm(label, by)).seq
            self._audit(by, kind.name.lower(), experiment.name, label)
        data = {"arm": label, "open": what != "retire", "applied": applied, "seq": seq}
        return Answer(data, seq)

    def check_policy(self, experiment: Experiment, asked: bodies.PolicyChange) -> Any:
        """The policy that is wanted instead, as plain data, if it can be played here."""
        policy, _ = make_policy(asked.policy, experiment.settings.audience, len(experiment.labels))
        data = plain.to_plain(policy)
        make_player(experiment.settings, data, asked.horizon)
        if policy.verbs.reopen is None and experiment.labels != experiment.settings.arms:
            raise bad("policy", f"arms of {policy.title} cannot come and go")
        return data

    def change_policy(
        self, experiment: Experiment, policy: Any, horizon: int | None, other: Experiment, by: str
    ) -> Answer:
        """Another policy from now on; `other` is a successor that has heard the past."""
        body = events.PolicyChanged(policy, code_version(), horizon, by)
        event = self.append(experiment.number, Kind.POLICY_CHANGED, None, self.now(), body)
        experiment.go_on_with(other, body, event.seq)
        experiment.seq, experiment.at = event.seq, event.at
        self._audit(by, "policy_changed", experiment.name, policy)
        return Answer(None, event.seq)

    def learn(self, experiment: Experiment, asked: bodies.Past, by: str) -> Answer:
        """Pulls made elsewhere, with their rewards; the same id again changes nothing."""
        fine_id(asked.id)
        numbers = experiment.player._numbers
        arms: list[int] = []
        for place, row in enumerate(asked.rows):
            if row.arm not in numbers:
                raise bad(f"rows[{place}].arm", f"there is no arm {row.arm[:50]!r}")
            finite(f"rows[{place}].reward", row.reward)
            arms.append(numbers[row.arm])
        rewards, size = [row.reward for row in asked.rows], len(asked.rows)
        known = self.keys(experiment, (row.key for row in asked.rows))
        # all are checked before any is made
        found = [self._key_of(experiment, row.key, known) for row in asked.rows]
        before = self.about(experiment, [asked.id]).get(asked.id)
        if before:
            body = events.decode(before[0]) if before[0].kind == Kind.HISTORY else None
            keys = found if experiment.settings.audience else None
            if body is None or (body.arms, body.rewards, body.keys) != (arms, rewards, keys):
                raise Refusal("conflict", f"id {asked.id!r} was used for something else", "id")
            data = {"id": asked.id, "rows": size, "applied": False, "seq": before[0].seq}
            return Answer(data, before[0].seq)
        if experiment.player.policy.verbs.chosen is not None:
            title = experiment.player.policy.title
            raise bad("rows", f"history cannot be told to {title}, which learns by propensities")
        surrogates: list[int] | None = None
        if experiment.settings.audience:
            surrogates = []
            for row in asked.rows:
                key = self._key_of(experiment, row.key, known)
                fresh = key is None and row.key is not None
                surrogates.append(self._new_key(experiment, str(row.key)) if fresh else key or 0)
        body = events.History(arms, rewards, surrogates, by)
        event = self._happens(experiment, Kind.HISTORY, asked.id, body)
        self._audit(by, "history", experiment.name, {"id": asked.id, "rows": size})
        data = {"id": asked.id, "rows": size, "applied": True, "seq": event.seq}
        return Answer(data, event.seq)

    def erase(self, experiment: Experiment, asked: bodies.Erase, by: str) -> Answer:
        """Forget a key: nobody can tell any more whose its events are."""
        key = self._key_of(experiment, asked.key, self.keys(experiment, [asked.key]))
        if key is None:
            return Answer({"erased": False, "seq": experiment.seq}, experiment.seq)
        self._names.pop((experiment.number, asked.key), None)
        return self.erase_surrogate(experiment, key, by)

    def erase_surrogate(self, experiment: Experiment, key: int, by: str) -> Answer:
        """The same for a key of which only the number is known."""
        event = self._happens(experiment, Kind.ERASED, None, events.Erased(key, by))
        number = experiment.number
        mark = self._marks.get((number, key)) or self.store.mark(number, key)
        # a key that is new in this group has no row yet: it never gets one
        self.group.persons = [
            row for row in self.group.persons if (row[0], row[2]) != (number, key)
        ]
        self.group.erased.append((number, key))
        self._erased.add((number, key))
        if mark is not None:
            self.group.marks.append((mark,))
        self._audit(by, "erased", experiment.name, {"surrogate": key})
        return Answer({"erased": True, "seq": event.seq}, event.seq)
