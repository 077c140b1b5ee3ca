"""Reading logs: order, numbers, rewards and windows, and refusals."""

from __future__ import annotations

import dataclasses
import datetime
import re
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rotting._log_columns import window_in_days
from rotting.logs import Log, read

TABLE: dict[str, Any] = {
    "user": ["b", "a", "a", "b", "a"],
    "ad": ["x", "x", "y", "x", "x"],
    "time": [3.0, 1.0, 2.0, 9.0, 5.0],
    "click": [1, 0, 1, 0, 0],
}


def changed(**columns: Any) -> dict[str, Any]:
    return {**TABLE, **columns}


def test_rows_are_ordered_and_numbered() -> None:
    log = read(TABLE)
    assert log.key.tolist() == [0, 0, 0, 1, 1]
    assert log.arm.tolist() == [0, 0, 1, 0, 0]
    assert log.time.tolist() == [0.0, 4.0, 1.0, 2.0, 8.0]
    assert log.reward.tolist() == [0.0, 0.0, 1.0, 1.0, 0.0]
    assert log.exposure.tolist() == [1, 2, 1, 1, 2]
    assert log.arms == ("x", "y")
    assert log.columns == {"key": "user", "arm": "ad", "time": "time", "reward": "click"}
    assert {str(field.dtype) for field in (log.key, log.arm, log.exposure)} == {"int32"}
    assert log.key.flags.writeable
    assert log.exposure.flags.writeable
    assert log.story_starts().tolist() == [0, 2, 3, 5]
    assert read(log) is log


rows = st.tuples(
    st.integers(0, 3), st.integers(0, 2), st.integers(-3, 6), st.sampled_from([0, 1, None])
)


@settings(deadline=None, max_examples=60)
@given(st.lists(rows, min_size=1, max_size=40), st.booleans(), st.booleans())
def test_numbers_are_those_of_a_naive_count(
    table: list[tuple[int, int, int, int | None]], keyed: bool, timed: bool
) -> None:
    """Sort and count in plain Python, row by row."""
    table[0] = (*table[0][:3], 1)  # one known reward at least
    names = [f"u{user}" for user, _, _, _ in table]
    columns: dict[str, Any] = {"arm": [f"a{arm}" for _, arm, _, _ in table]}
    columns["reward"] = [reward for _, _, _, reward in table]
    if keyed:
        columns["key"] = names
    if timed:
        columns["time"] = [time for _, _, time, _ in table]
    log = read(columns)

    order = sorted(
        range(len(table)),
        key=lambda place: (
            names[place] if keyed else "",
            columns["arm"][place],
            table[place][2] if timed else 0,
            place,
        ),
    )
    seen: dict[tuple[str, str], int] = {}
    naive = []
    for place in order:
        story = (names[place] if keyed else "", columns["arm"][place])
        seen[story] = seen.get(story, 0) + 1
        naive.append(seen[story])
    everybody = sorted(set(names)) if keyed else [""]
    assert log.exposure.tolist() == naive
    assert [everybody[key] for key in log.key] == [names[at] if keyed else "" for at in order]
    assert [log.arms[arm] for arm in log.arm] == [columns["arm"][at] for at in order]
    first = min(time for _, _, time, _ in table)
    times = [float(table[at][2] - first if timed else at) for at in order]
    assert log.time.tolist() == times
    rewards = [np.nan if table[at][3] is None else table[at][3] for at in order]
    np.testing.assert_array_equal(log.reward, np.array(rewards, dtype=float))


def test_the_order_of_the_table_does_not_matter_where_times_differ() -> None:
    generator = np.random.default_rng(4)
    count = 500
    frame = pl.DataFrame(
        {
            "key": generator.integers(0, 40, count),
            "arm": generator.integers(0, 12, count),
            "time": generator.permutation(count),
            "reward": generator.random(count),
        }
    )
    one, other = read(frame), read(frame.sample(fraction=1.0, shuffle=True, seed=1))
    for field in ("key", "arm", "time", "reward", "exposure"):
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field))
    assert one.arms == tuple(str(arm) for arm in range(12))  # 10 after 9


