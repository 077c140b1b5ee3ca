"""The fingerprint of code sees everything that the code refers to."""

from __future__ import annotations

import types
from typing import Any

from rotting.engines.compiled.fingerprint import fingerprint


def test_fingerprint_sees_constants_and_functions() -> None:
    scope: dict[str, object] = {"C": 1.0, "__name__": "somewhere"}
    exec("def g(x):\n    return x + C\ndef f(x):\n    return g(x)", scope)
    before = fingerprint([scope["f"]])  # type: ignore[list-item]
    scope["C"] = 2.0
    after = fingerprint([scope["f"]])  # type: ignore[list-item]
    assert before != after
    scope["C"] = 1.0
    assert fingerprint([scope["f"]]) == before  # type: ignore[list-item]


def digest_of(text: str, scope: dict[str, Any]) -> str | None:
    """The fingerprint of f, made from a text in a module's scope."""
    exec(text, scope)
    return fingerprint([scope["f"]])


def test_fingerprint_follows_every_path() -> None:
    """Submodules, functions wrapped by numba, closures of one factory, and what it cannot know."""
    import numba

    outer, inner = types.ModuleType("outer"), types.ModuleType("outer.inner")
    outer.inner = inner  # type: ignore[attr-defined]
    text = "def f(x):\n    return x + outer.inner.F"
    marks = set()
    for whole in (1, 2):
        inner.F = whole  # type: ignore[attr-defined]
        marks.add(digest_of(text, {"outer": outer}))
    for value in (1.0, 2.0):
        scope: dict[str, Any] = {"C": value}
        exec("def g(x):\n    return x + C", scope)
        scope["g"] = numba.njit(scope["g"])
        marks.add(digest_of("def f(x):\n    return g(x)", scope))
    factory = "def player_of(a):\n    def g(x):\n        return x + a\n    return g\n"
    for second in (2, 3):
        scope = {}
        exec(factory + f"g, h = player_of(1), player_of({second})", scope)
        marks.add(digest_of("def f(x):\n    return g(x) + h(x)", scope))
    assert None not in marks
    assert len(marks) == 6
    assert digest_of("def f(x):\n    return thing.value", {"thing": object()}) is None
