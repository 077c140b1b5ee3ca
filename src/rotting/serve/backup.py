"""Copies of a database that is in use, and back. Whoever was erased stays erased (`erasing`)."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path

from rotting.serve.erasing import list_of, marks_of
from rotting.serve.loading import load
from rotting.serve.locking import only_one
from rotting.serve.store import Group, Store


def backup(path: Path, target: Path, *, force: bool = False) -> int:
    """Copy a database, in use or not, as it is at one moment; returns its last event."""
    if not path.exists():
        raise ValueError(f"data must be a database, but {path} is not there")
    _check_target(target, force)
    _check_other(path, target)
    partial = target.with_name(target.name + ".partial")
    try:
        _copied(path, partial)
        # archives after it: what is moved meanwhile is in both, and not in neither
        for name in _archives(partial):
            there, copy = path.with_name(name), target.with_name(name)
            if not there.is_file():
                raise ValueError(f"archive {name} must lie beside {path}, but does not")
            if copy.resolve() != there.resolve():
                shelf = copy.with_name(copy.name + ".partial")
                _copied(there, shelf)
                shelf.replace(copy)
        made = Store(partial, create=False)
        try:
            health = made._read("PRAGMA integrity_check")
            last = made.last()
        finally:
            made.close()
        if health != [("ok",)]:
            raise ValueError(f"the copy is damaged: {health[0][0]}")
        _remove_companions(partial)
        _synced(partial)
        partial.replace(target)
        _synced(target.absolute().parent)
    except sqlite3.Error as error:
        raise ValueError(f"backup of {path} failed: {error}") from None
    finally:
        partial.unlink(missing_ok=True)
        _remove_companions(partial)
    return last


def restore(source: Path, path: Path, *, force: bool = False) -> tuple[int, int]:
    """Put a backup in the place of a database; returns its last event, and who was erased again.

    The server must not run. What was acknowledged after the backup is gone with the old database.
    """
    if not source.exists():
        raise ValueError(f"backup must be a file, but {source} is not there")
    _check_target(path, force)
    _check_other(source, path)
    with only_one(path):
        marks = marks_of(path) | marks_of(source)
        partial = path.with_name(path.name + ".partial")
        _remove_companions(partial)
        shutil.copyfile(source, partial)
        partial.chmod(0o600)
        try:
            last, again = _erase_again(partial, marks)
            for name in _archives(partial):
                copy = path.with_name(name)
                if not copy.exists():
                    if not source.with_name(name).exists():
                        raise ValueError(f"archive {name} must lie beside {source}, but does not")
                    shutil.copyfile(source.with_name(name), copy)
                _cut(copy, last)
            _synced(partial)
            _remove_companions(path)
            partial.replace(path)
            _synced(path.parent)
        finally:
            partial.unlink(missing_ok=True)
            _remove_companions(partial)
        with list_of(path).open("w", encoding="ascii") as file:
            file.writelines(f"{mark}\n" for mark in sorted(marks))
    return last, again


def _copied(path: Path, copy: Path) -> None:
    """A copy of a database as it is at one moment, on the disk."""
    copy.unlink(missing_ok=True)
    source = sqlite3.connect(path)
    try:
        source.execute("VACUUM INTO ?", (str(copy),))  # one reading: one moment
    finally:
        source.close()
    _synced(copy)


def _cut(archive: Path, last: int) -> None:
    """Events that were archived after the backup belong to what is given up with the old one."""
    made = sqlite3.connect(archive)
    try:
        made.execute("DELETE FROM event WHERE seq > ?", (last,))
        made.commit()
    finally:
        made.close()


def _check_other(path: Path, target: Path) -> None:
    if path.resolve() == target.resolve():
        raise ValueError(f"the backup must be another file than the database, got {target}")


def _archives(path: Path) -> list[str]:
    store = Store(path, create=False)
    try:
        return [name for name, *_ in store.archives()]
    finally:
        store.close()


def _erase_again(path: Path, marks: set[int]) -> tuple[int, int]:
    """Delete the rows of those who were erased since, by events like any other."""
    store = Store(path, create=False)
    try:
        known = store.marked()
        due = [known[mark] for mark in sorted(marks) if mark in known]
        if due:
            book = load(store, compiled=False)
            numbers = {one.number: one for one in book.experiments.values()}
            for number, surrogate in due:
                book.erase_surrogate(numbers[number], surrogate, "restore")
            group, book.group = book.group, Group()
            store.append(group)
        last = store.last()
        store.truncate()
    finally:
        store.close()
    return last, len(due)


def _check_target(path: Path, force: bool) -> None:
    if not path.absolute().parent.is_dir():
        raise ValueError(f"the target must lie in a folder that exists, got {path}")
    if path.exists() and not force:
        raise ValueError(f"the target must be new, or --force given, but {path} exists")


def _remove_companions(path: Path) -> None:
    for ending in ("-wal", "-shm", "-journal"):
        path.with_name(path.name + ending).unlink(missing_ok=True)


def _synced(path: Path) -> None:
    """Wait until a file, or what a folder says of its files, is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
