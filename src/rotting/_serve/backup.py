"""Backups of a database in use, and their restore. Erased keys stay erased (`erasure`)."""

from __future__ import annotations

import itertools
import os
import shutil
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rotting._serve.erasure import list_of, lists_beside, marks_of, read_list, write_list
from rotting._serve.lease import lease
from rotting._serve.mark import Mark, set_mark
from rotting._serve.recovery import load
from rotting._serve.sqlite import touch_private
from rotting._serve.store import Group, Store


def backup(path: Path, target: Path, *, force: bool = False) -> int:
    """Copy a database, in use or not, at one moment; returns the number of its last event."""
    if not path.exists():
        raise ValueError(f"data must be a database, but {path} is not there")
    _check_target(target, force)
    _check_other(path, target)
    partial = target.with_name(target.name + ".partial")
    try:
        _copied(path, partial)
        # copied second, so an event archived meanwhile is duplicated rather than lost
        for name in _archives(path, partial):
            there, copy = path.with_name(name), target.with_name(name)
            if copy.resolve() != there.resolve():
                part = copy.with_name(copy.name + ".partial")
                try:
                    _copied(there, part)
                    if copy.exists():
                        _check_contained(copy, part)
                    part.replace(copy)
                finally:
                    part.unlink(missing_ok=True)
        made = Store.open(partial, create=False)
        try:
            health = made.database.read("PRAGMA integrity_check")
            last = made.last()
        finally:
            made.close()
        if health != [("ok",)]:
            raise ValueError(f"the copy is damaged: {health[0][0]}")
        _remove_side_files(partial)
        _synced(partial)
        partial.replace(target)
        _synced(target.absolute().parent)
    except sqlite3.Error as error:
        raise ValueError(f"backup of {path} failed: {error}") from None
    finally:
        partial.unlink(missing_ok=True)
        _remove_side_files(partial)
    return last


class Restored(NamedTuple):
    """The result of a restore."""

    last: int  # number of the last event
    again: int  # number of keys that were erased again
    lists: bool  # whether any record was found of keys erased after the backup
    archives: list[str]  # present names of its archives


def restore(
    source: Path, path: Path, *, force: bool = False, erased: Sequence[Path] = ()
) -> Restored:
    """Replace a database by a backup; `erased` are lists of keys erased since.

    The server must not run. Events acknowledged after the backup are lost with the old database.
    Archives beside it may belong to another database, so they are copied and never changed.
    """
    if not source.exists():
        raise ValueError(f"backup must be a file, but {source} is not there")
    _check_target(path, force)
    _check_other(source, path)
    given = [read_list(one) for one in erased]
    with lease(path):
        replaced, kept = marks_of(path), marks_of(source) or set()
        beside = set().union(*lists_beside(path, source))
        marks = set().union(*given, replaced or (), kept, beside)
        # a list in the folder is this database's only if the two have a mark in common
        recorded = (
            bool(given) or replaced is not None or list_of(source).exists() or bool(beside & kept)
        )
        partial = path.with_name(path.name + ".partial")
        _remove_side_files(partial)
        partial.unlink(missing_ok=True)
        touch_private(partial)
        shutil.copyfile(source, partial)
        copies: list[Path] = []
        try:
            _copy_archives(source, path, partial, copies)
            last, again, acknowledged = _erase_again(partial, marks)
            _synced(partial)
            if marks:  # an empty list would claim that no key was erased
                write_list(path, marks)
            _remove_side_files(path)
            partial.replace(path)
            set_mark(path, acknowledged)
        except BaseException as error:
            for copy in copies:
                copy.unlink(missing_ok=True)
            if isinstance(error, sqlite3.Error):
                raise ValueError(f"{source} or an archive of it cannot be read: {error}") from error
            raise
        finally:
            partial.unlink(missing_ok=True)
            _remove_side_files(partial)
        _synced(path.absolute().parent)
    return Restored(last, again, recorded or again > 0, [copy.name for copy in copies])


