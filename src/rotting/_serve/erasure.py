"""Who was erased stays erased, whatever copy of the database comes back.

A backup from before still has their rows, and a restore deletes them again. Which rows those are is
written in two places, in the database and in a list beside it (`service.db.erased`, random numbers
that say nothing about anybody), for the database may be lost. A backup that is put elsewhere, or
in another folder, has to be told where that list is.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from rotting._serve.sqlite import touch_private
from rotting._serve.store import Store


def list_of(path: Path) -> Path:
    """The list of those who were erased from a database."""
    return path.with_name(path.name + ".erased")


def forget(store: Store, marks: list[tuple[int]]) -> bool:
    """After rows were deleted: let nothing of them stay in the files, and note their marks.

    Whether nothing stayed: a reader may keep it from being so, and it is tried again later.
    """
    touch_private(list_of(store.path))
    with list_of(store.path).open("a", encoding="ascii") as file:
        file.writelines(f"{mark}\n" for (mark,) in marks)
        file.flush()
        os.fsync(file.fileno())
    return store.database.truncate(patient=False)


def finish(store: Store) -> bool:
    """What an end between a commit and `forget` left undone; whether nothing is left."""
    known = read_list(list_of(store.path)) if list_of(store.path).exists() else set()
    left = sorted(set(store.erasures()) - known)
    return not left or forget(store, [(mark,) for mark in left])


def marks_of(path: Path) -> set[int] | None:
    """Everybody who was erased from a database, as far as it and its list know.

    None if there is neither: then nobody knows.
    """
    found = read_list(list_of(path)) if list_of(path).exists() else None
    if path.exists():
        with contextlib.suppress(Exception):  # damaged, perhaps: that is why it is restored
            store = Store.open(path, create=False)
            try:
                found = (found or set()) | set(store.erasures())
            finally:
                store.close()
    return found


def read_list(path: Path) -> set[int]:
    """A list of those who were erased, wherever it is kept."""
    try:
        return {int(line) for line in path.read_text("ascii").split()}
    except FileNotFoundError:
        what = "is not there"
    except ValueError:  # also of the encoding
        what = "is none"
    raise ValueError(f"erased must be a list as service.db.erased, but {path} {what}")


def lists_beside(*paths: Path) -> list[set[int]]:
    """All lists in the folders of these files, those of other databases included.

    Marks are random: whoever has one of another database's is somebody who was erased from it. What
    is no list may be another program's. A database's own list must be one (`marks_of`).
    """
    found = []
    for folder in {path.absolute().parent for path in paths}:
        for one in folder.glob("*.erased"):
            with contextlib.suppress(ValueError, OSError):
                found.append(read_list(one))
    return found


def write_list(path: Path, marks: set[int]) -> None:
    """The list of a database, all of it or as it was before."""
    partial = list_of(path).with_name(list_of(path).name + ".partial")
    touch_private(partial)
    with partial.open("w", encoding="ascii") as file:
        file.writelines(f"{mark}\n" for mark in sorted(marks))
        file.flush()
        os.fsync(file.fileno())
    partial.replace(list_of(path))
