"""The online object for an audience: arms wear out for each key, and are learnt from all."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from rotting import _checks
from rotting._checks import HUGE
from rotting._engines.plan import check_audience
from rotting._live import ledger as at_
from rotting._live.keys import exposure_of
from rotting._live.ledger import listed
from rotting._online import save
from rotting._online.core import Core, Settings
from rotting._online.curves import LONGEST, Curves, curves_of, keeps_curves
from rotting._online.decision_types import AssignedShowing, Proposal, Showing, Showings
from rotting._online.history import (
    columns_of,
    has_history,
    numbers_of,
    propensities_of,
)
from rotting._online.history import listed as as_list
from rotting._online.hooks import reported
from rotting._online.inspect import table_of, usual_showings
from rotting._online.keys import Keys, check_key, why_no_rest
from rotting._online.labels import some
from rotting._online.lock import holder
from rotting._online.player import MOST, AnyPlayer
from rotting._online.table import ArmTable, quoted
from rotting.bandits._audience import HalfLife, Rest, Window, check_rest
from rotting.kernel.arrays import IntArray
from rotting.kernel.verbs import curve
from rotting.policies._base import Policy

_new = tuple.__new__  # half the time of a NamedTuple's own


class _New:
    """Stands for a key that was not seen."""

    def __repr__(self) -> str:
        return "a new key"


NEW = _New()


class AudiencePlayer(AnyPlayer):
    """Plays a policy for many keys (users, say). Made by `policy.audience(arms, seed=0)`.

    An arm wears out for each key on its own; what is learnt is learnt from all of them. `select`
    decides for a key, any hashable label; a new one costs nothing until it is seen. The decision
    names key, arm and pull: how often the arm was shown to this key by then, this showing counted.
    All else is as for `Player`: late and missing rewards, batches, arms that come and go, history,
    a control group, saving, threads. The settings are those of `Policy.audience`.

    >>> from rotting import models, policies
    >>> policy = policies.CTO(models.Polynomial().over([0.1, 0.5]))
    >>> player = policy.audience(["red", "blue"], compiled=False)
    >>> player.update(player.select("ann"), reward=1.0)
    >>> player.select("bob")
    Showing(key='bob', arm='blue', pull=1)
    """

    __slots__ = ()

    _COLUMNS = 4

    def __init__(
        self,
        policy: Policy,
        arms: Iterable[Hashable],
        *,
        rest: HalfLife | Window | None = None,
        **settings: Any,
    ) -> None:
        check_audience(policy)
        check_rest(rest)
        inner = getattr(policy, "inner", None)
        if isinstance(inner, Policy) and inner.tables:
            raise ValueError(
                "inner must be a policy without tables by pull number, as UCB1 or Thompson, for an "
                f"audience online, got {inner.title}"
            )
        if rest is not None and why_no_rest(policy):
            raise ValueError(
                f"rest must be None for {policy.title}, {why_no_rest(policy)}, got {rest!r}"
            )
        own = getattr(policy, "rest", None)
        if rest is not None and own is not None and rest != own:
            raise ValueError(
                f"rest must be None or that of {policy.title} itself, {own!r}, got {rest!r}"
            )
        keys = Keys(own if rest is None else rest)
        self.core = Core.new(policy, arms, Settings(**settings), keys)

    @property
    def _keys(self) -> Keys:
        assert self.core.keys is not None
        return self.core.keys

    @property
    def rest(self) -> Rest | None:
        """How the policy's counts fade: a `HalfLife` or `Window`, or None."""
        return self._keys.rest

    @property
    def keys(self) -> list[Any]:
        """The keys that were seen and not forgotten."""
        return list(self._alone(lambda: list(self._keys.numbers)))

    def shown(self, key: Hashable) -> dict[Any, int]:
        """How often each arm was shown to a key.

        Args:
            key: A key; all counts are zero for one that was never seen.

        Returns:
            The numbers of all showings, by arm, whether or not the policy's counts fade.
        """
        check_key(key)
        core = self.core

        def look() -> dict[Any, int]:  # with the arms: another thread may add some
            place = self._keys.numbers.get(key)
            if place is None:
                return dict.fromkeys(core.arms, 0)
            counts = exposure_of(core.state, core.ledger).counts[place].tolist()
            return dict(zip(core.arms, counts, strict=True))

        counts: dict[Any, int] = self._alone(look)
        return counts

    @reported
    def forget(self, key: Hashable) -> None:
        """Forget a key: its label and its counts are gone, and its place is used again.

        Its waiting decisions expire, with the default reward if there is one. What was learnt from
        its rewards stays: it is part of sums over all keys. If the label comes again, it is a new
        key.

        A late reward of the forgotten key is refused, unless the label was seen again by then and
        the new key has a decision of the same arm and pull outstanding: the reward then counts for
        the new one. To avoid that, use a label again only when no reward of the old key can come
        any more.

        Args:
            key: A key that was seen.

        Raises:
            ValueError: The key was never seen.
        """
        check_key(key)
        self._alone(lambda: self.core.forget_key(key))

    @holder
    def select(self, key: Hashable, among: Iterable[Any] | None = None, at: Any = None) -> Any:
        """Choose the arm to show to a key; it counts as a showing at once.

        Args:
            key: Any hashable label; a new one gets counts of zero.
            among: Arms to which this decision is restricted; retired ones do not count.
            at: The time, a number or a datetime, for a player with a `reward_time`.

        Returns:
            A `Showing` with `key`, `arm` and `pull`, the number of this showing of the arm to the
            key; with a control group an `AssignedShowing`, which also has `propensity` and
            `control`.

        Raises:
            ValueError: There is no arm to choose, the key cannot be one, or the time is missing or
                runs backwards.

        >>> from rotting import policies
        >>> player = policies.CellUCB(sigma=0.5).audience(["red", "blue"], compiled=False)
        >>> player.select("ann")
        Showing(key='ann', arm='red', pull=1)
        """
        core = self.core
        if not core.plain or among is not None or at is not None:
            return self._select(key, among, at)
        keys: Any = core.keys
        lock = core.lock
        while True:
            try:
                del lock.free
                break
            except AttributeError:
                lock.wait()
        try:
            try:
                place = keys.numbers[key]
            except (KeyError, TypeError):
                place = self._new_number(key)
            number, pull = core.decide(core.block, place)
            if number < 0:
                number, pull = core.decide_again(number, pull, place)
            if core.assigned:
                return AssignedShowing(key, core.arms[number], pull, *core.assignment())
        finally:
            lock.free = None
            if lock.waiting:
                lock.wake()
        return _new(Showing, (key, core.arms[number], pull))

    def _new_number(self, key: Any) -> int:
        """A number for a new key, unless there is nothing to decide for it."""
        check_key(key)
        self.core.check_open(None)
        return self.core.key_number(key)

    @reported
    def _select(self, key: Hashable, among: Iterable[Any] | None = None, at: Any = None) -> Any:
        """`select` with arms or a time given, or for a player that is watched."""
        check_key(key)
        core = self.core
        allowed = core.flags(among)

        def decide() -> Any:
            self._about_to_decide(allowed, at)
            number, pull = core.select(allowed, core.key_number(key))
            if core.assigned:
                return AssignedShowing(key, core.arms[number], pull, *core.assignment())
            return Showing(key, core.arms[number], pull)

        return self._alone(decide)

    def _about_to_decide(self, allowed: list[int] | None, at: Any) -> None:
        """Refuse what cannot be decided before a key gets a number; set the time."""
        self.core.check_open(allowed)
        self.core.set_time(at, allowed)

    @reported
    def update(self, decision: Any, reward: Any) -> None:
        """Learn the reward of a decision made earlier, once.

        Args:
            decision: What `select` returned, or the triple (key, arm, pull).
            reward: A finite number; True and False count as 1 and 0.

        Raises:
            ValueError: The decision does not wait for a reward, or the reward is not a finite
                number.
        """
        core = self.core
        value = reward if type(reward) is float else _checks.reward(reward)
        if not -HUGE <= value <= HUGE:  # NaN is not, either
            _checks.moderate("reward", reward)

        def learn() -> None:
            number, pull, key = self._named(decision)
            if not core.learn(core.block, number, _checks.whole(pull), value, key):
                core.learn_again(number, pull, value, key)

        self._alone(learn)

    @reported
    def select_many(
        self, keys: Iterable[Hashable], among: Iterable[Any] | None = None, at: Any = None
    ) -> Showings:
        """Decide for several keys, in this order, before any of the rewards.

        Args:
            keys: A key for each decision; the same key may come again.
            among: Arms to which these decisions are restricted.
            at: The time, for a player with a `reward_time`.

        Returns:
            `Showings`: a sequence of decisions, with `keys`, `numbers`, `pulls` and `labels` as
            arrays.

        Raises:
            ValueError: As for `select`.
        """
        labels = self._listed(keys)
        _checks.integer("the number of keys", len(labels), 0, MOST)
        allowed = self.core.flags(among)

        def decide() -> Showings:
            self._about_to_decide(allowed, at)
            rows = np.zeros((len(labels), self._COLUMNS), dtype=np.int64)
            return self._select_rows(labels, rows, allowed)

        made: Showings = self._alone(decide)
        return made

    def select_by(self, names: Sequence[str], keys: Iterable[Hashable]) -> Showings:
        """Decide for each name and key: exactly as `draw_by(name)` and `select(key)` one by one."""
        labels = self._listed(keys)
        if len(labels) != len(names):
            raise ValueError(f"keys must be {len(names)}, one for each name, got {len(labels)}")

        def decide() -> Showings:
            self._about_to_decide(None, None)
            return self._select_rows(labels, self.core.rows_by(names), None)

        made: Showings = self._alone(decide)
        return made

    def _listed(self, keys: Iterable[Hashable]) -> list[Any]:
        labels = as_list("keys", keys)
        for label in labels:
            check_key(label)
        return labels

    def _select_rows(
        self, labels: list[Any], rows: IntArray, allowed: list[int] | None
    ) -> Showings:
        rows[:, 3] = self.core.key_numbers(labels)
        made = self._columns(rows, self.core.select_rows(rows, allowed))
        return Showings(labels, rows[:, 3].copy(), self._keys.stamp, made)

    def propose(self, key: Hashable, among: Iterable[Any] | None = None) -> Proposal:
        """Decide as `select`, but count nothing: `take` does that when the arm was really shown."""
        check_key(key)
        allowed = self.core.flags(among)

        def decide() -> Proposal:
            self._about_to_decide(allowed, None)
            return self.core.propose(allowed, key, self.core.key_number(key))

        proposal: Proposal = self._alone(decide)
        return proposal

    def take(self, proposal: Proposal) -> Showing:
        """Count the showing of an arm that was proposed; its reward is waited for from now on."""
        key, core = proposal.key, self.core
        check_key(key)
        number = core.number_of("arm of a proposal", proposal.arm)
        pull = self._alone(lambda: core.take(number, proposal, core.key_number(key)))
        return Showing(key, proposal.arm, pull)

    def _fill(self, rows: IntArray, decisions: Any) -> bool:
        # after a key was forgotten, a number may be another key's
        if not isinstance(decisions, Showings) or decisions.stamp is not self._keys.stamp:
            return False
        rows[:, 3] = decisions.key_numbers
        return super()._fill(rows, decisions)

    @reported
    def learn(
        self,
        arms: Any,
        rewards: Any = None,
        *,
        keys: Any = None,
        pulls: Any = None,
        propensities: Any = None,
    ) -> int:
        """Learn from history: these arms were shown to these keys, with these rewards.

        As `Player.learn`, with a key for each row, or the name of the frame's column that has
        them; `pulls` are each key's own numbers. A log with keys is learnt as it is.
        """
        if keys is None and not has_history(arms):
            raise ValueError(
                "keys must be given, one for each row, or the name of the frame's column that has "
                "them, as in player.learn(frame, 'clicked', keys='user')"
            )
        core = self.core
        labels, values, pulls, propensities, whose = columns_of(
            arms, rewards, pulls, propensities, keys
        )
        if len(whose) != len(values):
            raise ValueError(f"keys must be {len(values)}, one for each arm, got {len(whose)}")
        for key in whose:
            check_key(key)
        rows = np.zeros((len(values), self._COLUMNS), dtype=np.int64)
        rows[:, 0] = numbers_of(labels, core)
        chances = propensities_of(propensities, len(values), core.policy)

        def record() -> int:
            if pulls is not None:  # before any key gets a number
                rows[:, 3] = self._tentative(whose)
                rows[:, 1] = core.checked_pulls(rows, pulls)
            rows[:, 3] = core.key_numbers(whose)
            return core.record(rows, values, chances, None)

        return int(self._alone(record))

    def _tentative(self, keys: list[Any]) -> list[int]:
        """Numbers that tell keys apart, those of new ones beyond all that there is space for."""
        known, beyond = self._keys.numbers, self.core.places
        new: dict[Any, int] = {}
        return [
            known[key] if key in known else new.setdefault(key, beyond + len(new)) for key in keys
        ]

    @property
    def outstanding(self) -> list[Showing]:
        """The decisions whose rewards have not arrived, the oldest first."""
        core = self.core
        rows, labels = self._alone(lambda: (listed(core.ledger.waiting), self._keys.labels()))
        return [Showing(labels[row[6]], core.arms[row[0]], row[1]) for row in rows]

    def _named(self, decision: Any) -> tuple[int, Any, int]:
        try:
            if isinstance(decision, AssignedShowing):
                key, arm, pull = decision[:3]
            else:
                key, arm, pull = decision
            number = self.core.numbers[arm]
        except (KeyError, TypeError, ValueError):
            raise ValueError(
                f"decision must be a triple (key, arm, pull) with an arm of "
                f"{some(self.core.arms)}, got {decision!r}"
            ) from None
        return number, pull, self._keys.number("decision must be of a key", key)

    def table(self, *, key: Any = NEW) -> ArmTable:
        """The player's view of its arms for a key, one row an arm.

        Pulls and rewards are those of all keys; estimates are of the arm's next showing to this
        key.

        Args:
            key: A key; by default one that was never seen.

        Returns:
            A `Table`, as `Player.table` gives it.
        """
        if key is not NEW:
            check_key(key)
        snapshot = self.core.snapshot()
        assert snapshot.keys is not None
        place = None if key is NEW else snapshot.keys.numbers.get(key)
        whom = "a new key" if key is NEW else f"key {quoted(key)}"
        said = self._how() or f", for {whom}"
        return table_of(snapshot.with_key(place), f", {len(snapshot.keys.numbers)} keys{said}")

    def curves(self, most: int | None = None) -> Curves:
        """The learnt worth of each open arm at its 1st, 2nd, ... showing to a key.

        Args:
            most: The number of showings; by default as often as any key was shown any arm, at most
                60.

        Returns:
            `Curves`: estimates with bands, and for each arm the cap from which on another is worth
            more.

        Raises:
            ValueError: The policy plays pooled, or has no estimate of each showing (PerKey, Capped
                and Oracle), or `most` is too large.
        """
        if not self.policy.counts_by_key:
            raise ValueError(
                f"policy must count by key to have curves, but {self.policy.title} plays pooled, "
                "keys ignored"
            )
        if not keeps_curves(self.policy):
            raise ValueError(
                "policy must believe something of each showing to have curves, but "
                f"{self.policy.title} does not"
            )
        snapshot = self.core.snapshot()
        if most is None:
            most = usual_showings(snapshot)
        furthest = snapshot.reach if self.policy.tables else LONGEST
        most = _checks.integer("most", most, 1, furthest)
        new = snapshot.with_key()
        numbers = np.flatnonzero(new.ledger.open).tolist()
        beliefs = [
            [curve(new.params, new.state, number, n + 1) for n in range(most)] for number in numbers
        ]
        return curves_of(self.policy.short_label, [new.arms[n] for n in numbers], beliefs)

    @classmethod
    def _check_kind(cls, saved: save.Saved) -> None:
        if saved.audience is None:
            raise ValueError(
                "saved state must be that of an AudiencePlayer, got one of a Player, which loads it"
            )

    def _how(self) -> str:
        """What is to be said of a policy that does not count by key."""
        return "" if self.policy.counts_by_key else ", keys ignored"

    def __repr__(self) -> str:
        core = self.core
        decided = int(core.ledger.clock[at_.DECIDED])
        counts = f"{len(core.arms)} arms, {len(self._keys.numbers)} keys, {decided} decisions"
        return f"<AudiencePlayer of {core.policy.label}{self._how()}: {counts}>"
