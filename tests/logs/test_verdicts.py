"""From answers to verdicts: every branch, as readable sentences and as JSON."""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest

from helpers.small_logs import small, table
from rotting._show.data import json_text
from rotting.logs import Log, read
from rotting.logs._diagnosis import diagnosis, joint, verdicts, words
from rotting.logs._diagnosis.asking import Answers
from rotting.logs._diagnosis.companions import Slope
from rotting.logs._diagnosis.cost import allowed, fall
from rotting.logs._diagnosis.diagnosis import CODES, Diagnosis
from rotting.logs._diagnosis.stories import Stories, model_data, stories_of
from rotting.logs._diagnosis.verdicts import Findings, decide

LOG = small(1, keys=60, gaussian=True)
STORIES = stories_of(LOG)


def answers(stories: Stories = STORIES, **changed: Any) -> Answers:
    """Answers that find nothing, and are sure of it, but for what is changed."""
    theta, error = changed.pop("theta", 0.0), changed.pop("error", 0.01)
    data = model_data(stories, stories.log_exposure, calendar=True)
    fitted = joint.Fitted(
        np.append(theta, np.zeros(data.size - 1)), error**2 * np.eye(data.size), -1.0, True
    )
    plain = {
        "theta": theta,
        "error": error,
        "p_use": 0.5,
        "p_together": None,
        "calendar": (1.0, 0.9, 1.1),
        "p_calendar": 0.7,
        "half_life": math.inf,
        "p_rest": 1.0,
        "p_type": None,
        "p_paid": None,
        "apart": 0.8,
        "apart_within": 0.6,
        "use": stories.log_exposure,
        "fitted": fitted,
        "data": data,
    }
    return Answers(**{**plain, **changed})


def findings(**changed: Any) -> Findings:
    return Findings(STORIES, answers(**changed), 0.1, 0.05)


FALLS: dict[str, Any] = {"theta": 0.3, "error": 0.02, "p_use": 1e-6}
MOVES: dict[str, Any] = {"p_calendar": 1e-6, "calendar": (0.5, 0.45, 0.55)}
RESTS: dict[str, Any] = {"p_rest": 1e-6, "half_life": 2.0}
TOGETHER: dict[str, Any] = dict.fromkeys(("p_use", "p_calendar", "calendar", "p_rest", "half_life"))
UNSURE = {"theta": 0.1, "error": 0.3, "p_use": 0.4}

TABLE: list[tuple[str, dict[str, Any]]] = [
    ("rots", FALLS),
    ("does-not-rot", {}),
    ("calendar", MOVES),
    ("rots-and-calendar", {**FALLS, **MOVES}),
    ("recovers", {**FALLS, **RESTS}),
    ("recovers", {**FALLS, **RESTS, **MOVES}),
    ("cannot-tell", {**FALLS, **TOGETHER, "p_together": 1e-6, "apart": 0.01}),
    ("does-not-rot", {**TOGETHER, "p_together": 0.5, "apart": 0.01}),
    ("cannot-tell", {**UNSURE, **TOGETHER, "p_together": 0.4, "apart": 0.01}),
    ("cannot-tell", UNSURE),  # too small
    ("cannot-tell", {**UNSURE, **MOVES}),  # of the calendar's change use may have half
    ("cannot-tell", {**UNSURE, **RESTS}),  # rest without a fall says nothing
    ("does-not-rot", RESTS),
    ("does-not-rot", {"theta": -0.3, "error": 0.02, "p_use": 1.0}),  # it rises
]
TIMELESS: list[tuple[str, dict[str, Any]]] = [
    ("rots", {**FALLS, **TOGETHER, "p_use": 1e-6}),
    ("cannot-tell", {**UNSURE, **TOGETHER, "p_use": 0.4}),
    ("does-not-rot", {**TOGETHER, "p_use": 0.4}),
]


@pytest.mark.parametrize(("expected", "changed"), [*TABLE, *TIMELESS])
def test_the_verdict_on_the_whole(expected: str, changed: dict[str, Any]) -> None:
    assert findings(**changed).overall == expected


def test_the_calendar_is_said_where_use_can_have_less_than_half_of_it() -> None:
    most = findings(theta=0.1, error=0.06, p_use=0.2).most
    assert most > 0.1
    for change, expected in ((2.2, "calendar"), (1.8, "cannot-tell")):
        left = 1.0 - change * most  # what the calendar leaves
        found = findings(
            theta=0.1, error=0.06, p_use=0.2, p_calendar=1e-6, calendar=(left, 0.0, 1.0)
        )
        assert found.overall == expected
        up = findings(
            theta=0.1, error=0.06, p_use=0.2, p_calendar=1e-6, calendar=(2.0 - left, 0.0, 3.0)
        )
        assert up.overall == expected