def _copy_archives(source: Path, path: Path, partial: Path, copies: list[Path]) -> None:
    """Copy the archives of a backup, without events archived after it."""
    store = Store.open(partial, create=False)
    try:
        last = store.last()
        held = {name: events for name, _, _, events in store.archives()}
        taken = set(held)
        for name in sorted(taken):
            found = [one for one in (source, path) if one.with_name(name).is_file()]
            if not found and not held[name]:
                store.rename_archive(name, None)
                continue
            if not found:
                raise ValueError(f"archive {name} must lie beside {source}, but does not")
            copy = _free(path, name, taken - {name})
            taken.add(copy.name)
            copies.append(copy)
            _copied(found[0].with_name(name), copy)
            _cut(copy, last)
            store.rename_archive(name, copy.name)
    finally:
        store.close()


def _free(path: Path, name: str, taken: set[str]) -> Path:
    """A path for an archive beside a database: its own name, or one that is free and not taken."""
    own = Path(name)
    names = (f"{path.stem}-{own.stem}-{n}{own.suffix}" for n in itertools.count(2))
    every = itertools.chain([name, f"{path.stem}-{name}"], names)
    free = (path.with_name(each) for each in every if each not in taken)
    return next(one for one in free if not one.exists())


def _copied(path: Path, copy: Path) -> None:
    """Copy a database at one moment, synced."""
    copy.unlink(missing_ok=True)
    touch_private(copy)
    source = sqlite3.connect(path)
    try:
        source.execute("VACUUM INTO ?", (str(copy),))  # one read transaction
    finally:
        source.close()
    _synced(copy)


def _cut(archive: Path, last: int) -> None:
    """Delete events that were archived after the backup: they are lost with the old database."""
    made = sqlite3.connect(archive)
    try:
        made.execute("DELETE FROM event WHERE seq > ?", (last,))
        made.commit()
    finally:
        made.close()


def _check_contained(old: Path, new: Path) -> None:
    """Refuse to replace an archive that has events of another database."""
    made = sqlite3.connect(new)
    try:
        made.execute("ATTACH ? AS old", (str(old),))
        more = made.execute("SELECT * FROM old.event EXCEPT SELECT * FROM main.event LIMIT 1")
        other = bool(more.fetchall())
    except sqlite3.Error:  # not an archive
        other = True
    finally:
        made.close()
    if other:
        raise ValueError(
            f"the backup must go to a folder without a {old.name} of another database, "
            f"but {old} is one"
        )


def _check_other(path: Path, target: Path) -> None:
    if path.resolve() == target.resolve():
        raise ValueError(f"the backup must be another file than the database, got {target}")


def _archives(path: Path, partial: Path) -> list[str]:
    """Names of the archives in a copy of a database, without empty ones that have no file."""
    store = Store.open(partial, create=False)
    try:
        named = store.archives()
    finally:
        store.close()
    found = []
    for name, _, _, events in named:
        if path.with_name(name).is_file():
            found.append(name)
        elif events:
            raise ValueError(f"archive {name} must lie beside {path}, but does not")
    return found


def _erase_again(path: Path, marks: set[int]) -> tuple[int, int, Mark]:
    """Erase keys that were erased after the backup, by events as usual.

    Returns the number of the last event, the number of keys, and the new mark of the database.
    """
    store = Store.open(path, create=False)
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
        last, mark = store.last(), Mark(store.seq, store.chain)
        store.database.truncate()
    finally:
        store.close()
    return last, len(due), mark


def _check_target(path: Path, force: bool) -> None:
    if not path.absolute().parent.is_dir():
        raise ValueError(f"the target must lie in a folder that exists, got {path}")
    if path.exists() and not force:
        raise ValueError(f"the target must be new, or --force given, but {path} exists")


def _remove_side_files(path: Path) -> None:
    for ending in ("-wal", "-shm", "-journal"):
        path.with_name(path.name + ending).unlink(missing_ok=True)


def _synced(path: Path) -> None:
    """Sync a file, or a folder's list of files, to the disk."""
    if os.name == "nt" and path.is_dir():
        return  # Windows cannot open folders
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