def test_a_row_without_keys_belongs_to_its_arm() -> None:
    log = read(TABLE, key=False)
    assert not log.has_keys
    assert log.key.tolist() == [0] * 5
    assert log.exposure.tolist() == [1, 2, 3, 4, 1]


def test_columns_may_be_called_as_other_roles() -> None:
    swapped = {
        "arm": TABLE["user"],
        "key": TABLE["ad"],
        "row": TABLE["click"],
        "time": TABLE["time"],
    }
    log, expected = read(swapped, key="arm", arm="key", reward="row"), read(TABLE)
    np.testing.assert_array_equal(log.key, expected.key)
    np.testing.assert_array_equal(log.reward, expected.reward)
    assert log.arms == expected.arms


# ---------------------------------------------------------------------------------- exposures


def test_given_exposures_are_kept() -> None:
    log = read(changed(n=[4, 7, 1, 5, 8]), exposure="n")
    assert log.exposure.tolist() == [7, 8, 1, 4, 5]
    assert log.exposure.dtype == np.int32


def test_given_exposures_order_rows_where_there_is_no_time() -> None:
    log = read(changed(n=[2, 2, 1, 1, 1]), exposure="n", time=False)
    assert log.exposure.tolist() == [1, 2, 1, 1, 2]
    assert log.time.tolist() == [4.0, 1.0, 2.0, 3.0, 0.0]  # places in the table


def test_last_rows_are_stories_of_their_own() -> None:
    log = read({"campaign": [3, 1, 2], "y": ["no", "yes", "no"]}, exposure="campaign", rows="last")
    assert log.key.tolist() == [0, 1, 2]
    assert log.exposure.tolist() == [3, 1, 2]
    assert log.has_keys
    assert log.rows == "last"
    assert log.arms == ("(all)",)
    assert "each row is the end of a story of its own" in log.notes[0]


# ------------------------------------------------------------------------------------- rewards


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["yes", "no", "yes", "no", "no"], "reward: 'no' is 0, 'yes' is 1"),
        (["T", "f", "t ", "F", "F"], "reward: 'f' is 0, 't' is 1"),
        (["1.0", "0", " 1", "0e0", "-0"], ""),
        ([True, False, True, False, False], "reward: true is 1, false is 0"),
        (["bought", "not bought", "bought", "not bought", "not bought"], "'not bought' is 0"),
        (["success", "failure", "success", "failure", "failure"], "'failure' is 0"),
        (np.array([1, 0, 1, 0, 0], dtype=np.uint8), ""),
    ],
)
def test_rewards_are_numbers_truths_or_two_words(cells: Any, said: str) -> None:
    log = read(changed(click=cells))
    np.testing.assert_array_equal(log.reward, read(TABLE).reward)
    assert said in " ".join(log.notes)
    assert (said == "") == (len(log.notes) == 7)  # the seventh is on the numbers of the time


@pytest.mark.parametrize("missing", ["", "NA", "nan", "null", " ", "n/a"])
def test_missing_words_are_missing_rewards(missing: str) -> None:
    log = read(changed(click=["1", missing, "1", "0", "0"]))
    assert np.isnan(log.reward).tolist() == [True, False, False, False, False]


def test_younger_rows_are_not_zeros() -> None:
    log = read(TABLE, window="6d")
    np.testing.assert_array_equal(log.reward, [0.0, np.nan, 1.0, 1.0, np.nan])
    assert log.window == 6.0
    assert log.settled.tolist() == [True, False, True, True, False]  # a row of six days is old
    kept = read(changed(click=[1, 0, 1, 1, 0]), window=6)
    np.testing.assert_array_equal(kept.reward, [0.0, np.nan, 1.0, 1.0, 1.0])
    assert read(TABLE).settled.all()


