"""An experiment: its state is a fold over its events, in order.

The same events give the same state to the bit: the player's arrays, the decisions that wait, the
sums. Random numbers are keyed by the decision's id. When a decision is applied from the log, it is
decided again, from the same state with the same random numbers, and must come out as written. If it
does not, the code has changed since (`Diverged`), and the events are replayed with the arms as
written.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, NamedTuple

import msgspec

from rotting._online.decision_types import Assigned, AssignedShowing, Proposal
from rotting._serve import event_types
from rotting._serve.event_types import Decided, Event, Kind
from rotting._serve.settings import Settings, make_player
from rotting._serve.statistics import Cells, Series

_new = tuple.__new__  # half the time of a NamedTuple's own


class Diverged(Exception):  # noqa: N818  not an error: another version decides differently
    """A decision comes out differently from how it is written."""


class Open(NamedTuple):
    """An open decision: it waits for its reward, or to be shown."""

    seq: int  # of the decision
    arm: int
    pull: int  # 0 before it is shown
    key: int
    decided: float  # time of the decision
    since: float  # time from which it waits
    control: bool
    p: float
    weight: float


class Counts(msgspec.Struct):
    """Counts of events."""

    decisions: int = 0
    pulls: int = 0  # by decisions; those of history are in `history`
    rewards: int = 0  # in time
    late: int = 0
    missing: int = 0  # windows that ended without a reward
    unshown: int = 0
    history: int = 0
    keys: int = 0  # surrogates given out


class Experiment:
    """One experiment, after the events applied so far."""

    def __init__(self, number: int, created: Event, *, compiled: bool = False) -> None:
        body: event_types.Created = event_types.decode(created)
        self.number, self.created = number, created.at
        self.asked = body.asked
        self.settings = msgspec.convert(
            {**body.asked["settled"], "policy": body.policy, "seed": body.seed}, Settings
        )
        self.policy, self.horizon = body.policy, self.settings.horizon
        self.version, self.since = body.version, created.seq
        self.player: Any = make_player(self.settings, self.policy, self.horizon, compiled=compiled)
        self.labels = list(self.settings.arms)
        self.numbers = {label: number for number, label in enumerate(self.labels)}
        self.open = [True] * len(self.labels)
        self.counts = Counts()
        self.series, self.cells = Series(created.at), Cells()
        self.waiting: OrderedDict[str, Open] = OrderedDict()
        self.unshown: OrderedDict[str, Open] = OrderedDict()
        self.seq, self.at = created.seq, created.at
        self.as_written = False  # whether arms are taken as written, see `Diverged`
        # yields earlier events, for a new policy to learn
        self.past: Callable[..., Iterable[Event]] = lambda seq, after=0: ()

    @property
    def name(self) -> str:
        return self.settings.name

    # New decisions; the caller makes events of them.

    def decide(self, id_: str, key: int, among: list[int] | None, at: float, seq: int) -> Decided:
        """Choose an arm, and count its pull unless the experiment requires it to be shown first."""
        player = self.player
        player.draw_by(id_)
        labels = None if among is None else [self.labels[arm] for arm in among]
        whose = (key,) if self.settings.audience else ()
        body = Decided(0, self.since, self.seq, key=key, among=among)
        if self.settings.require_shown:
            proposal = player.propose(*whose, among=labels)
            body.arm = self.numbers[proposal.arm]
            body.p, body.control, body.weight = proposal[2:]
        else:
            made = player.select(*whose, among=labels)
            body.arm, body.pull = self.numbers[made.arm], made.pull
            if isinstance(made, (Assigned, AssignedShowing)):
                body.p, body.control = made.propensity, made.control
        self._decided(id_, body, at, seq)
        return body

    def decide_many(
        self, ids: Sequence[str], keys: Sequence[int], at: float, seq: int
    ) -> list[Decided]:
        """Make many decisions, exactly as `decide` makes them one by one; `seq` is the first's.

        Only for experiments without `require_shown`, and for decisions among all arms.
        """
        more = (keys,) if self.settings.audience else ()
        made = self.player.select_by(ids, *more)
        arms, pulls = made.numbers.tolist(), made.pulls.tolist()
        if made.propensities is not None:
            chances, control = made.propensities.tolist(), made.control.tolist()
        else:
            chances, control = [1.0] * len(arms), [False] * len(arms)
        whose = keys if more else [0] * len(arms)
        since, seqs = self.since, range(seq, seq + len(arms))
        found = [
            Decided(arm, since, rests, pull, key, None, p, group)
            for rests, arm, pull, key, p, group in zip(
                [self.seq, *seqs[:-1]], arms, pulls, whose, chances, control, strict=True
            )
        ]
        entries = [
            _new(Open, (own, arm, pull, key, at, at, group, p, 0.0))
            for own, arm, pull, key, p, group in zip(
                seqs, arms, pulls, whose, chances, control, strict=True
            )
        ]
        self.waiting.update(zip(ids, entries, strict=True))
        self.series.decided_many(arms, at)
        self.counts.decisions += len(arms)
        self.counts.pulls += len(arms)
        if more:
            self.counts.keys = max(self.counts.keys, *keys)
        self.seq, self.at = seqs[-1], at
        return found

    def _decided(self, id_: str, body: Decided, at: float, seq: int) -> None:
        self.counts.decisions += 1
        self.counts.keys = max(self.counts.keys, body.key)
        entry = Open(seq, body.arm, body.pull, body.key, at, at, body.control, body.p, body.weight)
        if body.pull:
            self.waiting[id_] = entry
            self.counts.pulls += 1
            self.series.decided(body.arm, at)
        else:
            self.unshown[id_] = entry
        self.seq, self.at = seq, at

    def show(self, id_: str, at: float) -> int:
        """Count the pull of a decision that was shown; returns its number."""
        entry = self.unshown.pop(id_)
        key = entry.key if self.settings.audience else None
        pull = int(self.player.take(self._proposal(entry, key))[-1])
        self.waiting[id_] = entry._replace(pull=pull, since=at)
        self.counts.pulls += 1
        self.series.decided(entry.arm, at)
        return pull

    def show_other(self, id_: str, arm: int, key: int, at: float, seq: int) -> int:
        """Count the pull of the client's fallback; the decision has that arm from now on.

        A pull already counted for the decided arm stays counted, without a reward: a policy cannot
        take a pull back.
        """
        before = self.waiting.get(id_)
        if before is not None:
            self.player.drop(self._named(before))
        else:
            before = self.unshown.pop(id_, None)
            self.counts.pulls += 1
        entry = Open(seq, arm, 0, key, at, at, False, 1.0, 0.0)
        if before is None:
            self.counts.decisions += 1
            self.counts.keys = max(self.counts.keys, key)
        else:
            since = before.since if before.pull else at
            entry = entry._replace(seq=before.seq, decided=before.decided, since=since)
        whose = key if self.settings.audience else None
        pull = int(self.player.take(self._proposal(entry, whose))[-1])
        self.waiting[id_] = entry._replace(pull=pull)
        if before is not None and before.pull:
            self.series.take_back(before.arm, before.decided)
        self.series.decided(arm, entry.decided)
        return pull

    def _named(self, entry: Open) -> Any:
        """A decision in the form that the player takes."""
        named: Any = self.labels[entry.arm], entry.pull
        return (entry.key, *named) if self.settings.audience else named

    def _proposal(self, entry: Open, key: int | None) -> Proposal:
        return Proposal(key, self.labels[entry.arm], entry.p, entry.control, entry.weight)

    def _close(self, id_: str, reward: float | None) -> None:
        """Close a decision with its reward; None drops it."""
        entry = self.waiting.pop(id_)
        if reward is None:
            self.player.drop(self._named(entry))
            return
        self.player.update(self._named(entry), reward)
        self.series.rewarded(entry.control, entry.decided, reward)
        self.cells.rewarded(entry.arm, entry.pull, reward)

    # Events from the log.

    def apply(self, event: Event) -> None:
        """Apply the next event; a decision is decided again."""
        body = event_types.decode(event)
        self._HANDLERS[event.kind](self, event, body)
        self.seq, self.at = event.seq, event.at

    def _again(self, event: Event, body: Decided) -> None:
        assert event.id is not None
        if body.elsewhere:
            self._other(event, body.arm, body.key, body.pull)
            return
        if not self.as_written:
            made = self.decide(event.id, body.key, body.among, event.at, event.seq)
            if (made.arm, made.pull, made.p) != (body.arm, body.pull, body.p):
                raise Diverged(
                    f"event {event.seq} of {self.name}: arm {body.arm}, pull {body.pull} is "
                    f"written, arm {made.arm}, pull {made.pull} comes out"
                )
            return
        if not self.settings.require_shown:
            entry = Open(0, body.arm, 0, body.key, 0, 0, body.control, body.p, body.weight)
            key = body.key if self.settings.audience else None
            # take the player's own count: a log that was edited by hand may have another
            body.pull = int(self.player.take(self._proposal(entry, key))[-1])
        self._decided(event.id, body, event.at, event.seq)

    def _other(self, event: Event, arm: int, key: int, written: int) -> None:
        assert event.id is not None
        pull = self.show_other(event.id, arm, key, event.at, event.seq)
        if pull != written and not self.as_written:
            raise Diverged(f"event {event.seq} of {self.name}: pull {written}, not {pull}")

    def _corrected(self, event: Event, body: event_types.Corrected) -> None:
        assert event.id is not None
        before = self.waiting.get(event.id) or self.unshown[event.id]
        self._other(event, body.arm, before.key, body.pull)

    def _shown(self, event: Event, body: event_types.Shown) -> None:
        assert event.id is not None
        pull = self.show(event.id, event.at)
        if pull != body.pull and not self.as_written:
            raise Diverged(f"event {event.seq} of {self.name}: pull {body.pull}, not {pull}")

    def _rewarded(self, event: Event, body: event_types.Rewarded) -> None:
        assert event.id is not None
        self._close(event.id, body.reward)
        self.counts.rewards += 1

    def _timed_out(self, event: Event, body: event_types.TimedOut) -> None:
        assert event.id is not None
        self._close(event.id, body.reward)
        self.counts.missing += 1

    def _expired(self, event: Event, body: event_types.Expired) -> None:
        assert event.id is not None
        del self.unshown[event.id]
        self.counts.unshown += 1

    def _late(self, event: Event, body: event_types.Rewarded) -> None:
        self.counts.late += 1

    def _arm_added(self, event: Event, body: event_types.Arm) -> None:
        self.player.add(body.label)
        self.numbers[body.label] = len(self.labels)
        self.labels.append(body.label)
        self.open.append(True)

    def _arm_retired(self, event: Event, body: event_types.Arm) -> None:
        self.player.retire(body.label)
        self.open[self.numbers[body.label]] = False

    def _arm_restored(self, event: Event, body: event_types.Arm) -> None:
        self.player.restore(body.label)
        self.open[self.numbers[body.label]] = True

    def _history(self, event: Event, body: event_types.History) -> None:
        arms = [self.labels[arm] for arm in body.arms]
        more: dict[str, Any] = {} if body.keys is None else {"keys": body.keys}
        self.player.learn(arms, body.rewards, **more)
        self.counts.history += len(arms)
        if body.keys is not None:
            self.counts.keys = max(self.counts.keys, max(body.keys))

    def _erased(self, event: Event, body: event_types.Erased) -> None:
        default = self.settings.default_reward
        for id_ in [i for i, entry in self.waiting.items() if entry.key == body.key]:
            self._close(id_, default)
            self.counts.missing += 1
        for id_ in [i for i, entry in self.unshown.items() if entry.key == body.key]:
            del self.unshown[id_]
            self.counts.unshown += 1
        if body.key in self.player.core.keys.numbers:
            self.player.forget(body.key)

    def _policy_changed(self, event: Event, body: event_types.PolicyChanged) -> None:
        before = iter(self.past(event.seq))
        other = self.successor(next(before), body.policy, body.horizon)
        for one in before:
            other.replay(one)
        self.take_over(other, body, event.seq)

    def successor(self, created: Event, policy: Any, horizon: int | None) -> Experiment:
        """The same experiment at its start, with another policy; `replay` its events to it."""
        other = Experiment(self.number, created)
        compiled = self.player.compiled
        other.player = make_player(other.settings, policy, horizon, compiled=compiled)
        other.as_written = True
        return other

    def replay(self, event: Event) -> None:
        """Apply an event that happened under an earlier policy, with its arm as written."""
        if event.kind not in (Kind.POLICY_CHANGED, Kind.UPGRADED):
            self.apply(event)

    def take_over(self, other: Experiment, body: event_types.PolicyChanged, seq: int) -> None:
        """From event `seq` on, play with the player of a successor that has replayed all events."""
        self.player = other.player
        self.policy, self.horizon = body.policy, body.horizon
        self.version, self.since = body.version, seq

    def _upgraded(self, event: Event, body: event_types.Upgraded) -> None:
        self.version, self.since = body.version, event.seq

    _HANDLERS: ClassVar[dict[int, Callable[[Experiment, Event, Any], None]]] = {
        Kind.DECIDED: _again,
        Kind.SHOWN: _shown,
        Kind.REWARDED: _rewarded,
        Kind.TIMED_OUT: _timed_out,
        Kind.EXPIRED: _expired,
        Kind.LATE: _late,
        Kind.ARM_ADDED: _arm_added,
        Kind.ARM_RETIRED: _arm_retired,
        Kind.ARM_RESTORED: _arm_restored,
        Kind.POLICY_CHANGED: _policy_changed,
        Kind.UPGRADED: _upgraded,
        Kind.HISTORY: _history,
        Kind.ERASED: _erased,
        Kind.CORRECTED: _corrected,
    }
