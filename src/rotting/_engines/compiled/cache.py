"""The cache of compiled code on disk, for later processes.

Numba chooses a writable folder and converts compiled code into bytes and back. The files are this
module's: one for each loop, policy, fingerprint and signature, with a checksum, put in place by an
atomic replacement. There is no index that processes could fight for. A damaged file is removed. If
the disk is full or read-only, every process compiles again, with one warning.

Of every loop and policy the `MOST` files used last are kept: an edited policy leaves no trail of
files, and two checkouts or versions used in turn do not evict each other's.
"""

from __future__ import annotations

import contextlib
import functools
import glob
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
_ABANDONED = 3600.0  # seconds after which an unfinished file no longer has a writer


class Store:
    """The cache of one compiled loop, with the interface of numba's caches."""

    def __init__(
        self,
        function: Any,
        family: str,
        mark: str | None,
        compiling: Callable[[bool], None],
        unchanged: Callable[[], bool],
    ) -> None:
        """`family` names the loop and the policy, `mark` is its fingerprint; None to keep nothing.

        `compiling` is called before a compilation, with whether its result will be kept, and
        `unchanged` after it: whether the sources still have that fingerprint.
        """
        self._unchanged = unchanged
        self._numbas = None if mark is None else _numbas_cache(function)
        self._compiling = compiling
        if self._numbas is not None:
            self._numbas._cache_file = Files(Path(self._numbas.cache_path), family, str(mark))

    @property
    def cache_path(self) -> Any:
        """The folder, or None."""
        return None if self._numbas is None else self._numbas.cache_path

    @property
    def is_filled(self) -> bool:
        """Whether there is code for some signature."""
        return self._numbas is not None and self._numbas._cache_file.exists()

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The compiled code of a signature, or None."""
        found = None
        if self._numbas is not None:
            try:
                found = self._numbas.load_overload(signature, context)
            except Exception:  # the compiler may raise anything on wrong bytes
                key = self._numbas._index_key(signature, context.codegen())
                self._numbas._cache_file.discard(key)
        if found is None:
            self._compiling(self._numbas is not None)
        return found

    def save_overload(self, signature: Any, made: Any) -> None:
        """Keep compiled code, if the disk allows it."""
        if self._numbas is not None and self._unchanged():
            try:
                self._numbas.save_overload(signature, made)
            except OSError as error:
                _warn_once(f"{error.strerror or error}")

    def enable(self) -> None:
        """Nothing to do: the cache is always enabled."""

    def disable(self) -> None:
        """Keep and find nothing from now on."""
        self._numbas = None

    def flush(self) -> None:
        """Nothing to do: every file is complete."""


class Files:
    """The files of one compiled loop, by numba's key of a signature."""

    def __init__(self, folder: Path, family: str, mark: str) -> None:
        self._folder, self._family, self._mark = folder, family, mark

    def exists(self) -> bool:
        """Whether there is a file for some key."""
        names = f"{glob.escape(f'{self._family}-{self._mark}')}-*{SUFFIX}"
        return any(self._folder.glob(names))

    def load(self, key: Any) -> Any:
        """The value of a key, or None; a damaged file is removed."""
        path = self._path(key)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        if content[:_BYTES] == _checksum(content[_BYTES:]):
            with contextlib.suppress(OSError):
                os.utime(path)  # used just now
            with contextlib.suppress(Exception):  # a class in it may be gone, say
                return pickle.loads(content[_BYTES:])
        self.discard(key)
        return None

    def save(self, key: Any, data: Any) -> None:
        """Keep the value of a key, and remove the files used longest ago."""
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
    """Remove the files of a family used longest ago, and abandoned ones."""
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
        ages.pop(new, None)  # the new file stays, even if the clock is wrong
        for path in sorted(ages, key=ages.__getitem__)[MOST - 1 :]:
            path.unlink(missing_ok=True)


def _numbas_cache(function: Any) -> Any:
    """Numba's cache for a function; None, with a warning, if it finds no folder."""
    from numba.core.caching import FunctionCache

    try:
        return FunctionCache(function)
    except (RuntimeError, OSError):  # "no locator available"
        _warn_once("neither the package's folder nor numba's cache folder can be written")
        return None


@functools.cache
def _warn_once(reason: str) -> None:
    warnings.warn(
        f"compiled policies cannot be kept and are compiled again by every process: {reason}; "
        "set NUMBA_CACHE_DIR to a folder that can be written",
        RuntimeWarning,
        stacklevel=2,
    )
