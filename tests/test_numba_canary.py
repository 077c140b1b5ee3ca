"""A canary for new versions of numba: its private options that compiled policies rely on work.

Nothing of `rotting` is used here, so a failure speaks of the installed numba. Before its upper
bound in pyproject.toml is raised, these must pass with the new version, and so must all else.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from numba.core.errors import NumbaError
from numba.extending import overload

ADVICE = (
    f"numba {numba.__version__} {{}}, on which compiled policies rely: lower the upper bound of "
    "numba in pyproject.toml, or change rotting._engines.compiled"
)
OPTIONS: dict[str, Any] = {"_nrt": False, "no_cfunc_wrapper": True}


@pytest.fixture(autouse=True)
def as_users_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The usual level of optimisation; conftest.py sets a lower one."""
    monkeypatch.setattr(numba.config, "OPT", type(numba.config.OPT)(3))


class Inner(NamedTuple):
    counts: Any
    sums: Any


class Outer(NamedTuple):
    inner: Inner
    last: Any


def state() -> Outer:
    return Outer(Inner(np.zeros(3, dtype=np.int64), np.zeros(3)), np.zeros(1))


def add(state: Any, arm: int, reward: float) -> None:
    raise NotImplementedError("only its compiled form is called")


def play(state: Any, rewards: Any) -> int:
    for place in range(rewards.size):
        add(state, place % 3, rewards[place])
    return int(state.inner.counts.sum())


def _add(state: Any, arm: Any, reward: Any) -> Any:
    def body(state: Any, arm: Any, reward: Any) -> None:
        state.inner.counts[arm] += 1
        state.inner.sums[arm] += reward
        state.last[0] = reward

    return body


INLINED = {"forceinline": True, "no_cfunc_wrapper": True}
overload(add, strict=False, jit_options=INLINED)(_add)


def test_private_options_are_taken() -> None:
    """A removed option would be refused or, worse, ignored."""
    for name, value in OPTIONS.items():
        try:
            numba.njit(**{name: value})(lambda x: x + 1)(1)
        except Exception as error:
            pytest.fail(f"{ADVICE.format(f'no longer takes {name}')} ({error})")


def test_without_the_runtime_nothing_can_be_allocated() -> None:
    """`_nrt=False` still switches reference counting off: an allocation is then refused."""

    def allocates(n: int) -> float:
        return float(np.zeros(n).sum())

    assert numba.njit(allocates)(3) == 0.0
    try:
        numba.njit(_nrt=False)(allocates)(3)
    except (NumbaError, RuntimeError):
        return
    pytest.fail(ADVICE.format("passes over _nrt=False"))


def test_no_write_to_a_nested_state_is_lost() -> None:
    """An inlined overload writes to arrays in tuples in tuples."""
    rewards = np.arange(1.0, 8.0)
    made = state()
    count = numba.njit(**OPTIONS, nogil=True, error_model="numpy")(play)(made, rewards)
    said = ADVICE.format("loses writes to arrays in nested tuples")
    assert count == 7, said
    assert made.inner.counts.tolist() == [3, 2, 2], said
    assert made.inner.sums.tolist() == [1.0 + 4.0 + 7.0, 2.0 + 5.0, 3.0 + 6.0], said
    assert made.last.tolist() == [7.0], said


@pytest.mark.parametrize(
    ("option", "trace", "wanted"),
    [("forceinline", "alwaysinline", True), ("no_cfunc_wrapper", "@cfunc.", False)],
)
def test_options_change_the_code(option: str, trace: str, wanted: bool) -> None:
    """LLVM inlines; a function that C never calls has no C wrapper."""
    found = []
    for options in ({}, {option: True}):
        compiled = numba.njit(**options)(lambda x: x + 1)
        compiled(1)
        (code,) = compiled.inspect_llvm().values()
        found.append(trace in code)
    assert found == [not wanted, wanted], ADVICE.format(f"passes over {option}")


STEP = 1


def step() -> int:
    raise NotImplementedError("only its compiled form is called")


def _step() -> Any:
    def body() -> int:
        return STEP

    return body


overload(step, strict=False)(_step)


def test_an_overload_can_be_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numba freezes constants in compiled code, and keeps it until its cache is cleared."""
    from numba.core.registry import cpu_target

    def first() -> int:
        return step()

    def second() -> int:
        return step()

    assert numba.njit(first)() == 1
    monkeypatch.setitem(globals(), "STEP", 2)
    context = cpu_target.typing_context
    context.refresh()
    said = ADVICE.format("keeps what it compiled in another place")
    (template,) = context.resolve_value_type(step).templates
    assert template._impl_cache, said
    template._impl_cache.clear()
    assert numba.njit(second)() == 2, said


def test_a_cache_of_our_own_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A function's cache, and the files of it, can be replaced."""
    from numba.core.caching import FunctionCache

    class Files:
        def __init__(self) -> None:
            self.kept: dict[str, Any] = {}

        def load(self, key: Any) -> Any:
            return self.kept.get(repr(key))

        def save(self, key: Any, data: Any) -> None:
            self.kept[repr(key)] = data

    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    files = Files()
    said = ADVICE.format("has caches of another kind")
    for hits in (0, 1):
        compiled = numba.njit(**OPTIONS)(play)
        compiled._cache = FunctionCache(play)
        compiled._cache._cache_file = files
        compiled(state(), np.arange(3.0))
        assert sum(compiled.stats.cache_hits.values()) == hits, said
    assert len(files.kept) == 1, said
    assert all(path.is_dir() for path in tmp_path.rglob("*")), said
