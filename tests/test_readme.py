"""The headline figures of README.md are those on record, and its first page stays one screen."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from rotting import simulate
from rotting.papers import levine2017

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def record(name: str) -> Any:
    return json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text())


def figures(row: str) -> list[float]:
    """The numbers of the row of the table that has these words."""
    (line,) = (line for line in README.splitlines() if line.startswith("| ") and row in line)
    return [float(found.replace(",", "")) for found in re.findall(r"\d[\d,]*\.?\d*", line)]


def test_shares_of_the_best_clicks() -> None:
    rows = [row for row in record("audience_twelve")["rows"] if "flat" not in row["setting"]]
    ours = [100 * row["share"]["Fatigue"] for row in rows]
    caps = [100 * row["share"][row["best_cap"]] for row in rows]
    said = [min(ours), max(ours), min(caps), max(caps)]
    assert figures("Where ads wear out")[:4] == [round(share) for share in said]


def test_regret_of_the_recommended_policy() -> None:
    found = record("steady")
    everywhere, count, hurt = figures("Where nothing is known")[:3]
    assert everywhere == round(found["geometric_means"]["all"], 2)
    assert count == len(found["rows"])
    adversarial = record("league_adversarial")["scenarios"].values()
    worst = max(cell["SteadyUCB"]["mean"] / cell["RAWUCB"]["mean"] for cell in adversarial)
    assert hurt == round(worst, 2)


def test_wrong_diagnoses() -> None:
    found = record("log_study")
    wrong, logs = figures("A diagnosis was wrong")[:2]
    assert wrong == round(100 * found["false_share"], 1)
    assert logs == found["logs"]
    unequal = [row for row in record("unequal_users")["rows"] if "activity 0," not in row["cell"]]
    count = {kind: sum(row[kind] for row in unequal) for kind in ("right", "cannot tell")}
    total = sum(len(row["logs"]) for row in unequal)
    wrong = total - sum(count.values())
    assert figures("A diagnosis was wrong")[2:5] == [wrong, total, count["cannot tell"]]


def test_what_the_service_withstood() -> None:
    kills, power = record("serve_kills")["rows"][0], record("serve_power")["rows"][0]
    assert (kills["wrong"], power["wrong"], power["synchronous"]) == (0, 0, "FULL")
    assert figures("killed")[:2] == [kills["kills"], power["losses"]]


def test_speed() -> None:
    ratios = [row["ratio"] for row in record("decisions")["rows"] if row["policy"] == "UCB1"]
    assert round(sum(ratios) / len(ratios)) == 2  # "two random numbers"
    found = record("gpu")
    assert found["device"] == "NVIDIA H200"
    assert figures("drawing two random numbers")[2] == round(
        found["speed"]["UCB1"]["billion_a_second"]
    )


def test_the_demo_of_the_first_page_loses_what_it_says() -> None:
    text = " ".join((ROOT / "docs" / "start.md").read_text().split())
    (ucb1,) = re.findall(r"loses about ([\d,]+): its average", text)
    (wswa,) = re.findall(r"recent rewards only, loses about ([\d,]+)\.", text)
    policies = levine2017.reported_policies("non_parametric")
    lost = {
        name: simulate(policies[name], levine2017.non_parametric(), runs=20).mean_regret[-1]
        for name in ("UCB1", "wSWA")
    }
    assert float(ucb1.replace(",", "")) == round(lost["UCB1"], -1)
    assert float(wswa) == round(lost["wSWA"])


def test_every_figure_names_a_command_that_is_there() -> None:
    table = README[README.index("## Results") : README.index("## Where to go next")]
    rows = [line for line in table.splitlines() if line.startswith("| ") and "`" in line]
    assert len(rows) == 5
    for row in rows:
        for command in re.findall(r"`(python benchmarks/\w+\.py[^`]*)`", row):
            assert (ROOT / command.split()[1]).exists()
            data = record(Path(command.split()[1]).stem)
            assert data.get("command", command) == command  # not all data name theirs


def test_it_is_one_screen() -> None:
    """One screen of a desktop: the text, without its picture, in 80 lines."""
    assert len(README.splitlines()) <= 80
    for way in ("## Decide online", "## Read a log", "## Reproduce the paper"):
        block = README[README.index(way) :].partition("```\n\n")[0]
        assert len(block.splitlines()) <= 10, way
