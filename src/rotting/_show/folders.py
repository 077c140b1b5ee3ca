"""Output folders: their files appear when all of the work is done, or not at all.

A run writes into a folder `.partial-...`. A new target gets its name in one step. Into one that
exists files are moved one by one; `.rotting.json` lists those that a run wrote, and the next one,
if forced, removes those of them that it does not write itself, and nothing else.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

PARTIAL = ".partial-"
MANIFEST = ".rotting.json"
_DAY = 86_400.0  # seconds after which a partial folder is one of a run that was killed


@contextlib.contextmanager
def output_folder(path: str | Path, force: bool = False) -> Iterator[Path]:
    """A temporary folder to write into; its files are moved to `path` if the work succeeds.

    A folder that holds something is refused, unless `force` is given; then files of the same
    names are replaced, those that an earlier run wrote are removed, and all others are left alone.
    Nothing is left behind when the work fails or is interrupted. Refusals come before any work.
    """
    target = Path(path)
    made: list[Path] = []
    with contextlib.ExitStack() as cleaning:
        try:
            _check_target(target, force)
            near = target if target.exists() else target.absolute().parent
            made += [folder for folder in (near, *near.parents) if not folder.exists()]
            cleaning.callback(_remove_empty, made)
            near.mkdir(parents=True, exist_ok=True)
            work = outer = Path(tempfile.mkdtemp(dir=near, prefix=PARTIAL))
            cleaning.callback(shutil.rmtree, outer, ignore_errors=True)
            if not target.exists():
                work = outer / target.absolute().name
                work.mkdir()  # with the usual permissions
        except OSError as error:
            raise ValueError(f"out must be a folder that can be written to: {error}") from None
        yield work
        _put_in_place(work, target, force)


def final(folder: Path) -> Path:
    """Where the files of a folder that `output_folder` gave will lie in the end."""
    if folder.name.startswith(PARTIAL):
        return folder.parent
    inside = folder.parent.name.startswith(PARTIAL)
    return folder.parent.parent / folder.name if inside else folder


def check_place(name: str, path: Path) -> None:
    """Refuse a file or folder that cannot be made, by making a file near it and removing it again.

    Near: in the folder itself, in the one that it would lie in, or in the first above that exists.
    """
    try:  # a name that is too long, or a folder that may not be searched, fails at any question
        around = path.absolute().parents
        near = path if path.is_dir() else next(folder for folder in around if folder.exists())
        with tempfile.NamedTemporaryFile(dir=near, prefix=PARTIAL):
            pass
    except OSError as error:
        raise ValueError(
            f"{name} must be a folder that can be written to, or a file in one, got "
            f"{str(path)!r}: {error}"
        ) from None


def _check_target(target: Path, force: bool) -> None:
    """Refuse a target that nothing may be written to, and remove what killed runs have left."""
    if target.exists() and not target.is_dir():
        raise ValueError(f"out must be a folder, but {target} is a file")
    for left in target.glob(f"{PARTIAL}*"):
        if left.is_dir() and not left.is_symlink() and time.time() - left.stat().st_mtime > _DAY:
            shutil.rmtree(left, ignore_errors=True)
    if not force and target.is_dir() and any(map(_is_something, target.iterdir())):
        raise ValueError(
            f"out must be an empty or new folder, but {target} holds files; "
            "use --force to replace what an earlier run wrote there"
        )
    _check_kind(target / MANIFEST, is_folder=False)


def _is_something(path: Path) -> bool:
    return path.name != MANIFEST and not path.name.startswith(PARTIAL)


def _check_kind(place: Path, is_folder: bool) -> None:
    """Refuse to put a file where a folder is, or a folder where something else is."""
    if is_folder and os.path.lexists(place) and not place.is_dir():
        raise ValueError(f"out must have room for a folder {place}, but that is a file")
    if not is_folder and place.is_dir() and not place.is_symlink():
        raise ValueError(f"out must have room for a file {place}, but that is a folder")


def _remove_empty(folders: Iterable[Path]) -> None:
    """Remove folders, the deepest first; one that holds something stays."""
    for folder in folders:
        with contextlib.suppress(OSError):
            folder.rmdir()


def _put_in_place(work: Path, target: Path, force: bool) -> None:
    found = sorted(work.rglob("*"))
    names = [f.relative_to(work).as_posix() for f in found if not f.is_dir()]
    if not target.exists():
        _list(work, work, names)
        work.rename(target)
        return
    _check_target(target, force)  # another run may have ended meanwhile
    for source in found:  # all of them before the first is moved
        _check_kind(target / source.relative_to(work), source.is_dir())
    stale = sorted(_written_before(target) - set(names))
    # a run killed from here on leaves nothing that is not listed
    _list(work, target, [*names, *stale])
    for source in found:
        place = target / source.relative_to(work)
        if source.is_dir():
            place.mkdir(exist_ok=True)
        else:
            source.replace(place)
    for name in stale:
        with contextlib.suppress(OSError):
            (target / name).unlink()
        _remove_empty(target / folder for folder in PurePosixPath(name).parents[:-1])
    _list(work, target, names)


def _list(work: Path, target: Path, names: Iterable[str]) -> None:
    written = work / MANIFEST  # a name that no other run writes to
    about = {"about": "what rotting wrote here, and may remove", "files": list(names)}
    written.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    written.replace(target / MANIFEST)


def _written_before(target: Path) -> set[str]:
    """The files of an earlier run that are still there."""
    try:
        listed = json.loads((target / MANIFEST).read_text(encoding="utf-8"))["files"]
        found = {name for name in listed if isinstance(name, str) and _is_inside(target, name)}
    except (OSError, ValueError, TypeError, KeyError):  # none, or damaged: nothing is known as ours
        return set()
    return {name for name in found if (target / name).is_file()}


def _is_inside(target: Path, name: str) -> bool:
    """Whether a name leads to a file below the target, and not through a link out of it."""
    parts = PurePosixPath(name).parts
    if not parts or ".." in parts or PurePosixPath(name).is_absolute() or Path(name).drive:
        return False
    return (target / name).parent.resolve().is_relative_to(target.resolve())
