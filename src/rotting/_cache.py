"""A cache of limited size in bytes, which drops the entry used longest ago (LRU)."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


class BoundedCache(Generic[V]):
    """Values by key, up to `most` bytes in total (LRU).

    `size` returns the bytes of a value. A value larger than a quarter of the cache is not kept: it
    would push out all others. A key that cannot be hashed is never found and never kept.

    >>> cache = BoundedCache[str](most=8, size=len)
    >>> for word in ("a", "bb", "cc", "dd", "ee"):
    ...     cache.keep(word, word)
    >>> cache.find("a"), cache.find("ee")
    (None, 'ee')
    """

    def __init__(self, most: int, size: Callable[[V], int]) -> None:
        self.most, self._size = most, size
        self._kept: OrderedDict[Hashable, tuple[V, int]] = OrderedDict()
        self._held = 0
        self._lock = threading.Lock()

    def find(self, key: Hashable) -> V | None:
        """The value of a key, or None."""
        if not _hashable(key):
            return None
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            self._kept.move_to_end(key)
            return found[0]

    def fits(self, size: int) -> bool:
        """Whether a value of this size would be kept."""
        return 4 * size <= self.most

    def keep(self, key: Hashable, value: V) -> None:
        """Keep a value unless it is too large, and drop the entries used longest ago."""
        size = self._size(value)
        if not self.fits(size) or not _hashable(key):
            return
        with self._lock:
            if key in self._kept:
                self._held -= self._kept.pop(key)[1]
            self._kept[key] = value, size
            self._held += size
            while self._held > self.most:
                self._held -= self._kept.popitem(last=False)[1][1]

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()
            self._held = 0


def _hashable(key: Hashable) -> bool:
    try:
        hash(key)
    except TypeError:
        return False
    return True
