"""The online object for an audience: arms wear out for each key, and are learnt from all."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from rotting import checks
from rotting.arrays import IntArray
from rotting.bandits.audience import HalfLife, Window, check_rest
from rotting.checks import HUGE
from rotting.engines.plan import check_audience
from rotting.live import ledger as at_
from rotting.live.keys import exposure_of
from rotting.live.ledger import NOBODY, Desk, listed, nobody_waits
from rotting.online import saving
from rotting.online.answering import some
from rotting.online.attendance import why_no_rest
from rotting.online.batching import MOST
from rotting.online.believing import Believed, believed
from rotting.online.columns import columns_of, has_history
from rotting.online.columns import listed as as_list
from rotting.online.curves import LONGEST, USUAL, Curves, curves_of, keeps_curves
from rotting.online.decisions import AssignedShowing, Showing, Showings
from rotting.online.keys import NEW, Keyed
from rotting.online.proposing import Proposal, flags
from rotting.online.table import Table, quoted
from rotting.policies.base import Policy
from rotting.policies.parts.exposures import no_exposures
from rotting.verbs import believe

_new = tuple.__new__  # half the time of a NamedTuple's own


class AudiencePlayer(Keyed):
    """Plays a policy for many keys (users, say). Made by `policy.audience(arms, seed=0)`.

    An arm wears out for each key on its own; what is learnt is learnt from all of them. `select`
    decides for a key, any hashable label; a new one costs nothing until it is seen. The decision
    names key, arm and pull, the arm's how-manieth showing to this key. All else is as for `Player`:
    late and missing rewards, batches, arms that come and go, history, a control group, saving,
    threads.

    >>> from rotting import models, policies
    >>> policy = policies.CTO(models.Polynomial().over([0.1, 0.5]))
    >>> player = policy.audience(["red", "blue"], compiled=False)
    >>> player.update(player.select("ann"), reward=1.0)
    >>> player.select("bob")
    Showing(key='bob', arm='blue', pull=1)
    """

    __slots__ = ()

    _WAY = "audience"

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
        self._no_keys(own if rest is None else rest)
        super().__init__(policy, arms, **settings)

    def _new_desk(self) -> Desk:
        desk = super()._new_desk()
        desk = desk._replace(waiting=nobody_waits(keyed=True))
        if self.policy.by_key is True:
            return desk
        return desk._replace(exposure=no_exposures(self._places, len(self.arms)))

    def select(self, key: Hashable, among: Iterable[Any] | None = None, at: Any = None) -> Any:
        """Decide for a key: the arm to show it now, and which showing of that arm to it this is.

        `among` and `at` are those of `Player.select`.
        """
        self._check_key(key)
        allowed = None if among is None else self._flags(among)
        return self._alone(lambda: self._select(key, allowed, at))

    def _select(self, key: Any, allowed: list[int] | None, at: Any) -> Any:
        self._about_to_decide(allowed, at)
        place = self._keys.get(key)
        if place is None:
            (place,) = self._admit([key])
        try:
            if allowed is not None:
                self._restrict(allowed)
            number, pull = self._decide(self._block, place)
            if number < 0:
                number, pull = self._decide_again(
                    number, pull, lambda: self._decide(self._block, place), user=7
                )
        finally:
            if allowed is not None:
                self._desk.clock[at_.BOUND] = 0
        arm = self.arms[number]
        if not self._assigned:
            return _new(Showing, (key, arm, pull))
        chance, clock = float(self._desk.numbers[at_.CHANCE]), self._desk.clock
        return AssignedShowing(key, arm, pull, chance, bool(clock[at_.LAST_CONTROL]))

    def propose(self, key: Hashable, among: Iterable[Any] | None = None) -> Proposal:
        """Decide as `select`, but count nothing: `take` does that when the arm was really shown."""
        self._check_key(key)
        allowed = flags(self, among)

        def ask() -> Proposal:
            self._about_to_decide(allowed, None)
            return self._propose(key, (int(self._places_of([key])[0]),), allowed)

        return self._alone(ask)

    def take(self, proposal: Proposal) -> Showing:
        """Count the showing of an arm that was proposed; its reward is waited for from now on."""
        self._check_key(proposal.key)
        number = self._number("arm of a proposal", proposal.arm)

        def count() -> int:
            return self._take((int(self._places_of([proposal.key])[0]),), number, proposal)

        return Showing(proposal.key, proposal.arm, self._alone(count))

    def _about_to_decide(self, allowed: list[int] | None, at: Any) -> None:
        """Refuse what cannot be decided before a key gets a number; set the time."""
        if at is not None or self._timed:
            self._set_time(at, self._somebody(allowed))
        elif allowed is not None or not self._desk.clock[at_.OPEN]:
            self._check_open(allowed)

    def update(self, decision: Any, reward: Any) -> None:
        """Learn the reward of a decision made earlier, once.

        `decision` is what `select` returned, or a triple (key, arm, pull) that says the same.
        """
        value = reward if type(reward) is float else checks.reward(reward)
        if not abs(value) <= HUGE:  # NaN is not, either
            checks.moderate("reward", reward)

        def learn() -> None:
            arm, number, pull, key = self._named(decision)
            whole = checks.whole(pull)
            if not self._learn(self._block, number, whole, value, key):
                self._learn_again(arm, number, pull, whole, value, key)

        self._alone(learn)

    def select_many(
        self, keys: Iterable[Hashable], among: Iterable[Any] | None = None, at: Any = None
    ) -> Showings:
        """Decide for these keys, in this order, before any of the rewards, as `select` would."""
        labels = as_list("keys", keys)
        checks.integer("the number of keys", len(labels), 0, MOST)
        for label in labels:
            self._check_key(label)
        allowed = None if among is None else self._flags(among)

        def decide() -> Showings:
            self._about_to_decide(allowed, at)
            rows = np.zeros((len(labels), self._COLUMNS), dtype=np.int64)
            rows[:, 3] = self._places_of(labels)
            chances = self._decide_rows(rows, allowed)
            made = self.arms, rows[:, 0].copy(), rows[:, 1].copy()
            more = (chances, rows[:, 2] != 0) if self._assigned else ()
            return Showings(labels, rows[:, 3].copy(), self._stamp, (*made, *more))

        return self._alone(decide)

    def select_by(self, names: Sequence[str], keys: Iterable[Hashable]) -> Showings:
        """Decide for each name and key: exactly as `draw_by(name)` and `select(key)` one by one."""
        labels = as_list("keys", keys)
        if len(labels) != len(names):
            raise ValueError(f"keys must be {len(names)}, one for each name, got {len(labels)}")
        for label in labels:
            self._check_key(label)

        def decide() -> Showings:
            self._about_to_decide(None, None)
            rows, chances = self._select_by(names, self._places_of(labels))
            made = self.arms, rows[:, 0].copy(), rows[:, 1].copy()
            more = (chances, rows[:, 2] != 0) if self._assigned else ()
            return Showings(labels, rows[:, 3].copy(), self._stamp, (*made, *more))

        return self._alone(decide)

    def _made_here(self, decisions: Any) -> bool:
        """Whether the numbers are those of this player: after a key was forgotten, they may not."""
        stamped = isinstance(decisions, Showings) and decisions._stamp is self._stamp
        return stamped and super()._made_here(decisions)

    def _fill(self, rows: IntArray, decisions: Any) -> None:
        super()._fill(rows, decisions)
        rows[:, 3] = decisions._places

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
        labels, values, pulls, propensities, whose = columns_of(
            arms, rewards, pulls, propensities, keys
        )
        if len(whose) != len(values):
            raise ValueError(f"keys must be {len(values)}, one for each arm, got {len(whose)}")
        for key in whose:
            self._check_key(key)
        rows = np.zeros((len(values), self._COLUMNS), dtype=np.int64)
        rows[:, 0] = self._numbers_of(labels)
        chances = self._chances(propensities, len(values))

        def record() -> int:
            known = [self._keys.get(key, -1) for key in whose]
            if pulls is not None:  # before anybody gets a number
                rows[:, 3] = self._tentative(whose, known)
                rows[:, 1] = self._checked_pulls(rows, pulls)
            rows[:, 3] = self._places_of(whose)
            return self._record(rows, values, chances, None)

        return self._alone(record)

    @property
    def outstanding(self) -> list[Showing]:
        """The decisions whose rewards have not arrived, the oldest first."""
        rows, labels = self._alone(lambda: (listed(self._desk.waiting), self._labels()))
        return [Showing(labels[row[6]], self.arms[row[0]], row[1]) for row in rows]

    def _named(self, decision: Any) -> tuple[Any, int, Any, int]:
        try:
            if isinstance(decision, AssignedShowing):
                key, arm, pull = decision[:3]
            else:
                key, arm, pull = decision
            number = self._numbers[arm]
        except (KeyError, TypeError, ValueError):
            raise ValueError(
                f"decision must be a triple (key, arm, pull) with an arm of {some(self.arms)}, "
                f"got {decision!r}"
            ) from None
        return arm, number, pull, self._place("decision must be of a key", key)

    def table(self, *, key: Any = NEW) -> Table:
        """What the player thinks of its arms, as `Player.table`, for a key: a new one if not said.

        Pulls and rewards are those of everybody; estimates are of the arm's next showing to it.
        """
        if key is not NEW:
            self._check_key(key)

        kept = self._snapshot()
        place = NOBODY if key is NEW else kept["_keys"].get(key, NOBODY)
        whom = "a new key" if key is NEW else f"key {quoted(key)}"
        said = ", keys ignored" if self._how() else f", for {whom}"
        return self._table(self._asked_of(kept, place), f", {len(kept['_keys'])} keys{said}")

    def curves(self, most: int | None = None) -> Curves:
        """What each open arm is worth at its 1st, 2nd, ... showing to a key, as it was learnt.

        `most` is how far to look, by default as often as any key was shown any arm, at most 60
        times. Only a policy that counts by key, and believes something of each showing (not PerKey,
        Capped and Oracle), has curves to show.
        """
        if self.policy.by_key is not True:
            raise ValueError(
                f"policy must count by key to have curves, but {self.policy.title} plays pooled, "
                "keys ignored"
            )
        if not keeps_curves(self.policy):
            raise ValueError(
                "policy must believe something of each showing to have curves, but "
                f"{self.policy.title} does not"
            )
        kept = self._snapshot()
        if most is None:
            most = self._usual(kept)
        furthest = kept["_reach"] if self.policy.tables else LONGEST
        most = checks.integer("most", most, 1, furthest)
        asked = self._asked_of(kept, NOBODY)
        numbers = np.flatnonzero(asked.desk.open).tolist()
        beliefs = [
            [believe(asked.params, asked.state, number, n + 1) for n in range(most)]
            for number in numbers
        ]
        return curves_of(self.policy.short_label, [self.arms[n] for n in numbers], beliefs)

    @staticmethod
    def _usual(kept: dict[str, Any]) -> int:
        """How many showings are looked at: as often as any key was shown any arm, at most 60."""
        shown = exposure_of(kept["_state"], kept["_desk"]).shown
        return min(max(1, int(shown.max(initial=0))), USUAL)

    def _believed(self) -> Believed | None:
        """What the policy believes of showings to a new key; None if it does not count by key."""
        if not keeps_curves(self.policy):
            return None
        kept = self._snapshot()
        return believed(self._asked_of(kept, NOBODY), self._usual(kept), upcoming=False)

    @classmethod
    def _check_kind(cls, saved: saving.Saved) -> None:
        if saved.audience is None:
            raise ValueError(
                "saved state must be that of an AudiencePlayer, got one of a Player, which loads it"
            )

    def __repr__(self) -> str:
        decided = int(self._desk.clock[at_.DECIDED])
        counts = f"{len(self.arms)} arms, {len(self._keys)} keys, {decided} decisions"
        return f"<AudiencePlayer of {self.policy.label}{self._how()}: {counts}>"
