"""What all players are made of, and how they are saved and loaded."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Self

from rotting import checks, random
from rotting.live import ledger as at
from rotting.live.ledger import Desk, lined_up, listed, new_desk
from rotting.online import loading, saving
from rotting.online.growing import UNLIMITED, prepared
from rotting.online.labels import freeze
from rotting.online.measuring import Measuring
from rotting.online.moments import duration
from rotting.online.proposing import Proposing
from rotting.online.viewing import Viewing
from rotting.policies.base import Policy
from rotting.state import leaves


class Playing(Viewing, Measuring, Proposing):
    """Plays a policy, alone or for an audience."""

    __slots__ = ()

    _WAY = "online"  # how a policy is asked for a player of this kind

    def __init__(
        self,
        policy: Policy,
        arms: Iterable[Hashable],
        *,
        seed: int = 0,
        horizon: int | None = None,
        compiled: bool = True,
        reward_window: int | None = None,
        reward_time: Any = None,
        default_reward: float | None = None,
        explore: float = 0.0,
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
                f".{self._WAY}(arms, horizon=10_000), got None"
            )
        desk = self._new_desk()
        self._dated = None
        if reward_window is not None:
            window = checks.integer("reward_window", reward_window, 1, checks.EXACT)
            desk.clock[at.WINDOW] = window
        if reward_time is not None:
            lifetime, self._dated = duration("reward_time", reward_time)
            desk.numbers[at.LIFETIME] = lifetime
        if default_reward is not None:
            if reward_window is None and reward_time is None:
                raise ValueError(
                    "default_reward must come with a reward_window (in decisions) or a "
                    f"reward_time, after which it is the reward, got {default_reward!r} alone"
                )
            desk.numbers[at.DEFAULT] = checks.reward(default_reward, "default_reward")
        desk.numbers[at.EXPLORE] = checks.number("explore", explore, least=0, below=1)
        self._start = len(self.arms)
        self._capacity = loading.capacity_of(self._start, 0) if policy.grows else UNLIMITED
        self._reach = loading.FIRST
        params = prepared(policy, self._start, self.horizon, self._reach)
        state = self._fresh(params, len(self.arms), self._capacity)
        self._begin(params, state, random.new_draw(self.seed), desk)

    def _new_desk(self) -> Desk:
        return new_desk(len(self.arms), self.seed)

    def to_json(self) -> str:
        """The whole state as JSON text; `from_json` continues from it exactly."""
        return saving.write_json(self._saved())

    @classmethod
    def from_json(
        cls,
        text: str,
        *,
        arms: Iterable[Hashable] | None = None,
        policy: Policy | None = None,
        trusted: bool = False,
    ) -> Self:
        """A player that continues where `to_json` was called; ValueError for anything else.

        `arms` need be given only if they are members of an Enum; they are matched by label, in any
        order. A policy with a user's own function in it is not saved and has to be given again.
        `trusted=True` says that you know where the text is from: needed for a player of more than a
        GiB, and for a policy of your own whose state does not say what it may hold.
        """
        return cls._restored(saving.read_json(text), arms, policy, trusted)

    def to_bytes(self) -> bytes:
        """The whole state as bytes, smaller than JSON; `from_bytes` continues from it."""
        return saving.write_bytes(self._saved())

    @classmethod
    def from_bytes(
        cls,
        data: bytes,
        *,
        arms: Iterable[Hashable] | None = None,
        policy: Policy | None = None,
        trusted: bool = False,
    ) -> Self:
        """A player that continues where `to_bytes` was called; see `from_json`."""
        return cls._restored(saving.read_bytes(data), arms, policy, trusted)

    def _saved(self, kept: dict[str, Any] | None = None) -> saving.Saved:
        """What is saved; `kept` is a snapshot that was taken before, if it is not to be now's."""
        kept = self._snapshot() if kept is None else kept
        desk = kept["_desk"]
        # how far space was made ahead is no part of what a player is
        desk.clock[[at.GROW_AT, at.GROW_AT_PULL, at.UNHASHED]] = 0
        return saving.Saved(
            policy=saving.plain_or_none(self.policy),
            policy_name=self.policy.label,
            arms=[freeze(label) for label in kept["arms"]],
            arm_count=len(kept["arms"]),
            start=kept["_start"],
            seed=self.seed,
            horizon=self.horizon,
            compiled=self.compiled,
            dated=kept["_dated"],
            capacity=kept["_capacity"],
            reach=kept["_reach"],
            waiting=[self._plain(row) for row in listed(desk.waiting)],
            draw=kept["_draw"],
            desk=saving.saved_desk(desk),
            state={leaf.path: leaf.value for leaf in leaves(kept["_state"])},
            audience=self._saved_audience(kept),
        )

    def _saved_audience(self, kept: dict[str, Any]) -> dict[str, Any] | None:
        """The keys, as plain data, of a player that has any."""
        return None

    @classmethod
    def _check_kind(cls, saved: saving.Saved) -> None:
        """Refuse what was saved of another kind of player."""
        raise NotImplementedError

    @classmethod
    def _restored(
        cls,
        saved: saving.Saved,
        arms: Iterable[Hashable] | None,
        policy: Policy | None,
        trusted: bool,
    ) -> Self:
        cls._check_kind(saved)
        found = loading.load(saved, arms, policy, trusted)
        player = cls.__new__(cls)
        player.policy, player.arms = found.policy, found.arms
        player.horizon, player.seed = saved.horizon, saved.seed
        player.compiled, player._dated = saved.compiled, saved.dated
        player._start = saved.start
        player._capacity, player._reach = found.space
        desk = found.desk._replace(waiting=lined_up(found.waiting, keyed=found.keys is not None))
        player._restore(found)
        player._begin(found.params, found.state, found.draw, desk)
        return player

    def _restore(self, found: loading.Loaded) -> None:
        """What else there is to be put in place."""