@pytest.mark.parametrize(
    ("window", "days"),
    [("7d", 7.0), ("12h", 0.5), ("36 h", 1.5), ("30m", 30 / 1440), ("2w", 14.0), ("3", 3.0)],
)
def test_windows(window: str, days: float) -> None:
    assert window_in_days(window) == pytest.approx(days, rel=1e-15)


# -------------------------------------------------------------------------------------- times

DAYS = [0.0, 4.0, 1.0, 2.0, 8.0]  # of TABLE, in the order of the log


def moments(form: str) -> list[str]:
    first = datetime.datetime(2026, 3, 1)
    return [(first + datetime.timedelta(days)).strftime(form) for days in TABLE["time"]]


@pytest.mark.parametrize(
    "form",
    [
        "%Y-%m-%dT%H:%M:%S",
        "%Y-%m-%d %H:%M:%S.%f",
        "%Y-%m-%d",
        "%Y-%m-%dT%H:%M",
        "%Y-%m-%dT%H:%M:%SZ",
        "%Y-%m-%d %H:%M:%S+02:00",
        "%Y-%m-%d %H:%M:%S.%f UTC",
        "%Y%m%d",
    ],
)
def test_times_as_texts(form: str) -> None:
    assert read(changed(time=moments(form))).time.tolist() == DAYS


def test_texts_with_and_without_fractions_and_hours() -> None:
    texts = moments("%Y-%m-%dT%H:%M:%S")
    texts[0] = texts[0][:10]
    texts[2] += ".000"
    texts[3] = texts[3].replace("T", " ")
    assert read(changed(time=texts)).time.tolist() == DAYS


@pytest.mark.parametrize(
    ("scale", "unit"),
    [(1, "seconds"), (10**3, "milliseconds"), (10**6, "microseconds"), (10**9, "nanoseconds")],
)
@pytest.mark.parametrize("text", [False, True])
def test_epochs_are_recognised_by_their_size(scale: int, unit: str, text: bool) -> None:
    epochs: list[Any] = [(1_700_000_000 + int(day) * 86_400) * scale for day in TABLE["time"]]
    log = read(changed(time=[str(epoch) for epoch in epochs] if text else epochs))
    assert log.time.tolist() == DAYS
    assert f"time: numbers, taken for {unit} since 1970" in log.notes


def test_numbers_too_large_for_64_bits_are_times_too() -> None:
    wide = pl.Series([10**25 + 10**24 * int(day) for day in TABLE["time"]], dtype=pl.Int128)
    log = read(pl.DataFrame(changed(time=wide)))
    np.testing.assert_allclose(log.time, np.array(DAYS) * 1e24, rtol=1e-9)


def test_numbers_are_taken_as_days() -> None:
    log = read(changed(time=[0.5 + time for time in TABLE["time"]]))
    assert log.time.tolist() == DAYS
    assert "time: numbers, taken as they are, as days" in log.notes


def test_typed_times() -> None:
    first = datetime.date(2026, 3, 1)
    dates = [first + datetime.timedelta(days) for days in TABLE["time"]]
    assert read(changed(time=dates)).time.tolist() == DAYS
    midnights = [datetime.datetime.combine(date, datetime.time()) for date in dates]
    assert read(changed(time=midnights)).time.tolist() == DAYS
    zone = datetime.timezone(datetime.timedelta(hours=3))
    aware = [moment.replace(tzinfo=zone) for moment in midnights]
    assert read(changed(time=aware)).time.tolist() == DAYS
    zoned = pl.Series(midnights).dt.replace_time_zone("Europe/Paris")
    assert read(pl.DataFrame(changed(time=zoned))).time.tolist() == DAYS
    gaps = [moment - midnights[1] for moment in midnights]
    assert read(pl.DataFrame(changed(time=gaps))).time.tolist() == DAYS


