"""Whether somebody works in a folder: a lock on a file in it, which ends with its process."""

from __future__ import annotations

import contextlib
import importlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

NAME = ".lock"
_OLD = 30 * 24 * 3600.0  # seconds; where locks say nothing, nobody works at one thing for so long


def _locking() -> Any:
    """The module that locks files; None on operating systems without it."""
    try:
        return importlib.import_module("fcntl")
    except ImportError:
        return None


@contextlib.contextmanager
def held(folder: Path) -> Iterator[None]:
    """Say that somebody works in this folder."""
    # Renamed once it is locked, for a lock stays with its file: nobody finds a lock that is free.
    # Without locks there is nothing to hide, and Windows renames no open file.
    new = folder / (NAME if _locking() is None else f"{NAME}-new")
    with new.open("w") as file:
        with contextlib.suppress(OSError):  # file systems without locks: age has to do
            _lock(file)
        if new.name != NAME:
            new.rename(folder / NAME)
        yield


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Wait until no other process is in such a block for this folder, where there are locks."""
    fcntl = _locking()
    with contextlib.ExitStack() as stack:
        if fcntl is not None:
            with contextlib.suppress(OSError):  # file systems without locks
                handle = os.open(folder, os.O_RDONLY)
                stack.callback(os.close, handle)
                fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def abandoned(folder: Path) -> bool:
    """Whether nobody works in this folder any more."""
    try:
        with (folder / NAME).open("r+") as file:
            if _lock(file):
                return True
    except BlockingIOError:
        return False  # somebody holds it
    except OSError:
        pass  # no lock to be had: the folder is just being made, or older than locks are
    with contextlib.suppress(OSError):
        return time.time() - folder.stat().st_mtime > _OLD
    return False


def _lock(file: IO[str]) -> bool:
    """Take the lock, if there are locks; BlockingIOError if another process holds it."""
    fcntl = _locking()
    if fcntl is None:
        return False
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return True
