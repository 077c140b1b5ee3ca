"""How the tests are run: those of one policy by one worker, and with less garbage collection.

Most of their time goes into compiling policies. What one worker compiles, the other finds on disk,
but only once it is there: so all tests that are given a policy run in one process (`--dist
loadgroup`), those policies come first, and what needs every policy compiled comes after them. All
other tests stay together by file, since they share what a module has made once.
"""

from __future__ import annotations

import gc

import pytest

from rotting.policies import POLICIES, Policy

COLLECTED = (100_000, 50, 100)  # the compiler makes objects by the million; few are garbage


def policy_of(item: pytest.Item) -> str | None:
    """The key of the policy that a test is given, if it is one of this library."""
    given = getattr(item, "callspec", None)
    for value in given.params.values() if given is not None else ():
        if isinstance(value, Policy) and value.key in POLICIES:
            return value.key
        if isinstance(value, str) and value.split(" ")[0] in POLICIES and ", " in value:
            return value.split(" ")[0]  # of tests/recorded.py: "ucb1 0, gaussian 2"
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put each test into its group, and the groups in order."""
    places = {key: place for place, key in enumerate(POLICIES)}
    order = {}
    for item in items:
        policy = policy_of(item)
        item.add_marker(pytest.mark.xdist_group(policy or item.nodeid.split("::")[0]))
        order[item] = places.get(policy or "", len(places))
    items.sort(key=order.__getitem__)


def pytest_configure(config: pytest.Config) -> None:
    """Groups are handed out in their order, not by how many tests they have."""
    config.option.loadscopereorder = False
    config.addinivalue_line("markers", "xdist_group(name): tests that one worker runs")


def pytest_collection_finish() -> None:
    """From here on nothing that was imported or collected is looked at again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECTED)
