"""Compilation of policies in another process, so that no request waits for the compiler.

A new experiment plays at once, in plain Python. Meanwhile another process compiles its policy and
stores the code in the cache on disk, from which this process loads it. Plain and compiled players
give the same bits; only the speed changes.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hashlib
import json
import logging
import os
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from rotting._engines import compiled
from rotting._provenance import VERSION
from rotting._serve.settings import Settings, make_player

if TYPE_CHECKING:
    from rotting._serve.book import Book
    from rotting._serve.experiment import Experiment
    from rotting._serve.journal import Journal

_LOG = logging.getLogger("rotting.serve")


class Warming:
    """A queue of experiments whose players are to be compiled, one at a time."""

    def __init__(self, journal: Journal, wanted: bool) -> None:
        self._journal, self._wanted = journal, wanted
        self._queue: asyncio.Queue[str] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        if self._wanted:
            self._task = asyncio.get_running_loop().create_task(self._work())

    async def close(self) -> None:
        """Stop, and kill a running compilation."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    def schedule(self, experiment: Experiment) -> None:
        """Schedule the compilation of an experiment's player, unless it is compiled."""
        if self._wanted and not experiment.player.compiled:
            self._queue.put_nowait(experiment.name)

    def schedule_all(self, book: Book) -> None:
        for experiment in book.experiments.values():
            self.schedule(experiment)

    async def _work(self) -> None:
        while True:
            name = await self._queue.get()
            book = self._journal.book
            one = None if book is None else book.experiments.get(name)
            if one is None or one.player.compiled:
                continue
            try:
                await self._compile(one)
            except Exception as error:
                _LOG.warning("%s plays uncompiled: %s", name, error)

    async def _compile(self, one: Experiment) -> None:
        policy = one.policy  # it may have changed when the compilation ends
        await self.prepare(one.settings, policy, one.horizon)
        book = self._journal.book
        now = None if book is None else book.experiments.get(one.name)
        if now is not None and now.policy == policy and not now.player.compiled:
            now.player.go_compiled()

    async def prepare(self, settings: Settings, policy: Any, horizon: int | None) -> None:
        """Wait until the compiled code for these settings is loaded."""
        if not self._wanted:
            return
        wanted = msgspec.to_builtins(settings), policy, horizon
        if not is_warm(*wanted):
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "rotting._serve.warmup"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
            )
            try:
                await process.communicate(json.dumps(wanted).encode())
            except asyncio.CancelledError:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                raise
        await asyncio.get_running_loop().run_in_executor(None, warm, *wanted)


def warm(settings: Any, policy: Any, horizon: int | None) -> None:
    """Compile all that a player with these settings needs, or load it from the cache."""
    made: Any = make_player(msgspec.convert(settings, Settings), policy, horizon, compiled=True)
    keys = {"keys": [1]} if settings["audience"] else {}
    if made.policy.verbs.set_propensity is None:
        made.learn([made.arms[0]], [0.0], **keys)  # batches
    else:
        made.select_by(["warm"])
    with contextlib.suppress(OSError):  # the folder may be read-only
        _mark(settings, policy, horizon).touch()


def is_warm(settings: Any, policy: Any, horizon: int | None) -> bool:
    """Whether these settings were compiled before, on this machine and with this code."""
    return _mark(settings, policy, horizon).exists()


def _mark(settings: Any, policy: Any, horizon: int | None) -> Path:
    """The path of an empty file, beside the cache, that records the compilation."""
    kept = {name: settings[name] for name in ("audience", "rest")}
    about = json.dumps([kept, policy, horizon, _code(), version("numba")], sort_keys=True)
    folder = os.environ.get("NUMBA_CACHE_DIR") or Path(compiled.__file__).parent / "__pycache__"
    return Path(folder) / f"serve-{hashlib.sha256(about.encode()).hexdigest()[:24]}.warm"


@functools.cache
def _code() -> str:
    """A digest of the version, and of sizes and times of all source files."""
    root = Path(__file__).parents[1]
    about = [(path.stat().st_mtime_ns, path.stat().st_size) for path in sorted(root.rglob("*.py"))]
    return hashlib.sha256(repr((VERSION, about)).encode()).hexdigest()


if __name__ == "__main__":
    warm(*json.load(sys.stdin))
