"""Group commit: events that arrive during one commit go with the next.

The event loop checks and decides; a thread writes and waits for the disk. If a write fails, all
uncommitted events are discarded and all waiting requests get an error with the reason, so that no
event is acknowledged that is not on the disk. The state is then loaded again from the database as
soon as that can be written.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from rotting._serve.book import Answer, Book
from rotting._serve.clock import Clock
from rotting._serve.config import MOST_WAITING
from rotting._serve.database import Unusable
from rotting._serve.erasure import finish_purge, purge
from rotting._serve.errors import Refusal
from rotting._serve.mark import WAY_ON, Mark, MarkFile, loss, read_mark
from rotting._serve.recovery import load
from rotting._serve.snapshots import encode, packed, state_of
from rotting._serve.sqlite import LOCK_TIMEOUT, Connect, connect, real, why
from rotting._serve.store import Group, Snapshot, Store

T = TypeVar("T")
_LOG = logging.getLogger("rotting.serve")
_AGAIN = 0.5  # seconds between attempts to recover
# When many requests wait, a short delay puts more of them into one commit.
_MANY, _GATHER = 8, 0.003
_REST = 10.0  # seconds between two snapshots of an experiment
_CHECKPOINT = 40  # tenths of a second between two checkpoints
_SECOND = 10
SNAPSHOT_EVERY = 5_000  # events of an experiment, or twice the entries of its snapshot if more


class Journal:
    """The book, and the commits of its events."""

    def __init__(
        self,
        path: Path,
        *,
        connect: Connect = connect,
        compiled: bool = True,
        clock: Callable[[], float] = time.time,
        lock_timeout: float = LOCK_TIMEOUT,
        waiting: int = MOST_WAITING,
        accept_loss: bool = False,
    ) -> None:
        self.path, self._connect, self._compiled = real(path), connect, compiled
        self.clock, self._lock_timeout = Clock(clock), lock_timeout
        self._waiting = waiting
        self._accept_loss = accept_loss  # of acknowledged events, for the first load only
        self._mark: MarkFile | None = None
        self.book: Book | None = None
        self.reason: str | None = "starting"
        self.last_error: tuple[float, str, str] | None = None
        self.commits = self.failures = 0
        self._thread = ThreadPoolExecutor(1, "commit")
        self._aside = ThreadPoolExecutor(1, "aside")
        self._tasks: set[asyncio.Task[Any]] = set()
        self._writer: asyncio.Task[None] | None = None
        self._flying: tuple[int, list[asyncio.Future[None]]] | None = None
        self._gathering: list[asyncio.Future[None]] = []  # waiting for the next commit
        self._closing = False
        self._snapped: dict[int, float] = {}  # time of each experiment's last snapshot
        self._clean = True  # whether no rows of erased keys are left in the files
        self.on_load: Callable[[Book], None] = lambda book: None

    async def start(self) -> None:
        """Open the database, or create it, and load the experiments."""
        await self._load(create=True)
        self._spawn(self._beat())

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _load(self, create: bool) -> None:
        loop = asyncio.get_running_loop()

        def read() -> Book:
            options = {"create": create, "lock_timeout": self._lock_timeout}
            store = Store.open(self.path, self._connect, **options)
            try:
                self._check_mark(store)
                book = load(store, compiled=self._compiled, clock=self.clock.now)
                book.most_waiting = self._waiting
                self.clock.begin(book.at)
                return book
            except BaseException:
                store.close()
                raise

        def begin(book: Book) -> None:
            book.store.database.pulse()
            self._clean = finish_purge(book.store)
            self._begin_mark(book.store)

        if self.book is None:
            self.book = await loop.run_in_executor(self._thread, read)
        await loop.run_in_executor(self._thread, begin, self.book)  # meanwhile it can be read
        self.reason = None
        self.on_load(self.book)
        if self.book.group:  # upgrades to this version of the code
            await self.settle()

    def _check_mark(self, store: Store) -> None:
        """Refuse a database that lacks acknowledged events."""
        mark = read_mark(self.path)
        if mark is None:
            if store.seq:
                _LOG.info("%s has no mark beside it; one is made", self.path.name)
            return
        lost = loss(store, mark)
        broken = store.broken_link()
        if lost is None and broken is not None:
            lost = f"event {broken} of {self.path.name} does not fit its checksum"
        if lost is not None and not self._accept_loss:
            raise ValueError(f"{lost}; {WAY_ON}")
        if lost is not None:
            _LOG.warning("going on without acknowledged events: %s", lost)

    def _begin_mark(self, store: Store) -> None:
        """Take over the mark for this database."""
        if self._mark is None:
            self._mark = MarkFile(self.path)
        mark = Mark(store.seq, store.chain)
        known = read_mark(self.path)
        if known != mark:
            for _ in range(2 if known is not None and known > mark else 1):
                self._mark.write(mark)
            self._mark.sync()
        self._accept_loss = False

    def _commit(self, store: Store, group: Group) -> None:
        """Write a group to the disk, then the mark."""
        store.append(group)
        if self._mark is not None:
            self._mark.write(Mark(store.seq, store.chain))

    async def close(self) -> None:
        """Commit what is left, take snapshots, and close the database."""
        self._closing = True
        for task in list(self._tasks):
            if task is not self._writer:
                task.cancel()
        if self.book is not None:
            with contextlib.suppress(Refusal):
                await self.settle()
                await self.snapshot(everything=True)
        if self._writer is not None:
            with contextlib.suppress(asyncio.CancelledError):
                await self._writer
        if self.book is not None:
            self.book.store.close()
            self.book = None
        if self._mark is not None:
            self._mark.close()
            self._mark = None
        self._thread.shutdown()
        self._aside.shutdown()

    # Called by requests.

    def usable(self) -> Book:
        """The book for writing, or a refusal with the reason."""
        if self.book is None or self.reason is not None:
            raise Refusal("unavailable", f"the service cannot write now: {self.reason}")
        return self.book

    def readable(self) -> Book:
        """The book for reading, also while nothing can be written."""
        if self.book is None:
            raise Refusal("unavailable", f"the service cannot answer now: {self.reason}")
        return self.book

    def do(self, work: Callable[[Book], T]) -> T:
        """Run `work` on the book; wait for `durable` before sending its answer."""
        book = self.usable()
        try:
            return work(book)
        except Refusal:
            raise
        except Exception as error:
            reason = why(error)
            if reason is None:
                _LOG.exception("a request could not be worked on")
                reason = f"an error inside: {type(error).__name__}"
            self._fail(reason)
            raise Refusal("unavailable", f"the service cannot go on now: {reason}") from None
        finally:
            if book.group:
                self._kick()

    async def durable(self, seq: int) -> None:
        """Wait until everything up to event `seq` is on the disk."""
        book = self.usable()
        if seq <= book.committed:
            return
        done = asyncio.get_running_loop().create_future()
        if self._flying is not None and seq <= self._flying[0]:
            self._flying[1].append(done)
        else:
            self._gathering.append(done)
            self._kick()
        await done

    async def answer(self, work: Callable[[Book], Answer]) -> Answer:
        """Run `work` on the book, and return its answer when it is on the disk."""
        answer = self.do(work)
        await self.durable(answer.seq)
        return answer

    async def settle(self) -> None:
        """Wait until all events are on the disk."""
        if self.book is not None:
            await self.durable(self.book.seq)

    def _kick(self) -> None:
        """Start the writer unless it runs."""
        if self._writer is None or self._writer.done():
            self._writer = asyncio.get_running_loop().create_task(self._write())

    async def _write(self) -> None:
        """Commit groups until there is nothing left."""
        await asyncio.sleep(0)  # requests that are ready now go with the first commit
        loop = asyncio.get_running_loop()
        many = False
        while True:
            if many:
                await asyncio.sleep(_GATHER)
            book = self.book
            if book is None or not book.group:
                return
            group, many = book.group, len(self._gathering) >= _MANY
            book.group = type(group)()
            last = book.seq
            waiting, self._gathering = self._gathering, []
            self._flying = (last, waiting)
            try:
                await loop.run_in_executor(self._thread, self._commit, book.store, group)
                if group.erased:
                    work = functools.partial(purge, book.store, group.marks)
                    self._clean = await loop.run_in_executor(self._thread, work)
            except Exception as error:
                reason = why(error)
                if reason is None:
                    _LOG.exception("a commit failed")
                    reason = f"an error inside: {type(error).__name__}"
                self._fail(reason)
                return
            self.commits += 1
            book.note_commit(last)
            self._flying = None
            for done in waiting:
                if not done.done():  # the client may have gone
                    done.set_result(None)

    # Failures.

    def _fail(self, reason: str) -> None:
        """Discard uncommitted events, refuse waiting requests, and begin to recover."""
        if self.reason is not None:
            return
        _LOG.error("cannot write: %s", reason)
        self.reason, self.failures = reason, self.failures + 1
        self.last_error = (time.time(), reason, "unavailable")
        waiting = self._gathering + (self._flying[1] if self._flying else [])
        self._gathering, self._flying = [], None
        for done in waiting:
            if not done.done():
                done.set_exception(Refusal("unavailable", f"nothing was stored: {reason}"))
        book, self.book = self.book, None
        if not self._closing:
            self._spawn(self._recover(book))

    async def _recover(self, book: Book | None) -> None:
        """Load the database again, until it works."""
        loop = asyncio.get_running_loop()
        if book is not None:
            await loop.run_in_executor(self._thread, book.store.close)
        while True:
            await asyncio.sleep(_AGAIN)
            try:
                await self._load(create=False)
            except Exception as error:
                reason = why(error) or (str(error) if isinstance(error, ValueError) else None)
                if reason is None:
                    _LOG.exception("loading failed")
                self.reason = reason or f"an error inside: {type(error).__name__}"
                if self.book is not None and isinstance(error, Unusable):
                    other, self.book = self.book, None  # it belongs to another file
                    await loop.run_in_executor(self._thread, other.store.close)
            else:
                _LOG.info("writing works again")
                return

    # Work on a schedule.

    async def _beat(self) -> None:
        """End windows in time, take snapshots, and keep the write-ahead log short."""
        loop, written, count = asyncio.get_running_loop(), 0, 0
        while True:
            await asyncio.sleep(0.1)
            count += 1
            if self.book is not None and self.commits != written and self._is_due(count):
                written = self.commits
                with contextlib.suppress(Exception):  # the next commit reports what is wrong
                    await self._shorten(self.book.store)
            if count % _SECOND == 0:
                self.clock.watch()
                if self._mark is not None:
                    with contextlib.suppress(OSError):  # the next commit reports it
                        await loop.run_in_executor(self._aside, self._mark.sync)
            if self.book is None or self.reason is not None:
                continue
            if not self._clean:  # a reader prevented it before
                work = functools.partial(self.book.store.database.truncate, wait=False)
                with contextlib.suppress(Exception):
                    self._clean = await loop.run_in_executor(self._thread, work)
            with contextlib.suppress(Refusal):
                while self.do(_tick).data:  # more windows are overdue; other work has its turn
                    await asyncio.sleep(0)
                if self.book is not None and not self.book.any_archived:
                    self.book.any_archived = bool(self.book.store.archives())
                await self.snapshot()

    async def _shorten(self, store: Store) -> None:
        """Checkpoint the write-ahead log, and restart it when it is long."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._aside, store.database.checkpoint)
        if store.database.log_size():
            await loop.run_in_executor(self._thread, store.database.restart_log)

    def _is_due(self, count: int) -> bool:
        """Whether a checkpoint is due: every `_CHECKPOINT`, or within a second if it is long."""
        if count % _CHECKPOINT == 0 or count % _SECOND or self.book is None:
            return count % _CHECKPOINT == 0
        return self.book.store.database.log_size() > 0

    async def snapshot(self, everything: bool = False) -> None:
        """Take snapshots of experiments with enough new events, or of all with any."""
        book = self.usable()
        for experiment in list(book.experiments.values()):
            behind = book.since_snapshot[experiment.number]
            size = experiment.counts.keys + len(experiment.waiting) + len(experiment.unshown)
            enough = max(SNAPSHOT_EVERY, 2 * size)
            # busy experiments wait longer, since a longer tail is still replayed quickly
            rested = time.monotonic() - self._snapped.get(experiment.number, -1e9) > _REST
            due = behind >= enough and (rested or behind >= 4 * enough)
            if not (due or (everything and behind)):
                continue
            self._snapped[experiment.number] = time.monotonic()
            state, seq, version = state_of(experiment), experiment.seq, experiment.version
            book.since_snapshot[experiment.number] = 0
            loop = asyncio.get_running_loop()
            body, checksum = await loop.run_in_executor(self._aside, _packed, state)
            if self.book is not book:
                return
            await self.durable(seq)  # a snapshot must not contain more than the log
            made = Snapshot(experiment.number, seq, version, checksum, body)
            book.group.snapshots.append(made)
            self._kick()
            if everything:
                await self._written(book)

    async def _written(self, book: Book) -> None:
        while book.group and self.book is book:
            done = asyncio.get_running_loop().create_future()
            self._gathering.append(done)
            await done


def _packed(state: dict[str, Any]) -> tuple[bytes, str]:
    return packed(encode(state))


def _tick(book: Book) -> Answer:
    return Answer(book.tick(), 0)
