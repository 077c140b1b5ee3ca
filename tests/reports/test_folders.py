"""An output folder is put in place whole, or not at all."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rotting.reports import locks
from rotting.reports.folders import MANIFEST, check_place, output_folder
from rotting.reports.undisturbed import undisturbed

posix = pytest.mark.skipif(os.name != "posix", reason="locks and signals of POSIX")


def names(folder: Path) -> list[str]:
    """What lies in a folder, but for the list of it."""
    return sorted(path.name for path in folder.iterdir() if path.name != MANIFEST)


def write(target: Path, *files: str, force: bool = True) -> None:
    with output_folder(target, force) as work:
        for file in files:
            (work / file).parent.mkdir(exist_ok=True)
            (work / file).write_text(file)


def test_an_output_folder_is_put_in_place_whole(tmp_path: Path) -> None:
    with output_folder(tmp_path / "a" / "b") as work:
        (work / "x").write_text("1")
        (work / "sub").mkdir()
        (work / "sub" / "y").write_text("2")
        assert not (tmp_path / "a" / "b" / "x").exists()
    assert (tmp_path / "a" / "b" / "sub" / "y").read_text() == "2"
    assert names(tmp_path / "a" / "b") == ["sub", "x"]
    for target, force in ((tmp_path / "c", False), (tmp_path / "a" / "b", True)):
        with contextlib.suppress(RuntimeError), output_folder(target, force) as work:
            (work / "x").write_text("3")
            raise RuntimeError
    assert not (tmp_path / "c").exists()
    assert (tmp_path / "a" / "b" / "x").read_text() == "1"


def test_what_an_earlier_run_wrote_goes(tmp_path: Path) -> None:
    write(tmp_path, "one", "two", "sub/three", "deep/four")
    (tmp_path / "mine").write_text("precious")
    (tmp_path / "sub" / "mine").write_text("precious")
    with pytest.raises(ValueError, match="use --force"):
        write(tmp_path, "one", force=False)
    write(tmp_path, "one", "five")
    assert names(tmp_path) == ["five", "mine", "one", "sub"]
    assert names(tmp_path / "sub") == ["mine"]
    write(tmp_path, "six")
    assert names(tmp_path) == ["mine", "six", "sub"]


def test_a_run_that_fails_removes_nothing(tmp_path: Path) -> None:
    write(tmp_path, "one", "two")
    with contextlib.suppress(RuntimeError), output_folder(tmp_path, force=True) as work:
        (work / "one").write_text("new")
        raise RuntimeError
    assert names(tmp_path) == ["one", "two"]
    assert (tmp_path / "one").read_text() == "one"


def test_folders_from_before_there_were_lists(tmp_path: Path) -> None:
    """Results are known by their names, if there is a comparison that they belong to."""
    old = ("result-1.npz", "result-2.npz", "result-3.npz", "result-best.npz", "notes.txt")
    for name in old:
        (tmp_path / name).write_text("old")
    write(tmp_path, "comparison.json", "result-1.npz")
    assert names(tmp_path) == sorted({*old, "comparison.json"})
    (tmp_path / MANIFEST).unlink()
    write(tmp_path, "comparison.json", "result-1.npz")
    assert names(tmp_path) == ["comparison.json", "notes.txt", "result-1.npz", "result-best.npz"]


@pytest.mark.parametrize(
    "files", [["../mine"], ["/etc/hostname"], ["link/mine"], [3, None], "mine", None, [""], ["."]]
)
def test_a_list_that_lies_removes_nothing_elsewhere(files: object, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("precious")
    target = tmp_path / "target"
    target.mkdir()
    (target / "link").symlink_to(tmp_path)
    (target / MANIFEST).write_text(json.dumps({"files": files}))
    write(target, "x")
    assert (tmp_path / "mine").read_text() == "precious"
    assert names(target) == ["link", "x"]


def test_a_damaged_list(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text("{")
    write(tmp_path, "x", force=False)
    assert names(tmp_path) == ["x"]


HOLD = """
import sys, time
from rotting.reports.folders import output_folder
with output_folder(sys.argv[1], force=True) as work:
    (work / "half").write_text("1")
    print("ready", flush=True)
    time.sleep(60)
"""


@contextlib.contextmanager
def another_run(target: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that is at work in a folder."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(target)], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


@posix
def test_what_a_killed_run_left_goes(tmp_path: Path) -> None:
    """But not what a run that is alive works at."""
    with another_run(tmp_path) as alive:
        with another_run(tmp_path) as killed:
            killed.send_signal(signal.SIGKILL)
            killed.wait()
        assert len(list(tmp_path.glob(".partial-*"))) == 2
        with pytest.raises(ValueError, match="holds files"):
            write(tmp_path, "x", force=False)
        assert len(list(tmp_path.glob(".partial-*"))) == 1
        alive.send_signal(signal.SIGKILL)
        alive.wait()
    write(tmp_path, "x", force=False)
    assert names(tmp_path) == ["x"]


def test_where_locks_say_nothing_age_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "_locking", lambda: None)
    old, new = tmp_path / ".partial-old", tmp_path / ".partial-new"
    for folder in (old, new):
        folder.mkdir()
        (folder / locks.NAME).write_text("")
    os.utime(old, (0.0, time.time() - 40 * 24 * 3600))
    write(tmp_path, "x")
    assert names(tmp_path) == [".partial-new", "x"]


def test_a_place_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for wrong in (tmp_path / "file" / "x.png", tmp_path / "file" / "a" / "b"):
        with pytest.raises(ValueError, match="out must be a folder that can be written to, or a"):
            check_place("out", wrong)
    for fine in (tmp_path / "new" / "x.png", tmp_path, tmp_path / "file", Path("x.png")):
        check_place("out", fine)
    assert names(tmp_path) == ["file"]


@posix
def test_signals_wait_until_files_are_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    move = Path.replace

    def interrupted(source: Path, place: Path) -> Path:
        os.kill(os.getpid(), signal.SIGINT)
        return move(source, place)

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path, "one", "two")
    assert names(tmp_path) == ["one", "two"]


def test_undisturbed_gives_the_handlers_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    with undisturbed():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before
