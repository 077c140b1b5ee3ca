"""Experiment files that are wrong say where."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rotting.catalogue.experiment_file import EXAMPLE, read_experiment

GOOD = '[scenario]\nname = "av"\nhorizon = 50\n[[policies]]\npolicy = "ucb1"\n'


FILES = [
    ("runs = 'many'\n" + GOOD, "runs must be a whole number, got 'many'"),
    ("runs = true\n" + GOOD, "runs must be a whole number, got True"),
    ("rums = 3\n" + GOOD, "unknown key 'rums'; did you mean 'runs'?"),
    (GOOD + "alpha = 0.2\n", "policies[0]: unknown parameter of ucb1 'alpha'"),
    (GOOD.replace("ucb1", "ucb2"), "policies[0]: unknown policy 'ucb2'; did you mean 'ucb1'?"),
    (GOOD.replace('"av"', '"aw"'), "scenario: unknown scenario 'aw'; did you mean 'av'?"),
    (GOOD.replace("50", '"50"'), "scenario.horizon must be a whole number, got '50'"),
    (GOOD.replace("horizon", "horizn"), "unknown key 'scenario.horizn'; did you mean"),
    (GOOD.split("[[")[0], "policies must be given"),
    ("noise = 'no'\n" + GOOD, "noise must be one of"),
    ("policies = 3\n" + GOOD.split("[[")[0], "policies must be a list, got 3"),
    (GOOD + "[outputs]\nfoldr = 'x'\n", "unknown key 'outputs.foldr'"),
    ("[scenario]\nhorizon = 5\n" + GOOD[GOOD.index("[[") :], "must have a name, arms or"),
    (
        "[scenario]\nhorizon = 5\nnoise = {kind = 'gaussian', sigma = -1}\n"
        "arms = [{model = 'constant', value = 1}]\n" + GOOD[GOOD.index("[[") :],
        "scenario.noise: sigma must be a number > 0, got -1",
    ),
    (
        "[scenario]\nhorizon = 5\nnoise = {kind = 'none'}\n"
        "arms = [{model = 'step', at = 3, before = 0, after = 1}]\n" + GOOD[GOOD.index("[[") :],
        "scenario.arms[0]: Step must never rise",
    ),
    (
        "[scenario]\nhorizon = 5\nnoise = {kind = 'none'}\n"
        "arms = [{model = 'stp', at = 3}]\n" + GOOD[GOOD.index("[[") :],
        "scenario.arms[0]: unknown model 'stp'; did you mean 'step'?",
    ),
    ("runs = \n", "is not valid TOML"),
]


@pytest.mark.parametrize(("text", "words"), FILES, ids=[words for _, words in FILES])
def test_bad_experiment_files(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "experiment.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=re.escape(words)):
        read_experiment(path)


DRAWN = """
runs = 2
[scenario]
horizon = 100
noise = { kind = "gaussian", sigma = 1 }
random_arms = { model = "polynomial", thetas = [0.1, 0.4], count = 3, constants = [0, 1] }
[[policies]]
policy = "cto"
"""
KEY = re.compile(r"(?m)(?:^|[{,]\s*)\[{0,2}(\w+)\]{0,2}\s*(?:=|$)")


@pytest.mark.parametrize("text", [EXAMPLE, DRAWN, GOOD], ids=["example", "drawn", "named"])
def test_a_misspelt_key_is_unknown_before_anything_is_missing(text: str, tmp_path: Path) -> None:
    """Every key of the file in turn, in tables of any depth."""
    path = tmp_path / "experiment.toml"
    text = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    path.write_text(text)
    read_experiment(path)
    keys = list(KEY.finditer(text))
    assert len(keys) >= 5
    for found in keys:
        key = found.group(1)
        path.write_text(text[: found.end(1)] + key[-1] + text[found.end(1) :])
        with pytest.raises(ValueError, match=rf"unknown .*{key}{key[-1]}'; did you mean '.*{key}'"):
            read_experiment(path)


TUNED = GOOD + '[tune]\npolicy = "wswa"\n'
GRIDS = [
    (TUNED + "grid = { alpha = 0.3 }\n", "tune.grid.alpha must be a list, got 0.3"),
    (TUNED + "grid = { alpha = [] }\n", "tune.grid.alpha must hold at least one value, got none"),
    (TUNED + "grid = {}\n", "tune.grid must hold at least one parameter, got none"),
    (TUNED + "alpha = 1\n", "tune.grid must be given"),
    (TUNED + "alpha = 1\ngrid = { alpha = [1] }\n", "must not be given beside tune.alpha"),
    (TUNED + "grid = { alpha = [-1] }\n", "tune: alpha must be a number > 0, got -1"),
    (TUNED + "grid = { restart = ['keep'] }\n", "tune: alpha of wswa must be given"),
]


@pytest.mark.parametrize(("text", "words"), GRIDS, ids=[words for _, words in GRIDS])
def test_bad_grids_in_a_file(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "experiment.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=re.escape(words)):
        read_experiment(path)
