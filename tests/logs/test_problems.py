"""Problems of a log are counted, with examples, and not corrected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rotting.logs import Problem, read
from rotting.logs._diagnosis.contents import part
from rotting.logs._read.problems import unknown_history


def keyed(count: int) -> dict[str, Any]:
    """Two showings of one of two arms to each of `count` keys, a day a row; nothing odd in it."""
    return {
        "user": [f"u{row // 2}" for row in range(2 * count)],
        "ad": ["xy"[row // 2 % 2] for row in range(2 * count)],
        "time": [float(row) for row in range(2 * count)],
        "click": [(row // 3) % 2 for row in range(2 * count)],
    }


def found(table: dict[str, Any], **options: Any) -> dict[str, Problem]:
    problems = read(table, **options).problems
    assert len({problem.code for problem in problems}) == len(problems)
    return {problem.code: problem for problem in problems}


def test_nothing_is_odd_about_a_plain_log() -> None:
    assert found(keyed(30)) == {}


def test_rows_without_a_key_or_an_arm_are_left_out_and_said(tmp_path: Path) -> None:
    table = keyed(40)
    table["user"][5], table["user"][9], table["ad"][7] = None, "", None
    (problem,) = found(table).values()
    assert problem == Problem(
        "unlabelled",
        "the key (column 'user') is missing in 2 and the arm (column 'ad') is missing in 1 of 80 "
        "rows; they were left out, and count as no showing",
        3,
        ["row 6 has no key", "row 8 has no arm"],
    )
    log = read(table)
    assert log.key.size == 77
    assert log.keys == 40
    rows = zip(*table.values(), strict=True)
    texts = [",".join("" if x is None else str(x) for x in row) for row in rows]
    lines = [",".join(table), *texts]
    (tmp_path / "log.csv").write_text("\n".join(lines) + "\n")
    (of_a_file,) = read(tmp_path / "log.csv", reward="click").problems[:1]
    assert of_a_file.examples == ["line 7 has no key", "line 9 has no arm"]  # as an editor counts
    assert lines[6].startswith(",")


def test_missing_rewards() -> None:
    table = keyed(30)
    table["click"][3] = table["click"][7] = None
    (problem,) = found(table).values()
    assert problem == Problem(
        "missing-rewards",
        "2 rows are without a reward; they count as showings",
        2,
        [
            "row 4: key 'u1', arm 'y', time 3, reward missing",
            "row 8: key 'u3', arm 'y', time 7, reward missing",
        ],
    )


def test_young_rewards_are_told_from_missing_ones() -> None:
    table = keyed(30)
    table["click"] = [0] * 30 + [1] * 25 + [None, 0, 0, 1, 0]
    problems = found(table, window="4d")
    assert list(problems) == ["missing-rewards", "young-rewards"]
    assert problems["missing-rewards"].count == 1
    young = problems["young-rewards"]
    assert young.count == 3
    assert "settled" not in young.sentence  # for readers without Python
    log = read(table, window="4")  # without a unit: days
    assert log.notes[-1].startswith("window: 4 days; 4 rows are younger, and left out")
    assert part(log).evidence["known_rewards"] == int(np.sum(~np.isnan(log.reward[log.settled])))
    assert young.examples[0] == "row 57: key 'u28', arm 'x', time 56, reward missing"


def test_times_out_of_order() -> None:
    table = keyed(30)
    table["time"][10], table["time"][11] = 11.0, 10.0
    problem = found(table)["unordered"]
    assert problem.count == 1
    assert problem.sentence.startswith("the table is not in the order of time: 1 row is earlier")
    assert problem.examples == ["row 12 at 10 after row 11 at 11"]


def test_duplicates_are_counted_and_kept() -> None:
    table = {name: [*cells, cells[4], cells[9], cells[4]] for name, cells in keyed(30).items()}
    problems = found(table)
    assert list(problems) == ["unordered", "duplicates"]
    assert problems["duplicates"].count == 3
    assert problems["duplicates"].examples[0] == "row 61: key 'u2', arm 'x', time 4, reward 1"
    log = read(table)
    assert log.reward.size == 63
    assert log.exposure.max() == 4


def test_a_missing_reward_twice_is_a_duplicate() -> None:
    table = keyed(30)
    table["time"][1] = 0.0
    table["click"][:2] = [None, None]
    assert found(table)["duplicates"].count == 1


def test_showings_at_one_time_with_different_rewards() -> None:
    table = keyed(30)
    table["time"][1], table["time"][5] = 0.0, 4.0
    table["click"][0:2], table["click"][4:6] = [0, 1], [1, 0]
    problems = found(table)
    assert list(problems) == ["same-time"]
    assert problems["same-time"].count == 2
    assert problems["same-time"].examples[1] == "row 5: key 'u2', arm 'x', time 4, reward 1"


def test_equal_rows_with_numbers_of_their_own_are_no_duplicates() -> None:
    table = keyed(30)
    table["time"] = [float(row // 2) for row in range(60)]
    table["click"] = [row // 2 % 2 for row in range(60)]
    assert found(table)["duplicates"].count == 30
    table["n"] = [1, 2] * 30
    assert found(table, exposure="n") == {}


def test_naive_counts_of_rows_at_one_time() -> None:
    generator = np.random.default_rng(8)
    rows = [tuple(int(x) for x in row) for row in generator.integers(0, 3, (60, 4))]
    names = ("key", "arm", "time", "reward")
    problems = found({name: [row[at] for row in rows] for at, name in enumerate(names)})
    moments = {row[:3] for row in rows}
    assert problems["duplicates"].count == len(rows) - len(set(rows))
    several = [m for m in moments if len({row[3] for row in rows if row[:3] == m}) > 1]
    assert problems["same-time"].count == len(several)


def test_given_numbers_with_gaps_repeats_and_a_history() -> None:
    table = keyed(30)
    table["n"] = [1, 2] * 30
    table["n"][0:2], table["n"][2:4], table["n"][4:6] = [3, 4], [1, 4], [1, 1]
    table["n"][6:8] = [2, 1]
    problems = found(table, exposure="n")
    counts = {code: problem.count for code, problem in problems.items()}
    assert counts == {"history-before-log": 2, "exposure-gaps": 1, "exposure-repeats": 2}
    assert problems["exposure-gaps"].examples == ["row 4: key 'u1', arm 'y', time 3, reward 1"]


@pytest.mark.parametrize("timed", [True, False])
def test_a_history_that_may_have_begun_before(timed: bool) -> None:
    """Sixty days: keys seen up to day 5.9 are those of the first six rows."""
    time = None if timed else False
    problem = found(keyed(30), history_complete=False, time=time)["history-before-log"]
    assert problem.count == 3
    assert "the first 10% of it" in problem.sentence
    log = read(keyed(30), history_complete=False, time=time)
    assert not log.history_complete
    assert unknown_history(log).tolist() == [bool(key in (0, 1, 12)) for key in log.key]
    assert not unknown_history(read(keyed(30), time=time)).any()


def test_a_history_without_keys_is_that_of_the_arms() -> None:
    table = keyed(30)
    table["ad"] = ["x"] * 30 + ["y"] * 30
    problem = found(table, key=False, history_complete=False)["history-before-log"]
    assert problem.examples == ["row 1: arm 'x', time 0, reward 0"]
    log = read(table, key=False, history_complete=False)
    assert unknown_history(log).tolist() == [True] * 30 + [False] * 30


def test_last_rows_of_one_story() -> None:
    table = {**keyed(30), "n": [1, 2] * 30}
    problem = found(table, exposure="n", rows="last")["repeated-stories"]
    assert problem.count == 30
    once = {name: cells[::2] for name, cells in table.items()}
    once["n"] = [1, 2, 3] * 10
    assert found(once, exposure="n", rows="last") == {}


def test_one_arm_few_keys_one_exposure_and_constants() -> None:
    table = {"user": ["a", "b", "c"], "time": [1, 1, 1], "click": [0, 0, None]}
    problems = found(table)
    assert list(problems) == [
        "missing-rewards",
        "one-arm",
        "few-keys",
        "one-exposure",
        "constant-reward",
        "constant-time",
    ]
    assert problems["few-keys"].examples == ["a", "b", "c"]
    assert problems["constant-reward"].count == 2
    named = found({**table, "ad": ["x"] * 3})
    assert named["one-arm"].examples == ["x"]


def test_times_are_shown_as_times() -> None:
    table = keyed(30)
    table["time"] = [f"2026-01-01T00:{row:02}:00" for row in range(60)]
    table["click"][0] = None
    example = found(table)["missing-rewards"].examples[0]
    assert example == "row 1: key 'u0', arm 'x', time 2026-01-01T00:00:00, reward missing"
