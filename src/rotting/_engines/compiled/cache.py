"""Compiled code on disk, where later processes find it.

Numba says where (a folder that can be written) and turns compiled code into bytes and back. The
files are ours: one for each loop, policy, fingerprint and signature, with a checksum, put in place
by an atomic replacement. There is no index that processes could fight for, a damaged file is
thrown away, and a disk that is full or cannot be written stops nobody: then it is compiled again
in every process, which is said once.

Of every loop and policy the files used last are kept, `MOST` of them: an edited policy leaves no
trail of files, and two checkouts or two versions used in turn do not throw out each other's.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import sys
import time
import uuid
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

MOST = 32  # files of one loop and policy
SUFFIX = ".code"
_BYTES = 16  # of a checksum
_ABANDONED = 3600.0  # seconds after which an unfinished file has no writer any more


class Store:
    """What numba asks for compiled code and gives it to (the interface of its caches)."""

    def __init__(
        self,
        function: Any,
        family: str,
        mark: str | None,
        compiling: Callable[[bool], None],
        unchanged: Callable[[], bool],
    ) -> None:
        """`family` names the loop and the policy, `mark` what it is made from; None: keep nothing.

        `compiling` is called before something is compiled, with whether it will be kept, and
        `unchanged` after it: whether what it was made from still has that mark.
        """
        self._unchanged = unchanged
        self._numbas = None if mark is None else _numbas_cache(function)
        self._compiling = compiling
        if self._numbas is not None:
            self._numbas._cache_file = Files(Path(self._numbas.cache_path), family, str(mark))

    @property
    def cache_path(self) -> Any:
        """The folder, if there is one."""
        return None if self._numbas is None else self._numbas.cache_path

    def load_overload(self, signature: Any, context: Any) -> Any:
        """What was compiled for a signature before, or None."""
        found = None
        if self._numbas is not None:
            try:
                found = self._numbas.load_overload(signature, context)
            except Exception:  # whatever the compiler makes of its bytes
                key = self._numbas._index_key(signature, context.codegen())
                self._numbas._cache_file.discard(key)
        if found is None:
            self._compiling(self._numbas is not None)
        return found

    def save_overload(self, signature: Any, made: Any) -> None:
        """Keep what was compiled, if the disk lets us."""
        if self._numbas is not None and self._unchanged():
            try:
                self._numbas.save_overload(signature, made)
            except OSError as error:
                _say_once(f"{error.strerror or error}")

    def enable(self) -> None:
        """Nothing to do: it always is."""

    def disable(self) -> None:
        """Keep and find nothing from now on."""
        self._numbas = None

    def flush(self) -> None:
        """Nothing to do: every file is complete."""


class Files:
    """The files of one compiled loop, by numba's key of a signature."""

    def __init__(self, folder: Path, family: str, mark: str) -> None:
        self._folder, self._family, self._mark = folder, family, mark

    def load(self, key: Any) -> Any:
        """What is kept for a key, or None; a damaged file is removed."""
        path = self._path(key)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        if content[:_BYTES] == _checksum(content[_BYTES:]):
            with contextlib.suppress(OSError):
                os.utime(path)  # used just now
            with contextlib.suppress(Exception):  # a class in it is no more, say
                return pickle.loads(content[_BYTES:])
        self.discard(key)
        return None

    def save(self, key: Any, data: Any) -> None:
        """Keep something for a key, and remove what was not used for longest."""
        from numba.core.serialize import dumps

        content = dumps(data)
        path = self._path(key)
        unfinished = path.with_suffix(f".{uuid.uuid4().hex[:16]}.tmp")
        try:
            unfinished.write_bytes(_checksum(content) + content)
            unfinished.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                unfinished.unlink(missing_ok=True)
            raise
        _clean(self._folder, self._family, path)

    def discard(self, key: Any) -> None:
        """Remove what is kept for a key."""
        with contextlib.suppress(OSError):
            self._path(key).unlink(missing_ok=True)

    def _path(self, key: Any) -> Path:
        import numba

        # numba's key leaves out the level of optimisation, which NUMBA_OPT sets
        level = int(numba.config.OPT)
        about = (numba.__version__, level, sys.implementation.cache_tag, sys.abiflags, key)
        signature = hashlib.blake2b(repr(about).encode(), digest_size=8).hexdigest()
        return self._folder / f"{self._family}-{self._mark}-{signature}{SUFFIX}"


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_BYTES).digest()


def _clean(folder: Path, family: str, new: Path) -> None:
    """Remove the files of a family that were used longest ago, and what nobody uses any more."""
    with contextlib.suppress(OSError):
        now = time.time()
        ages = {}
        for path in folder.iterdir():
            with contextlib.suppress(OSError):  # another process may have removed it
                if path.name.startswith(f"{family}-") and path.suffix == SUFFIX:
                    ages[path] = now - path.stat().st_mtime
                elif path.suffix in (".nbi", ".nbc") or (  # numba's own, of earlier versions
                    path.suffix == ".tmp" and now - path.stat().st_mtime > _ABANDONED
                ):
                    path.unlink(missing_ok=True)
        ages.pop(new, None)  # it stays, whatever the clock says
        for path in sorted(ages, key=ages.__getitem__)[MOST - 1 :]:
            path.unlink(missing_ok=True)


def _numbas_cache(function: Any) -> Any:
    """Numba's cache for a function; None, with a warning, if there is no place for one."""
    from numba.core.caching import FunctionCache

    try:
        return FunctionCache(function)
    except (RuntimeError, OSError):  # "no locator available"
        _say_once("neither the package's folder nor numba's cache folder can be written")
        return None


@functools.cache
def _say_once(reason: str) -> None:
    warnings.warn(
        f"compiled policies cannot be kept and are compiled again by every process: {reason}; "
        "set NUMBA_CACHE_DIR to a folder that can be written",
        RuntimeWarning,
        stacklevel=2,
    )
