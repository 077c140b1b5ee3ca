"""The pages of logs: every verdict and picture, escaped HTML, and advice that runs."""

from __future__ import annotations

import dataclasses
import html
import json
import re
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import example_log
from rotting import policies
from rotting.logs import Diagnosis, diagnose, fit, read, replay, synthetic
from rotting.logs._diagnosis import codes
from rotting.logs._pages import page, replay_page
from rotting.logs._pages.axes import figure_text
from rotting.logs._pages.next_steps import next_steps
from rotting.logs._pages.pictures import pictures
from rotting.logs._pages.short_answers import short

NASTY = {
    "arm 0": "<script>alert(1)</script>",
    "arm 1": "$x_1$ \\alpha^{ & 50 %",
    "arm 2": "a 'quoted'\nname \u202e\U0001f389",
}


@pytest.fixture(scope="module")
def rotten() -> Diagnosis:
    frame = synthetic("rested", "rate", keys=400, exposures=8, theta=0.6, seed=1)
    return diagnose(frame.with_columns(frame["arm"].replace(NASTY)))


@pytest.fixture(scope="module")
def hopeless() -> Diagnosis:
    return diagnose(synthetic("rested", "first-success", keys=300, seed=2))


def test_the_page_has_every_verdict_its_picture_and_the_command(rotten: Diagnosis) -> None:
    assert rotten.overall == "rots"
    text = page.whole(rotten, "rotting diagnose 'my log.csv' --seed 3")
    assert "It wears out</p>" in text
    for part in rotten.parts.values():
        assert f"<h2>{html.escape(part.title)}</h2>" in text
    assert text.index("It wears out") < text.index("What is in the log")
    assert html.escape("rotting diagnose 'my log.csv' --seed 3") in text
    # contents, exposure, selection, calendar, cost; shapes of all arms and of three
    assert text.count("<svg") == 5 + 4
    assert text.count('role="img"') == 9


def test_the_page_needs_nothing_from_elsewhere_and_runs_nobodys_code(rotten: Diagnosis) -> None:
    for text in (page.whole(rotten, "rotting <b>"), page.fragment(rotten)):
        assert "<script" not in text
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
        assert "<b>" not in text
        # identifiers of SVG's namespaces are no addresses to fetch from
        fetched = re.findall(r'(?:src|href)="([^"#][^"]*)"', text)
        assert fetched in ([], ["data:,"]), fetched
        assert "\u202e" not in text


def test_pictures_are_the_same_each_time_and_of_what_is_there(
    rotten: Diagnosis, hopeless: Diagnosis
) -> None:
    once = pictures(rotten)
    assert once == pictures(rotten)
    assert list(once) == ["contents", "exposure", "selection", "calendar", "shape", "cost"]
    titles = [each.title for each in once["shape"]]
    assert titles[0] == "all arms"
    assert set(titles[1:]) == set(NASTY.values())
    assert list(pictures(hopeless)) == ["contents", "exposure"]
    assert "as it stands in the log" in pictures(hopeless)["exposure"][0].about


def test_rest_is_drawn_where_it_helps(rotten: Diagnosis) -> None:
    part = rotten["recovery"]
    rested = dataclasses.replace(part, code="yes", evidence={"half_life_days": 2.0})
    found = dataclasses.replace(rotten, parts={**rotten.parts, "recovery": rested})
    assert pictures(found)["recovery"][0].about.endswith("half after 2 days")


def test_a_notebook_shows_verdicts_and_two_pictures(rotten: Diagnosis, hopeless: Diagnosis) -> None:
    text = rotten._repr_html_()
    assert text.count("<svg") == 2
    assert html.escape(rotten.headline) in text
    assert all(html.escape(part.verdict) in text for part in rotten.parts.values())
    assert hopeless._repr_html_().count("<svg") == 1


def test_the_folder_has_the_figures_too(rotten: Diagnosis, tmp_path: Path) -> None:
    page.write(tmp_path, rotten, "rotting diagnose x.csv")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["diagnosis.html", "diagnosis.json"]
    found = json.loads((tmp_path / "diagnosis.json").read_text())
    assert found["overall"] == "rots"
    assert found["exposure"]["verdict"] == rotten["exposure"].verdict
    assert found["exposure"]["interval"] == list(rotten["exposure"].interval or ())


def run(lines: list[str]) -> dict[str, Any]:
    """The variables that the lines of a page define; nothing is compiled, which would take long."""
    text = "\n".join(lines).replace("(arms)", "(arms, compiled=False)")
    names: dict[str, Any] = {}
    exec(text, names)
    return names


ADVICE = {
    codes.ROTS: "Fatigue()",
    codes.BOTH: "Fatigue()",
    codes.STAYS: "Thompson()",
    codes.CALENDAR: "DTS(gamma=",
    codes.RECOVERS: "rest=HalfLife(",
    codes.UNKNOWN: "Fatigue()",
}


