"""Hooks: a user's function that is called after every call of a player."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])


class Event(NamedTuple):
    """A call of a player that has returned or failed, as `Player.watch` reports it.

    Attributes:
        call: The name of the method: "select", "update", "select_many", ...
        decision: The decision that was made, rewarded or dropped, or those of a batch.
        reward: The reward as given, or those of a batch.
        arm: The label given to `add`, `retire` or `restore`.
        size: The number of decisions, rewards, pulls of history or arms; 0 if the call failed.
        seconds: The duration, including the wait for other threads.
        error: The exception that it raised.
        key: The key given to `select` or `forget`, in an audience.
    """

    call: str
    decision: Any
    reward: Any
    arm: Any
    size: int
    seconds: float
    error: Exception | None
    key: Any = None


Hook = Callable[[Event], object]

_DECIDING = ("select", "select_many")


def reported(method: F) -> F:
    """Report each call of a player's method to the hook of its core, if there is one."""
    call = method.__name__.removeprefix("_")
    names = tuple(inspect.signature(method).parameters)

    @functools.wraps(method)
    def reporting(self: Any, *args: Any, **kwargs: Any) -> Any:
        hook: Hook | None = self.core.hook
        if hook is None:
            return method(self, *args, **kwargs)
        began = perf_counter()
        try:
            found = method(self, *args, **kwargs)
        except Exception as error:
            took = perf_counter() - began
            given = {**dict(zip(names[1:], args, strict=False)), **kwargs}
            hook(_event(call, given, None, took, error))
            raise
        took = perf_counter() - began
        given = {**dict(zip(names[1:], args, strict=False)), **kwargs}
        hook(_event(call, given, found, took, None))
        return found

    return cast(F, reporting)


def _event(
    call: str, given: dict[str, Any], found: Any, seconds: float, error: Exception | None
) -> Event:
    """The event of a call, from its arguments by name."""
    decision = given.get("decision", given.get("decisions"))
    reward = given.get("reward", given.get("rewards"))
    size = 0 if error is not None else _size(call, found, reward)
    if call in _DECIDING and error is None:
        decision = found
    return Event(call, decision, reward, given.get("label"), size, seconds, error, given.get("key"))


def _size(call: str, found: Any, reward: Any) -> int:
    if call in ("learn", "expire"):
        return int(found)
    if call == "select_many":
        return len(found)
    return len(reward) if call == "update_many" else 1
