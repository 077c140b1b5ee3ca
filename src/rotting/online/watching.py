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


Hook = Callable[[Event], object]


class Watched:
    """What comes before a player's own class while it is watched."""

    __slots__ = ()
    _unwatched: type

    def _tell(self, call: str, work: Callable[[], Any], **about: Any) -> Any:
        """Do the work, and tell the hook."""
        about = {"decision": None, "reward": None, "arm": None, **about}
        hook: Hook | None = getattr(self, "_hook", None)
        began = perf_counter()
        try:
            found = work()
        except Exception as error:
            if hook is not None:
                took = perf_counter() - began
                hook(Event(call, **about, size=0, seconds=took, error=error))
            raise
        took = perf_counter() - began
        if call in _DECIDING:
            about["decision"] = found
        if hook is not None:
            hook(Event(call, **about, size=_size(call, found, about), seconds=took, error=None))
        return found

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickles and copies are of the usual class: nobody watches them."""
        return _new, (self._unwatched,), self.__getstate__()


def _new(kind: Any) -> Any:
    """A player without anything, for `__setstate__`."""
    return kind.__new__(kind)


_DECIDING = ("select", "select_many")
# what the arguments of the other methods are about, in their order
_ABOUT: dict[str, tuple[str, ...]] = {
    "select": (),
    "select_many": (),
    "update": ("decision", "reward"),
    "update_many": ("decisions", "rewards"),
    "drop": ("decision",),
    "learn": ("arms", "rewards"),
    "expire": (),
    "add": ("label",),
    "retire": ("label",),
    "restore": ("label",),
}
_FIELDS = {"decisions": "decision", "rewards": "reward", "label": "arm"}


def _size(call: str, found: Any, about: dict[str, Any]) -> int:
    if call in ("learn", "expire"):
        return int(found)
    if call == "select_many":
        return len(found)
    return len(about["reward"]) if call == "update_many" else 1


def _watched_method(name: str, usual: Any) -> Any:
    """A method that does what it did, and tells."""

    @functools.wraps(usual)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        about = {**dict(zip(_ABOUT[name], args, strict=False)), **kwargs}
        told = {_FIELDS.get(key, key): about[key] for key in _ABOUT[name] if key in about}
        told.pop("arms", None)
        return self._tell(name, lambda: usual(self, *args, **kwargs), **told)

    return method


@functools.cache
def watched(kind: type) -> type:
    """The class of a watched player, for one of this class."""
    usual: Any = kind
    made: dict[str, Any] = {name: _watched_method(name, getattr(kind, name)) for name in _ABOUT}
    # a player that is loaded by this one's class is another, which nobody watches
    made["_restored"] = classmethod(lambda cls, *saved: usual._restored(*saved))
    made |= {"__slots__": (), "__module__": kind.__module__, "_unwatched": kind}
    return type(kind.__name__, (Watched, kind), made)
