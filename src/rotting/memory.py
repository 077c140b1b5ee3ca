"""How much memory there is left for this process, and how much something is in words."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path, PurePosixPath

_PROC = Path("/proc")
_CGROUP = Path("/sys/fs/cgroup")
_GIB = 1 << 30


def available(proc: Path = _PROC, cgroup: Path = _CGROUP) -> int | None:
    """Bytes that this process may still take, as far as the operating system says; else None.

    The least of what the machine has left, what the limits of the control groups that the process
    is in leave (containers), and what `ulimit -v` leaves. Where the system does not say how much
    is left, all of its memory counts.
    """
    known = [_of_machine(proc), *_of_groups(proc, cgroup), _of_limit(proc)]
    return min((size for size in known if size is not None), default=None)


def shown(size: int) -> str:
    """A number of bytes as people read it.

    >>> shown(24_000_000_000), shown(3 << 20)
    ('22.4 GiB', '0.00293 GiB')
    """
    gib = size / _GIB
    return f"{gib:,.0f} GiB" if gib >= 100 else f"{gib:.3g} GiB"


def _of_machine(proc: Path) -> int | None:
    for line in _lines(proc / "meminfo"):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    with contextlib.suppress(AttributeError, OSError, ValueError):  # names that not all know
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def _of_groups(proc: Path, cgroup: Path) -> list[int]:
    """What every control group from the process's own up to the root leaves of its limit.

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
                # pages of files that were read count as used, but are given up when needed
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
    """The number that a file holds; None if there is no such file, or if it says "max"."""
    lines = _lines(path)
    return int(lines[0]) if lines and lines[0].isdigit() else None


def _entry(path: Path, name: str) -> int:
    """The number behind a name in a file; 0 if it is not there."""
    for line in _lines(path):
        words = line.split()
        if len(words) > 1 and words[0] == name and words[1].isdigit():
            return int(words[1])
    return 0
