"""The memory that an experiment needs, and the memory left on this machine.

Results, tables of means and counts by key have known shapes: `check` refuses an experiment that
does not fit before any work is done. The size of a policy's state is known once it is prepared:
`check_plan` refuses it before it is copied for each thread.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numpy as np

from rotting import _checks
from rotting._engines.plan import CHUNK_TABLES, MOST_DECISIONS, Plan
from rotting.bandits import Gaussian, Scenario
from rotting.bandits._world import NUMBER
from rotting.kernel.state import values

DEVICE_ROUNDS = 2**31 - 1  # a GPU counts in 32 bits
_TRIFLE = 1 << 24  # bytes; less always fits, and reading the system's figures would take longer
_SHOWN, _LEFT = 4, 4  # bytes of a count by key or a key number, and of a faded count: 32 bits
_DRAWN = 4  # temporary arrays, one number a round, of a run's arrivals
_PER_RUN = 2  # numbers of a run that belong neither to a checkpoint nor to an arm


_PROC = Path("/proc")
_CGROUP = Path("/sys/fs/cgroup")
_GIB = 1 << 30


class Sizes(NamedTuple):
    """Bytes by purpose."""

    results: int  # the arrays of the results
    tables: int  # means and sums, up to the horizon
    policy: int  # the policy's state, in every thread
    audience: int = 0  # exposure counts, arrivals and keys' factors


def check(
    policies: Iterable[Any],
    scenario: Scenario,
    runs: Any,
    checkpoints: Any = 100,
    *,
    engine: str = "cpu",
    threads: int = 1,
    summed_up: bool = False,
) -> None:
    """Refuse an experiment whose results and tables do not fit into memory.

    `checkpoints` is their number, or the rounds. The results of all policies are kept, so they
    count together. `summed_up`: standard errors will be computed, which need as much as one more
    result. The ValueError says which part needs how much and what to change.
    """
    runs = _checks.integer("runs", runs, 1, _checks.EXACT)
    kept = checkpoint_count(checkpoints, scenario.horizon)
    if engine == "cuda":
        _checks.integer("horizon with engine 'cuda'", scenario.horizon, 1, DEVICE_ROUNDS)
    played = len(list(policies))
    results = (played + summed_up) * result_bytes(runs, kept, scenario.arm_count)
    audience = audience_bytes(scenario, runs, threads)
    known = Sizes(results, table_bytes(scenario, runs, threads), 0, audience)
    _fit(known, played, scenario, runs, kept)


def check_plan(plan: Plan, threads: int) -> None:
    """Refuse a prepared policy whose state and results do not fit; its tables exist already."""
    runs, kept = plan.request.runs, plan.request.checkpoints.size
    results = result_bytes(runs, kept, plan.scenario.arm_count)
    state = sum(array.nbytes for array in values(plan.fresh))
    # the initial state, and two copies in every thread (`state_block.StateBlock`)
    taken = Sizes(results, 0, (1 + 2 * threads) * state)
    _fit(taken, 1, plan.scenario, runs, kept)


def checkpoint_count(checkpoints: Any, horizon: int) -> int:
    """The number of rounds at which the regret is recorded; the rounds themselves are not made."""
    if np.ndim(checkpoints) == 0:
        return min(_checks.integer("checkpoints", checkpoints, least=1), horizon)
    return int(np.size(checkpoints))


def result_bytes(runs: int, checkpoints: int, arms: int) -> int:
    """The bytes of a `Result`'s arrays."""
    return runs * (checkpoints + arms + _PER_RUN) * NUMBER


