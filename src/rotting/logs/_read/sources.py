"""The sources of tables: files, frames and columns, all read as polars frames."""

from __future__ import annotations

import csv
import gzip
import io
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rotting.logs._extra import polars
from rotting.logs._read import frames

_SUFFIXES = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".parquet", ".pq")
_NARROW = 8  # columns, up to which all are read, so that lines with too many fields are noticed
_TAIL = 1 << 20  # bytes at the end in which the last line is looked for
_LINES = 200  # of text that the last row may span, in quotes


@dataclass(frozen=True)
class Table:
    """A table's columns, and a function that gets some of them as a polars DataFrame.

    Attributes:
        source: Where it comes from, as a text.
        text: Whether all cells are texts, as in a CSV file.
    """

    source: str
    columns: list[str]
    take: Callable[[list[str]], Any]
    text: bool = False


@contextmanager
def opened(source: Any) -> Iterator[Table]:
    """Open a source as a table, until the context ends."""
    pl = polars()
    if isinstance(source, (str, Path)):
        with _file(Path(source)) as table:
            yield table
        return
    if isinstance(source, pl.LazyFrame):
        try:
            names = source.collect_schema().names()
            take = lambda wanted: source.select(wanted).collect()  # noqa: E731
            yield Table("a polars LazyFrame", names, take)
        except pl.exceptions.PolarsError as wrong:
            raise ValueError(f"the LazyFrame cannot be collected: {_why(wrong)}") from None
    elif isinstance(source, pl.DataFrame):
        yield Table("a polars DataFrame", source.columns, source.select)
    elif _is_pandas(source):
        names = [str(name) for name in source.columns]
        _unique(names, "the frame")
        yield Table("a pandas DataFrame", names, lambda wanted: frames.from_pandas(source, wanted))
    elif isinstance(source, Mapping):
        names = [str(name) for name in source]
        _unique(names, "the mapping")
        yield Table("columns", names, lambda wanted: frames.from_columns(source, wanted))
    elif hasattr(source, "__arrow_c_stream__"):
        frame = pl.DataFrame(source)
        yield Table("an Arrow table", frame.columns, frame.select)
    else:
        raise ValueError(
            "a log must be the path of a CSV or Parquet file, a frame (polars, pandas, Arrow) or "
            f"a mapping of columns, got {type(source).__name__}"
        )


def _is_pandas(source: Any) -> bool:
    pandas = sys.modules.get("pandas")  # a frame of it exists only if it is imported
    return pandas is not None and isinstance(source, pandas.DataFrame)


def _unique(names: list[str], where: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{where} has two columns {name!r}: give them different names")


@contextmanager
def _file(path: Path) -> Iterator[Table]:
    pl = polars()
    if not path.exists():
        raise ValueError(f"there is no file {str(path)!r}")
    if path.is_dir() or not path.name.lower().endswith(_SUFFIXES):
        what = "is a folder" if path.is_dir() else "has another ending"
        raise ValueError(
            f"a log must be a file that ends in {', '.join(_SUFFIXES)}; {str(path)!r} {what}"
        )
    if path.stat().st_size == 0:
        raise ValueError(f"{path.name} is empty")
    try:
        if path.name.lower().endswith(".gz"):
            with tempfile.TemporaryDirectory() as folder:
                yield _csv(_unpacked(path, Path(folder) / "table"), path)
        elif path.suffix.lower() in (".parquet", ".pq"):
            frame = pl.scan_parquet(path)
            names = frame.collect_schema().names()
            yield Table(str(path), names, lambda wanted: frame.select(wanted).collect())
        else:
            yield _csv(path, path)
    except (pl.exceptions.PolarsError, OSError) as wrong:
        raise ValueError(f"{path.name} cannot be read: {_why(wrong)}") from None


def _unpacked(path: Path, target: Path) -> Path:
    try:
        with gzip.open(path) as packed, target.open("wb") as plain:
            shutil.copyfileobj(packed, plain, 1 << 20)
    except (EOFError, gzip.BadGzipFile) as wrong:
        cut = isinstance(wrong, EOFError)
        raise ValueError(f"{path.name} {'is truncated' if cut else 'is not a gzip file'}") from None
    if target.stat().st_size == 0:
        raise ValueError(f"{path.name} is empty")
    return target


def _csv(path: Path, shown: Path) -> Table:
    """A CSV file with all cells as texts; types are found later, from whole columns."""
    pl = polars()
    header, separator = _header(path, shown)
    _last_line_is_whole(path, shown, len(header), separator)
    frame = pl.scan_csv(path, infer_schema=False, separator=separator)
    names = frame.collect_schema().names()

    def take(wanted: list[str]) -> Any:
        seen = frame if len(names) <= _NARROW else frame.select(wanted)
        return seen.collect().select(wanted)

    return Table(str(shown), names, take, text=True)


def _header(path: Path, shown: Path) -> tuple[list[str], str]:
    with path.open("rb") as file:
        start = file.read(1 << 16)
    if b"\0" in start:
        raise ValueError(f"{shown.name} is not text: expected a CSV file in UTF-8")
    line = io.StringIO(start.decode("utf-8-sig", errors="replace"), newline="")
    first = next(line, "").rstrip("\r\n")
    if not first.strip():
        raise ValueError(f"the first line of {shown.name} is empty: expected names of columns")
    counts = {mark: first.count(mark) for mark in ("\t", ";", "|")}
    tabs = shown.name.lower().removesuffix(".gz").endswith(".tsv")
    separator = "\t" if tabs else ","
    if separator not in first and max(counts.values()) > 0:
        separator = max(counts, key=lambda mark: counts[mark])
    if not _fields(first, separator):
        raise ValueError(f"{shown.name} has a quotation mark in its first line that is not closed")
    header = next(csv.reader([first], delimiter=separator))
    _unique(header, shown.name)
    return header, separator


def _last_line_is_whole(path: Path, shown: Path, fields: int, separator: str) -> None:
    """Refuse a file whose last line has too few fields: polars would fill it up."""
    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(max(0, size - _TAIL))
        lines = file.read().decode("utf-8", errors="replace").rstrip("\r\n").split("\n")
    for first in range(
        1, min(_LINES, len(lines)) + 1
    ):  # more than one where quotes hold a line break
        if _fields("\n".join(lines[-first:]), separator) >= fields:
            return
    found = 1 + lines[-1].count(separator)
    raise ValueError(
        f"{shown.name} is truncated: its last line has {found} of {fields} fields: "
        f"{lines[-1][:60]!r}"
    )


def _fields(text: str, separator: str) -> int:
    """The number of fields of a text's last line; 0 if a quotation mark is not closed."""
    try:
        found = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    except csv.Error:
        return 0
    return len(found[-1]) if found else 0


def _why(wrong: Exception) -> str:
    text = str(wrong)
    if "utf-8" in text:
        return "it is not text in UTF-8"
    if "more fields" in text:
        return "a line has more fields than the first"
    if "PAR1" in text or "parquet" in text.lower():
        return "it is not a Parquet file, or is truncated"
    if "malformed" in text or 'parse `"' in text:
        return "a quotation mark is not closed, or the file is truncated"
    return " ".join(text.split())[:200]
