"""The file of a saved result, an .npz archive (arrays in a ZIP file), read without trust.

The declared type, number of dimensions and size of an array are checked, against the other arrays
and the file, before any of it is unpacked.
"""

from __future__ import annotations

import json
import math
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

MOST = 1 << 30  # bytes to which a file may always expand
_RATIO = 16  # times its own size to which a larger file may expand
_HEADER = 10_000  # the most bytes of an array's header


class Form(NamedTuple):
    """The form of an array of a result: the kind of its numbers, and the meaning of its axes."""

    kind: str  # "i" or "f"
    axes: tuple[str, ...]


FORMS = {
    "checkpoints": Form("i", ("checkpoint",)),
    "regret": Form("f", ("run", "checkpoint")),
    "pulls": Form("i", ("run", "arm")),
    "total_reward": Form("f", ("run",)),
    "adversarial_regret": Form("f", ("run",)),
}


def read_archive(path: Path, form: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The provenance and the arrays of a file of that format; raises if it is none.

    Most exceptions are ValueErrors with a sentence; a damaged ZIP file raises its own.
    """
    with path.open("rb") as file, zipfile.ZipFile(file) as archive:
        members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        missing = [name for name in ("about", *FORMS) if name not in members]
        if missing:
            raise ValueError(f"it has no {missing[0]}")
        most = max(MOST, _RATIO * path.stat().st_size)
        if sum(members[name].file_size for name in ("about", *FORMS)) > most:
            raise ValueError(f"it would expand to more than {most >> 20} MiB")
        provenance = _provenance(archive, members["about"], form)
        sizes: dict[str, int] = {}
        for name, wanted in FORMS.items():
            _check_claim(name, wanted, *_claimed(archive, members[name]), sizes)
        arrays = {name: _array(archive, members[name]) for name in FORMS}
    checkpoints, pulls = arrays["checkpoints"], arrays["pulls"]
    if checkpoints[0] < 1 or np.any(checkpoints[1:] <= checkpoints[:-1]):
        raise ValueError("checkpoints must be rounds in rising order, from 1 on")
    if pulls.min() < 0:
        raise ValueError("pulls must be counts")
    for name in ("regret", "total_reward"):
        if not np.isfinite(arrays[name]).all():
            raise ValueError(f"{name} must be finite numbers")
    return provenance, arrays


def _provenance(archive: zipfile.ZipFile, info: zipfile.ZipInfo, form: int) -> dict[str, Any]:
    """The provenance, if the file is of that format."""
    shape, dtype = _claimed(archive, info)
    if shape != () or dtype.kind != "U":
        raise ValueError(f"about must be a text, got {dtype} of shape {shape}")
    about = json.loads(str(_array(archive, info)))
    found = about.get("format") if isinstance(about, dict) else None
    if type(found) is not int or found != form:
        raise ValueError(f"it has format {str(found)[:40]}, this reads {form}")
    provenance = about.get("provenance")
    if not isinstance(provenance, dict):
        raise ValueError(f"its provenance must be a table, got {str(provenance)[:80]}")
    return provenance


def _claimed(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> tuple[tuple[int, ...], Any]:
    """The shape and type in an array's header; they must fit the size of the member."""
    with archive.open(info) as member:
        version = np.lib.format.read_magic(member)
        readers = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }
        if version not in readers:
            raise ValueError(f"{info.filename} has the unknown version {version}")
        shape, _, dtype = readers[version](member, max_header_size=_HEADER)
        header = member.tell()
    if dtype.hasobject:
        raise ValueError(f"{info.filename} holds Python objects")
    if header + math.prod(shape) * dtype.itemsize != info.file_size:
        raise ValueError(f"{info.filename} must be as long as its shape {shape} says")
    return shape, dtype


def _check_claim(
    name: str, form: Form, shape: tuple[int, ...], dtype: Any, sizes: dict[str, int]
) -> None:
    """Refuse an array of another kind or shape; `sizes` has the length of each axis seen before."""
    words = {"i": "whole numbers", "f": "numbers"}
    if dtype.kind != form.kind or dtype.itemsize != 8:
        raise ValueError(f"{name} must be {words[form.kind]}, got {dtype}")
    if len(shape) != len(form.axes):
        raise ValueError(f"{name} must have {len(form.axes)} axes, got shape {shape}")
    for axis, size in zip(form.axes, shape, strict=True):
        if size < 1 or size != sizes.setdefault(axis, size):
            raise ValueError(
                f"{name} must have one entry for each {axis}, {sizes.get(axis, 'at least one')}, "
                f"got {size}"
            )


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Any:
    with archive.open(info) as member:
        return np.lib.format.read_array(member, allow_pickle=False, max_header_size=_HEADER)
