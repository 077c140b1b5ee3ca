"""The same table gives the same log from any source; anything else is refused."""

from __future__ import annotations

import datetime
import gzip
import random
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from rotting.logs import Log, read, synthetic

FRAME = synthetic("rested", keys=40, exposures=5, seed=3).sample(fraction=1.0, shuffle=True, seed=1)


def check_same(one: Log, other: Log) -> None:
    for field in ("key", "arm", "reward", "exposure", "propensity"):
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field))
    np.testing.assert_array_equal(one.time, other.time)
    assert (one.arms, one.columns) == (other.arms, other.columns)
    assert [problem.as_data() for problem in one.problems] == [
        problem.as_data() for problem in other.problems
    ]


def pandas_objects(frame: pl.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({name: frame[name].to_list() for name in frame.columns}).astype(object)


FRAMES: dict[str, Callable[[pl.DataFrame], Any]] = {
    "polars lazy": lambda frame: frame.lazy(),
    "polars categorical": lambda frame: frame.cast({"key": pl.Categorical, "arm": pl.Categorical}),
    "pandas": lambda frame: pd.DataFrame({name: frame[name].to_numpy() for name in frame.columns}),
    "pandas objects": pandas_objects,
    "pandas time zone": lambda frame: pandas_objects(frame).assign(
        time=pd.to_datetime(pd.Series(frame["time"].to_list()))
        .dt.tz_localize("UTC")
        .dt.tz_convert("Asia/Tokyo")
    ),
    "arrow": lambda frame: pa.table({name: frame[name].to_list() for name in frame.columns}),
    "arrow reader": lambda frame: frame.to_arrow().to_reader(),
    "lists": lambda frame: frame.to_dict(as_series=False),
    "series": lambda frame: frame.to_dict(),
}


@pytest.mark.parametrize("name", FRAMES)
def test_frames_of_all_kinds_give_the_same_log(name: str) -> None:
    check_same(read(FRAMES[name](FRAME)), read(FRAME))


def write(frame: pl.DataFrame, path: Path) -> Path:
    if path.suffix == ".parquet":
        frame.write_parquet(path)
    else:
        separator = "\t" if ".tsv" in path.name else ";" if "semicolon" in path.name else ","
        text = frame.write_csv(separator=separator).encode()
        path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


@pytest.mark.parametrize(
    "name", ["a.csv", "a.csv.gz", "a.tsv", "a.tsv.gz", "semicolon.csv", "a.parquet", "A.CSV"]
)
def test_files_of_all_kinds_give_the_same_log(tmp_path: Path, name: str) -> None:
    path = write(FRAME, tmp_path / name)
    check_same(read(path), read(FRAME))
    check_same(read(str(path)), read(FRAME))
    assert read(path).source == str(path)


def test_whole_numbers_are_the_same_keys_in_a_text(tmp_path: Path) -> None:
    frame = FRAME.with_columns(key=pl.col("key").str.slice(1).cast(pl.Int64) - 7)
    expected = read(frame)
    check_same(read(write(frame, tmp_path / "a.csv")), expected)
    check_same(read(pd.DataFrame({n: frame[n].to_numpy() for n in frame.columns})), expected)
    check_same(read(frame.with_columns(pl.col("key").cast(pl.Float64))), expected)


def test_keys_that_differ_in_zeros_stay_apart(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("key,arm,reward\n7,a,1\n07,a,0\n7,a,0\n")
    assert read(path).exposure.tolist() == [1, 1, 2]


def test_pandas_frames_need_no_pyarrow() -> None:
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import pandas as pd; from rotting.logs import read\n"
        "times = pd.to_datetime(['2026-01-02', '2026-01-01', '2026-01-03'])\n"
        "frame = pd.DataFrame({'user': ['a', 'a', None], 'ad': 'x', 'y': [1, 0, 1]})\n"
        "frame = frame.assign(time=times)\n"
        "print(read(frame[:2]).reward, read(frame.astype(object)[:2]).reward)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "[0. 1.] [0. 1.]\n", done.stderr


def test_without_polars_logs_can_be_imported_and_say_what_they_need() -> None:
    code = (
        "import sys; sys.modules['polars'] = None\n"
        "from rotting.logs import read\n"
        "try: read({'ad': [1], 'y': [1]})\n"
        "except ImportError as wrong: print(wrong)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "logs need polars: pip install 'rotting[logs]'\n", done.stderr


def test_quoted_cells_and_line_breaks(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('key,arm,reward\n1,"a, b",1\n1,"c\n""d""",0')
    assert read(path).arms == ("a, b", 'c\n"d"')


def test_a_column_without_a_name_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    pd.DataFrame({"key": [1, 1], "arm": ["a", "b"], "reward": [1, 0]}).to_csv(path)
    assert read(path).arms == ("a", "b")


def test_empty_lines_are_left_out_and_said(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("key,arm,reward\n1,a,1\n\n2,a,0\n\n")
    log = read(path)
    assert log.reward.tolist() == [1.0, 0.0]
    assert (log.problems[0].code, log.problems[0].count) == ("empty-lines", 2)
    assert log.problems[0].examples == ["row 2", "row 4"]


BAD_FILES: dict[str, tuple[str, bytes, str]] = {
    "empty": ("a.csv", b"", "a.csv is empty"),
    "blank": ("a.csv", b"\n\n", "the first line of a.csv is empty: expected names of columns"),
    "header only": ("a.csv", b"key,arm,reward\n", "a.csv has no rows"),
    "another ending": ("a.xlsx", b"PK", "a log must be a file that ends in .csv"),
    "no text": ("a.csv", b"a,b\0\1\2", "a.csv is not text: expected a CSV file in UTF-8"),
    "another encoding": (
        "a.csv",
        "key,arm,reward\n1,grün,1\n".encode("latin-1"),
        "a.csv cannot be read: it is not text in UTF-8",
    ),
    "twice the same column": (
        "a.csv",
        b"key,arm,reward,arm\n1,a,1,a\n",
        "a.csv has two columns 'arm': give them different names",
    ),
    "last line cut": (
        "a.csv",
        b"key,arm,reward\n1,a,1\n1,a",
        "a.csv is truncated: its last line has 2 of 3 fields: '1,a'",
    ),
    "last quote open": (
        "a.csv",
        b'key,arm,reward\n1,a,1\n1,"a',
        "a.csv is truncated: its last line has 2 of 3 fields",
    ),
    "quote open": (
        "a.csv",
        b'key,arm,reward\n1,"a,1\n1,a,1\n2,b,1\n',
        "a.csv cannot be read: a quotation mark is not closed, or the file is truncated",
    ),
    "too many fields": (
        "a.csv",
        b"key,arm,reward\n1,a,1\n1,a, b,1\n",
        "a.csv cannot be read: a line has more fields than the first",
    ),
    "quote open in the header": (
        "a.csv",
        b'key,"arm,reward\n1,a,1\n2,b,1\n',
        "a.csv has a quotation mark in its first line that is not closed",
    ),
    "gzip cut": (
        "a.csv.gz",
        gzip.compress(b"key,arm,reward\n1,a,1\n" * 50)[:-12],
        "a.csv.gz is truncated",
    ),
    "no quote": ("a.csv", b'key,arm,reward\n1,a,1\n1,5" tv', "a.csv is truncated"),
    "no gzip": ("a.csv.gz", b"key,arm,reward\n1,a,1\n", "a.csv.gz is not a gzip file"),
    "gzip of nothing": ("a.csv.gz", gzip.compress(b""), "a.csv.gz is empty"),
    "no parquet": (
        "a.parquet",
        b"key,arm,reward\n1,a,1\n",
        "a.parquet cannot be read: it is not a Parquet file, or is truncated",
    ),
    "json": ("a.csv", b'{"rows": [1, 2]}\n', "no column for the reward"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files_are_refused_in_a_line(tmp_path: Path, name: str) -> None:
    file, content, refusal = BAD_FILES[name]
    (tmp_path / file).write_bytes(content)
    with pytest.raises(ValueError, match="^" + re.escape(refusal)) as caught:
        read(tmp_path / file)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_parquet_file_that_is_cut_is_refused(tmp_path: Path, share: float) -> None:
    path = write(FRAME, tmp_path / "a.parquet")
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(
        ValueError, match=r"^a.parquet cannot be read: it is not a Parquet file, or"
    ):
        read(path)


def test_a_csv_file_cut_anywhere_in_its_last_line_is_refused_or_read_in_full(
    tmp_path: Path,
) -> None:
    """A cut inside the last field cannot be seen; every other one is."""
    path = tmp_path / "a.csv"
    text = "key,arm,reward\n1,a,1\n" + (last := "23,bb,0.25")
    for length in range(1, len(last)):
        path.write_text(text[: len(text) - len(last) + length])
        if length < len("23,bb,"):
            with pytest.raises(ValueError, match=r"^a.csv is truncated"):
                read(path)
        else:
            assert len(read(path).reward) == 2


@pytest.mark.parametrize(
    ("source", "refusal"),
    [
        ("there/is/no.csv", "there is no file 'there/is/no.csv'"),
        (".", "a log must be a file that ends in .csv"),
        (7, "a log must be the path of a CSV or Parquet file, a frame (polars, pandas, Arrow) or "
         "a mapping of columns, got int"),
        (pl.DataFrame({"arm": [], "reward": []}), "a polars DataFrame has no rows"),
        (pl.LazyFrame({"arm": ["a"], "reward": ["b"]}).select(pl.col("reward").cast(int), "arm"),
         "the LazyFrame cannot be collected: "),
        (pl.DataFrame({"arm": [[1], [2]], "reward": [1, 2]}), "the arm (column 'arm') must be "
         "texts or numbers, got List"),
        (pl.DataFrame({"arm": [datetime.timedelta(1)], "reward": [1]}), "the arm (column 'arm') "
         "must be texts or numbers, got Duration"),
        (pl.DataFrame({"arm": [1, 2], "reward": [[1], [2]]}), "the reward (column 'reward') must "
         "be numbers, got List"),
    ],
)  # fmt: skip
def test_what_is_no_table_is_refused(source: Any, refusal: str) -> None:
    with pytest.raises(ValueError, match="^" + re.escape(refusal)) as caught:
        read(source)
    assert "\n" not in str(caught.value)


def test_damaged_files_are_read_or_refused_in_a_line(tmp_path: Path) -> None:
    path, dice = tmp_path / "a.csv", random.Random(5)
    whole = b'key,arm,time,reward\nu1,a,2026-01-01,1\nu1,"b, c",2026-01-02,0\nu2,a,2026-01-03,1\n'
    refusals = []
    for _ in range(300):
        text = bytearray(whole)
        for _ in range(dice.choice([1, 1, 2, 4])):
            at = dice.randrange(len(text))
            end = at + dice.choice([0, 1, 3])
            text[at:end] = bytes(dice.choices(b',"\n\r\t;x0-Z \xff\0', k=dice.choice([0, 1])))
        path.write_bytes(text)
        try:
            assert read(path).key.size > 0
        except ValueError as wrong:
            refusals.append(str(wrong))
    assert 0 < len(refusals) < 300
    assert not [refusal for refusal in refusals if "\n" in refusal]
