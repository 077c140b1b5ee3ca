"""Logs from which nothing can be concluded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helpers.small_logs import quick
from rotting._show.data import json_text
from rotting.logs import read, synthetic
from rotting.logs._diagnosis.hopeless import ends_with_success, hopeless


def keyed(rewards: list[Any], each: int = 3) -> dict[str, list[Any]]:
    """Sequences of a given length, one row a day."""
    count = len(rewards)
    return {
        "key": [f"u{row // each}" for row in range(count)],
        "time": [float(row) for row in range(count)],
        "reward": rewards,
    }


def code(table: Any, **options: Any) -> str | None:
    found = hopeless(read(table, arm=False, **options))
    return None if found is None else found.code


def test_few_rows() -> None:
    rewards = [0.5, 1.0, 0.0] * 16
    assert code(keyed([*rewards, 0], each=1)) == "few-rows"
    assert code(keyed([*rewards, 0, 1], each=1)) == "one-exposure"  # fifty are enough for that
    assert code(keyed([*rewards, 0, None], each=1)) == "few-rows"


def test_few_successes_and_few_failures() -> None:
    assert code(keyed([0, 1, 0, 0, 0, 0] * 29)) == "few-successes"
    assert code(keyed([0, 1, 0, 0, 0, 0] * 30)) is None
    assert code(keyed([1, 0, 1, 1, 1, 1] * 29)) == "few-successes"


def test_few_keys() -> None:
    assert code(keyed([0.5, 1.0, 0.0] * 39)) == "few-keys"
    assert code(keyed([0.5, 1.0, 0.0] * 40)) is None


def test_a_reward_that_never_changes() -> None:
    assert code(keyed([2.5] * 60)) == "constant-reward"
    assert code(keyed([2.5] * 119 + [2.6])) is None


def test_last_rows_only() -> None:
    table = keyed([0, 1] * 40, each=1)
    table["number"] = [1 + row % 4 for row in range(80)]
    assert code(table, rows="last", exposure="number", key=False) == "last-rows"
    assert code(table, exposure="number") is None


def test_one_exposure() -> None:
    assert code(keyed([0, 1] * 40, each=1)) == "one-exposure"
    assert code(keyed([0, 1, 1] * 40, each=2)) is None


def test_one_exposure_whose_reward_is_known() -> None:
    assert code(keyed([0, None, 1, None] * 40, each=2)) == "one-exposure"


def first_successes(stories: int, length: int) -> list[int]:
    """Sequences of zeros; all but each fourth end with a one."""
    rewards = []
    for number in range(stories):
        rewards += [0] * (length - 1) + [int(number % 4 != 0)]
    return rewards


def test_stories_that_end_with_their_first_success() -> None:
    assert code(keyed(first_successes(40, 3))) == "ends-with-success"
    assert code(keyed(first_successes(38, 5), each=5)) == "few-successes"  # 28
    assert code(keyed(first_successes(40, 5), each=5)) == "ends-with-success"  # 30


def test_one_success_in_ten_that_is_followed_by_a_row_is_too_many() -> None:
    rewards = first_successes(40, 3)
    for story in range(3):
        rewards[3 * story] = 1
    assert code(keyed(rewards)) == "ends-with-success"  # 3 of 33
    rewards[9] = 1
    assert code(keyed(rewards)) is None  # 4 of 34


def test_ends_with_success_needs_keys_and_zeros_and_ones() -> None:
    table = keyed(first_successes(40, 3))
    assert ends_with_success(read(table, arm=False))
    assert not ends_with_success(read(table, arm="key", key=False))
    table["reward"] = [2 * reward for reward in table["reward"]]
    assert not ends_with_success(read(table, arm=False))


@pytest.mark.parametrize("truth", ["constant", "rested"])
def test_a_log_of_first_successes_cannot_tell_and_says_why(truth: str) -> None:
    frame = synthetic(truth, "first-success")
    found = quick(frame)
    assert found.overall == "cannot-tell"
    assert found["unknown"].code == "ends-with-success"
    assert "willing leave first" in found.headline
    assert "fresh arm" in found.advice
    # the means of the log are shown as they are, by counting
    evidence = found["exposure"].evidence
    numbers: dict[int, list[float]] = {}
    for key in frame.partition_by("key", maintain_order=True):
        for place, reward in enumerate(key["reward"].to_list()):
            numbers.setdefault(place + 1, []).append(reward)
    assert evidence["showings"] == sorted(numbers)
    assert evidence["rows"] == [len(numbers[n]) for n in sorted(numbers)]
    expected = [np.mean(numbers[n]) for n in sorted(numbers)]
    assert evidence["means"] == pytest.approx(expected)
    text = json_text(found.as_data())
    assert '"overall": "cannot-tell"' in text
    assert "nan" not in str(found)
    assert "None" not in str(found)


def test_every_reason_makes_a_whole_diagnosis() -> None:
    last = keyed([0, 1] * 40, each=1)
    last["number"] = [1 + row % 4 for row in range(80)]
    tables: list[tuple[Any, dict[str, Any]]] = [
        (keyed([0, 1, 0] * 10), {}),
        (keyed([1.5] * 60), {}),
        (last, {"rows": "last", "exposure": "number", "key": False}),
        (keyed([0, 1] * 40, each=1), {}),
    ]
    codes = set()
    for table, options in tables:
        found = quick(table, arm=False, **options)
        assert found.overall == "cannot-tell"
        assert next(iter(found.parts)) == "contents"
        assert len(found.parts) == 8
        codes.add(found["unknown"].code)
        assert found.advice.endswith(".")
        assert found["unknown"].verdict in found.headline
    assert codes == {"few-rows", "constant-reward", "last-rows", "one-exposure"}


def test_means_of_last_rows_count_all_who_came_so_far() -> None:
    table = {"number": [1] * 20 + [2] * 20 + [3] * 20, "reward": [1] * 5 + [0] * 45 + [1] * 10}
    found = quick(table, rows="last", exposure="number", key=False, arm=False)
    evidence = found["exposure"].evidence
    assert evidence["rows"] == [60, 40, 20]
    assert evidence["means"] == pytest.approx([5 / 60, 0.0, 10 / 20])