def table_bytes(scenario: Scenario, runs: int, threads: int) -> int:
    """The peak bytes of tables: means and sums, a changing sigma, and open arms by event."""
    noise, row = scenario.noise, scenario.horizon * NUMBER
    changing = row if isinstance(noise, Gaussian) and callable(noise.sigma) else 0
    models = scenario.model_count
    if models is None:
        most = scenario.runs_a_chunk(max(1, CHUNK_TABLES // threads))
        models, row = scenario.arm_count * min(runs, most), scenario.longest * NUMBER
    else:
        threads = 1
    events = (2 * len(scenario.openings or ()) + 1) * scenario.arm_count * NUMBER
    # sums are made unpadded, then padded; the means of one model need pull numbers and checks
    return threads * row * max(3 * models, models + 3) + changing + events


def audience_bytes(scenario: Scenario, runs: int, threads: int) -> int:
    """The bytes of exposure counts (true, pi_max's and the policy's), arrivals and factors.

    Policies and pi_max, one of them at a time, have their initial counts and two copies in every
    thread (`state_block.StateBlock`). Every policy is assumed to count by key.
    """
    audience = scenario.crowd
    if audience is None:
        return 0
    a_key = scenario.arm_count * _SHOWN
    if audience.rest is not None:
        a_key += scenario.arm_count * _LEFT + NUMBER  # and the time of the key's last decision
    counts = (2 + 3 * threads) * audience.keys * a_key
    together = min(runs, scenario.runs_a_chunk(max(1, CHUNK_TABLES // threads)))
    factors = 0 if audience.factors is None else together * audience.keys * NUMBER
    chances = 0 if audience.scheduled else audience.keys * NUMBER  # cumulative, for Zipf's law
    arrivals = min(runs * scenario.horizon, max(scenario.horizon, MOST_DECISIONS)) * _SHOWN
    # a run's arrivals are made of random numbers in 64 bits
    return counts + threads * (factors + chances + arrivals + _DRAWN * scenario.horizon * NUMBER)


def _fit(sizes: Sizes, policies: int, scenario: Scenario, runs: int, checkpoints: int) -> None:
    """Refuse sizes that exceed the memory left; the ValueError names the largest of them."""
    left = None if sum(sizes) < _TRIFLE else available()
    if left is None or sum(sizes) <= left:
        return
    times = f"{policies} times " if policies > 1 else ""
    largest = max(Sizes._fields, key=lambda name: getattr(sizes, name))
    name, what, change = {
        "results": (
            "runs",
            f"the results of {times}{runs:,} runs at {checkpoints:,} checkpoints",
            "fewer runs" if checkpoints == 1 else "fewer runs or checkpoints",
        ),
        "tables": (
            "horizon",
            f"the means of all pulls up to the horizon of {scenario.horizon:,}",
            "a shorter horizon or fewer different arms",
        ),
        "audience": (
            "keys",
            f"the counts of {scenario.crowd.keys if scenario.crowd else 1:,} keys, and their "
            "arrivals,",
            "fewer keys, arms or threads",
        ),
        "policy": (
            "horizon",
            f"the policy's state over {scenario.horizon:,} rounds",
            "a shorter horizon, fewer threads or a policy with a smaller state",
        ),
    }[largest]
    most, all_of_it = shown(getattr(sizes, largest)), shown(sum(sizes))
    total = "" if most == all_of_it else f", {all_of_it} with all else,"
    raise ValueError(
        f"{name} must fit into memory: {what} would take about {most}{total} "
        f"and {shown(left)} are left; take {change}"
    )


# ------------------------------------------------------------ memory left


def available(proc: Path = _PROC, cgroup: Path = _CGROUP) -> int | None:
    """Bytes that this process may still allocate, if the operating system says; else None.

    The least of the machine's available memory, the limits of the process's control groups
    (containers), and that of `ulimit -v`. Where the system does not say how much is available, all
    of its memory counts.
    """
    known = [_of_machine(proc), *_of_groups(proc, cgroup), _of_limit(proc)]
    return min((size for size in known if size is not None), default=None)


def shown(size: int) -> str:
    """A number of bytes in GiB, for people.

    >>> shown(24_000_000_000), shown(3 << 20)
    ('22.4 GiB', '0.00293 GiB')
    """
    gib = size / _GIB
    return f"{gib:,.0f} GiB" if gib >= 100 else f"{gib:.3g} GiB"


def _of_machine(proc: Path) -> int | None:
    for line in _lines(proc / "meminfo"):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    with contextlib.suppress(AttributeError, OSError, ValueError):  # not on every system
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def _of_groups(proc: Path, cgroup: Path) -> list[int]:
    """The bytes left in every control group from the process's own up to the root.

    Version 2 has one tree, version 1 a tree of memory groups; a container sees its own group at
    the root, whatever the path says.
    """
    found = []
    for line in _lines(proc / "self" / "cgroup"):
        _, _, rest = line.partition(":")
        kinds, _, path = rest.partition(":")
        if kinds == "":
            tree, limit, used = cgroup, "memory.max", "memory.current"
        elif "memory" in kinds.split(","):
            tree = cgroup / "memory"
            limit, used = "memory.limit_in_bytes", "memory.usage_in_bytes"
        else:
            continue
        inside = PurePosixPath(path.lstrip("/"))
        for folder in (inside, *inside.parents):
            most, now = (_number(tree / folder / name) for name in (limit, used))
            if most is not None and now is not None:
                # cached pages of files count as used, but are freed when needed
                cached = _entry(tree / folder / "memory.stat", "inactive_file")
                found.append(max(0, most - now + cached))
    return found


def _of_limit(proc: Path) -> int | None:
    try:
        import resource  # not on Windows

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most == resource.RLIM_INFINITY:
            return None
    except (ImportError, AttributeError, OSError, ValueError):
        return None
    used = _entry(proc / "self" / "status", "VmSize:") * 1024
    return max(0, most - used)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(errors="replace").splitlines()
    except OSError:
        return []


def _number(path: Path) -> int | None:
    """The number in a file; None if there is no such file, or if it says "max"."""
    lines = _lines(path)
    return int(lines[0]) if lines and lines[0].isdigit() else None


def _entry(path: Path, name: str) -> int:
    """The number behind a name in a file; 0 if there is none."""
    for line in _lines(path):
        words = line.split()
        if len(words) > 1 and words[0] == name and words[1].isdigit():
            return int(words[1])
    return 0
