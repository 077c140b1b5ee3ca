"""What a player keeps: params and state in place, with space to grow, and copies of it all."""

from __future__ import annotations

import copy
import itertools
from typing import Any, Self

from rotting import random
from rotting.arrays import IntArray
from rotting.online.sharing import Shared
from rotting.policies.base import Policy
from rotting.state import grown, leaves, rebuild

_CHANGING = ("_counts", "_outstanding", "_draw", "_turn")  # beside the state


class Kept(Shared):
    """A player without its methods. Threads may share it."""

    # All there is: copies and pickles take it by these names. A look into a `__dict__` would make
    # every later access to an attribute slower.
    _KEPT = (
        *("policy", "arms", "horizon", "seed", "compiled", "_counts", "_outstanding", "_decided"),
        *("_capacity", "_reach", "_params", "_state", "_draw", "_turn"),
    )
    _MADE = ("_numbers", "_grow_at", "_grow_at_pull", "_stepper")
    _CALLS = ("_block", "_decisions", "_learn")
    __slots__ = (*_KEPT, *_MADE, *_CALLS)

    policy: Policy
    arms: tuple[Any, ...]  # labels
    horizon: int | None
    seed: int
    compiled: bool
    _counts: list[int]  # pulls of each arm
    _outstanding: dict[tuple[int, int], None]  # a set of (arm, pull), of which one is deleted fast
    _decided: int
    _capacity: int  # decisions that the state has space for
    _reach: int  # pulls that the tables of the params reach

    def _begin(
        self, params: Any, state: Any, draw: random.Draw, turn: IntArray, *space: int
    ) -> None:
        """Put params and state in place and find the fastest way to call the verbs on them.

        `space` is capacity and reach, where they change. All is made first and put in place then,
        without a call in between, so that Ctrl-C finds the old or the new.
        """
        capacity, reach = space or (self._capacity, self._reach)
        numbers = {label: number for number, label in enumerate(self.arms)}
        outstanding = dict.fromkeys(self._outstanding)
        if not hasattr(self, "_gate"):
            self._share()
        stepper: Any = None
        block: Any = None
        learn: Any = None
        decisions: Any = None
        if self.compiled:
            from rotting.engines.compiled.stepper import Stepper

            before = getattr(self, "_stepper", None)
            new = before.moved if before else Stepper
            stepper = new(params, state, draw, turn)  # it keeps the arrays in place
            block, learn = stepper.block, stepper.learn
            decisions = map(stepper.decide, itertools.repeat(block))
        self._params, self._state, self._draw, self._turn = params, state, draw, turn
        self._capacity, self._reach = capacity, reach
        # Tables and state have space for twice what was decided: late rewards may force a
        # policy to keep them all.
        self._grow_at, self._grow_at_pull = capacity // 2, reach // 2
        self._numbers, self._outstanding = numbers, outstanding
        self._stepper, self._block = stepper, block
        self._decisions, self._learn = decisions, learn

    def _grow(self) -> None:
        """Twice the space where it is needed: tables go by pulls, the state by decisions."""
        params, arms, capacity, reach = self._params, len(self.arms), self._capacity, self._reach
        if max(self._counts) >= self._grow_at_pull:
            reach *= 2
            params = self.policy.prepare(arms, self.horizon, reach)
        if 2 * self._decided >= capacity:
            capacity *= 2
        larger = grown(self._state, self.policy.verbs.init(params, arms, capacity))
        self._begin(params, larger, self._draw, self._turn, capacity, reach)

    def _redraw(self, draw: random.Draw) -> None:
        """Go on with other random numbers, in place: compiled code knows the array's address."""

        def redraw() -> None:
            self._draw[:] = draw

        self._alone(redraw)

    def _snapshot(self) -> dict[str, Any]:
        """What is kept, by name, at one moment: no other thread changes these arrays."""

        def take() -> dict[str, Any]:
            kept = {name: getattr(self, name) for name in self._KEPT}
            arrays = (leaf.value.copy() for leaf in leaves(self._state))
            changing = {name: kept[name].copy() for name in _CHANGING}
            return {**kept, **changing, "_state": rebuild(self._state, arrays)}

        return self._alone(take)

    def __getstate__(self) -> dict[str, Any]:
        """All but the lock and the compiled calls, which hold addresses of this player's arrays."""
        more = getattr(self, "__dict__", {})  # of a subclass
        return {**more, **self._snapshot()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)
        self._begin(self._params, self._state, self._draw, self._turn)

    def __copy__(self) -> Self:
        """A copy shares nothing with the original: two players on one state would be no copy."""
        return copy.deepcopy(self)