# ----------------------------------------------------------------------------------- refusals

REFUSALS: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"click": [1, 0, 10**9, 0, 0]}, {}, "a reward is more than 1,000,000 times as large as the "
     "others (1); reward 1e+09 in row 3; leave it out, or correct it"),
    ({"click": [0, 0, 10**9, 0, 0]}, {}, "a reward is more than 1,000,000 times as large as the "
     "others (1); reward 1e+09 in row 3; leave it out, or correct it"),
    ({"click": [1, 0, float("inf"), 0, 0]}, {}, "rewards must be at most 1e+100 in size; reward "
     "inf in row 3"),
    ({"click": [1, 0, -1e101, 0, 0]}, {}, "rewards must be at most 1e+100 in size; reward "
     "-1e+101 in row 3"),
    ({"click": [None] * 5}, {}, "no reward is known: all of them are missing"),
    ({"click": ["1", "0", "x", "0", "y"]}, {}, "the reward (column 'click') is neither a number "
     "nor one of two words such as yes and no in 2 of 5 rows, first in row 3: 'x'"),
    ({"click": ["yes", "no", "yes", "1", "0"]}, {}, "the reward (column 'click') is neither a "
     "number nor one of two words such as yes and no in 3 of 5 rows, first in row 1: 'yes'"),
    ({"click": ["red", "blue", "red", "red", "blue"]}, {}, "the reward (column 'click') is neither "
     "a number nor one of two words such as yes and no in 5 of 5 rows, first in row 1: 'red'"),
    ({"click": [1, 0, "1", 0, 0]}, {}, "column 'click' has mixed types: numbers such as 1, but "
     "texts in 1 of 5 rows, first in row 3: '1'"),
    ({"user": ["b", "a", None, "b", "a"]}, {}, "the key (column 'user') is missing in 1 of 5 rows; "
     "row 3 has no key. Up to 5 % such rows are left out; leave these out yourself, or give them a "
     "name of their own"),
    ({"user": ["b", "a", "", "b", " "], "ad": [1.0, float("nan"), 1.0, 2.0, 2.0]}, {}, "the key "
     "(column 'user') is missing in 2 and the arm (column 'ad') is missing in 1 of 5 rows; row 3 "
     "has no key, row 2 has no arm. Up to 5 % such rows are left out; leave these out yourself, or "
     "give them a name of their own"),
    ({"time": ["2026-01-01", "1/2/26", "2026-01-02", "x", "y"]}, {}, "the time (column 'time') "
     "cannot be read as a time in 3 of 5 rows, first in row 2: '1/2/26'; write them as "
     "2026-01-31T12:00:00, or numbers; with pandas: table['time'] = "
     "pandas.to_datetime(table['time'], dayfirst=True), or without dayfirst where the month comes "
     "first"),
    ({"click": ["1,5", "0", "2,25", "0", "0"]}, {}, "the reward (column 'click') is neither a "
     "number nor one of two words such as yes and no in 2 of 5 rows, first in row 1: '1,5'; its "
     "decimal mark is a comma: write 1.5, not 1,5; with pandas: pandas.read_csv(file, sep=';', "
     "decimal=',')"),
    ({"time": [1.0, 2.0, None, 3.0, 4.0]}, {}, "the time (column 'time') is missing in 1 of 5 "
     "rows, first in row 3; leave those rows out, or say time=False"),
    ({"time": ["2026-01-01T00:00:00", "2026-01-01T00:00:00Z", *["2026-01-02T00:00:00"] * 3]}, {},
     "the time (column 'time') has mixed time zones, as '2026-01-01T00:00:00' in row 1 and "
     "'2026-01-01T00:00:00Z' in row 2: write all in one"),
    ({"time": ["2026-01-01 00:00:00+01:00"] * 4 + ["2026-01-01 00:00:00+02:00"]}, {},
     "the time (column 'time') has mixed time zones, as '2026-01-01 00:00:00+01:00' in row 1 and "
     "'2026-01-01 00:00:00+02:00' in row 5: write all in one"),
    ({"time": [1_700_000_000, 1_700_000_000_000, 1_700_000_000, 1_700_000_000, 1_700_000_000]}, {},
     "the time (column 'time') has mixed units of time, as 1700000000 in row 1 and 1700000000000 "
     "in row 2: write all in one"),
    ({"n": [1, 2, None, 1, None]}, {"exposure": "n"}, "the exposure (column 'n') is missing in 2 "
     "of 5 rows, first in row 3; leave those rows out: what was not shown has none"),
    ({"n": [1, 2, 0, 1, 1]}, {"exposure": "n"}, "the exposure (column 'n') is not a whole number "
     "from 1 in 1 of 5 rows, first in row 3: 0"),
    ({"n": [1, 2, 1.5, -1, 1]}, {"exposure": "n"}, "the exposure (column 'n') is not a whole "
     "number from 1 in 2 of 5 rows, first in row 3: 1.5"),
    ({"pscore": [0.5, 0.5, 0.0, 1.0, 1.2]}, {}, "the propensity (column 'pscore') is not above 0 "
     "and at most 1 in 2 of 5 rows, first in row 3: 0.0"),
    ({}, {"rows": "last"}, "rows='last' needs exposure, the column with the last row's number"),
    ({}, {"rows": "first"}, "rows must be one of 'all', 'last', got 'first'"),
    ({}, {"window": "soon"}, "window must be a time such as 7d, 12h, 30m or 2w, got 'soon'"),
    ({}, {"window": -1}, "window must be a number >= 0, got -1"),
    ({}, {"window": "7d", "time": False}, "window needs the column of the time, got '7d' and no "
     "time"),
    ({}, {"history_complete": 1}, "history_complete must be True or False, got 1"),
    ({"click": [1, 0]}, {}, "columns must be of one length, got {'user': 5, 'ad': 5, 'time': 5, "
     "'click': 2}"),
    ({"click": 1}, {}, "column 'click' must be a list of values, got 1"),
    ({"click": np.zeros((5, 2))}, {}, "column 'click' must have one dimension, got 2"),
]  # fmt: skip


