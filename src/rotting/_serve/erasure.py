"""Lists of erased keys, so that a restored backup does not bring them back.

A backup from before an erasure still has the key's row, and a restore deletes it again. The marks
of erased rows are random numbers without personal data. They are kept in the database and in a list
beside it (`service.db.erased`), because the database may be lost. A restore into another folder
must be given the path of that list.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from rotting._serve.sqlite import touch_private
from rotting._serve.store import Store


def list_of(path: Path) -> Path:
    """The path of a database's list of erased keys."""
    return path.with_name(path.name + ".erased")


def purge(store: Store, marks: list[tuple[int]]) -> bool:
    """List the marks of deleted rows, and remove the rows from the database's files.

    Returns whether nothing of them is left. A reader may prevent that; it is tried again later.
    """
    touch_private(list_of(store.path))
    with list_of(store.path).open("a", encoding="ascii") as file:
        file.writelines(f"{mark}\n" for (mark,) in marks)
        file.flush()
        os.fsync(file.fileno())
    return store.database.truncate(wait=False)


def finish_purge(store: Store) -> bool:
    """Do what `purge` did not do because the process ended first; whether nothing is left."""
    known = read_list(list_of(store.path)) if list_of(store.path).exists() else set()
    left = sorted(set(store.erasures()) - known)
    return not left or purge(store, [(mark,) for mark in left])


def marks_of(path: Path) -> set[int] | None:
    """The marks of all keys erased from a database, by its own table and its list.

    None if neither file exists.
    """
    found = read_list(list_of(path)) if list_of(path).exists() else None
    if path.exists():
        with contextlib.suppress(Exception):  # it may be damaged, hence the restore
            store = Store.open(path, create=False)
            try:
                found = (found or set()) | set(store.erasures())
            finally:
                store.close()
    return found


def read_list(path: Path) -> set[int]:
    """The marks in a list of erased keys, at any path."""
    try:
        return {int(line) for line in path.read_text("ascii").split()}
    except FileNotFoundError:
        what = "is not there"
    except ValueError:  # also of the encoding
        what = "is not one"
    raise ValueError(f"erased must be a list like service.db.erased, but {path} {what}")


def lists_beside(*paths: Path) -> list[set[int]]:
    """All lists in the folders of these files, those of other databases included.

    That is safe: marks are random, so a key with a mark in a list was erased. Files that are no
    lists may belong to another program and are skipped. A database's own list must be readable
    (`marks_of`).
    """
    found = []
    for folder in {path.absolute().parent for path in paths}:
        for one in folder.glob("*.erased"):
            with contextlib.suppress(ValueError, OSError):
                found.append(read_list(one))
    return found


def write_list(path: Path, marks: set[int]) -> None:
    """Replace a database's list of erased keys atomically."""
    partial = list_of(path).with_name(list_of(path).name + ".partial")
    touch_private(partial)
    with partial.open("w", encoding="ascii") as file:
        file.writelines(f"{mark}\n" for mark in sorted(marks))
        file.flush()
        os.fsync(file.fileno())
    partial.replace(list_of(path))
