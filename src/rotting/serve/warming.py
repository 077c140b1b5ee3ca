"""Compiled policies without waiting for the compiler.

A new experiment plays at once, in plain Python; meanwhile another process compiles its policy and
keeps what it made in the cache on the disk, from where this one takes it. Plain and compiled
players have the same bits, so nobody can tell but by the speed.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import sys
from typing import TYPE_CHECKING, Any

import msgspec

from rotting.serve.settings import Settings, make_player

if TYPE_CHECKING:
    from rotting.serve.book import Book
    from rotting.serve.experiment import Experiment
    from rotting.serve.journal import Journal

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
        settings = msgspec.structs.replace(one.settings, arms=one.settings.arms[:2])
        wanted = msgspec.to_builtins(settings), one.policy, one.horizon
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "rotting.serve.warming"),
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
        book = self._journal.book
        now = None if book is None else book.experiments.get(one.name)
        if now is not None and now.policy == wanted[1] and not now.player.compiled:
            now.player.go_compiled()


def warm(settings: Any, policy: Any, horizon: int | None) -> None:
    """Compile what a player of these settings needs, or take it from the cache."""
    made: Any = make_player(msgspec.convert(settings, Settings), policy, horizon, compiled=True)
    keys = {"keys": [1]} if settings["audience"] else {}
    if made.policy.verbs.chosen is None:
        made.learn([made.arms[0]], [0.0], **keys)  # batches


if __name__ == "__main__":
    warm(*json.load(sys.stdin))
