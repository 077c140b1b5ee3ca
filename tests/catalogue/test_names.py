"""Policies and scenarios by name: every league scenario, unknown parameters, what is filled in."""

from __future__ import annotations

import pytest

import rotting
from rotting import _plain, policies
from rotting._catalogue import names
from rotting._catalogue.scenarios import heading, scenarios, typeable
from rotting.bandits import (
    Arm,
    Bernoulli,
    Gaussian,
    HalfLife,
    NoNoise,
    RandomArms,
    Scenario,
    Window,
)
from rotting.league import AUDIENCES, GROUPS
from rotting.models import Constant, Exponential
from rotting.papers import levine2017

ALL = {**GROUPS, **AUDIENCES}
ENTRIES = {name: entry for group in ALL.values() for name, entry in group.items()}


def test_every_scenario_of_the_league_has_a_name() -> None:
    assert sum(map(len, ALL.values())) == len(ENTRIES) >= 71
    for name, entry in ENTRIES.items():
        found = names.parse_scenario(name)
        for part in ("arms", "noise", "horizon", "audience"):
            assert getattr(found, part) == getattr(entry.scenario, part)
        assert found.name
        assert names.parse_scenario(f"{typeable(name)}:horizon=7").horizon == 7
        assert not set(typeable(name)) & set(" :,=")
    described = {row["scenario"]: row for row in names.describe_scenarios()}
    assert set(described) == set(map(typeable, ENTRIES))
    assert all(row["about"] for row in described.values())
    assert described["candy_cane"]["size"] == "K = 100, T = 2000"


def test_named_scenarios_from_python() -> None:
    assert rotting.scenario("av") == names.parse_scenario("av")
    assert rotting.scenario("np:horizon=7").arms == levine2017.non_parametric().arms


def test_an_unknown_scenario_is_told_near_names_or_where_they_are() -> None:
    with pytest.raises(
        ValueError, match=r"'fall_0'; did you mean 'fall_\d\d', 'fall_\d\d' or 'fall_"
    ):
        rotting.scenario("fall_0")
    with pytest.raises(ValueError, match=r"unknown scenario 'xyzzy'; see `rotting scenarios`$"):
        rotting.scenario("xyzzy")


def test_every_group_has_a_heading() -> None:
    groups = [row["group"] for row in names.describe_scenarios()]
    assert all(heading(group) != group for group in groups)
    assert len(set(groups)) == sum(a != b for a, b in zip(["", *groups], groups, strict=False))


def test_two_scenarios_of_one_name_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(GROUPS, "another", {"av": ENTRIES["clicks"]})
    with pytest.raises(ValueError, match=r"'av' of another must have .* levine2017 has one"):
        scenarios()


def test_spaces_are_typed_as_underscores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(GROUPS, "another", {"five falls": ENTRIES["sudden"]})
    assert names.parse_scenario("five falls").arms == names.parse_scenario("five_falls").arms


def test_parametric_policies_are_told_what_is_believed() -> None:
    wrong = names.parse_scenario("wrong_theta")
    cto = names.parse_policy("cto", wrong)
    assert isinstance(cto, policies.CTO)
    assert cto.family == levine2017.FAMILY
    assert isinstance(wrong.arms, RandomArms)
    assert cto.family != wrong.arms.family
    candy = names.parse_scenario("candy_cane")
    for policy in ("cto", "lcto", "dcto", "ldcto", "posterior", "guarded"):
        assert names.parse_policy(policy, candy).family == ENTRIES["candy_cane"].family  # type: ignore[attr-defined]


@pytest.mark.parametrize("word", ["unknown", "none", "None", "UNKNOWN"])
def test_a_parameter_that_may_be_unknown_can_be_left_unknown(word: str) -> None:
    av = names.parse_scenario("av")
    assert names.parse_policy(f"steadyucb:sigma={word}", av) == policies.SteadyUCB(None)
    assert names.parse_policy(f"glrucb:sigma={word}", av) == policies.GLRUCB(None)
    assert names.make_policy("posterior", {"sigma": word}, av) == policies.Posterior(
        levine2017.FAMILY
    )
    data = {"policy": "steadyucb", "sigma": word}
    assert _plain.from_plain(data) == _plain.from_plain({**data, "sigma": None})
    assert names.parse_policy(f"steadyucb:sigma={word}", av).label == "SteadyUCB(sigma=None)"
    with pytest.raises(ValueError, match=f"sigma must be a number > 0, got '{word}'"):
        names.parse_policy(f"rawucb:sigma={word}", av)