def torn(monkeypatch: pytest.MonkeyPatch, raw: float, logs: float, **changed: Any) -> Findings:
    scales = [Slope(raw, 0.1, "showing"), Slope(logs, 0.1, "showing", "logarithms")]
    monkeypatch.setattr(verdicts, "_scales", lambda stories, answers: scales)
    return findings(**{"apart_within": 0.04, **FALLS, **changed})


def test_scales_that_disagree_leave_it_open(monkeypatch: pytest.MonkeyPatch) -> None:
    assert torn(monkeypatch, 0.6, -0.6).overall == "cannot-tell"
    assert torn(monkeypatch, -0.6, 0.0).overall == "cannot-tell"
    assert torn(monkeypatch, -0.6, -0.6).overall == "rots"
    assert torn(monkeypatch, 0.6, 0.6).overall == "rots"
    assert torn(monkeypatch, 0.6, -0.6, apart_within=0.5).overall == "rots"
    assert torn(monkeypatch, math.nan, -0.6).overall == "rots"
    nothing = torn(monkeypatch, 0.6, -0.6, theta=0.0, error=0.01, p_use=0.5)
    assert nothing.overall == "does-not-rot"


def test_p_values_are_corrected_together() -> None:
    found = findings(p_use=0.02, p_calendar=0.03, p_rest=0.2)
    assert found.p == pytest.approx({"use": 0.06, "calendar": 0.06, "rest": 0.2})
    assert not found.falls
    assert not found.moves
    assert findings(p_use=0.02, p_calendar=None, calendar=None, p_rest=None).falls
    assert findings(p_use=0.016, p_calendar=0.03, p_rest=0.2).falls
    # selection is not among them
    assert findings(p_use=0.016, p_calendar=0.03, p_rest=0.2, p_type=0.0, p_paid=0.0).falls


def test_falls_and_their_limits() -> None:
    found = findings(**FALLS)
    use = STORIES.log_exposure
    assert found.fall == pytest.approx(1.0 - np.mean(np.exp(-0.3 * use)))
    assert found.low == pytest.approx(1.0 - np.mean(np.exp(-(0.3 - 1.96 * 0.02) * use)))
    assert found.high == pytest.approx(1.0 - np.mean(np.exp(-(0.3 + 1.96 * 0.02) * use)))
    assert found.most == pytest.approx(1.0 - np.mean(np.exp(-(0.3 + 1.645 * 0.02) * use)))


def test_how_many_more_keys() -> None:
    found = findings(**UNSURE)
    times = found.more_rows()
    error = 0.3 / math.sqrt(times)  # with many times as many keys, and no fall
    assert fall(STORIES.log_exposure, 1.645 * error) == pytest.approx(0.1, rel=1e-6)


def decided(log: Log, smallest: float = 0.1, **changed: Any) -> Diagnosis:
    stories = stories_of(log)
    settings = {"smallest": smallest, "alpha": 0.05, "seed": 0, "source": "a table"}
    return decide(log, stories, answers(stories, **changed), [], settings, sampled=False)


def check_readable(found: Diagnosis) -> None:
    sentences = [found.headline, *(part.verdict for part in found.parts.values()), str(found)]
    sentences += [part.method + part.assumption for part in found.parts.values()]
    for text in [*sentences, found.advice]:
        for odd in ("nan", "None", "inf ", "inf%", "{", "}", "  %"):
            assert odd not in text
    for part in found.parts.values():
        assert part.verdict.endswith(".")
    assert found.headline.endswith(".")


def sendable(found: Diagnosis) -> None:
    data = json.loads(json_text(found.as_data()))
    assert data["overall"] in CODES
    assert isinstance(data["problems"], list)
    for name in ("exposure", "selection", "calendar", "recovery", "shape", "cost"):
        part = data[name]
        assert {"verdict", "p_value", "interval", "method", "assumption"} <= set(part)
        assert part["verdict"]
        assert part["method"]
        assert part["assumption"]


@pytest.mark.parametrize(("expected", "changed"), TABLE)
@pytest.mark.parametrize(
    ("selection", "leavers"),
    [
        ("nobody-leaves", {}),
        ("yes", {"p_type": 1e-4, "p_paid": 0.6}),
        ("yes", {"p_type": 0.6, "p_paid": 1e-4}),
        ("no", {"p_type": 0.03, "p_paid": 0.6}),  # two tests
    ],
)
def test_every_verdict_can_be_read_and_sent(
    expected: str, changed: dict[str, Any], selection: str, leavers: dict[str, Any]
) -> None:
    found = decided(LOG, **{**changed, **leavers})
    assert found.overall == expected
    check_readable(found)
    sendable(found)
    assert found["selection"].code == selection
    theta = changed.get("theta", 0.0)
    exposure = {0.3: "yes", 0.1: "cannot-tell"}.get(theta, "no")
    assert found["exposure"].code == exposure
    if expected == "cannot-tell":
        assert found.advice
        assert found["unknown"].code == "something"


