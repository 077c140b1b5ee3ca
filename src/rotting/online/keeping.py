"""What a player keeps: its fields, how they grow, and how they are copied and pickled."""

from __future__ import annotations

import copy
import functools
import itertools
from collections.abc import Callable
from typing import Any, Self

from rotting import checks, random
from rotting.engines import desk as at
from rotting.engines import steps
from rotting.engines.desk import Desk
from rotting.engines.waiting import is_full, with_space
from rotting.online.sharing import Shared
from rotting.policies.base import Policy
from rotting.policies.parts.openings import closable
from rotting.state import grown, rebuild, values

_AHEAD = 8  # decisions between two parts of the work on the next tables


class Kept(Shared):
    """A player without its methods. Threads may share it."""

    # All there is: copies and pickles take it by these names. A look into a `__dict__` would make
    # every later access to an attribute slower.
    _KEPT = (
        *("policy", "arms", "horizon", "seed", "compiled", "_dated", "_start"),
        *("_capacity", "_reach", "_params", "_state", "_draw", "_desk"),
    )
    _MADE = ("_numbers", "_timed", "_assigned", "_block", "_calls", "_decisions", "_learn")
    __slots__ = (*_KEPT, *_MADE)

    policy: Policy
    arms: tuple[Any, ...]  # labels
    horizon: int | None
    seed: int
    compiled: bool
    _dated: bool | None  # whether times are dates, once that is known
    _start: int  # how many arms were open when it started
    _capacity: int  # decisions that the state has space for
    _reach: int  # pulls that the tables of the params reach
    _params: Any
    _state: Any
    _draw: random.Draw
    _desk: Desk

    def _fresh(self, params: Any, arms: int, capacity: int) -> Any:
        """A state at its start, whose arms can close."""
        return closable(self.policy.verbs.init(params, arms, capacity))

    def _begin(self, params: Any, state: Any, draw: random.Draw, desk: Desk, *space: int) -> None:
        """Put params and state in place and find the fastest way to call the verbs on them.

        `space` is capacity and reach, where they change. All is made first and put in place then,
        without a call in between, so that Ctrl-C finds the old or the new.
        """
        capacity, reach = space or (self._capacity, self._reach)
        numbers = getattr(self, "_numbers", None)
        if numbers is None or len(numbers) != len(self.arms):
            numbers = {label: number for number, label in enumerate(self.arms)}
        timed = desk.numbers[at.LIFETIME] < float("inf")
        assigned = desk.numbers[at.EXPLORE] > 0.0
        if not hasattr(self, "_gate"):
            self._share()
        calls: Any = getattr(self, "_calls", None)
        block: Any = None
        learn: Any = None
        decide: Callable[..., Any]
        if self.compiled:
            from rotting.engines.compiled import stepper

            calls = calls or stepper.calls_for(params, state, desk)
            parts, block = (params, state, draw, desk), getattr(self, "_block", None)
            before = () if block is None else self._parts()
            block = stepper.pack(parts, before, block)
            decide, learn = calls.decide, calls.learn
        else:
            decide, learn = _plain_calls(params, state, draw, desk)
        decisions = map(decide, itertools.repeat(block))
        self._params, self._state, self._draw, self._desk = params, state, draw, desk
        self._capacity, self._reach = capacity, reach
        self._set_limits(False)
        self._numbers, self._timed, self._assigned = numbers, timed, assigned
        self._calls, self._block = calls, block
        self._decisions, self._learn = decisions, learn

    def _parts(self) -> tuple[Any, ...]:
        return self._params, self._state, self._draw, self._desk

    def _work(self, what: int, rows: Any, rewards: Any, chances: Any) -> int:
        """A batch, compiled or not."""
        if self.compiled:
            from rotting.engines.compiled.stepper import ready

            return int(ready(self._calls, self._params)(self._block, what, rows, rewards, chances))
        return int(steps.work(*self._parts(), what, rows, rewards, chances))

    def _set_limits(self, ahead: bool) -> None:
        """Say up to where compiled code may decide; `ahead`: the next tables are made.

        Tables and state have space for twice what was decided: late rewards may force a policy to
        keep them all. From half of that on the next tables are made, a little at a time.
        """
        clock, half = self._desk.clock, self._reach // 2
        if not self.policy.tables:
            limits = self._capacity // 2, checks.EXACT
        elif self._desk.pulls.max() >= half:
            limits = 0, half
        elif ahead or self._desk.pulls.max() < half // 2:
            limits = self._capacity // 2, half if ahead else half // 2
        else:
            limits = min(self._capacity // 2, int(clock[at.DECIDED]) + _AHEAD), half
        clock[at.GROW_AT], clock[at.GROW_AT_PULL] = limits

    def _grow(self) -> None:
        """Twice the space where it is needed: tables go by pulls, the state by decisions."""
        params, capacity, reach = self._params, self._capacity, self._reach
        state, desk = self._state, self._desk
        if is_full(desk.waiting):
            desk = desk._replace(waiting=with_space(desk.waiting))
            desk.clock[at.UNHASHED] = 1
            self._begin(params, state, self._draw, desk)
            return
        if self.policy.tables and desk.pulls.max() >= reach // 2:
            reach *= 2
            params = prepared(self.policy, self._start, self.horizon, reach)
        if 2 * desk.clock[at.DECIDED] >= capacity:
            capacity *= 2
        if (capacity, reach) == (self._capacity, self._reach):
            self._set_limits(_prepare_ahead(self.policy, self._start, self.horizon, 2 * reach))
            return
        state = grown(state, self._fresh(params, len(self.arms), capacity))
        self._begin(params, state, self._draw, desk, capacity, reach)

    def _redraw(self, draw: random.Draw) -> None:
        """Go on with other random numbers, in place: compiled code knows the array's address."""

        def redraw() -> None:
            self._draw[:] = draw

        self._alone(redraw)

    def _snapshot(self) -> dict[str, Any]:
        """What is kept, by name, at one moment: no other thread changes these arrays."""

        def take() -> dict[str, Any]:
            kept = {name: getattr(self, name) for name in self._KEPT}
            for name in ("_state", "_desk"):
                arrays = (value.copy() for value in values(kept[name]))
                kept[name] = rebuild(kept[name], arrays)
            return {**kept, "_draw": self._draw.copy()}

        return self._alone(take)

    def __getstate__(self) -> dict[str, Any]:
        """All but the lock and the compiled calls, which hold addresses of this player's arrays."""
        more = getattr(self, "__dict__", {})  # of a subclass
        return {**more, **self._snapshot()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)
        self._begin(self._params, self._state, self._draw, self._desk)

    def __copy__(self) -> Self:
        """A copy shares nothing with the original: two players on one state would be no copy."""
        return copy.deepcopy(self)


def prepared(policy: Policy, arms: int, horizon: int | None, reach: int) -> Any:
    """The params of a policy: the same for all players that are alike."""
    try:
        return _prepared(policy, arms, horizon, reach)
    except TypeError:  # holds something that has no hash
        return policy.prepare(arms, horizon, reach)


@functools.lru_cache(maxsize=64)
def _prepared(policy: Policy, arms: int, horizon: int | None, reach: int) -> Any:
    return policy.prepare(arms, horizon, reach)


def _prepare_ahead(policy: Policy, arms: int, horizon: int | None, reach: int) -> bool:
    """A little of the work of `prepared`; whether all of it is done."""
    if policy.ahead(reach):
        prepared(policy, arms, horizon, reach)
        return True
    return False


def _plain_calls(
    params: Any, state: Any, draw: random.Draw, desk: Desk
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """`decide` and `learn` as plain Python, called as their compiled forms are."""

    def decide(block: None) -> tuple[int, int]:
        arm, pull = steps.decide(params, state, draw, desk)
        return int(arm), int(pull)

    def learn(block: None, arm: int, pull: int, reward: float) -> bool:
        return bool(steps.learn(params, state, desk, arm, pull, reward))

    return decide, learn
