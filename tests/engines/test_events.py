"""Simulating arms that come and go: the order of events, and the regret's baseline."""

from __future__ import annotations

import dataclasses
import itertools
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

from helpers.cases import FAMILY, Copycat
from helpers.own_policy import make_mine
from rotting import (
    Arm,
    Bernoulli,
    Gaussian,
    NoNoise,
    RandomArms,
    Result,
    Scenario,
    compare,
    models,
    policies,
    simulate,
)
from rotting._engines import cpu, memory
from rotting._engines.baseline import BASELINES
from rotting._engines.cluster import play_part
from rotting._engines.loop import Events, NoEvents, events_of
from rotting._engines.plan import Request
from rotting._show.plots import regret_curves
from rotting.kernel.verbs import KINDS
from rotting.policies import POLICIES, Policy, Verbs
from rotting.policies.parts.arms import Arms, no_pulls, set_open_arms

TABLE = models.Table(np.linspace(0.9, 0.1, 50).tolist())
OPENINGS = {0: (1, 120), 1: [(1, 40), (90, None)], 3: (61, None)}
SCENARIOS = {
    "fixed": Scenario(
        [
            Arm(models.Constant(0.5)),
            Arm(models.Step(at=40, before=1.0, after=0.2)),
            Arm(models.Polynomial(0.3), constant=0.1),
            Arm(TABLE),
        ],
        Gaussian(0.5),
        200,
        openings=OPENINGS,
    ),
    "drawn": Scenario(
        RandomArms(FAMILY, 4, (0.0, 0.5)), Gaussian(0.3), 200, openings={**OPENINGS, 2: (30, 150)}
    ),
    "clicks": Scenario([Arm(TABLE)] * 4, Bernoulli(), 200, openings=OPENINGS),
}


def flags_at(scenario: Scenario, t: int) -> list[int]:
    rounds, flags = scenario.changes()
    row: list[int] = flags[np.searchsorted(rounds, t, side="right") - 1].tolist()
    return row


class Params(NamedTuple):
    """Nothing is known."""

    arms: int


class State(NamedTuple):
    """Pulls."""

    arms: Arms


POLICY_PULL: list[tuple[int, list[int]]] = []  # round, flags
SEEN: dict[tuple[int, int], float] = {}  # (arm, pull) -> reward


def _init(params: Params, arms: int, capacity: int) -> State:
    return State(no_pulls(arms))


def _choose(params: Params, state: State, draw: Any) -> int:
    t = int(state.arms.clock[0])
    flags = getattr(state.arms.opening, "flags", np.ones(state.arms.pulls.size))
    allowed = np.flatnonzero(flags)
    return int(allowed[t % allowed.size])


def _update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    SEEN[arm, pull] = reward


def _reopen(params: Params, state: State, flags: Any) -> None:
    POLICY_PULL.append((int(state.arms.clock[0]) + 1, flags.tolist()))
    set_open_arms(state.arms, flags, 1)


@pytest.fixture(scope="module")
def noting() -> Iterator[Policy]:
    """A policy that plays the open arms in turn and records its calls."""

    @dataclass(frozen=True)
    class Noting(Policy):
        verbs: ClassVar[Verbs] = Verbs(Params, State, _init, _choose, _update, set_open=_reopen)

        def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
            return Params(arms)

    yield Noting()
    del POLICIES[Noting.key], KINDS[Params]


def test_a_policy_is_told_on_time(noting: Policy) -> None:
    scenario = SCENARIOS["fixed"]
    POLICY_PULL.clear()
    simulate(noting, scenario, runs=2, engine="reference")
    wanted = [(t, flags_at(scenario, t)) for t in (1, 41, 61, 90, 121)]
    assert wanted * 2 == POLICY_PULL  # every run from its start


def test_a_reward_belongs_to_its_pull_whoever_is_open(noting: Policy) -> None:
    scenario = SCENARIOS["fixed"]
    always = dataclasses.replace(scenario, openings=None)
    seen = []
    for played in (scenario, always):
        SEEN.clear()
        simulate(noting, played, runs=1, noise="common", engine="reference")
        seen.append(dict(SEEN))
    both = seen[0].keys() & seen[1].keys()
    assert len(both) > 100
    assert {arm for arm, _ in both} == set(range(4))
    assert all(seen[0][pull] == seen[1][pull] for pull in both)


PLAYED = [policies.UCB1(), policies.CTO(FAMILY), policies.WSWA(0.2, 0.5), policies.Oracle()]


