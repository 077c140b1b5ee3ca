"""How tests run: those of one policy on one worker, and with less garbage collection.

Most of their time goes into compiling policies. What one worker compiles, the other finds on disk,
but only once it is there: so all tests that are named after a policy run in one process, these
come first, and what needs every policy compiled comes after them. All other tests stay together by
file, since they share what a module has made once.

The groups are made here, from names: `--dist loadgroup` of pytest-xdist 3.8 does nothing, without
a word, under pytest 9.2.

Two settings make the tests short; `make test-long` switches both off:

- The compiler optimises less (`NUMBA_OPT=1`), in child processes as well. Results are the same bits
  at every level; `engines/test_same_bits.py` compares some policies at the level that users have.
- Tests marked `long` are left out (`-m "not long"` in pyproject.toml). They are larger sizes of
  tests that stay, as further parameters of the same function.

Compiled code is kept in a folder of the tests', apart from that of a user.
"""

from __future__ import annotations

import functools
import gc
import os
import sys
from pathlib import Path
from typing import Any

import pytest

import recorded
from helpers.cases import name_of
from rotting._online import background

# numba reads these when it is first imported, which is when the first policy is compiled
assert "numba" not in sys.modules
os.environ.setdefault("NUMBA_OPT", "1")
os.environ.setdefault(
    "NUMBA_CACHE_DIR", str(Path(__file__).parents[1] / ".pytest_cache" / "compiled")
)

COLLECTED = (100_000, 50, 100)  # the compiler makes objects by the million; few are garbage


@pytest.fixture(autouse=True)
def compiled_within_calls(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """No background processes: players are compiled when they are made, unless told otherwise.

    Tests in `online/test_background.py` keep the background process, as users have it.
    """
    if request.node.path.stem != "test_background":
        done = background.Job()
        done.settled = done.ready = True
        monkeypatch.setattr(background, "job_for", lambda core: done)


@functools.cache
def policies() -> dict[str, str]:
    """What tests call the examples of each policy, and the policy's key."""
    found = {}
    for place, policy in recorded.examples().items():
        for name in (place, name_of(policy), policy.short_label, policy.label[:60], policy.key):
            found[name] = policy.key
    return found


@functools.cache
def group_of(nodeid: str) -> str:
    """The key of the policy that a test is named after, or the test's file."""
    file, _, test = nodeid.partition("::")
    name = test.partition("[")[2].removesuffix("]")
    for part in (name, name.rpartition("-")[0], name.partition("-")[2], name.partition(",")[0]):
        if part in policies():
            return policies()[part]
    return file


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of a policy first, one policy after the other."""
    places = {key: place for place, key in enumerate(dict.fromkeys(policies().values()))}
    items.sort(key=lambda item: places.get(group_of(item.nodeid), len(places)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Hand out groups, in their order."""
    from xdist.scheduler import LoadScopeScheduling

    class ByPolicy(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return group_of(nodeid)

    config.option.loadscopereorder = False  # by the number of tests
    return ByPolicy(config, log)


def pytest_collection_finish() -> None:
    """From here on nothing that was imported or collected is looked at again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECTED)
