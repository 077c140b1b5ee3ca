"""Names that go: a warning until they are gone.

A name stays for at least one minor release after the one that deprecates it. The tests refuse a
release in which a name is still there that should have gone.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import NamedTuple, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class Deprecation(NamedTuple):
    """A name, the versions that deprecate and remove it, and what to write instead."""

    name: str
    since: str
    removed: str
    instead: str

    def __str__(self) -> str:
        return (
            f"{self.name} is deprecated since {self.since} and will be removed in {self.removed}; "
            f"use {self.instead}"
        )


DEPRECATIONS: list[Deprecation] = []


def deprecated(
    since: str, removed: str, instead: str
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Mark a function that is going to be removed; each call warns, with the caller's line.

    Args:
        since: The version that deprecates it.
        removed: The version in which it is gone.
        instead: What to write in its place.

    >>> @deprecated("0.3.0", "0.5.0", "new_name")
    ... def old_name() -> int:
    ...     return 1
    >>> str(DEPRECATIONS.pop())
    'old_name is deprecated since 0.3.0 and will be removed in 0.5.0; use new_name'
    """

    def mark(function: Callable[P, R]) -> Callable[P, R]:
        about = Deprecation(function.__qualname__, since, removed, instead)
        DEPRECATIONS.append(about)

        @functools.wraps(function)
        def warned(*args: P.args, **kwargs: P.kwargs) -> R:
            warnings.warn(str(about), DeprecationWarning, stacklevel=2)
            return function(*args, **kwargs)

        return warned

    return mark
