"""The fingerprint of code sees everything that the code refers to."""

from __future__ import annotations

import dis
import enum
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rotting import Arm, NoNoise, Scenario, models, policies, simulate
from rotting._engines.compiled.fingerprint import _globals_of, _nested, fingerprint_of
from rotting._engines.loop import play
from rotting.policies.parts import openings


def test_fingerprint_sees_constants_and_functions() -> None:
    scope: dict[str, object] = {"C": 1.0, "__name__": "somewhere"}
    exec("def g(x):\n    return x + C\ndef f(x):\n    return g(x)", scope)
    before = fingerprint_of([scope["f"]]).digest  # type: ignore[list-item]
    scope["C"] = 2.0
    after = fingerprint_of([scope["f"]]).digest  # type: ignore[list-item]
    assert before != after
    scope["C"] = 1.0
    assert fingerprint_of([scope["f"]]).digest == before  # type: ignore[list-item]


def digest_of(text: str, scope: dict[str, Any]) -> str | None:
    """The fingerprint of f, made from a text in a module's scope."""
    exec(text, scope)
    return fingerprint_of([scope["f"]]).digest


def test_fingerprint_follows_every_path() -> None:
    """Submodules, functions wrapped by numba, closures of one factory, and opaque values."""
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


def test_fingerprint_sees_default_arguments() -> None:
    """Their values: of a function itself, of one it calls, and of long arrays in full."""
    long = np.zeros(5000)
    other = long.copy()
    other[2500] = 1.0
    marks = [
        digest_of(f"def g(x, k={k}):\n    return x + k\ndef f(x, j={j}):\n    return g(x) + j", {})
        for k, j in ((1, 1), (2, 1), (1, 2), (1.0, 1))
    ]
    marks += [digest_of("def f(x, a=A):\n    return x + a[0]", {"A": a}) for a in (long, other)]
    marks += [digest_of(f"def f(x, *, k={k}):\n    return x + k", {}) for k in (1, 2)]
    assert None not in marks
    assert len(set(marks)) == len(marks)


def test_fingerprint_passes_over_docstrings_and_attributes() -> None:
    """Prose, and a global that has the name of an attribute, change nothing."""
    text = 'def f(state):\n    """{}"""\n    return state.reward + {}'
    before = digest_of(text.format("One.", 7), {})
    assert digest_of(text.format("Another.", 7), {}) == before
    assert digest_of(text.format("One.", 7), {"reward": object()}) == before
    assert digest_of(text.format("One.", 8), {}) != before
    # a constant that is the docstring as well
    text = 'def f(state):\n    """{0}"""\n    return "{0}"'
    assert digest_of(text.format("One."), {}) != digest_of(text.format("Another."), {})


def test_fingerprint_sees_the_members_of_an_enum() -> None:
    marks = set()
    for value in (1, 2):
        scope: dict[str, Any] = {"IntEnum": enum.IntEnum}
        exec(f"class Mode(IntEnum):\n    FAST = {value}\nFAST = Mode.FAST", scope)
        marks.add(digest_of("def f(x):\n    return Mode.FAST", scope))
        marks.add(digest_of("def f(x):\n    return FAST", scope))
    assert len(marks) == 4


def test_global_names_are_those_that_dis_finds() -> None:
    """The bytecode is read by hand, which is faster."""
    verbs = [verb for kind in policies.POLICIES.values() for verb in kind.verbs.compiled]
    found: set[str] = set()
    for function in (play, *verbs):
        code = function.__code__
        names = {
            instruction.argval
            for each in _nested(code)
            for instruction in dis.get_instructions(each)
            if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME")
        }
        assert set(_globals_of(code)) == names
        found |= names
    assert len(found) > 50
    many = "\n".join(f"    x = x + NAME{number}" for number in range(300))  # EXTENDED_ARG
    scope: dict[str, Any] = {}
    exec(f"def f(x):\n{many}\n    return x", scope)
    assert set(_globals_of(scope["f"].__code__)) == {f"NAME{number}" for number in range(300)}


def set_name(scope: dict[str, Any]) -> None:
    scope["C"] = 2.0


