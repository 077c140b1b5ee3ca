"""Plays policies on tapes: compiled, on threads, or as plain Python."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from rotting._engines.loop import INTERRUPTED
from rotting._engines.plan import check_audience, check_stop, stream_keys
from rotting._engines.replay_loop import Played, Room, Rows, Tape, follow_rows, play_tape
from rotting._engines.state_block import state_block_of
from rotting.logs._replay.tape import Sample
from rotting.policies._base import Policy
from rotting.policies.parts.exposures import with_key_counts

T = TypeVar("T")
R = TypeVar("R")
_LAYOUT = f"{Tape._fields} {Room._fields} {Played._fields} {Rows._fields}"


class Replayer:
    """A policy, prepared for tapes of a number of arms and keys.

    `horizon` is the policy's horizon, `most` the largest number of decisions of a tape. With
    compiled=False the same loops run as plain Python.
    """

    def __init__(
        self,
        policy: Policy,
        arms: int,
        keys: int,
        *,
        horizon: int,
        most: int,
        seed: int,
        keyed: bool,
        compiled: bool = True,
    ) -> None:
        self.policy, self.arms, self.slots = policy, arms, keys
        self.params: Any = policy.prepare(arms, horizon, most)
        fresh = policy.verbs.init(self.params, arms, most)
        if keyed and policy.counts_by_key:
            fresh = with_key_counts(fresh, keys, getattr(policy, "rest", None))
        self.fresh: Any = fresh
        self.streams = stream_keys(seed, "common", policy.label)
        self.stop = np.zeros(1, dtype=np.int64)
        self._compiled = compiled
        self._loops: dict[str, Callable[..., None]] = {}

    def play(self, sample: Sample, first: int, runs: int) -> Played:
        """Runs first, first + 1, ... on a tape."""
        played = Played.empty(runs, self.arms)
        block, work = state_block_of(self.fresh, clear_all=not self._compiled)
        room = Room.empty(self.slots, self.arms)
        tape, arrivals = sample.tape, sample.arrivals
        loop = self._loop(play_tape)
        common = (self.streams, first, played, self.stop)
        with self._first(loop):
            loop(self.params, block, work, room, tape, arrivals, *common)
        check_stop(int(self.stop[0]), self.arms, self.policy.label)
        return played

    def follow(self, rows: Rows, first: int) -> npt.NDArray[np.int32]:
        """The policy's choice in each row; it learns from the rows that show its choice."""
        chosen = np.zeros((1, rows.arm.size), dtype=np.int32)
        block, work = state_block_of(self.fresh, clear_all=not self._compiled)
        room = Room.empty(self.slots, self.arms)
        loop = self._loop(follow_rows)
        common = (self.streams, first, chosen, self.stop)
        with self._first(loop):
            loop(self.params, block, work, room, rows, *common)
        check_stop(int(self.stop[0]), self.arms, self.policy.label)
        found: npt.NDArray[np.int32] = chosen[0]
        return found

    def compile(self, sample: Sample) -> None:
        """Compile, or load compiled code: before threads start, which would each do it."""
        self.play(sample, 0, 0)

    def _first(self, loop: Any) -> contextlib.AbstractContextManager[None]:
        """The context of a first call, which compiles: Ctrl-C stops it, errors are explained."""
        if not self._compiled or loop.signatures:
            return contextlib.nullcontext()
        from rotting._engines.compiled.compiler import first_call

        return first_call(self.params)

    def _loop(self, loop: Callable[..., None]) -> Callable[..., None]:
        if not self._compiled:
            return loop
        if loop.__name__ not in self._loops:
            from rotting._engines.compiled.compiler import compiled

            self._loops[loop.__name__] = compiled(loop, self.params, self.fresh, _LAYOUT)
        return self._loops[loop.__name__]


def check_policy(name: str, policy: Any, keyed: bool) -> None:
    """Refuse a policy that cannot be replayed."""
    if not isinstance(policy, Policy):
        raise ValueError(
            f"policies must be rotting policies, as UCB1(), got {policy!r} for {name!r}"
        )
    oracles = [held.title for held in _held(policy) if held.verbs.set_truth is not None]
    if oracles:
        raise ValueError(
            f"policies must be ones that learn, got {oracles[0]} for {name!r}, which needs the "
            "true means: a log does not have them"
        )
    if keyed:
        check_audience(policy)


def _held(policy: Policy) -> list[Policy]:
    """A policy and those that it holds."""
    fields = [getattr(policy, field.name) for field in dataclasses.fields(policy)]  # type: ignore[arg-type]
    return [policy, *(x for field in fields if isinstance(field, Policy) for x in _held(field))]


def on_threads(
    work: Callable[[T], R],
    items: Iterable[T],
    threads: int,
    done: Callable[[int], None],
    players: Iterable[Replayer],
) -> list[R]:
    """The results of all items in their order, on threads; Ctrl-C stops the players."""
    found: list[R] = []
    if threads == 1:
        for item in items:
            found.append(work(item))
            done(1)
        return found
    with ThreadPoolExecutor(max_workers=threads) as pool:
        waiting = [pool.submit(work, item) for item in items]
        try:
            for future in waiting:
                found.append(future.result())
                done(1)
        except BaseException:
            for player in players:
                player.stop[0] = player.stop[0] or INTERRUPTED
            for future in waiting:
                future.cancel()
            raise
    return found


def cores() -> int:
    """The number of processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every operating system
        return os.cpu_count() or 1
