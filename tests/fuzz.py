"""A fuzzer for all loaders: saved players, saved results, experiment files.

    python tests/fuzz.py --inputs 10000000 --seed 0 --what players results experiments
    python tests/fuzz.py --replay out/fuzz/players-0-4711

Every input (tests/helpers/damaged_files.py) is loaded in a forked process. It must be refused with
a ValueError or load, within a bound on memory and time. A player that loads is then played: as
plain Python, which notices an index out of bounds, or, for the share `--compiled`, as compiled
code, which does not but would crash. Made-up numbers may overflow or divide by zero in plain
Python; anything else is a failure, and its input is kept in `--out` to be replayed.
"""

from __future__ import annotations

import argparse
import contextlib
import mmap
import os
import resource
import signal
import struct
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from typing import Any, NamedTuple

from helpers.damaged_files import KINDS, mutant, players
from rotting import AudiencePlayer, Player, Result
from rotting._catalogue.experiment_file import read_experiment
from rotting._online import load as loading
from rotting._online import save as saving

BATCH = 2000  # inputs of one process
DECISIONS = 30  # that a loaded player takes
MOST = 8 << 20  # bytes of tables and state that may be loaded here, instead of a GiB
MEMORY = 512 << 20  # bytes by which a process may grow at one input
PATIENCE = 20.0  # seconds for one input


class Settings(NamedTuple):
    """Options of the command line."""

    kind: str
    seed: int
    compiled: float
    out: Path


class Counters:
    """Numbers that a forked process shares with this one: how far it is, and what it has seen."""

    def __init__(self) -> None:
        self.memory = mmap.mmap(-1, 32)

    def read(self) -> tuple[int, int, int, int]:
        """The number at work, and how many were loaded, refused and failed."""
        found: tuple[int, int, int, int] = struct.unpack("4q", self.memory[:])
        return found

    def write(self, *numbers: int) -> None:
        self.memory[:] = struct.pack("4q", *numbers)


def load_player(data: bytes) -> None:
    """Load a player, or one of an audience, and play it."""
    loaded = saving.read_bytes(data) if data.startswith(saving._MAGIC) else saving.read_json(data)
    kind: Any = Player if loaded.audience is None else AudiencePlayer
    player = kind._restored(loaded, None, None, False)
    keys = [*player.keys[:5], "new"] if kind is AudiencePlayer else []
    waiting = player.outstanding[:10]
    with contextlib.suppress(ArithmeticError, ValueError):
        if keys:
            player.forget(keys[0])
        for number in range(DECISIONS):
            decision = player.select(keys[number % len(keys)]) if keys else player.select()
            if waiting and number % 3 == 0:
                player.update(waiting.pop(), 0.4)
            if number % 4:
                player.update(decision, 0.1 * (number % 7))
            else:
                waiting.append(decision)
    player.to_json()


def load_result(data: bytes) -> None:
    """Load a result and look at it."""
    with tempfile.NamedTemporaryFile(dir=_FOLDER) as file:
        file.write(data)
        file.flush()
        result = Result.load(file.name)
    assert repr(result)
    assert result.mean_regret.shape == result.standard_error.shape == result.checkpoints.shape


def load_experiment(data: bytes) -> None:
    """Read an experiment file."""
    with tempfile.NamedTemporaryFile(dir=_FOLDER) as file:
        file.write(data)
        file.flush()
        assert read_experiment(file.name).policies


_FOLDER = "/dev/shm" if Path("/dev/shm").is_dir() else None
LOADERS = {"players": load_player, "results": load_result, "experiments": load_experiment}


