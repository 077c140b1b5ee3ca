"""Compilation in the background: a player decides in plain Python until compiled calls are ready.

Plain and compiled calls give the same bits, so a player can switch at any time. A `Job` compiles
for all players of one kind in this process. Another process compiles and fills the cache on disk; a
thread waits for it, loads the compiled code, and marks the job as settled. The player checks that
mark before each call.

- If no process can start, or its result cannot be stored, the job has failed. The player then
  compiles within its call at decision `PLAIN_LIMIT`, and one message is logged.
- A policy that cannot be compiled goes on in plain Python, which is logged as well.
- The other process ends when this one does, because its standard input is then closed.
- A fork waits until the thread has finished loading. In the child, unsettled jobs have failed.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import importlib
import json
import logging
import os
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rotting import _plain
from rotting.kernel.state import kinds

if TYPE_CHECKING:
    from rotting._online.core import Core

PLAIN_LIMIT = 1000  # decisions, or rows of a batch, for which plain Python is fast enough
_TURN = 120.0  # seconds to wait for another process that compiles the same
_ARMS = 4  # enough, since compiled code does not depend on the number of arms
_LOG = logging.getLogger("rotting")
_ONE = threading.Semaphore(1)  # one process at a time, to leave cores to the player
_LOADING = threading.Lock()  # held while the thread imports modules, during which no fork may run
_JOBS: dict[Any, Job] = {}
_GUARD = threading.Lock()  # protects `_JOBS`


class Job:
    """The compilation of the calls of one kind of player.

    Attributes:
        settled: Whether the compilation has ended or failed.
        ready: Whether compiled calls can be loaded at once.
        reason: Why it failed.
    """

    __slots__ = ("_over", "_process", "ready", "reason", "settled")

    def __init__(self) -> None:
        self.settled = self.ready = False
        self.reason = ""
        self._over = threading.Event()
        self._process: Any = None

    def start(self, request: dict[str, Any] | None, parts: tuple[Any, ...]) -> None:
        """Start the job; `request` describes the player for another process. None is a failure."""
        if request is None or not _is_python(sys.executable):
            self._settle("another process cannot make this policy")
            return
        work = threading.Thread(target=self._work, args=(request, parts), daemon=True)
        try:
            work.start()
        except RuntimeError as error:  # no more threads, or the interpreter is ending
            self._settle(str(error))

    def wait(self) -> None:
        self._over.wait()

    def stop(self, reason: str) -> None:
        """Kill the process, if there is one, and let the job fail."""
        if self._process is not None:
            with contextlib.suppress(OSError):
                self._process.kill()
        self._settle(reason)

    def abandon(self) -> None:
        """Let the job fail in the child of a fork: its thread and process are the parent's."""
        if self._process is not None:
            with contextlib.suppress(OSError):
                os.close(self._process.stdin.fileno())
        self._over = threading.Event()
        self._settle("this process was forked while another one compiled")

    def _settle(self, reason: str = "") -> None:
        if not self.settled:
            self.ready, self.reason = not reason, reason
            self.settled = True
        self._over.set()

    def _work(self, request: dict[str, Any], parts: tuple[Any, ...]) -> None:
        try:
            reason = self._compiled_elsewhere(request)
            if not reason and not self.settled:
                with _LOADING:
                    _load(*parts)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
        self._settle(reason)

    def _compiled_elsewhere(self, request: dict[str, Any]) -> str:
        """Compile in another process; returns the reason of a failure, or an empty text."""
        command = [sys.executable, "-P", "-m", "rotting._online.background"]
        paths = os.pathsep.join(path or str(Path.cwd()) for path in sys.path)
        with _ONE:
            if self.settled:
                return self.reason
            try:
                self._process = process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env={**os.environ, "PYTHONPATH": paths},
                    text=True,
                )
            except OSError as error:
                return f"no process could be started: {error}"
            assert process.stdin is not None
            assert process.stdout is not None
            with contextlib.suppress(OSError):  # it has ended; the answer below says how
                process.stdin.write(json.dumps(request) + "\n")
                process.stdin.flush()
            # standard input stays open until then, since the process ends when it is closed
            answer = process.stdout.read()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(OSError):
                    pipe.close()
        try:
            return str(json.loads(answer)["failed"])
        except (ValueError, KeyError):
            return f"the process ended with status {process.returncode}"


