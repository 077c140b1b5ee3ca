"""Who was erased stays erased, whatever copy of the database comes back.

A backup from before still has their rows, and a restore deletes them again. Which rows those are is
written in two places, in the database and in a list beside it (`service.db.erased`, random numbers
that say nothing about anybody), for the database may be lost.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from rotting.serve.store import Store


def list_of(path: Path) -> Path:
    """The list of those who were erased from a database."""
    return path.with_name(path.name + ".erased")


def forget(store: Store, marks: list[tuple[int]]) -> bool:
    """After rows were deleted: let nothing of them stay in the files, and note their marks.

    Whether nothing stayed: a reader may keep it from being so, and it is tried again later.
    """
    with list_of(store.path).open("a", encoding="ascii") as file:
        file.writelines(f"{mark}\n" for (mark,) in marks)
        file.flush()
        os.fsync(file.fileno())
    return store.truncate(patient=False)


def finish(store: Store) -> bool:
    """What an end between a commit and `forget` left undone; whether nothing is left."""
    known: set[int] = set()
    with contextlib.suppress(OSError):
        known = {int(line) for line in list_of(store.path).read_text("ascii").split()}
    left = sorted(set(store.erasures()) - known)
    return not left or forget(store, [(mark,) for mark in left])


def marks_of(path: Path) -> set[int]:
    """Everybody who was erased from a database, as far as it and its list know."""
    found: set[int] = set()
    with contextlib.suppress(OSError):
        found |= {int(line) for line in list_of(path).read_text("ascii").split()}
    if path.exists():
        with contextlib.suppress(Exception):  # damaged, perhaps: that is why it is restored
            store = Store(path, create=False)
            try:
                found |= set(store.erasures())
            finally:
                store.close()
    return found
