"""Hooks: a function of the user's is told of every call of a player, for counting and timing.

A player that nobody watches pays nothing: its methods do not ask whether there is a hook. One that
is watched is of another class, made from its own, whose methods time the usual ones and tell.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple


class Event(NamedTuple):
    """A call of a player that has returned, or failed."""

    call: str  # "select", "update", "select_many", ...: the name of the method
    decision: Any  # what was decided, rewarded or dropped: one decision, or those of a batch
    reward: Any  # as it was given: a number, or those of a batch
    arm: Any  # the label that add, retire and restore are about
    size: int  # how many decisions, rewards, pulls of history or arms; 0 if it failed
    seconds: float  # that it took, waiting for other threads included
    error: Exception | None  # that it raised
    key: Any = None  # of an audience: the key that select and forget are about


Hook = Callable[[Event], object]


class Watched:
    """What comes before a player's own class while it is watched."""

    __slots__ = ()
    _unwatched: type

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickles and copies are of the usual class: nobody watches them."""
        return _new, (self._unwatched,), self.__getstate__()


def _new(kind: Any) -> Any:
    """A player without anything, for `__setstate__`."""
    return kind.__new__(kind)


Given = tuple[int, str] | None  # place and name of an argument

# by method: the arguments that are the decision, the reward and the arm
_ABOUT: dict[str, tuple[Given, Given, Given]] = {
    "select": (None, None, None),
    "select_many": (None, None, None),
    "update": ((0, "decision"), (1, "reward"), None),
    "update_many": ((0, "decisions"), (1, "rewards"), None),
    "drop": ((0, "decision"), None, None),
    "learn": (None, (1, "rewards"), None),
    "expire": (None, None, None),
    "add": (None, None, (0, "label")),
    "retire": (None, None, (0, "label")),
    "restore": (None, None, (0, "label")),
    "forget": (None, None, None),  # of an audience, as the keys below
}
_KEY = {"select": (0, "key"), "forget": (0, "key")}


def _argument(given: Given, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if given is None:
        return None
    place, name = given
    return args[place] if place < len(args) else kwargs.get(name)


def _size(call: str, found: Any, reward: Any) -> int:
    if call in ("learn", "expire"):
        return int(found)
    if call == "select_many":
        return len(found)
    return len(reward) if call == "update_many" else 1


def _watched_method(name: str, usual: Any, keys: bool) -> Any:
    """A method that does what it did, and tells."""
    deciding = name in ("select", "select_many")
    about = _ABOUT[name]
    whose: Given = _KEY.get(name) if keys else None

    @functools.wraps(usual)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        hook: Hook | None = self._hook
        began = perf_counter()
        try:
            found = usual(self, *args, **kwargs)
        except Exception as error:
            took = perf_counter() - began
            if hook is not None:
                decision, reward, arm, key = [
                    _argument(one, args, kwargs) for one in (*about, whose)
                ]
                hook(Event(name, decision, reward, arm, 0, took, error, key))
            raise
        took = perf_counter() - began
        if hook is not None:
            decision, reward, arm, key = [_argument(one, args, kwargs) for one in (*about, whose)]
            size = _size(name, found, reward)
            hook(Event(name, found if deciding else decision, reward, arm, size, took, None, key))
        return found

    return method


@functools.cache
def watched(kind: type) -> type:
    """The class of a watched player, for one of this class."""
    usual: Any = kind
    keys = hasattr(kind, "forget")
    made: dict[str, Any] = {
        name: _watched_method(name, getattr(kind, name), keys)
        for name in _ABOUT
        if hasattr(kind, name)
    }
    # a player that is loaded by this one's class is another, which nobody watches
    made["_restored"] = classmethod(lambda cls, *saved: usual._restored(*saved))
    made |= {"__slots__": (), "__module__": kind.__module__, "_unwatched": kind}
    return type(kind.__name__, (Watched, kind), made)
