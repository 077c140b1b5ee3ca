"""Exports of an experiment as a table."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import polars

from helpers.serve.in_process import (
    Time,
    play,
    serving,
)
from rotting._serve.export import write


def test_an_export_is_what_happened(tmp_path: Path) -> None:
    path, time = tmp_path / "s.db", Time()
    with serving(path, time) as inside:
        inside.create(
            audience=True,
            policy="roundrobin",
            control=0.2,
            reward_window=100.0,
            default_reward=0.5,
            require_shown=True,
            shown_window=50.0,
        )
        inside.post("decisions", [{"id": f"d{n}", "key": f"k {n % 3}"} for n in range(12)])
        inside.post("shown", [{"decision": f"d{n}"} for n in range(6)])
        inside.post("rewards", [{"decision": f"d{n}", "reward": n / 4} for n in range(3)])
        time.now += 60.0
        inside.post("shown", {"decision": "d6"}, 409)  # expires
        time.now += 60.0
        inside.post("rewards", {"decision": "d3", "reward": 9.0})  # late
        inside.post("decisions", [{"id": f"n{n}", "key": "last"} for n in range(3)])
        inside.post("shown", {"decision": "n0"})
        inside.post("decisions", {"id": "gone", "key": "gone"})
        inside.post("erase", {"key": "gone"})
        text = inside.client.get("/v1/experiments/e/export").text
        table = inside.client.get("/v1/experiments/e/export?format=parquet")
        log = {
            (event["kind"], event.get("id")): event
            for event in inside.get("/events?limit=10000")["events"]
        }
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["id"] for row in rows] == [
        *(f"d{n}" for n in range(12)),
        *(f"n{n}" for n in range(3)),
        "gone",
    ]
    by_id = {row["id"]: row for row in rows}
    for number in range(3):
        row = by_id[f"d{number}"]
        assert (row["outcome"], float(row["reward"])) == ("rewarded", number / 4)
        assert row["pull"] == str(log["shown", row["id"]]["pull"])
        assert row["key"] == f"k {number}"
        assert row["arm"] == log["decided", row["id"]]["arm"]
        assert float(row["propensity"]) == log["decided", row["id"]]["propensity"]
        assert (row["policy"], row["version"][:1]) == ("roundrobin", "1")
    late = by_id["d3"]
    assert (late["outcome"], late["reward"], late["late_reward"]) == ("default", "0.5", "9.0")
    assert by_id["d6"]["outcome"] == "never shown"
    assert (by_id["n0"]["outcome"], by_id["n0"]["reward"]) == ("waiting", "")
    assert by_id["n1"]["outcome"] == "not shown yet"
    assert (by_id["gone"]["outcome"], by_id["gone"]["key"]) == ("erased", "")
    frame = polars.read_parquet(io.BytesIO(table.content))
    assert frame.columns == list(rows[0])
    for row, other in zip(rows, frame.iter_rows(named=True), strict=True):
        for name, value in other.items():
            if value is None:
                assert row[name] == ""
            elif isinstance(value, str):
                assert row[name] == value
            else:
                assert float(row[name]) == float(value)


def test_an_export_does_not_depend_on_what_happens_meanwhile(tmp_path: Path) -> None:
    """A decision that was open when it was read and is rewarded now is not an erased one."""
    from rotting._serve.export import rows_of

    with serving(tmp_path / "s.db") as inside:
        inside.create()
        play(inside, 0, 3, closed=False)
        rows = rows_of(inside.book.store, inside.live())
        first = next(rows)
        inside.post("rewards", [{"decision": f"d{n}", "reward": 1.0} for n in range(3)])
        assert [row[12] for row in (first, *rows)] == ["waiting"] * 3


def test_a_table_for_spreadsheets_has_no_formulas(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with serving(path) as inside:
        inside.create(arms=["=1+2", "B"], policy="roundrobin", audience=True)
        for id_, key in (("@x", "-1"), ("+y", "plain")):
            inside.post("decisions", {"id": id_, "key": key})
        inside.post("rewards", {"decision": "@x", "reward": -2.5})
    write(path, "e", tmp_path / "e.csv")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "e.csv").read_text())))
    assert [row["id"] for row in rows] == ["'@x", "'+y"]
    assert [row["key"] for row in rows] == ["'-1", "plain"]
    assert rows[0]["arm"] == "'=1+2"
    assert rows[0]["reward"] == "-2.5"  # a number
