"""What a player keeps: its fields, how they grow, and how they are copied and pickled."""

from __future__ import annotations

import copy
import functools
import itertools
from collections.abc import Callable
from typing import Any, Self

from rotting import random
from rotting.live import ledger as at
from rotting.live import steps
from rotting.live.ledger import Desk, is_full, with_space
from rotting.online.growing import expected_sizes, next_sizes, prepared, set_limits
from rotting.online.sharing import Shared
from rotting.policies.base import Policy
from rotting.policies.parts.openings import closable
from rotting.state import grown, rebuild, values


class Kept(Shared):
    """A player without its methods. Threads may share it."""

    # All there is: copies and pickles take it by these names. A look into a `__dict__` would make
    # every later access to an attribute slower.
    _KEPT: tuple[str, ...] = (
        *("policy", "arms", "horizon", "seed", "compiled", "_dated", "_start"),
        *("_capacity", "_reach", "_params", "_state", "_draw", "_desk"),
    )
    _MADE = (
        *("_next", "_numbers", "_timed", "_assigned"),
        *("_block", "_calls", "_decide", "_decisions", "_learn"),
    )
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
    _block: Any  # addresses of all arrays, for compiled code
    _next: Any  # larger params and an empty state, with their sizes, made ahead

    def _fresh(self, params: Any, arms: int, capacity: int) -> Any:
        """A state at its start, whose arms can close."""
        return closable(self._counted(self.policy.verbs.init(params, arms, capacity)))

    def _counted(self, state: Any) -> Any:
        """A state that counts as it has to: by key, in an audience."""
        return state

    def _begin(self, params: Any, state: Any, draw: random.Draw, desk: Desk, *space: int) -> None:
        """Put params and state in place and find the fastest way to call the verbs on them.

        `space` is capacity and reach, where they change. All is made first and put in place then,
        without a call in between, so that Ctrl-C finds the old or the new: compiled code knows the
        addresses of the arrays, which must not be let go before it is told of others.
        """
        capacity, reach = space or (self._capacity, self._reach)
        numbers = getattr(self, "_numbers", None)
        if numbers is None or len(numbers) != len(self.arms):
            numbers = _numbers_of(self.arms)
        timed = desk.numbers[at.LIFETIME] < float("inf")
        assigned = desk.numbers[at.EXPLORE] > 0.0
        if self.policy.verbs.reopen is None:
            desk.clock[at.SILENT] = 0  # no arm can be hidden from this policy
        if not hasattr(self, "_gate"):
            self._share()
        calls: Any = getattr(self, "_calls", None)
        parts, block = (params, state, draw, desk), getattr(self, "_block", None)
        learn: Any = None
        decide: Callable[..., Any]
        if self.compiled:
            from rotting.engines.compiled import stepper

            calls = calls or stepper.calls_for(params, state, desk)
            block = stepper.pack(parts, () if block is None else self._parts(), block)
            decide, learn = calls.decide, calls.learn
        else:
            decide, learn = _plain_calls(*parts)
        decisions = map(decide, itertools.repeat(block))
        set_limits(desk, capacity, reach if self.policy.tables else 0)
        self._params, self._state, self._draw, self._desk = params, state, draw, desk
        self._capacity, self._reach, self._next = capacity, reach, None
        self._numbers, self._timed, self._assigned = numbers, timed, assigned
        self._calls, self._block = calls, block
        self._decide, self._decisions, self._learn = decide, decisions, learn

    def go_compiled(self) -> None:
        """Go on with compiled verbs, from the same state: for a player that began without."""

        def change() -> None:
            if not self.compiled:
                self.compiled = True
                try:
                    self._begin(*self._parts())
                except BaseException:
                    self.compiled = False
                    raise

        self._alone(change)

    def _parts(self) -> tuple[Any, Any, random.Draw, Desk]:
        return self._params, self._state, self._draw, self._desk

    def _work(self, what: int, rows: Any, rewards: Any, chances: Any) -> int:
        """A batch, compiled or not."""
        if self.compiled:
            from rotting.engines.compiled.stepper import ready

            return int(ready(self._calls, self._params)(self._block, what, rows, rewards, chances))
        return int(steps.work(*self._parts(), what, rows, rewards, chances))

    def _grow(self) -> None:
        """Twice the space where it is needed, or something towards it: see `online.growing`."""
        desk, tables = self._desk, self.policy.tables
        limit = functools.partial(set_limits, desk, self._capacity, self._reach if tables else 0)
        if is_full(desk.waiting):
            desk = desk._replace(waiting=with_space(desk.waiting))
            desk.clock[at.UNHASHED] = 1
            self._begin(self._params, self._state, self._draw, desk)
            return
        capacity, reach = next_sizes(desk, self._capacity, self._reach, tables)
        due = (capacity, reach) != (self._capacity, self._reach)
        if not due:
            capacity, reach = expected_sizes(desk, self._capacity, self._reach, tables)
            if reach > self._reach and not self.policy.ahead(reach):
                limit(soon=True)
                return
        if not self._made_ahead((capacity, reach), due):
            limit(soon=True)
            return
        if not due:
            limit(made=capacity)
            return
        _, params, larger, block = self._next
        if block is None:
            state = self._state if larger is None else grown(self._state, larger)
            self._begin(params, state, self._draw, desk, capacity, reach)
            return
        set_limits(desk, capacity, reach if tables else 0)
        self._params, self._reach, self._next = params, reach, None
        self._block[:] = block

    def _made_ahead(self, sizes: tuple[int, int], due: bool) -> bool:
        """Make the next params, then what goes with them; each in a call of its own unless due.

        That is a larger state, or, where the state stays as it is, the block of addresses.
        """
        if self._next is None or self._next[0] != sizes:
            params = self._params
            if sizes[1] > self._reach:
                params = prepared(self.policy, self._start, self.horizon, sizes[1])
            self._next = sizes, params, None, None
            if not due and sizes[1] > self._reach:
                return False
        _, params, larger, block = self._next
        if self.policy.grows and larger is None:
            larger = self._fresh(params, len(self.arms), sizes[0])
        elif not self.policy.grows and block is None and self.compiled:
            from rotting.engines.compiled.stepper import pack

            block = pack((params, *self._parts()[1:]), self._parts(), self._block)
        self._next = sizes, params, larger, block
        return True

    def _redraw(self, draw: random.Draw) -> None:
        """Go on with other random numbers, in place: compiled code knows the array's address."""

        def redraw() -> None:
            self._draw[:] = draw

        self._alone(redraw)

    def _snapshot(self) -> dict[str, Any]:
        """What is kept, by name, at one moment: no other thread changes these arrays."""

        return self._alone(self._taken)

    def _taken(self) -> dict[str, Any]:
        """The same, for who holds the player already."""
        kept = {name: getattr(self, name) for name in self._KEPT}
        for name in ("_state", "_desk"):
            arrays = (value.copy() for value in values(kept[name]))
            kept[name] = rebuild(kept[name], arrays)
        return {**kept, **self._copied(), "_draw": self._draw.copy()}

    def _copied(self) -> dict[str, Any]:
        """Copies of what else is kept and changes in place."""
        return {}

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


@functools.lru_cache(maxsize=256)
def _numbers_of(arms: tuple[Any, ...]) -> dict[Any, int]:
    """The numbers of the arms by their labels: the same for all players that have the same."""
    return {label: number for number, label in enumerate(arms)}


def _plain_calls(
    params: Any, state: Any, draw: random.Draw, desk: Desk
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """`decide` and `learn` as plain Python, called as their compiled forms are."""

    def decide(block: None, key: int = 0) -> tuple[int, int]:
        arm, pull = steps.decide(params, state, draw, desk, key)
        return int(arm), int(pull)

    def learn(block: None, arm: int, pull: int, reward: float, key: int = 0) -> bool:
        return bool(steps.learn(params, state, desk, arm, pull, reward, key))

    return decide, learn
