"""One mutant on trial: a fork of the host puts the fault in and plays the tests that reach it."""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from mutation.host import hush, passes
from mutation.mutants import Mutant
from mutation.reach import Reach
from mutation.sites import ROOT, Site, file_of, mutated

MOST_MEMORY = 6 << 30  # bytes: a fault in a size must not take the machine down
REIMPORTED = (sys.executable, "-m", "mutation.reimported")
KILLED, SURVIVED, TIMEOUT, UNREACHED = "killed", "survived", "timeout", "unreached"


class Verdict(NamedTuple):
    """What became of a mutant."""

    mutant: Mutant
    outcome: str
    seconds: float


def trials(
    sites: Sequence[Site], items: Mapping[str, Any], reach: Reach, jobs: int, budget: float
) -> Iterator[Verdict]:
    """Try mutants, some at a time.

    `budget` is for how many seconds of tests a mutant is tried at most, as they were measured;
    one that takes several times as long as its tests did hangs.
    """
    running: dict[int, tuple[Site, float]] = {}
    waiting = list(reversed(sites))
    while waiting or running:
        while waiting and len(running) < jobs:
            site = waiting.pop()
            inside = site.in_function
            mutant = site.mutant
            found = reach.of_line(mutant.module, mutant.line)
            tests, expected = _within(budget, found or reach.of_module(mutant.module), reach)
            if not tests or (inside and not found):
                yield Verdict(mutant, UNREACHED, 0.0)
                continue
            started = time.monotonic()
            child = os.fork()
            if child == 0:
                _try(site, [items[test] for test in tests if test in items], expected)
            running[child] = site, started
        if not running:
            continue
        child, status = os.wait()
        site, started = running.pop(child)
        hung = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU
        outcome = SURVIVED if status == 0 else TIMEOUT if hung else KILLED
        yield Verdict(site.mutant, outcome, time.monotonic() - started)


def _within(budget: float, tests: Sequence[str], reach: Reach) -> tuple[list[str], float]:
    found: list[str] = []
    total = 0.0
    for test in tests:
        total += reach.seconds[test]
        if found and total > budget:
            break
        found.append(test)
    return found, total


def _try(site: Site, tests: Sequence[Any], expected: float) -> None:
    """Ends this process: with 0 if the tests pass, with 1 if one of them fails."""
    code = 1
    try:
        hush()
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        most = 3 + int(2 * expected)  # seconds of processor time, whatever else the machine does
        resource.setrlimit(resource.RLIMIT_CPU, (most, most + 5))
        if not site.in_function:
            # constants, defaults: they are everywhere already, so the package is imported again
            names = [item.nodeid for item in tests]
            found = os.pathsep.join([str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")])
            os.execve(
                sys.executable,
                [*REIMPORTED, site.mutant.module, str(site.place), *names],
                os.environ | {"PYTHONPATH": found},
            )
        install(site)
        code = int(not all(passes(item) for item in tests))
    finally:
        os._exit(code)


def install(site: Site) -> None:
    """Give the function that holds the fault its mutated code, wherever it is referred to."""
    name = site.mutant.module
    code = compile(mutated(site), str(file_of(name)), "exec")
    holder: Any = sys.modules[name]
    for part in site.mutant.function.split("."):
        code = next(c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == part)
        found = vars(holder)[part]
        if not isinstance(found, type):
            _function(found).__code__ = code
            return
        holder = found
    raise LookupError(f"{site.mutant.function} holds no function")


def _function(found: Any) -> FunctionType:
    """The plain function under properties, caches and wrappers."""
    while not isinstance(found, FunctionType) or hasattr(found, "__wrapped__"):
        for field in ("__wrapped__", "fget", "__func__", "func"):
            inner = getattr(found, field, None)
            if inner is not None:
                found = inner
                break
        else:
            raise LookupError(f"{found!r} holds no function")
    return found
