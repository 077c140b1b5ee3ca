"""The same bits from every engine, whatever the threads and chunks; and the regret's definition."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

import naive
import rotting
from cases import examples, name_of, playable, scenarios
from rotting import Arm, NoNoise, Result, Scenario, models, policies, simulate
from rotting.engines import cpu
from rotting.policies import Policy


def assert_same(a: Result, b: Result) -> None:
    for field in ("checkpoints", "regret", "pulls", "total_reward", "adversarial_regret"):
        np.testing.assert_array_equal(getattr(a, field), getattr(b, field), err_msg=field)


@pytest.mark.parametrize("policy", examples(), ids=name_of)
def test_reference_and_cpu_agree_to_the_bit(policy: Policy) -> None:
    for scenario in scenarios().values():
        played = playable(policy, scenario)
        reference = simulate(played, scenario, runs=3, seed=7, engine="reference")
        compiled = simulate(played, scenario, runs=3, seed=7)
        assert_same(reference, compiled)


@pytest.mark.parametrize("policy", examples(), ids=name_of)
def test_threads_and_chunks_do_not_matter(policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = scenarios()["constants"]
    played = playable(policy, scenario)
    one = simulate(played, scenario, runs=11, seed=3, threads=1)
    monkeypatch.setattr(cpu, "_DECISIONS_A_CHUNK", 600)  # chunks of two runs
    two = simulate(played, scenario, runs=11, seed=3, threads=2)
    assert_same(one, two)


def test_verbs_of_the_reference_are_plain_functions() -> None:
    for kind in policies.POLICIES.values():
        for verb in kind.verbs[2:-1]:
            assert verb is None or type(verb).__name__ == "function"
        assert set(kind.verbs.room) <= set(kind.verbs.state._fields)  # type: ignore[attr-defined]


def test_more_runs_begin_with_the_same_runs() -> None:
    scenario = scenarios()["constants"]
    few = simulate(policies.UCB1(), scenario, runs=3)
    many = simulate(policies.UCB1(), scenario, runs=9)
    np.testing.assert_array_equal(few.regret, many.regret[:3])


def test_common_and_independent_noise() -> None:
    scenario = scenarios()["constants"]
    policies_ = (policies.RoundRobin(), policies.RoundRobin())
    a, b = (simulate(p, scenario, runs=2, noise="common") for p in policies_)
    assert_same(a, b)
    # UCB1 with almost the same padding sees other noise, if it is independent
    close = (policies.UCB1(c=2.0), policies.UCB1(c=2.0 + 1e-13))
    a, b = (simulate(p, scenario, runs=20, noise="common") for p in close)
    np.testing.assert_array_equal(a.regret, b.regret)
    a, b = (simulate(p, scenario, runs=20, noise="independent") for p in close)
    assert np.any(a.regret != b.regret)


def test_bandits_do_not_depend_on_the_policy() -> None:
    """Uniform random play is the same problem as round robin: their best rewards agree."""
    scenario = scenarios()["constants"]
    a, b = (simulate(p, scenario, runs=5) for p in (policies.Uniform(), policies.RoundRobin()))
    np.testing.assert_allclose(
        a.final_regret + a.total_reward, b.final_regret + b.total_reward, rtol=1e-12
    )


def mean_of(table: Any) -> naive.Mean:
    return lambda n: float(table[n - 1])


def test_lemma_2_1_by_brute_force() -> None:
    """pi_max collects as much as the best of all pull-count vectors."""
    rng = np.random.default_rng(1)
    for arms in (1, 2, 3):
        for _ in range(12):
            tables = [np.sort(rng.integers(-3, 6, size=8) / 2.0)[::-1] for _ in range(arms)]
            scenario = Scenario([Arm(models.Table(t.tolist())) for t in tables], NoNoise(), 8)
            best = naive.best_total([mean_of(t) for t in tables], 8)
            result = simulate(policies.Oracle(), scenario, runs=1, engine="reference")
            assert result.total_reward[0] == pytest.approx(best, abs=1e-12)
            assert result.final_regret[0] == 0.0


def test_regret_j_and_adversarial_regret_by_hand() -> None:
    """Round robin on means 1, 1, 0, 0 and a constant 0.5, for four rounds.

    pi_max takes 1 + 1 + 0.5 + 0.5 = 3; the best single arm 2; round robin 1 + 0.5 + 1 + 0.5 = 3
    after four rounds, and 1.5 against 2 after two.
    """
    arms = [Arm(models.Step(at=2, before=1.0, after=0.0)), Arm(models.Constant(0.5))]
    scenario = Scenario(arms, NoNoise(), horizon=4)
    result = simulate(policies.RoundRobin(), scenario, runs=1, engine="reference")
    assert result.regret.tolist() == [[0.0, 0.5, 0.0, 0.0]]
    assert result.total_reward.tolist() == [3.0]
    assert result.adversarial_regret.tolist() == [-1.0]
    assert result.pulls.tolist() == [[2, 2]]


def test_regret_of_the_oracle_is_zero_up_to_rounding() -> None:
    for scenario in scenarios().values():
        assert np.all(np.abs(simulate(policies.Oracle(), scenario, runs=4).regret) < 1e-10)


class Copycat:
    """A user's own player: it plays round robin and checks what it is told."""

    def __init__(self, arms: int) -> None:
        self.turn = 0
        self.count = arms

    def select(self) -> int:
        self.turn += 1
        return (self.turn - 1) % self.count

    def update(self, decision: int, reward: float) -> None:
        assert decision == (self.turn - 1) % self.count
        assert math.isfinite(reward)