def job_for(core: Core) -> Job:
    """The job for players of this kind, started for the first of them."""
    parts = core.params, core.state, core.ledger
    kind = tuple(kind for part in parts for kind in kinds(part))
    with _GUARD:
        job = _JOBS.get(kind)
        if job is None:
            job = _JOBS[kind] = Job()
            job.start(_request(core), parts)
        return job


def _request(core: Core) -> dict[str, Any] | None:
    """A description from which another process can make such a player; None if it cannot."""
    parts = core.params, core.state
    modules = {kind.__module__ for part in parts for kind in kinds(part)}
    modules.add(type(core.policy).__module__)
    if "__main__" in modules:
        return None
    try:
        policy = _plain.to_plain(core.policy)
        rest = None if core.keys is None else _plain.to_plain(core.keys.rest)
        json.dumps([policy, rest])
    except (TypeError, ValueError):
        return None
    arms = min(len(core.arms), _ARMS)
    about = {"policy": policy, "horizon": core.horizon, "arms": arms, "modules": sorted(modules)}
    return {**about, "keyed": core.keys is not None, "rest": rest}


def _is_python(executable: str | None) -> bool:
    """Whether this is a Python interpreter, and not a program that embeds one."""
    return bool(executable) and Path(str(executable)).stem.lower().startswith(("python", "pypy"))


def _load(params: Any, state: Any, ledger: Any) -> None:
    """Load the compiled calls of such a player, or compile them."""
    from rotting._engines.compiled.calls import calls_for, ready

    ready(calls_for(params, state, ledger), params)


@atexit.register
def _stop_all() -> None:
    for job in list(_JOBS.values()):
        if not job.settled:
            job.stop("this process ends")


def _after_fork_in_child() -> None:
    _LOADING.release()
    for job in _JOBS.values():
        if not job.settled:
            job.abandon()


def _renew() -> None:
    """Replace locks in the child of a fork, where the threads that held them do not exist."""
    global _ONE, _GUARD
    _ONE, _GUARD = threading.Semaphore(1), threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_LOADING.acquire,
        after_in_parent=_LOADING.release,
        after_in_child=_after_fork_in_child,
    )
    os.register_at_fork(after_in_child=_renew)


# ----------------------------------------------------------------------- the other process


def _end_with_parent() -> None:
    sys.stdin.read()  # returns when the other end is closed
    os._exit(1)


@contextlib.contextmanager
def _in_turn(request: dict[str, Any]) -> Iterator[None]:
    """Let one process of this user compile a kind, while others wait to find it in the cache.

    The wait is limited: the lock only saves work.
    """
    try:
        import fcntl
    except ImportError:  # Windows: each compiles
        yield
        return
    about = json.dumps([request["modules"], request["keyed"], os.environ.get("NUMBA_CACHE_DIR")])
    name = f"rotting-{os.getuid()}-{hashlib.sha256(about.encode()).hexdigest()[:16]}.lock"
    try:
        file = (Path(tempfile.gettempdir()) / name).open("a")
    except OSError:
        yield
        return
    until = time.monotonic() + _TURN
    with file:
        while time.monotonic() < until:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                time.sleep(0.1)
        yield


def _compile(request: dict[str, Any]) -> str:
    """Compile such a player's calls; returns why the result is unusable, or an empty text."""
    for name in request["modules"]:
        importlib.import_module(name)
    policy = _plain.from_plain(request["policy"])
    settings: dict[str, Any] = {"horizon": request["horizon"], "compiled": True}
    if request["keyed"] and request["rest"] is not None:
        settings["rest"] = _plain.from_plain(request["rest"])
    start = policy.audience if request["keyed"] else policy.online
    with _in_turn(request), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        core = start(range(request["arms"]), **settings).core
        _load(core.params, core.state, core.ledger)
    lost = [str(one.message) for one in said if "cannot be kept" in str(one.message)]
    return lost[0] if lost else ""


def main() -> None:
    """Read a request, compile, and print the outcome as JSON."""
    request = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        failed = _compile(request)
    except Exception as error:
        failed = str(error) or type(error).__name__
    print(json.dumps({"failed": failed}), flush=True)
    os._exit(0)  # without waiting for the thread, which still reads


if __name__ == "__main__":
    main()
