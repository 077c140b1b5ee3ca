"""Free memory: of the machine, of a container, within `ulimit -v`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rotting._engines import memory

GIB = 1 << 30


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A machine with 16 GiB left."""
    (tmp_path / "proc" / "self").mkdir(parents=True)
    (tmp_path / "proc" / "meminfo").write_text(
        f"MemTotal: 99999999999 kB\nMemAvailable:   {16 * GIB // 1024} kB\n"
    )
    (tmp_path / "cgroup").mkdir()
    return tmp_path


def left(machine: Path) -> int | None:
    return memory.available(machine / "proc", machine / "cgroup")


def group(folder: Path, **files: object) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("_", ".", 1)).write_text(f"{text}\n")


def test_the_machine(machine: Path) -> None:
    assert left(machine) == 16 * GIB


def test_a_container(machine: Path) -> None:
    """Of the groups that a process is in, the one with the least left counts."""
    (machine / "proc" / "self" / "cgroup").write_text("0::/outer/inner\n")
    group(machine / "cgroup", memory_max="max", memory_current=5)
    assert left(machine) == 16 * GIB
    group(machine / "cgroup" / "outer", memory_max=4 * GIB, memory_current=GIB)
    group(machine / "cgroup" / "outer" / "inner", memory_max=9 * GIB, memory_current=GIB)
    assert left(machine) == 3 * GIB
    stat = f"anon 17\ninactive_file {GIB // 2}\n"
    group(machine / "cgroup" / "outer", memory_stat=stat)
    assert left(machine) == 3.5 * GIB
    group(machine / "cgroup" / "outer", memory_max=GIB, memory_current=2 * GIB)
    assert left(machine) == 0


def test_a_container_that_sees_its_group_at_the_root(machine: Path) -> None:
    (machine / "proc" / "self" / "cgroup").write_text("0::/not/seen/from/inside\n")
    group(machine / "cgroup", memory_max=2 * GIB, memory_current=GIB)
    assert left(machine) == GIB


def test_control_groups_of_version_1(machine: Path) -> None:
    (machine / "proc" / "self" / "cgroup").write_text("5:cpu,cpuacct:/a\n4:memory:/a\n1:name=x:/\n")
    files = {"memory.limit_in_bytes": 3 * GIB, "memory.usage_in_bytes": GIB}
    folder = machine / "cgroup" / "memory" / "a"
    folder.mkdir(parents=True)
    for name, number in files.items():
        (folder / name).write_text(f"{number}\n")
    assert left(machine) == 2 * GIB


def test_where_nothing_is_said(tmp_path: Path) -> None:
    """On a system without /proc it is all the memory there is, or not known."""
    found = memory.available(tmp_path, tmp_path)
    assert found is None or found > 0


@pytest.mark.skipif(sys.platform != "linux", reason="ulimit -v is for Linux")
def test_a_limit_of_the_shell() -> None:
    code = "from rotting._engines import memory; print(memory.available())"
    limited = f"ulimit -v 4000000 && exec {sys.executable} -c '{code}'"
    done = subprocess.run(["sh", "-c", limited], capture_output=True, text=True, check=True)
    assert 0 < int(done.stdout) < 4_000_000 * 1024
