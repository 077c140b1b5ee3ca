"""The paper's own spellings name policies and scenarios everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import rotting
from rotting._catalogue import names as catalogue
from rotting._catalogue.experiment_file import parse_experiment
from rotting._catalogue.spelling import spelt
from rotting._cli import app
from rotting.papers import levine2017

# as in the text, in Table 1, in Algorithms 1 to 3, and with LaTeX around the subscripts
POLICIES = {
    "SWA": "swa",
    "wSWA": "wswa",
    "CTO": "cto",
    "CTO_SIM": "cto",
    "CTO$_{SIM}$": "cto",
    "D-CTO": "dcto",
    "D-CTO_UCB": "dcto_ucb",
    "D-CTO_{UCB}": "dcto_ucb",
    "d-cto_ucb": "dcto_ucb",
    "D-CTO_SIM-UCB": "dcto",
    r"D-CTO$_{\textrm{SIM-UCB}}$": "dcto",
    "D-CTO_{SIM-UCB}": "dcto",
    "D-CTO_UCB-SIM": "dcto",
    "UCB1": "ucb1",
    "DUCB": "ducb",
    "SWUCB": "swucb",
}
SCENARIOS = {"NP": "non-parametric", "np": "non-parametric", "AV": "AV", "Anv": "ANV"}


@pytest.mark.parametrize("name", POLICIES)
def test_policies(name: str) -> None:
    assert catalogue.policy_name(name) == POLICIES[name]
    assert catalogue.split("policy", f"{name}:x=1") == (POLICIES[name], {"x": 1})


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenarios(name: str) -> None:
    assert rotting.scenario(name).name == f"levine2017 {SCENARIOS[name]}"


def test_setups_have_the_papers_names() -> None:
    for short, setup in levine2017.SHORT.items():
        assert levine2017.reported_policies(short) == levine2017.reported_policies(setup)
        assert levine2017.reported_policies(short.lower()) == levine2017.reported_policies(setup)


def test_names_that_only_look_alike_are_left_alone() -> None:
    assert spelt("a-b", ["ab", "a_b"]) == "a-b"
    assert spelt("a_b", ["ab", "a_b"]) == "a_b"
    assert spelt("NP", ["av"]) == "NP"
    with pytest.raises(ValueError, match="unknown policy 'D-CTO_SIN'; did you mean"):
        catalogue.parse_policy("D-CTO_SIN", rotting.scenario("AV"))


def rotted(*words: str) -> Any:
    return CliRunner().invoke(app, list(words))


def test_on_the_command_line(tmp_path: Path) -> None:
    words = ["wSWA:alpha=0.2", "D-CTO_SIM-UCB", "--scenario", "ANV:horizon=300", "--runs", "2"]
    done = rotted("compare", *words)
    assert done.exit_code == 0, done.stderr
    assert "D-CTO" in done.stdout
    done = rotted("simulate", "CTO_SIM", "--scenario", "AV:horizon=300", "--runs", "2")
    assert done.exit_code == 0, done.stderr
    done = rotted("theory", "--scenario", "NP", "--alpha", "0.2")
    assert done.exit_code == 0, done.stderr


def test_in_an_experiment_file() -> None:
    made = parse_experiment(
        """
        scenario = "ANV"
        runs = 2
        [[policies]]
        policy = "D-CTO_SIM-UCB"
        [[policies]]
        policy = "wSWA"
        alpha = 0.2
        """,
        "experiment.toml",
    )
    assert made.scenario.name == "levine2017 ANV"