@pytest.mark.parametrize("policy", PLAYED, ids=lambda policy: policy.key)
def test_reference_and_cpu_agree_to_the_bit(
    policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cpu, "_DECISIONS_A_CHUNK", 600)  # chunks of three runs
    for scenario in SCENARIOS.values():
        BASELINES.clear()
        reference = simulate(policy, scenario, runs=5, seed=7, engine="reference")
        BASELINES.clear()
        compiled = simulate(policy, scenario, runs=5, seed=7, threads=2)
        for field in ("regret", "pulls", "total_reward", "adversarial_regret"):
            np.testing.assert_array_equal(getattr(reference, field), getattr(compiled, field))
        assert reference.pulls.sum(axis=1).tolist() == [200] * 5


def test_a_cluster_is_told_too() -> None:
    """What a worker gets is the request, which holds the scenario with its openings."""
    scenario = SCENARIOS["fixed"]
    request = Request(policies.UCB1(), scenario, 7, "independent", np.array([200]), 2, 3)
    part = play_part(pickle.loads(pickle.dumps(request)))
    whole = simulate(policies.UCB1(), scenario, runs=5, seed=7, checkpoints=1, engine="reference")
    np.testing.assert_array_equal(part.pulls, whole.pulls[2:])
    np.testing.assert_array_equal(part.total_reward, whole.total_reward[2:])


def test_no_arm_is_pulled_more_often_than_it_is_open() -> None:
    scenario = SCENARIOS["fixed"]
    open_rounds = np.sum([flags_at(scenario, t) for t in range(1, 201)], axis=0)
    for policy in (policies.UCB1(), policies.CTO(FAMILY)):
        found = simulate(policy, scenario, runs=5, engine="reference")
        assert np.all(found.pulls <= open_rounds)
        assert np.all(found.pulls > 0)  # an arm that opens late is tried


def means_of(scenario: Scenario) -> list[np.ndarray]:
    assert not isinstance(scenario.arms, RandomArms)
    return [np.asarray(arm.mean(np.arange(1, scenario.horizon + 2))) for arm in scenario.arms]


def greedy(scenario: Scenario, until: int) -> float:
    """What the best next mean among the open arms collects, written plainly."""
    means, total = means_of(scenario), 0.0
    pulls = [0] * len(means)
    for t in range(1, until + 1):
        allowed = [arm for arm, flag in enumerate(flags_at(scenario, t)) if flag]
        arm = max(allowed, key=lambda i: means[i][pulls[i]])
        total += means[arm][pulls[arm]]
        pulls[arm] += 1
    return total


@pytest.mark.parametrize("name", ["fixed", "clicks"])
def test_the_baseline_is_greedy_among_the_open_arms(name: str) -> None:
    scenario, times = SCENARIOS[name], np.array([1, 40, 41, 75, 130, 200])
    BASELINES.clear()
    found = simulate(policies.UCB1(), scenario, runs=2, engine="reference", checkpoints=times)
    collected = found.total_reward + found.final_regret
    np.testing.assert_allclose(collected, greedy(scenario, 200), rtol=1e-12)
    early = dataclasses.replace(scenario, horizon=75)
    short = simulate(policies.UCB1(), early, runs=1, engine="reference")
    collected = short.total_reward + short.final_regret
    np.testing.assert_allclose(collected, greedy(scenario, 75), rtol=1e-12)


def test_the_oracle_plays_the_baseline_but_for_ties() -> None:
    """Arms that tie may close at different times: it then matters which of them was taken."""
    found = simulate(policies.Oracle(), SCENARIOS["fixed"], runs=5, engine="reference")
    assert np.all(found.regret == 0.0)
    found = simulate(policies.Oracle(), SCENARIOS["clicks"], runs=5, engine="reference")
    assert np.any(found.regret != 0.0)


FORESIGHT = Scenario(
    [Arm(models.Constant(0.5)), Arm(models.Step(1, 0.6, 0.1))],
    NoNoise(),
    horizon=2,
    openings={0: (1, 1)},
)


def best(scenario: Scenario) -> float:
    """The most that any sequence of open arms collects."""
    means = means_of(scenario)
    allowed = [
        [arm for arm, flag in enumerate(flags_at(scenario, t)) if flag]
        for t in range(1, scenario.horizon + 1)
    ]
    totals = [
        sum(float(means[arm][played[:t].count(arm)]) for t, arm in enumerate(played))
        for played in itertools.product(*allowed)
    ]
    return max(totals)


def test_greedy_is_not_optimal_where_arms_close() -> None:
    """An arm that closes after round 1 is taken by who looks ahead: 0.5 + 0.6, not 0.6 + 0.1."""
    found = simulate(policies.Oracle(), FORESIGHT, runs=1, engine="reference")
    assert found.total_reward.tolist() == pytest.approx([0.7])
    assert best(FORESIGHT) == pytest.approx(1.1)
    lucky = simulate(policies.UCB1(), FORESIGHT, runs=1, engine="reference")  # tries 0, then 1
    assert lucky.final_regret.tolist() == pytest.approx([-0.4])
    open_arms = dataclasses.replace(FORESIGHT, openings=None)
    found = simulate(policies.Oracle(), open_arms, runs=1, engine="reference")
    assert found.total_reward.tolist() == pytest.approx([best(open_arms)])