@pytest.mark.parametrize("code", codes.CODES)
@pytest.mark.parametrize("clicks", [True, False])
def test_the_advice_fits_the_verdict_and_runs(rotten: Diagnosis, code: str, clicks: bool) -> None:
    facts = {**rotten["contents"].evidence}
    facts["rewards"] = "zeros and ones" if clicks else "numbers"
    parts = {**rotten.parts}
    parts["contents"] = dataclasses.replace(parts["contents"], evidence=facts)
    parts["recovery"] = dataclasses.replace(parts["recovery"], evidence={"half_life_days": 3.0})
    found = dataclasses.replace(rotten, overall=code, parts=parts, advice="Try it on half of them.")
    steps = next_steps(found)
    text = "\n".join(steps.lines)
    usual = ADVICE[code] if clicks else ADVICE[code].replace("()", "(")
    assert usual in text
    assert ('"gaussian"' in text) == (not clicks and "Fatigue" in text)
    made = run(steps.lines)
    assert set(made["arms"]) == set(NASTY.values())
    assert made["showing"].key == "user 17"
    assert made["player"].policy == made["policy"]
    assert steps.sentences
    if code == codes.UNKNOWN:
        assert steps.sentences[0] == "Try it on half of them."
    if code == codes.RECOVERS:
        rounds = round(3.0 * facts["rows"] / facts["days"])
        assert made["policy"].rest.length == rounds
        assert made["policy"].rest.unit == "rounds"


def test_without_keys_the_fits_own_lines_are_taken() -> None:
    log = unkeyed()
    found = dataclasses.replace(diagnose(log), overall=codes.ROTS)
    assert "SteadyUCB(sigma=None)" in "\n".join(next_steps(found).lines)
    policy, lines = fit(log, resamples=20).recommended()
    steps = next_steps(found, lines)
    assert f"# {steps.sentences[-1]}" == lines[0]  # why, beside the lines
    made = run(steps.lines)
    assert made["policy"] == policy
    assert set(made["arms"]) == set(log.arms)
    assert "selection" not in pictures(found)
    assert "contents" not in pictures(found)  # every arm is shown for the n-th time once


def unkeyed(rows: int = 900) -> Any:
    generator = np.random.default_rng(3)
    arm = generator.integers(0, 3, rows)
    number = np.array([np.count_nonzero(arm[: k + 1] == arm[k]) for k in range(rows)])
    clicked = generator.random(rows) < 0.8 * number**-0.3
    return read(
        {"arm": [f"a{a}" for a in arm], "click": clicked.astype(int)}, key=False, time=False
    )


def test_short_answers(rotten: Diagnosis, hopeless: Diagnosis) -> None:
    assert short(rotten, "exposure") == "yes"
    assert short(rotten, "calendar") == "use"
    assert short(rotten, "cost").endswith("% of what first showings would have paid")
    assert {short(hopeless, name) for name in codes.PARTS[1:7]} == {"cannot tell"}
    moved = dataclasses.replace(rotten["calendar"], code="yes")
    both = dataclasses.replace(rotten, parts={**rotten.parts, "calendar": moved})
    assert short(both, "calendar") == "both"


def test_figures_have_no_powers_of_ten() -> None:
    assert [figure_text(x) for x in (1.5e6, 99.96, 0.5)] == ["1,500,000", "100", "0.5"]


def test_the_shipped_log_is_what_its_script_makes() -> None:
    assert example_log.PLACE.read_text(encoding="utf-8") == example_log.text()
    assert example_log.PLACE.stat().st_size < 200_000


def test_the_page_of_a_replay(rotten: Diagnosis, tmp_path: Path) -> None:
    frame = synthetic("rested", keys=60, exposures=5, seed=1)
    log = read(frame.with_columns(frame["arm"].replace(NASTY)), propensity=False)
    named = {"<b>": policies.Uniform(), "round": policies.RoundRobin()}
    curves = replay_page.simulator_of(fit(log, resamples=20))
    visits = int(np.bincount(log.key).max())
    assert curves.shape == (1 + 20, 3, visits)
    assert ((curves >= 0.0) & (curves <= 1.0)).all()
    found = replay(log, named, runs=3, resamples=5, simulator=curves, compiled=False)
    replay_page.write(tmp_path, found, rotten, "my/log.csv", "rotting replay log.csv")
    text = (tmp_path / "replay.html").read_text()
    assert "What would it have earned? log.csv" in text
    assert text.count("<svg") == 1
    assert "<b>" not in text
    assert "<script" not in text
    assert all(html.escape(each.sentence) in text for each in found)
    assert all(html.escape(each) in text for each in found.assumptions)
    assert html.escape(rotten.headline) in text
    data = json.loads((tmp_path / "replay.json").read_text())
    assert data["diagnosis"] == "rots"
    assert [each["name"] for each in data["policies"]] == list(named)
    table = found.table()
    assert table.headings == ["policy", "mean reward", "95 % interval", "bounds", "from the log"]
    assert [row[0] for row in table.rows] == ["the log's own play", *named]


@pytest.mark.parametrize(("share", "said"), [(1.0, "100 %"), (0.99999, "99.9 %"), (0.5, "50.0 %")])
def test_all_is_said_to_be_from_the_log_only_if_all_is(share: float, said: str) -> None:
    log = read(synthetic("rested", keys=40, exposures=4, seed=1), propensity=False)
    found = replay(log, [policies.RoundRobin()], runs=2, resamples=0, compiled=False)
    (each,) = found
    changed = dataclasses.replace(found, policies=(dataclasses.replace(each, coverage=share),))
    assert changed.table().cells()[1][-1] == said


def test_a_pooled_replay_says_where_the_diagnosis_contradicts_it() -> None:
    class Said:
        kind = "pooled"

    leaves = diagnose(synthetic("rested", "rate", seed=0))
    stays = diagnose(synthetic("rested", seed=0))
    assert leaves["selection"].code == "yes"
    (doubt,) = replay_page.doubts(cast(Any, Said()), leaves)
    assert "those who stay are not those who left" in doubt
    assert replay_page.doubts(cast(Any, Said()), stays) == []
