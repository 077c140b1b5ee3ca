"""An output folder is put in place whole, or not at all."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

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


def test_refusals_leave_no_folder_behind(tmp_path: Path) -> None:
    """Folders above are made before it is seen that the name of the last one is too long."""
    long = "x" * 300
    for wrong in (tmp_path / long, tmp_path / "new" / "deep" / long, tmp_path / long / "a"):
        with pytest.raises(ValueError, match="out must be a folder that can be written to"):
            write(wrong, "x")
    with pytest.raises(ValueError, match="out must be a folder that can be written to, or a"):
        check_place("out", tmp_path / long)
    assert names(tmp_path) == []


def test_an_interrupt_while_folders_are_made_leaves_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = Path.mkdir

    def interrupted(folder: Path, *args: Any, **kwargs: Any) -> None:
        make(folder, *args, **kwargs)
        signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "mkdir", interrupted)
        with pytest.raises(KeyboardInterrupt), output_folder(tmp_path / "a" / "b"):
            raise AssertionError("it went to work")
    assert names(tmp_path) == []


def test_files_and_folders_do_not_replace_each_other(tmp_path: Path) -> None:
    """What cannot be put in place whole is not begun."""
    (tmp_path / "folder").mkdir()
    for file in ("a", "file"):
        (tmp_path / file).write_text("mine")
    for second, reason in (("folder", "a file .*folder, but"), ("file/x", "a folder .*file, but")):
        with pytest.raises(ValueError, match=f"out must have room for {reason} that is a"):
            write(tmp_path, "a", second)
        assert (tmp_path / "a").read_text() == "mine"
        assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "file", "folder"]
    (tmp_path / MANIFEST).mkdir()
    with (
        pytest.raises(ValueError, match=f"a file .*{MANIFEST}, but"),
        output_folder(tmp_path, force=True),
    ):
        raise AssertionError("it went to work")


@posix
def test_a_link_to_a_folder_that_gets_empty_stays(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "other")
    write(tmp_path, "link/x")
    write(tmp_path, "y")
    assert names(tmp_path) == ["link", "other", "y"]
    assert names(tmp_path / "other") == []


@posix
def test_two_runs_that_end_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One puts its files in place after the other: the later one's are what is left."""
    move = Path.replace
    others: list[threading.Thread] = []

    def at_once(source: Path, place: Path) -> Path:
        if not others:
            others.append(threading.Thread(target=write, args=(tmp_path, "two")))
            others[0].start()
            others[0].join(timeout=0.3)
        return move(source, place)

    monkeypatch.setattr(Path, "replace", at_once)
    write(tmp_path, "one")
    others[0].join()
    assert names(tmp_path) == ["two"]
    assert json.loads((tmp_path / MANIFEST).read_text())["files"] == ["two"]


@posix
def test_a_lock_is_never_seen_before_it_is_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bool] = []
    lock = locks._lock

    def swept_before(file: IO[str]) -> bool:
        monkeypatch.setattr(locks, "_lock", lock)
        seen.append(locks.abandoned(tmp_path))
        return lock(file)

    monkeypatch.setattr(locks, "_lock", swept_before)
    with locks.held(tmp_path):
        assert seen == [False]
        assert not locks.abandoned(tmp_path)
        assert names(tmp_path) == [locks.NAME]
    assert locks.abandoned(tmp_path)


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


@posix
def test_a_signal_on_the_way_in_leaves_the_handlers(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that raises, after the first handler is exchanged and before its own is."""
    exchange = signal.signal

    def stop(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    def disturbed(number: int, handler: Any) -> Any:
        done = exchange(number, handler)
        monkeypatch.setattr(signal, "signal", exchange)
        signal.raise_signal(signal.SIGTERM)
        return done

    interrupt, before = signal.getsignal(signal.SIGINT), signal.signal(signal.SIGTERM, stop)
    try:
        monkeypatch.setattr(signal, "signal", disturbed)
        with pytest.raises(KeyboardInterrupt), undisturbed():
            raise AssertionError("it went to work")
        assert signal.getsignal(signal.SIGINT) is interrupt
        assert signal.getsignal(signal.SIGTERM) is stop
    finally:
        exchange(signal.SIGTERM, before)
