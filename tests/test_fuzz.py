"""A short run of the fuzzer, and faults that it must notice."""

from __future__ import annotations

import faulthandler
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import fuzz
from helpers import damaged_files

FUZZ = Path(__file__).with_name("fuzz.py")
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks, and reads /proc")


@linux
@pytest.mark.parametrize("inputs", [1_500, pytest.param(10_000, marks=pytest.mark.long)])
def test_nothing_that_is_loaded_crashes_or_raises_anything_but_value_errors(
    tmp_path: Path, inputs: int
) -> None:
    done = subprocess.run(
        [sys.executable, str(FUZZ), "--inputs", str(inputs), "--seed", "7", "--out", str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert f"players: {inputs // 3} inputs" in done.stdout
    assert not list(tmp_path.iterdir())


def test_a_mutant_is_made_again_from_its_number() -> None:
    for kind in damaged_files.KINDS:
        made = [damaged_files.mutant(kind, 1, number) for number in range(30)]
        assert made == [damaged_files.mutant(kind, 1, number) for number in range(30)]
        assert len(set(made)) > 20


def crash(data: bytes) -> None:
    faulthandler.disable()  # it is meant
    os.kill(os.getpid(), signal.SIGSEGV)


def mistake(data: bytes) -> None:
    raise KeyError("x")


def greed(data: bytes) -> None:
    raise ValueError("damaged (MemoryError: ...)")


def refuse(data: bytes) -> None:
    raise ValueError("refused")


@linux
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of forking while threads run
@pytest.mark.parametrize(
    ("load", "words"),
    [
        (crash, "the process ended with -11"),
        (mistake, "KeyError: 'x'"),
        (greed, "MemoryError"),
        (refuse, None),
    ],
)
def test_a_failure_is_noticed_and_its_input_kept(
    load: Any, words: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(fuzz.LOADERS, "experiments", load)
    settings = fuzz.Settings("experiments", 5, 0.0, tmp_path)
    counts = fuzz.fuzz(settings, 2)
    if words is None:
        assert counts == (0, 2, 0)
        return
    assert counts == (0, 0, 2)
    kept = tmp_path / "experiments-5-1"
    assert kept.read_bytes() == damaged_files.mutant("experiments", 5, 1)
    assert words in kept.with_suffix(".txt").read_text()


def test_a_kept_input_is_loaded_again(tmp_path: Path) -> None:
    kept = tmp_path / "experiments-5-1"
    kept.write_text("runs = ")
    with pytest.raises(ValueError, match="not valid TOML"):
        fuzz.main(["--replay", str(kept)])
