"""Errors in experiment files name the place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rotting import models, policies
from rotting._catalogue.experiment_file import EXAMPLE, ExperimentFile, read_experiment
from rotting.bandits import Arm, Audience, HalfLife, NoNoise, RandomArms, Scenario, Window
from rotting.models import Amplitude, Exponential, Plateau

GOOD = '[scenario]\nname = "av"\nhorizon = 50\n[[policies]]\npolicy = "ucb1"\n'

MODEL = (
    "[scenario]\nhorizon = 5\nnoise = {{kind = 'none'}}\n"
    "arms = [{{model = 'constant', {}}}]\n" + GOOD[GOOD.index("[[") :]
)
FAMILY = GOOD.replace("ucb1", "cto") + "family = {{model = 'plateau', {}}}\n"
MEMBERS = GOOD.replace("ucb1", "cto") + "family = {{members = [{}], weights = [1]}}\n"
CAPPED = GOOD.replace("ucb1", "capped") + "cap = 3\n{}\n"

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
    ('scenario = "aw"\n' + GOOD[GOOD.index("[[") :], "unknown scenario 'aw'; did you mean 'av'?"),
    (MODEL.format("value = 1, amplitude = 0"), "scenario.arms[0]: amplitude must be a number > 0"),
    (MODEL.format("value = 1, amplitud = 2"), "did you mean 'scenario.arms[0].amplitude'?"),
    (FAMILY.format("length = 5"), "policies[0].family: one of thetas, theta_between, amplitudes"),
    (FAMILY.format("thetas = [0.1], theta = 1"), "theta must not be given together with thetas"),
    (
        FAMILY.format("theta = 1, amplitude = 2, amplitudes = [0.1]"),
        "amplitude must not be given together with amplitudes",
    ),
    (
        FAMILY.format("theta = 1, amplitude_between = [0.1]"),
        "amplitude_between must be a pair [low, high], got [0.1]",
    ),
    (FAMILY.format("amplitudes = [0.1]"), "Plateau needs a theta"),
    (FAMILY.format("thetas = 0.1"), "Theta must be a list of numbers, got 0.1"),
    (GOOD.replace("ucb1", "rawucb") + 'sigma = "unknown"\n', "sigma must be a number > 0"),
    (MEMBERS.format("{ model = 'polynomial' }"), "policies[0].family: Polynomial needs a theta"),
    (MEMBERS.format("{ model = 'polynomial', thet = 1 }"), "members[0].thet'; did you mean"),
    (
        MEMBERS.format("{ modl = 'polynomial' }"),
        "did you mean 'policies[0].family.members[0].model'",
    ),
    (MEMBERS.format("3"), "policies[0].family.members[0] must be a table, got 3"),
    (MEMBERS.format(""), "policies[0].family: members must hold at least one model, got none"),
    (
        MEMBERS.format("{ model = 'constant', value = 1 }, { model = 'constant', value = 2 }"),
        "policies[0].family: weights must be one for each of 2 models, got 1",
    ),
    (MEMBERS.replace("members", "membrs").format(""), "'policies[0].family.membrs'"),
    (CAPPED.format("inner = { policy = 'ucb2' }"), "policies[0]: unknown policy 'ucb2'"),
    (CAPPED.format("inner = { policy = 'ucb1', d = 1 }"), "unknown parameter of ucb1 'd'"),
    (CAPPED.format("rest = { window = 3 }"), "policies[0]: rest must be a HalfLife"),
]


@pytest.mark.parametrize(("text", "words"), FILES, ids=[words for _, words in FILES])
def test_bad_experiment_files(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "experiment.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=re.escape(words)):
        read_experiment(path)


DRAWN_ARMS = """
runs = 2
[scenario]
horizon = 100
noise = { kind = "gaussian", sigma = 1 }
random_arms = { model = "polynomial", thetas = [0.1, 0.4], count = 3, constants = [0, 1] }
[[policies]]
policy = "cto"
"""
KEY = re.compile(r"(?m)(?:^|[{,]\s*)\[{0,2}(\w+)\]{0,2}\s*(?:=|$)")


@pytest.mark.parametrize("text", [EXAMPLE, DRAWN_ARMS, GOOD], ids=["example", "drawn", "named"])
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


def read(text: str, folder: Path) -> ExperimentFile:
    path = folder / "experiment.toml"
    path.write_text(text)
    return read_experiment(path)


BELIEFS = [
    ("thetas = [0.1, 0.3]", Plateau().over([0.1, 0.3])),
    ("thetas = [0.1, 0.3], amplitude = 0.05", Plateau().times(0.05).over([0.1, 0.3])),
    ("theta = 0.1, amplitudes = [0.02, 0.1]", Plateau(0.1).over(amplitudes=[0.02, 0.1])),
    (
        "length = 7, thetas = [0.1, 0.3], amplitudes = [0.02, 0.1]",
        Plateau(length=7).over([0.1, 0.3], amplitudes=[0.02, 0.1]),
    ),
    ("theta_between = [0.1, 0.3], amplitude = 2", Plateau().times(2).between(0.1, 0.3)),
    ("theta = 0.1, amplitude_between = [0.02, 1]", Amplitude(Plateau(0.1)).between(0.02, 1)),
]


@pytest.mark.parametrize(("words", "belief"), BELIEFS, ids=[words for words, _ in BELIEFS])
def test_families_and_intervals_with_amplitudes(
    words: str, belief: models.Family | models.Interval, tmp_path: Path
) -> None:
    text = FAMILY.format(words).replace("'cto'", "'posterior'").replace('"cto"', '"posterior"')
    (found,) = read(text, tmp_path).policies.values()
    assert found == policies.Posterior(belief)


DRAWN = [
    ("theta = 0.01, amplitude_between = [0, 1]", Amplitude(Exponential(0.01)).between(0, 1), None),
    ("thetas = [0.01], amplitude_between = [0.02, 0.1]", Exponential().over([0.01]), (0.02, 0.1)),
    ("theta_between = [0.1, 1], amplitude = 0.5", Exponential().times(0.5).between(0.1, 1), None),
    ("theta = 0.01, amplitudes = [0.1, 0.2]", Exponential(0.01).over(amplitudes=[0.1, 0.2]), None),
]


@pytest.mark.parametrize(("words", "belief", "amplitudes"), DRAWN, ids=[row[0] for row in DRAWN])
def test_random_arms_with_amplitudes(
    words: str,
    belief: models.Family | models.Interval,
    amplitudes: tuple[float, float] | None,
    tmp_path: Path,
) -> None:
    text = (
        "[scenario]\nhorizon = 5\nnoise = {kind = 'bernoulli'}\n"
        f"random_arms = {{model = 'exponential', count = 3, {words}}}\n" + GOOD[GOOD.index("[[") :]
    )
    found = read(text, tmp_path).scenario.arms
    assert found == RandomArms(belief, 3, amplitudes=amplitudes)


def test_arms_with_an_amplitude(tmp_path: Path) -> None:
    found = read(MODEL.format("value = 1, amplitude = 0.3, constant = 0.1"), tmp_path)
    assert found.scenario.arms == (Arm(models.Constant(1.0).times(0.3), 0.1),)


OPENED = """
[scenario]
horizon = 100
noise = { kind = "none" }
arms = [{ model = "constant", value = 0.5 }, { model = "constant", value = 0.7 }]
openings = [{ arm = 1, first = 21, last = 60 }, { arm = 1, first = 90 }]
[[policies]]
policy = "ucb1"
"""


def test_arms_that_come_and_go(tmp_path: Path) -> None:
    file = tmp_path / "opened.toml"
    file.write_text(OPENED)
    arms = [Arm(models.Constant(0.5)), Arm(models.Constant(0.7))]
    said = {1: [(21, 60), (90, None)]}
    assert read_experiment(file).scenario == Scenario(arms, NoNoise(), 100, openings=said)
    file.write_text(OPENED.replace("first = 90", "last = 5"))
    assert read_experiment(file).scenario.first_arms == 2  # from round 1, unless said otherwise
    for old, new, words in (
        ("arm = 1, first = 90", "arm = 2", "scenario: arm in openings must be .* to 1, got 2"),
        ("first = 90", "frist = 90", r"unknown key 'scenario.openings\[1\].frist'; did you mean"),
        ("first = 90", "first = 'soon'", r"scenario.openings\[1\].first must be a whole number"),
        ("arm = 1, first = 90", "first = 90", r"scenario.openings\[1\].arm must be given"),
        ("last = 60", "last = 20", "scenario: last round in openings of arm 1 must be .* >= 21"),
    ):
        file.write_text(OPENED.replace(old, new))
        with pytest.raises(ValueError, match=words):
            read_experiment(file)


def test_a_named_scenario_and_an_unknown_sigma(tmp_path: Path) -> None:
    text = 'scenario = "clicks:horizon=50"\n[[policies]]\npolicy = "steadyucb"\n'
    found = read(text + 'sigma = "unknown"\n', tmp_path)
    assert found.scenario.horizon == 50
    assert list(found.policies.values()) == [policies.SteadyUCB(None)]
    assert found.filled_in == []
    found = read(text + '[[policies]]\npolicy = "rawucb"\n', tmp_path)
    assert found.filled_in == [
        "sigma left unknown for Bernoulli rewards: SteadyUCB",
        "sigma = 0.5 filled in from Bernoulli rewards: RAW-UCB",
    ]


def test_a_policy_that_holds_another(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "policies.md").read_text()
    block = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)[0]
    found = read('scenario = "clicks:horizon=50"\n' + block, tmp_path)
    held = policies.Capped(policies.UCB1(c=0.5), 3, Window(86_400))
    assert found.policies == {"Capped(inner=UCB1(c=0.5), cap=3)": held}
    found = read(CAPPED.format(""), tmp_path)
    assert [policy.label[:20] for policy in found.policies.values()] == ["Capped(inner=Thompso"]
    grid = "[tune]\npolicy = 'capped'\ngrid = {{ cap = [1, 2] }}\n"
    found = read(CAPPED.format("") + grid.format(), tmp_path)
    assert found.tuning is not None
    assert found.tuning[1] == {"cap": [1, 2]}


PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "comparing.md").read_text()


def test_the_files_in_the_documentation_can_be_read(tmp_path: Path) -> None:
    blocks = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    crowd, clicks = (read(block, tmp_path) for block in blocks)
    first = clicks.scenario.arms
    assert isinstance(first, RandomArms)
    assert first.family == Amplitude(Exponential(0.01)).between(0.02, 0.1)
    assert policies.SteadyUCB(None) in clicks.policies.values()
    assert crowd.scenario.audience == Audience(2000, "uniform", (0.5, 1.5), HalfLife(20))


def test_the_ways_to_say_a_family_in_the_documentation(tmp_path: Path) -> None:
    rows = re.findall(r"^\| `(theta.*?)` \|", PAGE, re.MULTILINE)
    assert len(rows) == 5
    for row in rows:
        text = FAMILY.format(row).replace("plateau", "exponential").replace("cto", "posterior")
        assert read(text, tmp_path).policies


AUDIENCE = """
runs = 2
[scenario]
horizon = 60
noise = { kind = "bernoulli" }
arms = [{ model = "polynomial", theta = 0.4 }, { model = "constant", value = 0.3 }]
[scenario.audience]
keys = 5
arrivals = "zipf:1.1"
factors = [0.5, 1]
rest = { half_life = 20, unit = "decisions" }
[[policies]]
policy = "ucb1"
"""


def audience_in(text: str, tmp_path: Path) -> Audience | None:
    path = tmp_path / "experiment.toml"
    path.write_text(text)
    return read_experiment(path).scenario.audience


def test_an_audience_in_a_file(tmp_path: Path) -> None:
    full = Audience(5, "zipf:1.1", (0.5, 1.0), HalfLife(20.0, "decisions"))
    assert audience_in(AUDIENCE, tmp_path) == full
    for line, changed in (
        ("rest = { window = 30 }", Audience(5, "zipf:1.1", (0.5, 1.0), Window(30))),
        (
            'rest = { window = 3, unit = "decisions" }',
            Audience(5, "zipf:1.1", (0.5, 1.0), Window(3, "decisions")),
        ),
        ("", Audience(5, "zipf:1.1", (0.5, 1.0))),
    ):
        text = AUDIENCE.replace('rest = { half_life = 20, unit = "decisions" }', line)
        assert audience_in(text, tmp_path) == changed
    short = AUDIENCE.replace('"zipf:1.1"', "[" + "0, 4, 1, " * 20 + "]").replace("factors", "#")
    given = audience_in(short, tmp_path)
    assert given is not None
    assert given == Audience(5, [0, 4, 1] * 20, rest=HalfLife(20))
    assert given.arrive(0, 0, 4).tolist() == [0, 4, 1, 0]
    lines = [line for line in AUDIENCE.splitlines() if not line.startswith(("arr", "fac", "rest"))]
    assert audience_in("\n".join(lines), tmp_path) == Audience(5)


AUDIENCES = [
    ("keys = 5", "kys = 5", "unknown key 'scenario.audience.kys'; did you mean"),
    ("keys = 5", "", "scenario.audience.keys must be given"),
    ("keys = 5", "keys = 0", "scenario.audience: keys must be an integer >= 1, got 0"),
    ("keys = 5", "keys = 2.5", "scenario.audience.keys must be a whole number, got 2.5"),
    ('"zipf:1.1"', "3", "scenario.audience.arrivals must be a text or a list of key numbers"),
    ('"zipf:1.1"', '"poisson"', "scenario.audience: arrivals must be 'uniform', 'turns', 'zipf:S'"),
    ('"zipf:1.1"', "[0, 5]", "arrivals must be key numbers from 0 to 4, one a round, got 5 in"),
    ('"zipf:1.1"', "[0, 4]", "scenario: arrivals must have a key for each of the 60 rounds, got 2"),
    ("[0.5, 1]", "[0.5]", "scenario.audience: factors must be a pair (low, high), got (0.5,)"),
    ("[0.5, 1]", "[0.5, 2]", "scenario: Bernoulli rewards need means in [0, 1]"),
    ("[0.5, 1]", "0.5", "scenario.audience.factors must be a list, got 0.5"),
    ("half_life = 20", "half_lif = 20", "unknown key 'scenario.audience.rest.half_lif'"),
    ("half_life = 20", "half_life = 0", "scenario.audience.rest: length must be a number > 0"),
    ("half_life = 20,", "", "scenario.audience.rest must have a half_life or a window"),
    ("half_life = 20", "half_life = 2, window = 3", "must have a half_life or a window (one of"),
    ("half_life = 20", "window = 2.5", "scenario.audience.rest.window must be a whole number"),
    ('"decisions"', '"days"', "scenario.audience.rest: unit must be one of 'decisions', 'rounds'"),
    ("rest = {", "rest = 5 # {", "scenario.audience.rest must be a table, got 5"),
]


@pytest.mark.parametrize(("old", "new", "words"), AUDIENCES, ids=[case[1] for case in AUDIENCES])
def test_bad_audiences(old: str, new: str, words: str, tmp_path: Path) -> None:
    assert old in AUDIENCE
    with pytest.raises(ValueError, match=re.escape(words)):
        audience_in(AUDIENCE.replace(old, new, 1), tmp_path)


def test_a_family_listed_one_by_one(tmp_path: Path) -> None:
    """Models of several shapes, each with its amplitude, and weights that need not add up to 1."""
    path = tmp_path / "experiment.toml"
    listed = (
        "{ model = 'settling', theta = 0.5, floor = 0.2, amplitude = 0.1 }, "
        "{ model = 'polynomial', theta = 0.3 }"
    )
    family = f"family = {{ members = [{listed}], weights = [3, 1] }}\n"
    path.write_text(GOOD.replace("ucb1", "cto") + family)
    (policy,) = read_experiment(path).policies.values()
    assert isinstance(policy, policies.CTO)
    expected = [models.Settling(0.5, 0.2).times(0.1), models.Polynomial(0.3)]
    assert policy.family == models.Family.of(expected, weights=[0.75, 0.25])