def set_array(scope: dict[str, Any]) -> None:
    scope["A"][1] = 5.0


def set_module(scope: dict[str, Any]) -> None:
    scope["m"].D = 2.0


def set_cell(scope: dict[str, Any]) -> None:
    scope["set_cell"](3.0)


def set_defaults(scope: dict[str, Any]) -> None:
    scope["g"].__defaults__ = (2.0,)


def set_code(scope: dict[str, Any]) -> None:
    scope["g"].__code__ = (lambda x, k=1.0: x - k).__code__


def set_function(scope: dict[str, Any]) -> None:
    scope["g"] = lambda x, k=1.0: x - k


def shadow(scope: dict[str, Any]) -> None:
    scope["min"] = max


@pytest.mark.parametrize(
    "change",
    [set_name, set_array, set_module, set_cell, set_defaults, set_code, set_function, shadow],
)
def test_a_look_that_is_kept_notices_a_change(change: Callable[[dict[str, Any]], None]) -> None:
    """Without another digest; and the digest differs too."""
    module = types.ModuleType("m")
    module.D = 1.0  # type: ignore[attr-defined]
    scope: dict[str, Any] = {"C": 1.0, "A": np.zeros(3), "m": module, "__name__": "somewhere"}
    exec(
        "def make(c):\n"
        "    def h(x):\n        return x + c\n"
        "    def set_cell(value):\n        nonlocal c\n        c = value\n"
        "    return h, set_cell\n"
        "h, set_cell = make(1.0)\n"
        "def g(x, k=1.0):\n    return x + k + C\n"
        "def f(x):\n    return min(g(x), h(x)) + A[1] + m.D",
        scope,
    )
    before = fingerprint_of([scope["f"]])
    scope["unrelated"] = module.unrelated = 1  # type: ignore[attr-defined]
    assert before.whole.unchanged()
    change(scope)
    assert not before.whole.unchanged()
    assert fingerprint_of([scope["f"]]).digest != before.digest


def test_arrays_in_tuples_keyword_defaults_and_variables_not_given_yet() -> None:
    table = np.array([1.0])
    scope: dict[str, Any] = {"T": (table, (table.copy(),)), "__name__": "somewhere"}
    exec("def f(x, *, k=1):\n    return x + T[0][0] + k", scope)
    seen = fingerprint_of([scope["f"]]).whole
    assert seen.unchanged()
    table[0] = 2.0
    assert not seen.unchanged()
    seen = fingerprint_of([scope["f"]]).whole
    scope["f"].__kwdefaults__ = {"k": 2}
    assert not seen.unchanged()

    def outer() -> Callable[[], Any]:
        def inner() -> Any:
            return later

        if not table.size:
            later = 1
        return inner

    assert fingerprint_of([outer()]).digest is None


def test_an_edited_variant_is_compiled_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """A variant stands in a table, where no function refers to it by name."""
    from rotting._engines.compiled import compiler

    arms = [Arm(models.Constant(mean)) for mean in (0.2, 0.8, 0.5)]
    scenario = Scenario(arms, NoNoise(), 300, openings={1: (1, 50)})

    def pulls() -> list[int]:
        found: list[int] = simulate(policies.UCB1(), scenario, runs=1).pulls[0].tolist()
        return found

    before, known = pulls(), dict(compiler._DONE)
    assert before == pulls()
    assert all(compiler._DONE[key] is done for key, done in known.items())
    with monkeypatch.context() as patch:
        patch.setitem(openings.is_open.table.variants, openings.OpenArms, lambda opening, arm: True)
        with pytest.raises(ValueError, match="an arm that is open"):
            pulls()
    assert before == pulls()


def test_what_packs_arguments_is_part_of_the_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    """The modules that make machine code themselves are in no function that the digest follows."""
    from rotting._engines.compiled import compiler

    policy = policies.UCB1()
    params = policy.prepare(3, 10, 10)
    state = policy.verbs.init(params, 3, 10)
    before = compiler._fingerprint(play, params, state, "").digest
    monkeypatch.setattr(compiler, "_machinery", lambda: "another version")
    assert compiler._fingerprint(play, params, state, "").digest != before