def test_a_users_own_object_is_simulated() -> None:
    scenario = scenarios()["fixed"]
    mine = simulate(Copycat(3), scenario, runs=2)
    ours = simulate(policies.RoundRobin(), scenario, runs=2)
    np.testing.assert_array_equal(mine.regret, ours.regret)


def test_a_player_is_simulated_from_where_it_stands() -> None:
    scenario = scenarios()["fixed"]
    player = policies.RoundRobin().online(["a", "b", "c"])
    ours = simulate(policies.RoundRobin(), scenario, runs=2)
    np.testing.assert_array_equal(simulate(player, scenario, runs=2).regret, ours.regret)
    assert player.pulls == {"a": 0, "b": 0, "c": 0}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"runs": 0}, "runs must be an integer >= 1, got 0"),
        ({"engine": "gpu"}, "engine must be one of 'cpu', 'reference', 'cuda', got 'gpu'"),
        ({"noise": "none"}, "noise must be one of"),
        ({"threads": 0}, "threads must be an integer >= 1"),
        ({"seed": -1}, "seed must be an integer from 0"),
        ({"seed": 1.5}, "seed must be an integer from 0"),
        ({"checkpoints": 0}, "checkpoints must be an integer >= 1"),
        ({"checkpoints": [5, 2]}, "checkpoints must be rising rounds from 1 to the horizon 300"),
        ({"checkpoints": [5, 299]}, "the last one the horizon itself, got 299"),
        ({"policy": object()}, "policy must be a rotting Policy, an object with select"),
        ({"policy": Copycat(2), "checkpoints": [300]}, ""),
    ],
)
def test_bad_arguments(wrong: dict[str, Any], words: str) -> None:
    arguments: dict[str, Any] = {"policy": policies.UCB1(), "runs": 1, **wrong}
    if not words:
        simulate(scenario=scenarios()["fixed"], **arguments)  # fewer arms than there are is fine
        return
    with pytest.raises(ValueError, match=words.replace("(", r"\(")):
        simulate(scenario=scenarios()["fixed"], **arguments)


class Dice:
    """A user's own player that draws random numbers."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def select(self) -> int:
        return int(self.rng.integers(3))

    def update(self, decision: int, reward: float) -> None:
        pass


def test_random_players_do_not_repeat_themselves() -> None:
    scenario = scenarios()["fixed"]
    for random_player in (Dice, policies.Uniform().online(range(3))):
        pulls = simulate(random_player, scenario, runs=4).pulls
        assert len({tuple(row) for row in pulls.tolist()}) > 1


def test_an_impossible_choice_of_a_users_object_is_refused() -> None:
    with pytest.raises(ValueError, match="select\\(\\) must choose one of the arms"):
        simulate(Copycat(4), scenarios()["fixed"], runs=1)


def test_checkpoints() -> None:
    scenario = scenarios()["fixed"]
    asked = simulate(policies.UCB1(), scenario, runs=2, checkpoints=[1, 10, 300])
    usual = simulate(policies.UCB1(), scenario, runs=2, checkpoints=300)
    np.testing.assert_array_equal(asked.regret, usual.regret[:, [0, 9, 299]])
    short = dataclasses.replace(scenario, horizon=7)
    assert simulate(policies.UCB1(), short, runs=1).checkpoints.tolist() == [1, 2, 3, 4, 5, 6, 7]


def test_progress_is_reported_and_interrupts() -> None:
    scenario = scenarios(horizon=20_000)["fixed"]
    seen: list[int] = []
    simulate(policies.UCB1(), scenario, runs=400, progress=lambda done, total: seen.append(done))
    assert seen[-1] == 400
    assert seen == sorted(seen)
    assert len(seen) > 2

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate(policies.UCB1(), scenario, runs=400, progress=interrupt)


def test_one_arm_and_one_round() -> None:
    scenario = Scenario([Arm(models.Constant(1.0))], NoNoise(), horizon=1)
    for policy in examples():
        if isinstance(policy, (policies.Oracle, policies.DCTO_UCB)):
            continue
        assert simulate(policy, scenario, runs=1, engine="reference").final_regret[0] == 0.0


def test_constant_arms_share_a_table() -> None:
    arms = [Arm(models.Constant(float(i))) for i in range(1000)]
    scenario = Scenario(arms, NoNoise(), horizon=1000)
    assert scenario.world().means.shape == (1, 1000)
    assert simulate(policies.RoundRobin(), scenario, runs=1).total_reward[0] == 999 * 500


def test_version() -> None:
    assert rotting.__version__
