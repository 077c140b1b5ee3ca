"""Experiment files that are wrong say where."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

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
    from rotting.catalogue.experiment_file import read_experiment

    path = tmp_path / "experiment.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=re.escape(words)):
        read_experiment(path)
