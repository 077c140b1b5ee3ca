"""The online object: a policy played one decision at a time, as a service would."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

from rotting import checks, random
from rotting.checks import HUGE
from rotting.engines import steps
from rotting.online import loading, saving
from rotting.online.keeping import Kept
from rotting.online.sharing import holder
from rotting.policies.base import Policy
from rotting.state import leaves


class Decision(NamedTuple):
    """What was decided: an arm, and which pull of it this is (1, 2, ...)."""

    arm: Any  # its label
    pull: int  # from 1


class Player(Kept):
    """Plays a policy online. Made by `policy.online(arms, seed=0)`.

    `select()` decides; it counts as a pull at once, for the arm rots whether or not its reward
    ever arrives. `update(decision, reward)` learns; rewards may come later, in any order, or
    never. A player saves to bytes or JSON and continues exactly. Threads may share it: whatever
    reads or changes it excludes everything else.

    >>> from rotting import policies
    >>> player = policies.UCB1().online(["red", "blue"], seed=0, compiled=False)
    >>> first, second = player.select(), player.select()
    >>> player.update(second, reward=1.0)
    >>> player.update(first, reward=0.0)
    >>> player.select()
    Decision(arm='blue', pull=2)
    """

    __slots__ = ()

    def __init__(
        self,
        policy: Policy,
        arms: Iterable[Hashable],
        *,
        seed: int = 0,
        horizon: int | None = None,
        compiled: bool = True,
    ) -> None:
        self.policy = policy
        self.arms = checks.labels("arms", arms)
        self.horizon = (
            None if horizon is None else checks.integer("horizon", horizon, 1, checks.EXACT)
        )
        self.seed = int(random.seed_word(seed))
        self.compiled = compiled
        if policy.needs_horizon and self.horizon is None:
            raise ValueError(
                f"horizon must be given to play {policy.title} online, as "
                f".online(arms, horizon=10_000), got None"
            )
        self._counts = [0] * len(self.arms)
        self._outstanding = {}
        self._decided = 0
        self._capacity = loading.capacity_of(len(self.arms), 0)
        self._reach = loading.FIRST
        params = policy.prepare(len(self.arms), self.horizon, self._reach)
        state = policy.verbs.init(params, len(self.arms), self._capacity)
        self._begin(params, state, random.new_draw(self.seed), steps.new_turn(len(self.arms)))

    @holder
    def select(self) -> Decision:
        """Decide: the arm to use now, and its pull number."""
        while True:
            try:
                del self._free
                break
            except AttributeError:
                self._wait()
        try:
            if self._decided >= self._grow_at:
                self._grow()
            counts = self._counts
            arms = len(counts)
            if self.compiled:
                # One step of an iterator and not a call: no signal is handled in between, so
                # Ctrl-C finds the decision made and counted here, or not made.
                for number in self._decisions:  # noqa: B007
                    break
            else:
                number = int(steps.decide(self._params, self._state, self._draw, self._turn))
            if not 0 <= number < arms:
                raise ValueError(f"choose must return an arm from 0 to {arms - 1}, got {number}")
            self._decided += 1
            pull = counts[number] + 1
            counts[number] = pull
            if pull >= self._grow_at_pull:
                self._grow_at = 0
            self._outstanding[number, pull] = None
        finally:
            self._free = None
            if self._waiting:
                self._wake()
        return Decision(self.arms[number], pull)

    @holder
    def update(self, decision: tuple[Any, int], reward: float) -> None:
        """Learn the reward of a decision made earlier, once.

        `decision` is what `select` returned, or a pair (arm, pull) that says the same.
        """
        try:
            arm, pull = decision
            number = self._numbers[arm]
        except (KeyError, TypeError, ValueError):
            raise ValueError(
                f"decision must be a pair (arm, pull) with an arm of {_some(self.arms)}, "
                f"got {decision!r}"
            ) from None
        value = reward if type(reward) is float else checks.number("reward", reward)
        if not abs(value) <= HUGE:  # NaN is not, either
            checks.moderate("reward", reward)
        while True:
            try:
                del self._free
                break
            except AttributeError:
                self._wait()
        try:
            try:
                whole = pull if type(pull) is int else int(pull)
                del self._outstanding[number, pull]
            except (KeyError, TypeError, ValueError, OverflowError):
                raise ValueError(self._why_not(arm, number, pull)) from None
            if self.compiled:
                try:
                    self._learn(self._block, number, whole, value)
                except BaseException:
                    if not self._learn.signatures:  # Ctrl-C while it was compiled: nothing learnt
                        self._outstanding[number, whole] = None
                    raise
            else:
                steps.learn(self._params, self._state, self._turn, number, whole, value)
        finally:
            self._free = None
            if self._waiting:
                self._wake()

    def _why_not(self, arm: Any, number: int, pull: Any) -> str:
        made = self._counts[number]
        if isinstance(pull, int) and 1 <= pull <= made:
            return f"pull {pull} of arm {arm!r} was rewarded or dropped before"
        return f"pull must be one of the {made} pulls made of arm {arm!r}, got {pull!r}"

    def drop(self, decision: tuple[Any, int]) -> None:
        """Stop waiting for the reward of a decision; it will be refused if it comes."""
        try:
            arm, pull = decision
            pair = self._numbers[arm], pull
            self._alone(lambda: self._outstanding.pop(pair))
        except (KeyError, TypeError, ValueError):
            raise ValueError(
                f"decision must be one that waits for its reward, got {decision!r}"
            ) from None

    @property
    def pulls(self) -> dict[Any, int]:
        """How often each arm was chosen."""
        return self._alone(lambda: dict(zip(self.arms, self._counts, strict=True)))

    @property
    def outstanding(self) -> list[Decision]:
        """The decisions whose rewards have not arrived, by arm and pull."""
        pairs = self._alone(lambda: list(self._outstanding))
        return [Decision(self.arms[number], pull) for number, pull in sorted(pairs)]

    def to_json(self) -> str:
        """The whole state as JSON text; `Player.from_json` continues from it exactly."""
        return saving.write_json(self._saved())

    @classmethod
    def from_json(
        cls,
        text: str,
        *,
        arms: Iterable[Hashable] | None = None,
        policy: Policy | None = None,
        trusted: bool = False,
    ) -> Player:
        """A player that continues where `to_json` was called; ValueError for anything else.

        Labels that JSON cannot hold, and policies with a user's own function in them, are not
        saved and have to be given again. `trusted=True` says that you know where the text is from:
        needed for a player of more than a GiB, and for a policy of your own whose state does not
        say what it may hold.
        """
        return cls._restored(saving.read_json(text), arms, policy, trusted)

    def to_bytes(self) -> bytes:
        """The whole state as bytes, smaller than JSON; `Player.from_bytes` continues from it."""
        return saving.write_bytes(self._saved())

    @classmethod
    def from_bytes(
        cls,
        data: bytes,
        *,
        arms: Iterable[Hashable] | None = None,
        policy: Policy | None = None,
        trusted: bool = False,
    ) -> Player:
        """A player that continues where `to_bytes` was called; see `from_json`."""
        return cls._restored(saving.read_bytes(data), arms, policy, trusted)

    def _saved(self) -> saving.Saved:
        kept = self._snapshot()
        return saving.Saved(
            policy=saving.plain_or_none(self.policy),
            policy_name=self.policy.label,
            arms=saving.labels_or_none(self.arms),
            arm_count=len(self.arms),
            seed=self.seed,
            horizon=self.horizon,
            compiled=self.compiled,
            capacity=kept["_capacity"],
            reach=kept["_reach"],
            decided=kept["_decided"],
            counts=kept["_counts"],
            outstanding=[list(pair) for pair in sorted(kept["_outstanding"])],
            draw=kept["_draw"],
            turn=kept["_turn"],
            state={leaf.path: leaf.value for leaf in leaves(kept["_state"])},
        )

    @classmethod
    def _restored(
        cls,
        saved: saving.Saved,
        arms: Iterable[Hashable] | None,
        policy: Policy | None,
        trusted: bool,
    ) -> Player:
        found = loading.load(saved, arms, policy, trusted)
        player = cls(
            found.policy,
            found.arms,
            seed=saved.seed,
            horizon=saved.horizon,
            compiled=saved.compiled,
        )
        player._counts = list(saved.counts)
        player._decided = saved.decided
        player._outstanding = dict.fromkeys(found.outstanding)
        player._capacity, player._reach = saved.capacity, saved.reach
        player._begin(found.params, found.state, found.draw, found.turn)
        return player

    def __repr__(self) -> str:
        return f"<Player of {self.policy.label}: {len(self.arms)} arms, {self._decided} decisions>"


def _some(labels: tuple[Any, ...]) -> str:
    """The labels, not too many of them."""
    shown = ", ".join(map(repr, labels[:8]))
    return f"{shown}, ... ({len(labels)} in all)" if len(labels) > 8 else shown