@pytest.mark.parametrize(("columns", "options", "refusal"), REFUSALS)
def test_refusals(columns: dict[str, Any], options: dict[str, Any], refusal: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(refusal)}$"):
        read(changed(**columns), **options)


def test_a_large_reward_among_large_ones_is_read() -> None:
    rewards = [5e7, 0.0, 1e9, 3e3, 2e5]
    assert sorted(read(changed(click=rewards)).reward) == sorted(rewards)


def test_every_field_of_a_log_is_filled() -> None:
    """A field added to Log must be filled by the reader."""
    assert {field.name for field in dataclasses.fields(Log)} == {
        *("key", "arm", "time", "reward", "exposure", "arms", "propensity", "columns", "source"),
        *("rows", "history_complete", "window", "problems", "notes", "key_names"),
    }


def test_a_log_in_a_line() -> None:
    log = read({"user": ["a", "b", "a"], "ad": ["x", "x", "y"], "click": [1, 0, 1]})
    assert repr(log) == "<Log of columns: 3 rows, 2 arms, 2 keys>"


def test_history_is_in_the_order_of_time_with_the_names_of_the_table() -> None:
    table = {
        "user": ["b", "a", "b", "a"],
        "ad": ["x", "x", "x", "y"],
        "time": [4.0, 3.0, 2.0, 1.0],
        "click": [1, None, 0, 1],
    }
    found = read(table).history()
    assert found["keys"] == ["a", "b", "a", "b"]
    assert found["arms"] == ["y", "x", "x", "x"]
    np.testing.assert_array_equal(found["rewards"], [1.0, 0.0, np.nan, 1.0])
    assert found["pulls"] is None
    assert found["propensities"] is None