def test_k_is_the_number_of_arms_open_in_round_1() -> None:
    """SWA's window is that of the arms it starts with, and its late arms are pulled as often."""
    scenario = dataclasses.replace(SCENARIOS["fixed"], openings={2: (150, None), 3: (150, None)})
    swa = policies.SWA(0.2, 0.5)
    two = dataclasses.replace(scenario, arms=list(scenario.arms)[:2], openings=None)  # type: ignore[arg-type]
    assert swa.prepare_for(scenario) == swa.prepare_for(two)
    assert swa.prepare_for(scenario) != swa.prepare_for(SCENARIOS["clicks"])
    window = swa.prepare_for(scenario).window
    pulls = simulate(swa, scenario, runs=3, engine="reference").pulls
    assert np.all(pulls >= min(window, 25))


def test_what_the_regret_is_measured_against_is_said(tmp_path: Path) -> None:
    found = simulate(policies.UCB1(), FORESIGHT, runs=3, engine="reference")
    assert found.against == "greedy"
    assert "regret against greedy play -0.4" in repr(found)
    again = Result.load(found.save(tmp_path / "found.npz"))
    assert again.against == "greedy"
    assert np.all(np.isnan(again.adversarial_regret))
    assert repr(again).endswith(", no adversarial regret (arms come and go)>")
    assert np.all(np.isfinite(again.rounding))
    assert "openings={0: (1, 1)}" in again.provenance["scenario"]
    assert regret_curves(again).get_ylabel() == "mean regret against greedy play"
    plain = dataclasses.replace(FORESIGHT, openings=None)
    usual = simulate(policies.UCB1(), plain, runs=3, engine="reference")
    assert usual.against == "pi_max"
    assert "against" not in usual.provenance
    assert "against" not in repr(usual)
    assert regret_curves(usual).get_ylabel() == "mean regret"


def test_comparing_has_no_trouble_without_a_best_single_arm() -> None:
    listed = [policies.UCB1(), policies.Oracle()]
    found = compare(listed, SCENARIOS["fixed"], runs=5, engine="reference")
    assert found.against == found.summary()["regret_against"] == "greedy"
    assert 0.0 <= found.p_values["UCB1"]["Oracle"] < 0.05
    assert found.wins["Oracle"]["UCB1"] == 5
    assert "mean regret against greedy play" in repr(found)


def test_regrets_that_rounding_explains_are_ties_here_too() -> None:
    """Greedy play in another order of additions is off by its last bits; that is no regret."""
    scenario = SCENARIOS["fixed"]
    found = simulate(policies.Oracle(), scenario, runs=2, engine="reference")
    off = dataclasses.replace(found, regret=found.regret + found.rounding[:, None] / 2)
    assert np.all(off.final_regret != 0.0)
    assert np.all(off.settle().regret == 0.0)


def test_where_nothing_closes_there_is_nothing_to_happen() -> None:
    plain = dataclasses.replace(SCENARIOS["fixed"], openings=None)
    assert events_of(plain) == NoEvents()
    later = dataclasses.replace(plain, openings={0: (1, 200)})  # open to the end
    assert events_of(later) == NoEvents()
    events = events_of(SCENARIOS["fixed"])
    assert isinstance(events, Events)
    assert events.rounds.tolist() == [1, 41, 61, 90, 121, 201]


def test_refused() -> None:
    scenario = SCENARIOS["fixed"]
    with pytest.raises(ValueError, match="must be a rotting Policy where arms come and go"):
        simulate(Copycat(4), scenario, runs=1)
    with pytest.raises(ValueError, match=r"'cpu' or 'reference' where arms come and go .*'cuda'"):
        simulate(policies.UCB1(), scenario, runs=1, engine="cuda")
    stubborn = make_mine(0)()
    with pytest.raises(ValueError, match="choose must return an arm that is open; Mine did not"):
        simulate(stubborn, scenario, runs=1, engine="reference")
    simulate(stubborn, dataclasses.replace(scenario, horizon=120), runs=1, engine="reference")
    deaf = make_mine(2)
    deaf.verbs = deaf.verbs._replace(set_open=None)
    with pytest.raises(ValueError, match=r"must have the verb set_open .* but Mine has not"):
        simulate(deaf(), scenario, runs=1, engine="reference")


def test_who_is_open_when_counts_as_memory() -> None:
    scenario = SCENARIOS["fixed"]
    plain = dataclasses.replace(scenario, openings=None)
    flags = scenario.changes()[1]
    more = memory.table_bytes(scenario, 1, 1) - memory.table_bytes(plain, 1, 1)
    assert flags.nbytes <= more + plain.arm_count * 8
    assert more <= 3 * flags.nbytes
