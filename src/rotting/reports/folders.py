"""Atomic output folders: nothing appears in them before all of the work is done."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def output_folder(path: str | Path, force: bool = False) -> Iterator[Path]:
    """A temporary folder to write into; its files are moved to `path` if the work succeeds.

    A folder that holds something is refused, unless `force` is given; then files of the same
    names are replaced and all others are left alone. Nothing is left behind when the work fails
    or is interrupted. Refusals come before any work.
    """
    target = Path(path)
    if target.exists() and not target.is_dir():
        raise ValueError(f"out must be a folder, but {target} is a file")
    if target.is_dir() and any(target.iterdir()) and not force:
        raise ValueError(
            f"out must be an empty or new folder, but {target} holds files; "
            "use --force to replace those of the same names"
        )
    made = [folder for folder in (target, *target.parents) if not folder.exists()]
    try:
        target.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(dir=target, prefix=".partial-"))
    except OSError as error:
        raise ValueError(f"out must be a folder that can be written to: {error}") from None
    try:
        yield work
        for source in sorted(work.rglob("*")):
            place = target / source.relative_to(work)
            if source.is_dir():
                place.mkdir(exist_ok=True)
            else:
                source.replace(place)
    finally:
        shutil.rmtree(work, ignore_errors=True)
        for folder in made:  # the deepest first; a folder that holds something stays
            with contextlib.suppress(OSError):
                folder.rmdir()
