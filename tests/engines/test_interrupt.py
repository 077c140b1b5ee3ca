"""Ctrl-C while something is compiled."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from rotting._engines.compiled.interrupt import interruptible
from rotting._signals import STOPS


@pytest.fixture
def called_from_c() -> Any:
    """Interrupts from a function that C calls, where Python drops the exception."""

    return ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(signal.SIGINT))


def test_an_interrupt_that_gets_lost_comes_back(called_from_c: Any) -> None:
    done: list[int] = []

    def work() -> None:
        with interruptible():
            called_from_c()
            while len(done) < 1000:
                done.append(1)
                time.sleep(0.01)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert 0 < len(done) < 1000  # lost at first, and raised again before the work was done


def test_at_the_latest_it_comes_at_the_end(called_from_c: Any) -> None:
    with pytest.raises(KeyboardInterrupt), interruptible():
        called_from_c()


def test_an_error_that_follows_from_it_is_not_shown(called_from_c: Any) -> None:
    def fail() -> None:
        with interruptible():
            called_from_c()
            raise RuntimeError("no compiled object yet")

    with pytest.raises(KeyboardInterrupt):
        fail()
    with pytest.raises(RuntimeError, match="another"), interruptible():
        raise RuntimeError("another")


def test_other_handlers_are_respected(called_from_c: Any) -> None:
    """A program that handles Ctrl-C itself, and goes on, gets no exception; all is as before."""
    seen: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    hook = sys.unraisablehook
    try:
        with interruptible():
            called_from_c()
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        assert seen == [signal.SIGINT] * 3
        assert sys.unraisablehook is hook
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("number", STOPS, ids=lambda number: number.name)
def test_no_signal_that_asks_to_stop_gets_lost(number: signal.Signals) -> None:
    def stop(number: int, frame: Any) -> None:
        raise KeyboardInterrupt(number)

    called_from_c = ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(number))
    before = signal.signal(number, stop)
    try:
        with pytest.raises(KeyboardInterrupt) as raised, interruptible():
            called_from_c()
        assert raised.value.args == (number,)
        assert signal.getsignal(number) is stop
    finally:
        signal.signal(number, before)


@pytest.mark.parametrize("step", ["getsignal", "signal"])
def test_a_signal_on_the_way_in_leaves_all_as_it_was(
    step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, hook = signal.getsignal(signal.SIGINT), sys.unraisablehook
    taken = getattr(signal, step)

    def disturbed(*args: Any) -> Any:
        done = taken(*args)
        monkeypatch.setattr(signal, step, taken)
        signal.raise_signal(signal.SIGINT)
        return done

    monkeypatch.setattr(signal, step, disturbed)
    with pytest.raises(KeyboardInterrupt), interruptible():
        raise AssertionError("it went to work")
    assert sys.unraisablehook is hook
    assert signal.getsignal(signal.SIGINT) is before


def test_the_command_line_says_that_it_compiles_and_stops(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "rotting", "--verbose", "simulate", "rawucb", "--runs", "2"],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stderr is not None
            said = process.stderr.readline()
            if "filled in" in said:
                said = process.stderr.readline()
            assert said == "rotting: compiling Oracle for the baseline (once; kept for later)\n"
            process.send_signal(signal.SIGINT)
            out, errors = process.communicate(timeout=120)
        finally:
            process.kill()
    assert process.returncode == 130
    assert errors == "rotting: stopped\n"
    assert out == ""
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == []
