"""The online object: a policy played one decision at a time, as a service would."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from typing import Any, NamedTuple

from rotting import checks, random
from rotting.policies.base import Policy

_FIRST_CAPACITY = 256


class Decision(NamedTuple):
    """What was decided: an arm, and which pull of it this is (1, 2, ...)."""

    arm: Any
    pull: int


class Player:
    """Plays a policy online. Made by `policy.online(arms, seed=0)`.

    `select()` decides; it counts as a pull at once, for the arm rots whether or not its reward
    ever arrives. `update(decision, reward)` learns; rewards may come later, in any order, or
    never. A player saves to bytes or JSON and continues exactly; it is not made for use from
    several threads at once.

    >>> from rotting import policies
    >>> player = policies.UCB1().online(["red", "blue"], seed=0, compiled=False)
    >>> first, second = player.select(), player.select()
    >>> player.update(second, reward=1.0)
    >>> player.update(first, reward=0.0)
    >>> player.select()
    Decision(arm='blue', pull=2)
    """

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
        self.horizon = None if horizon is None else checks.integer("horizon", horizon, least=1)
        self.seed = int(random.seed_word(seed))
        self.compiled = compiled
        if policy.needs_horizon and self.horizon is None:
            raise ValueError(
                f"horizon must be given to play {policy.title} online, as "
                f".online(arms, horizon=10_000), got None"
            )
        capacity = max(_FIRST_CAPACITY, 4 * len(self.arms))
        params = policy.prepare(len(self.arms), self.horizon, capacity)
        state = policy.verbs.init(params, len(self.arms), capacity)
        self._begin(params, state, random.new_draw(self.seed), capacity)
        self._counts = [0] * len(self.arms)
        self._outstanding: set[tuple[int, int]] = set()
        self._decided = 0

    def _begin(self, params: Any, state: Any, draw: random.Draw, capacity: int) -> None:
        """Put params and state in place and find the fastest way to call the verbs on them."""
        self._params, self._state, self._draw = params, state, draw
        self._capacity = capacity
        self._numbers = {label: number for number, label in enumerate(self.arms)}
        if self.compiled:
            from rotting.engines.online import Stepper

            stepper = Stepper(params, state, draw)
            self._stepper = stepper  # keeps the arrays in place
            self._block = stepper.block
            self._decide: Callable[..., Any] = stepper.decide
            self._learn: Callable[..., Any] = stepper.learn

    def _grow(self) -> None:
        """Twice the room: longer tables, and a larger state where the policy keeps history.

        Tables always reach twice as far as what was decided: that is room for every reward to
        be kept, which late ones may force.
        """
        capacity = 2 * self._capacity
        params = self.policy.prepare(len(self.arms), self.horizon, capacity)
        state = self._state
        if self.policy.verbs.grow is not None:
            state = self.policy.verbs.grow(params, state, len(self.arms), capacity)
        self._begin(params, state, self._draw, capacity)

    def select(self) -> Decision:
        """Decide: the arm to use now, and its pull number."""
        if 2 * self._decided >= self._capacity:
            self._grow()
        self._decided += 1
        if self.compiled:
            number = self._decide(self._block)
        else:
            number = int(self.policy.verbs.select(self._params, self._state, self._draw))
        pull = self._counts[number] + 1
        self._counts[number] = pull
        self._outstanding.add((number, pull))
        return Decision(self.arms[number], pull)

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
        try:
            value = float(reward)
        except (TypeError, ValueError):
            raise ValueError(f"reward must be a finite number, got {reward!r}") from None
        if not math.isfinite(value):
            raise ValueError(f"reward must be a finite number, got {reward!r}")
        try:
            self._outstanding.remove((number, pull))
        except (KeyError, TypeError):
            raise ValueError(self._why_not(arm, number, pull)) from None
        if self.compiled:
            self._learn(self._block, number, int(pull), value)
        else:
            self.policy.verbs.update(self._params, self._state, number, int(pull), value)

    def _why_not(self, arm: Any, number: int, pull: Any) -> str:
        made = self._counts[number]
        if isinstance(pull, int) and 1 <= pull <= made:
            return f"pull {pull} of arm {arm!r} was rewarded or dropped before"
        return f"pull must be one of the {made} pulls made of arm {arm!r}, got {pull!r}"

    def drop(self, decision: tuple[Any, int]) -> None:
        """Stop waiting for the reward of a decision; it will be refused if it comes."""
        try:
            arm, pull = decision
            self._outstanding.remove((self._numbers[arm], pull))
        except (KeyError, TypeError, ValueError):
            raise ValueError(
                f"decision must be one that waits for its reward, got {decision!r}"
            ) from None

    @property
    def pulls(self) -> dict[Any, int]:
        """How often each arm was chosen."""
        return dict(zip(self.arms, self._counts, strict=True))

    @property
    def outstanding(self) -> list[Decision]:
        """The decisions whose rewards have not arrived, by arm and pull."""
        return [Decision(self.arms[number], pull) for number, pull in sorted(self._outstanding)]

    def to_json(self) -> str:
        """The whole state as JSON text; `Player.from_json` continues from it exactly."""
        from rotting.policies import saving

        return saving.to_json(self)

    @classmethod
    def from_json(
        cls, text: str, *, arms: Iterable[Hashable] | None = None, policy: Policy | None = None
    ) -> Player:
        """A player that continues where `to_json` was called.

        Labels that JSON cannot hold, and policies with a user's own function in them, are not
        saved and have to be given again.
        """
        from rotting.policies import saving

        return saving.from_json(text, arms, policy)

    def to_bytes(self) -> bytes:
        """The whole state as bytes, smaller than JSON; `Player.from_bytes` continues from it."""
        from rotting.policies import saving

        return saving.to_bytes(self)

    @classmethod
    def from_bytes(
        cls, data: bytes, *, arms: Iterable[Hashable] | None = None, policy: Policy | None = None
    ) -> Player:
        """A player that continues where `to_bytes` was called; see `from_json`."""
        from rotting.policies import saving

        return saving.from_bytes(data, arms, policy)

    def __deepcopy__(self, memo: dict[int, Any]) -> Player:
        """A player in the same state that shares nothing with this one."""
        twin = object.__new__(Player)
        twin.__dict__.update(
            {k: v for k, v in self.__dict__.items() if k not in ("_decide", "_learn", "_stepper")}
        )
        state = type(self._state)(*(array.copy() for array in self._state))
        twin._begin(self._params, state, self._draw.copy(), self._capacity)
        twin._counts = list(self._counts)
        twin._outstanding = set(self._outstanding)
        return twin

    def __repr__(self) -> str:
        return f"<Player of {self.policy.label}: {len(self.arms)} arms, {self._decided} decisions>"


def _some(labels: tuple[Any, ...]) -> str:
    """The labels, not too many of them."""
    shown = ", ".join(map(repr, labels[:8]))
    return f"{shown}, ... ({len(labels)} in all)" if len(labels) > 8 else shown