def attempt(kind: str, data: bytes) -> str | None:
    """Load one input: None if it was refused, "" if it loads, else what went wrong."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    outcome: str | None = ""
    try:
        LOADERS[kind](data)
    except ValueError as error:
        outcome = str(error) if "MemoryError" in str(error) else None
    except Exception:
        outcome = traceback.format_exc()
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    return f"took {grown >> 20} MiB" if grown > MEMORY else outcome


def keep(settings: Settings, number: int, words: str) -> None:
    """Save a failure: the input, and what happened."""
    settings.out.mkdir(parents=True, exist_ok=True)
    path = settings.out / f"{settings.kind}-{settings.seed}-{number}"
    path.write_bytes(mutant(settings.kind, settings.seed, number, settings.compiled))
    path.with_suffix(".txt").write_text(words + "\n")
    print(f"\n{path}: {words.strip().splitlines()[-1]}", flush=True)


def work(settings: Settings, first: int, last: int, counters: Counters) -> None:
    """In a child process: load inputs one after the other."""
    warnings.simplefilter("ignore")
    _, loaded, refused, failed = counters.read()
    for number in range(first, last):
        counters.write(number, loaded, refused, failed)
        data = mutant(settings.kind, settings.seed, number, settings.compiled)
        outcome = attempt(settings.kind, data)
        loaded += outcome == ""
        refused += outcome is None
        if outcome:
            failed += 1
            keep(settings, number, outcome)
    counters.write(last, loaded, refused, failed)


def in_process(settings: Settings, first: int, last: int, counters: Counters) -> int:
    """Fork, work, and watch; returns the first number that was not tried."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            used = int(Path("/proc/self/statm").read_text().split()[0]) * mmap.PAGESIZE
            resource.setrlimit(resource.RLIMIT_AS, (used + 4 * MEMORY, used + 4 * MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            work(settings, first, last, counters)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    at, since, pause = first, time.monotonic(), 0.001
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        if counters.read()[0] != at:
            at, since = counters.read()[0], time.monotonic()
        elif time.monotonic() - since > PATIENCE:
            os.kill(child, signal.SIGKILL)
        time.sleep(pause)
        pause = min(2 * pause, 0.05)
    if status == 0:
        return last
    at, loaded, refused, failed = counters.read()
    counters.write(at, loaded, refused, failed + 1)
    code = os.waitstatus_to_exitcode(status)
    what = "took too long" if code == -signal.SIGKILL else f"the process ended with {code}"
    keep(settings, at, what)
    return at + 1


def fuzz(settings: Settings, inputs: int) -> tuple[int, int, int]:
    """Try inputs of one kind; returns how many were loaded, refused and failed."""
    counters, begun, first = Counters(), time.monotonic(), 0
    while first < inputs:
        first = in_process(settings, first, min(inputs, first + BATCH), counters)
        _, loaded, refused, failed = counters.read()
        rate = first / (time.monotonic() - begun)
        line = f"{settings.kind}: {first} inputs, {loaded} loaded, {refused} refused, "
        print(f"\r{line}{failed} failed, {rate:.0f} a second", end="", flush=True)
        counters.write(first, loaded, refused, failed)
    print(flush=True)
    return loaded, refused, failed


def warm_up() -> None:
    """Compile what is played compiled, once and for all processes to come."""
    from helpers.damaged_files import forged

    for content in players():
        load_player(forged({**content, "compiled": True}).encode())


def main(arguments: list[str] | None = None) -> int:
    """The command; 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--inputs", type=int, default=30_000, help="in all (default 30000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--what", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument(
        "--compiled", type=float, default=0.0, help="the share of players played compiled"
    )
    parser.add_argument("--out", type=Path, default=Path("out/fuzz"), help="for failing inputs")
    parser.add_argument("--replay", type=Path, help="load one kept input again")
    given = parser.parse_args(arguments)
    loading.MOST = MOST
    if given.replay:
        LOADERS[given.replay.name.split("-")[0]](given.replay.read_bytes())
        return 0
    if given.compiled and "players" in given.what:
        warm_up()
    if "players" in given.what:
        players()
    failed = 0
    for kind in given.what:
        settings = Settings(kind, given.seed, given.compiled, given.out)
        failed += fuzz(settings, given.inputs // len(given.what))[2]
    print(f"{failed} failures" + (f", see {given.out}" if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
