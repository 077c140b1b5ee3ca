"""The bounded cache: what it keeps, and what goes first."""

from __future__ import annotations

from typing import Any

from rotting._cache import BoundedCache


def filled(words: str, most: int = 8) -> BoundedCache[str]:
    cache = BoundedCache[str](most=most, size=len)
    for word in words.split():
        cache.keep(word, word)
    return cache


def kept(cache: BoundedCache[Any], words: str) -> str:
    """Which of the words are found."""
    return " ".join(word for word in words.split() if cache.find(word) is not None)


def test_what_was_used_longest_ago_goes_first() -> None:
    cache = filled("aa bb cc dd")
    assert cache.find("aa") == "aa"  # used again
    cache.keep("ee", "ee")
    assert kept(cache, "aa bb cc dd ee") == "aa cc dd ee"
    cache.keep("cc", "CC")  # kept anew: a use as well, and counted once
    cache.keep("f", "f")
    assert kept(cache, "aa cc dd ee f") == "cc dd ee f"
    assert cache.find("cc") == "CC"


def test_it_never_holds_more_than_it_may() -> None:
    cache = BoundedCache[bytes](most=100, size=len)
    sizes = {}
    for n in range(300):
        size = (7 * n) % 26
        cache.keep(n % 40, bytes(size))
        sizes[n % 40] = size
        held = {key: cache.find(key) for key in sizes}
        assert sum(len(value) for value in held.values() if value is not None) <= 100
    assert sum(value is not None for value in held.values()) > 3


def test_a_value_larger_than_a_quarter_is_not_kept() -> None:
    cache = filled("aa bb")
    cache.keep("ccc", "ccc")
    assert kept(cache, "aa bb ccc") == "aa bb"
    assert cache.fits(2)
    assert not cache.fits(3)


def test_keys_that_cannot_be_hashed_are_never_found() -> None:
    cache: BoundedCache[str] = filled("aa")
    wrong: Any = ["a"]
    cache.keep(wrong, "b")
    assert cache.find(wrong) is None
    assert cache.find(("a", wrong)) is None
    assert kept(cache, "aa") == "aa"


def test_clearing_gives_the_space_back() -> None:
    cache = filled("aa bb cc dd")
    cache.clear()
    assert kept(cache, "aa bb cc dd") == ""
    for word in ("ee", "ff", "gg", "hh"):
        cache.keep(word, word)
    assert kept(cache, "ee ff gg hh") == "ee ff gg hh"