@pytest.mark.parametrize("changed", [FALLS, {}, UNSURE])
def test_verdicts_without_times_or_keys(changed: dict[str, Any]) -> None:
    rows = table(1, keys=60, gaussian=True)
    gone = {name: value for name, value in TOGETHER.items() if name != "p_use"}
    timeless = decided(read(rows, time=False), **{**changed, **gone})
    assert timeless["calendar"].code == "no-times"
    assert timeless["recovery"].code == "cannot-tell"
    keyless = decided(read(rows, key=False), **changed)
    assert keyless["selection"].code == "no-keys"
    for found in (timeless, keyless):
        check_readable(found)
        sendable(found)


def test_a_torn_verdict_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    scales = [Slope(0.6, 0.1, "showing"), Slope(-0.6, 0.1, "showing", "logarithms")]
    monkeypatch.setattr(verdicts, "_scales", lambda stories, answers: scales)
    found = decided(LOG, **{**FALLS, "apart_within": 0.04})
    check_readable(found)
    assert found.overall == "cannot-tell"
    assert "+0.6" in found["calendar"].verdict
    assert "-0.6" in found["calendar"].verdict
    assert "0.04" in found["calendar"].verdict


def test_the_cost_is_in_the_reward_s_unit_and_in_per_cent(monkeypatch: pytest.MonkeyPatch) -> None:
    capped = decided(LOG, **FALLS)
    most = allowed(STORIES, np.ones(LOG.reward.size))  # this log does not fall, as it is said to
    assert capped["cost"].estimate == pytest.approx(most - LOG.reward.sum())
    monkeypatch.setattr(verdicts, "allowed", lambda stories, moved: math.inf)
    found = decided(LOG, **FALLS)
    rewards, use = LOG.reward, np.log(LOG.exposure)
    would = float(np.sum(rewards * np.exp(0.3 * use)))
    assert found["cost"].estimate == pytest.approx(would - rewards.sum())
    assert found["cost"].evidence["share"] == pytest.approx(1.0 - rewards.sum() / would)
    assert found["cost"].evidence["paid"] == pytest.approx(rewards.sum())
    low, high = found["cost"].interval or (0.0, 0.0)
    assert low < would - rewards.sum() < high


def test_rest_is_counted_in_the_cost_where_it_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdicts, "allowed", lambda stories, moved: math.inf)
    use = 0.5 * STORIES.log_exposure
    found = decided(LOG, **{**FALLS, **RESTS, "use": use})
    would = float(np.sum(LOG.reward * np.exp(0.3 * use)))
    assert found["cost"].estimate == pytest.approx(would - LOG.reward.sum())
    assert found["recovery"].estimate == 2.0
    assert "2.0 days" in found.headline


def test_a_log_whose_first_showings_pay_nothing_can_be_read() -> None:
    rows = table(1, keys=60)
    log = read(rows)
    log.reward[log.exposure == 1] = 0.0
    check_readable(decided(log, p_type=1e-4, p_paid=0.6))


def test_short_times_are_said_in_hours() -> None:
    found = decided(LOG, **{**FALLS, **RESTS, "half_life": 0.05})
    assert "1.2 hours" in found.headline
    assert words._days(3.14) == "3.1 days"


def test_the_parts_come_in_their_order() -> None:
    found = decided(LOG)
    assert tuple(found.parts) == diagnosis.PARTS
    data = found.as_data()
    assert list(data)[:2] == ["overall", "headline"]
    assert list(data)[2:10] == list(diagnosis.PARTS)
    lines = str(found).splitlines()
    assert lines[0].startswith("does-not-rot: It does not rot")
    titles = [found[name].title for name in diagnosis.PARTS]
    places = [lines.index(title) for title in titles]
    assert places == sorted(places)
    assert all(one != other for one, other in itertools.pairwise(places))


def test_a_limit_below_zero_is_no_fall_in_words() -> None:
    found = decided(LOG, **{"theta": -0.05, "error": 0.02})
    assert found.overall == "does-not-rot"
    assert "rewards do not fall with exposure" in found.headline
    assert "below -" not in str(found)


def test_without_keys_nobody_is_accounted_for() -> None:
    found = decided(read(table(1, keys=60, gaussian=True), key=False), **FALLS)
    assert "keys who left" not in found["exposure"].verdict
    assert "name the column that says who (--key)" in found["selection"].verdict


def test_the_cost_of_zeros_and_ones_is_in_clicks() -> None:
    assert (
        "rewards of one (clicks, say)" in decided(read(table(1, keys=60)), **FALLS)["cost"].verdict
    )
    assert "of the reward's unit" in decided(LOG, **FALLS)["cost"].verdict
