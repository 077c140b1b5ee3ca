"""Compiled policies without waiting for the compiler.

A new experiment plays at once, in plain Python; meanwhile another process compiles its policy and
keeps what it made in the cache on the disk, from where this one takes it. Plain and compiled
players have the same bits, so nobody can tell but by the speed.
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
    """Sees to it that players are compiled, one policy after the other."""

    def __init__(self, journal: Journal, wanted: bool) -> None:
        self._journal, self._wanted = journal, wanted
        self._queue: asyncio.Queue[str] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin."""
        if self._wanted:
            self._task = asyncio.get_running_loop().create_task(self._work())

    async def close(self) -> None:
        """Stop, whatever is being compiled."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    def want(self, experiment: Experiment) -> None:
        """Have this experiment's player compiled, if it is not."""
        if self._wanted and not experiment.player.compiled:
            self._queue.put_nowait(experiment.name)

    def want_all(self, book: Book) -> None:
        """The same for all."""
        for experiment in book.experiments.values():
            self.want(experiment)

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
        policy = one.policy  # which may be another one when it is done
        await self.prepared(one.settings, policy, one.horizon)
        book = self._journal.book
        now = None if book is None else book.experiments.get(one.name)
        if now is not None and now.policy == policy and not now.player.compiled:
            now.player.go_compiled()

    async def prepared(self, settings: Settings, policy: Any, horizon: int | None) -> None:
        """Come back when a player of these settings can be compiled at once."""
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
    """Compile what a player of these settings needs, or take it from the cache."""
    made: Any = make_player(msgspec.convert(settings, Settings), policy, horizon, compiled=True)
    keys = {"keys": [1]} if settings["audience"] else {}
    if made.policy.verbs.set_propensity is None:
        made.learn([made.arms[0]], [0.0], **keys)  # batches
    else:
        made.select_by(["warm"])
    with contextlib.suppress(OSError):  # a folder that cannot be written
        _mark(settings, policy, horizon).touch()


def is_warm(settings: Any, policy: Any, horizon: int | None) -> bool:
    """Whether that was done before, on this machine, with this code."""
    return _mark(settings, policy, horizon).exists()


def _mark(settings: Any, policy: Any, horizon: int | None) -> Path:
    """An empty file that says so, beside what was compiled."""
    kept = {name: settings[name] for name in ("audience", "rest")}
    about = json.dumps([kept, policy, horizon, _code(), version("numba")], sort_keys=True)
    folder = os.environ.get("NUMBA_CACHE_DIR") or Path(compiled.__file__).parent / "__pycache__"
    return Path(folder) / f"serve-{hashlib.sha256(about.encode()).hexdigest()[:24]}.warm"


@functools.cache
def _code() -> str:
    """A digest of which source files there are, and since when: what was compiled is of those."""
    root = Path(__file__).parents[1]
    about = [(path.stat().st_mtime_ns, path.stat().st_size) for path in sorted(root.rglob("*.py"))]
    return hashlib.sha256(repr((VERSION, about)).encode()).hexdigest()


if __name__ == "__main__":
    warm(*json.load(sys.stdin))
