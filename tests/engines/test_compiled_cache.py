"""Compiled code on disk: damaged, superseded, shared by processes, or nowhere to be put."""

from __future__ import annotations

import errno
import os
import pickle
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numba
import pytest

import rotting
from helpers.own_policy import make_mine
from rotting import policies
from rotting._engines.compiled import cache, compiler
from rotting._engines.compiled.cache import MOST, SUFFIX, Files


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A fresh cache folder."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    cache._warn_once.cache_clear()
    yield tmp_path
    policies.POLICIES.pop("mine", None)


def play_anew(policy: Any) -> tuple[int, int, int]:
    """Arm, hits and misses of a player in a process that has compiled nothing yet."""
    compiler._DONE.clear()
    arm = policy.online(range(3)).select().arm
    stats = [done.loop.stats for done in compiler._DONE.values()]
    hits, misses = (
        sum(sum(getattr(each, name).values()) for each in stats)
        for name in ("cache_hits", "cache_misses")
    )
    return arm, hits, misses


def truncated(content: bytes) -> bytes:
    return content[: len(content) // 2]


def flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


def foreign(content: bytes) -> bytes:
    """Intact, but it names what is not there."""
    data = b"cno_such_module\nthing\n."
    return cache._checksum(data) + data


def nonsense(content: bytes) -> bytes:
    """Intact, but no compiled code."""
    data = pickle.dumps(("not", "compiled"))
    return cache._checksum(data) + data


def test_damaged_files_are_thrown_away_and_made_anew(folder: Path) -> None:
    policy = make_mine(1)()
    assert play_anew(policy) == (1, 0, 2)
    assert play_anew(policy) == (1, 2, 0)
    ways: list[Callable[[bytes], bytes]] = [truncated, flipped, foreign, nonsense, lambda _: b""]
    for way in ways:
        files = list(folder.rglob(f"*{SUFFIX}"))
        assert len(files) == 2
        for path in files:
            path.write_bytes(way(path.read_bytes()))
        assert play_anew(policy) == (1, 0, 2), way
        assert play_anew(policy) == (1, 2, 0), way


def test_only_what_is_compiled_is_announced(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    policy = make_mine(0)()
    with caplog.at_level("INFO", logger="rotting"):
        assert play_anew(policy) == (0, 0, 2)
        assert play_anew(policy) == (0, 2, 0)
    assert [record.getMessage() for record in caplog.records] == [
        "compiling Mine for decisions online (once; kept for later)",
        "compiling Mine for rewards online (once; kept for later)",
    ]


def twice(x: float) -> float:
    return x + x


def test_what_changed_while_it_was_compiled_is_not_kept(folder: Path) -> None:
    """It would be found under the mark of what it was before."""
    for unchanged in (False, True):
        made: Any = numba.njit(twice)
        made._cache = cache.Store(
            twice, "twice", "1" * 16, lambda kept: None, partial(bool, unchanged)
        )
        assert made(1.5) == 3.0
        assert len(list(folder.rglob(f"*{SUFFIX}"))) == int(unchanged)


def test_a_full_disk_stops_nobody(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, content: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    policy = make_mine(2)()
    with pytest.warns(
        RuntimeWarning, match=r"No space left on device; set NUMBA_CACHE_DIR"
    ) as said:
        assert play_anew(policy) == (2, 0, 2)
    assert len(said) == 1
    assert [path for path in folder.rglob("*") if path.is_file()] == []


def test_the_least_used_files_of_a_policy_go(tmp_path: Path) -> None:
    """As many as MOST fingerprints or signatures of a policy stay, and all of other policies."""
    other = Files(tmp_path, "play-a.Params.Inner", "0" * 16)
    other.save("key", "other")
    for name in ("loop.play_a_1-120.py311.nbi", "loop.play_a_1-120.py311.1.nbc"):
        (tmp_path / name).touch()  # as numba names its own
    for name in ("abandoned.tmp", "a_module.pyc", "new.tmp"):
        (tmp_path / name).touch()
    made = [Files(tmp_path, "play-a.Params", f"{number:016x}") for number in range(MOST + 2)]
    for age, files in enumerate(made[:-2]):
        files.save("key", age)
    for age, path in enumerate(sorted(tmp_path.iterdir())):  # by name, so by number
        os.utime(path, (1e9 + age, 1e9 + age))
    os.utime(tmp_path / "new.tmp")
    made[0].load("key")  # used again
    made[-2].save("key", "new")
    made[-1].save("key", "newer")
    kept = [number for number, files in enumerate(made) if files.load("key") is not None]
    assert kept == [0, *range(3, MOST + 2)]
    assert other.load("key") == "other"
    others = {path.name for path in tmp_path.iterdir() if path.suffix != SUFFIX}
    assert others == {"a_module.pyc", "new.tmp"}


def test_versions_used_in_turn_do_not_throw_out_each_other(tmp_path: Path) -> None:
    one, two = (Files(tmp_path, "play-a.Params", mark * 16) for mark in "12")
    for key in ("int", "float"):
        one.save(key, f"one {key}")
        two.save(key, f"two {key}")
    found = [files.load(key) for files in (one, two) for key in ("int", "float")]
    assert found == ["one int", "one float", "two int", "two float"]


def test_many_writers_and_readers_never_see_half_a_file(tmp_path: Path) -> None:
    files = Files(tmp_path, "play-a.Params", "1" * 16)
    data = {number: bytes([number]) * 100_000 for number in range(8)}
    files.save("key", data[0])
    found: list[Any] = []

    def work(number: int) -> None:
        for _ in range(20):
            files.save("key", data[number])
            found.append(files.load("key"))

    threads = [threading.Thread(target=work, args=(number,)) for number in data]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 160
    assert all(content in data.values() for content in found)
    assert len(list(tmp_path.iterdir())) == 1


SCRIPT = """
import rotting
from rotting import policies
from rotting._cli import app
app(["simulate", "uniform", "--runs", "2", "--json"], standalone_mode=False)
player = policies.Uniform().online(range(3))
player.update(player.select(), 1.0)
print(rotting.__file__, player.outstanding)
"""


def test_a_read_only_installation_plays(tmp_path: Path) -> None:
    """Neither the package's folder nor the home folder is writable, not even for root."""
    copy = tmp_path / "rotting"
    package = Path(rotting.__file__).parent
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
    blocked = copy / "_engines" / "__pycache__"
    blocked.write_text("no folder")
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    environment |= {"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    environment |= dict.fromkeys(("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"), str(blocked))
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert '"mean_regret"' in done.stdout
    assert done.stdout.splitlines()[-1] == f"{copy / '__init__.py'} []"
    assert done.stderr == (
        "rotting: compiled policies cannot be kept and are compiled again by every process: "
        "neither the package's folder nor numba's cache folder can be written; "
        "set NUMBA_CACHE_DIR to a folder that can be written\n"
    )