FADING = Scenario(
    [
        Arm(
            Exponential(
                0.01,
            ).times(0.1)
        ),
        Arm(Constant(0.05)),
    ],
    Bernoulli(),
    100,
)
DRAWN = RandomArms.drawn(lambda draw: Arm(Constant(draw.uniform())), 3)
FILLED = [
    ("steadyucb", FADING, ["sigma left unknown for Bernoulli rewards: SteadyUCB"]),
    ("rawucb", FADING, ["sigma = 0.5 filled in from Bernoulli rewards: RAW-UCB"]),
    ("ucb1", FADING, []),
    ("steadyucb:sigma=unknown", FADING, []),
    (
        "steadyucb",
        Scenario(FADING.arms, Gaussian(0.25), 9),
        ["sigma = 0.25 filled in from Gaussian rewards: SteadyUCB"],
    ),
    ("cto", levine2017.av(), ["family filled in from the scenario's random arms: CTO"]),
]


@pytest.mark.parametrize(("text", "scenario", "lines"), FILLED)
def test_what_is_filled_in_is_said(text: str, scenario: Scenario, lines: list[str]) -> None:
    assert names.filled_in([text], scenario) == lines
    made = names.parse_policy(text, scenario)
    if lines and "unknown" in lines[0]:
        assert made == policies.SteadyUCB(None)
    if lines and "0.5" in lines[0]:
        assert made == policies.RAWUCB(0.5)


REFUSED = [
    ("rawucb", Scenario(FADING.arms, NoNoise(), 9), "sigma of rawucb must be given$"),
    (
        "steadyucb",
        Scenario(FADING.arms, Gaussian(lambda n: 1.0 / n), 9),
        "sigma of steadyucb must be given; sigma=unknown is allowed",
    ),
    ("cto", FADING, "family of cto must be given"),
    ("cto", Scenario(DRAWN, NoNoise(), 9), "family of cto must be given"),
    ("wswa", FADING, "alpha of wswa must be given"),
]


@pytest.mark.parametrize(("text", "scenario", "words"), REFUSED)
def test_what_cannot_be_filled_in(text: str, scenario: Scenario, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        names.parse_policy(text, scenario)
    with pytest.raises(ValueError, match=words):
        names.filled_in([text], scenario)


CLICKS = names.parse_scenario("clicks")
AV = names.parse_scenario("av")


@pytest.mark.parametrize(
    ("text", "scenario", "policy"),
    [
        ("thompson", CLICKS, policies.Thompson()),
        ("thompson", AV, policies.Thompson(levine2017.SIGMA)),
        ("thompson:sigma=none", AV, policies.Thompson()),
        ("thompson", Scenario(FADING.arms, NoNoise(), 9), policies.Thompson()),
        ("capped:cap=3", CLICKS, policies.Capped(policies.Thompson(), 3)),
        (
            "capped:cap=3,inner=ucb1,inner.c=0.5,rest=window:86400",
            CLICKS,
            policies.Capped(policies.UCB1(c=0.5), 3, Window(86_400)),
        ),
        (
            "capped:cap=2,inner=rawucb,rest=half_life:5:rounds",
            CLICKS,
            policies.Capped(policies.RAWUCB(0.5), 2, HalfLife(5, "rounds")),
        ),
        ("perkey:inner=steadyucb", CLICKS, policies.PerKey(policies.SteadyUCB(None))),
    ],
)
def test_policies_that_hold_another_by_name(text: str, scenario: Scenario, policy: object) -> None:
    assert names.parse_policy(text, scenario) == policy


def test_what_is_filled_in_of_a_policy_that_is_held_is_said() -> None:
    assert names.filled_in(["capped:cap=3", "capped:cap=2,inner=rawucb"], CLICKS) == [
        "inner = Thompson filled in, since none is named: Capped",
        "sigma left unknown for Bernoulli rewards: Thompson",
        "sigma = 0.5 filled in from Bernoulli rewards: RAW-UCB",
    ]
    made = names.make_policy("perkey", {"inner": policies.UCB1()}, CLICKS)
    assert made == policies.PerKey(policies.UCB1())
    assert names.filled_in([("perkey", {"inner": policies.UCB1()})], CLICKS) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("capped", "cap of capped must be given"),
        ("capped:cap=3,inner=cto", "inner of Capped must be a policy that plays pooled, got CTO"),
        ("capped:cap=3,inner=nope", "unknown policy 'nope'"),
        ("capped:cap=3,inner=7", "inner of capped must be the name of a policy or a table, got 7"),
        ("capped:cap=3,inner.policy=7", "inner of capped must name a policy, got 7"),
        ("capped:cap=3,inner.x=1", "unknown parameter of thompson 'x'"),
        ("ucb1:inner.c=1", "unknown parameter of ucb1 'inner'"),
        ("capped:cap=3,rest=window", "rest must read like window:86400 or half_life:5:rounds"),
        ("capped:cap=3,rest=week:1", "unknown rest 'week'"),
        ("capped:cap=3,rest=window:0", "length must be an integer >= 1, got 0"),
        ("capped:cap=3,rest=window:9:days", "unit must be one of 'decisions', 'rounds'"),
        ("capped:cap=3,rest=4", "rest must be a HalfLife, a Window or None, got 4"),
    ],
)
def test_refused_in_words(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        names.parse_policy(text, AV)
