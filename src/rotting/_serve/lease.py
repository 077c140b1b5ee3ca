"""The lease of a database file: a lock that the system releases when its process ends."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO


def served(path: Path) -> ValueError:
    """The refusal of a second server."""
    return ValueError(f"data must not be served already, but {path} is")


def is_held(path: Path) -> bool:
    """Whether a database is being served; creates no file."""
    try:
        import fcntl

        with path.with_name(path.name + ".lock").open("r") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except (ImportError, OSError):
        pass
    return False


@contextlib.contextmanager
def lease(path: Path) -> Iterator[None]:
    """Hold the lease; ValueError if another server holds it."""
    file: IO[str] | None = None
    try:
        import fcntl
    except ImportError:  # Windows has only SQLite's own locks
        yield
        return
    try:
        file = path.with_name(path.name + ".lock").open("w")
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        assert file is not None
        file.close()
        raise served(path) from None
    except OSError as error:
        raise ValueError(f"data must lie in a folder that can be written: {error}") from None
    try:
        yield
    finally:
        file.close()
