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
from typing import Any

import pytest

from rotting._show.folders import MANIFEST, check_place, output_folder

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
from rotting._show.folders import output_folder
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
@pytest.mark.parametrize("there", [False, True])
def test_a_run_that_is_killed_leaves_no_files_of_a_result(tmp_path: Path, there: bool) -> None:
    target = tmp_path / "target"
    if there:
        target.mkdir()
    with another_run(target) as killed:
        killed.send_signal(signal.SIGKILL)
        killed.wait()
    assert target.exists() == there
    (left,) = (target if there else tmp_path).glob(".partial-*")
    write(target, "x", force=False)  # what is left does not matter
    assert [name for name in names(target) if name != left.name] == ["x"]


def test_what_killed_runs_left_goes_after_a_day(tmp_path: Path) -> None:
    old, new = tmp_path / ".partial-old", tmp_path / ".partial-new"
    for folder in (old, new):
        folder.mkdir()
    os.utime(old, (0.0, time.time() - 2 * 24 * 3600))
    write(tmp_path, "x", force=False)
    assert names(tmp_path) == [".partial-new", "x"]


@posix
def test_a_new_folder_appears_in_one_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt before it leaves nothing, and after it everything."""
    target, rename = tmp_path / "target", Path.rename
    for late in (False, True):

        def interrupted(source: Path, place: Path, late: bool = late) -> Path:
            found = rename(source, place) if late else source
            signal.raise_signal(signal.SIGINT)
            return found

        monkeypatch.setattr(Path, "rename", interrupted)
        with pytest.raises(KeyboardInterrupt):
            write(target, "one", "two")
        assert names(tmp_path) == (["target"] if late else [])
    assert names(target) == ["one", "two"]
    assert target.stat().st_mode & 0o777 == 0o777 & ~_umask()


def _umask() -> int:
    found = os.umask(0)
    os.umask(found)
    return found


def test_two_runs_into_one_new_folder(tmp_path: Path) -> None:
    """The one that ends later is refused, or replaces what the other wrote."""
    target = tmp_path / "target"
    with contextlib.ExitStack() as stack:
        (stack.enter_context(output_folder(target)) / "one").write_text("1")
        write(target, "two", force=False)
        with pytest.raises(ValueError, match="holds files"):
            stack.close()
    assert names(target) == ["two"]
    with output_folder(target, force=True) as work:
        (work / "one").write_text("1")
    assert names(target) == ["one"]


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
