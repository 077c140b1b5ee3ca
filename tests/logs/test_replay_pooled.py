"""Pooled replays: the reward of any key at the same arm and exposure."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.log_rows import log_of, random_log
from rotting import Arm, Audience, NoNoise, Scenario, models, policies, simulate
from rotting.logs._replay.keyed import LEAST, Pooled
from rotting.logs._replay.levels import cells_of, levels_of
from rotting.logs._replay.replay import replay
from rotting.logs._replay.runner import Replayer
from rotting.policies import Policy

FAMILY = models.Polynomial().times(0.8).over([0.15, 0.3, 0.5])
CURVES, THETAS = [0.9, 0.8], [0.5, 0.15]


def one_arm_each(keys: int, exposures: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each key was shown one arm, so often; without noise."""
    rows = [(n, key % 2, key) for n in range(exposures) for key in range(keys)]
    nth, arm, key = np.array(rows).T
    reward = np.array(CURVES)[arm] * (nth + 1.0) ** -np.array(THETAS)[arm]
    return key, arm, reward


@pytest.mark.parametrize(
    "policy", [policies.CTO(FAMILY), policies.UCB1()], ids=["by key", "keys ignored"]
)
def test_without_noise_it_is_what_a_simulation_is(policy: Policy) -> None:
    key, arm, reward = one_arm_each(12, 6)
    log = log_of(key, arm, reward)
    found = replay(log, {"it": policy}, resamples=0, runs=2)
    arms = [Arm(models.Polynomial(t).times(c)) for t, c in zip(THETAS, CURVES, strict=True)]
    audience = Audience(12, arrivals=key)
    direct = simulate(
        policy, Scenario(arms, NoNoise(), key.size, audience=audience), runs=1, noise="common"
    )
    assert found.kind == "pooled"
    assert found["it"].coverage == 1.0
    assert not found["it"].exact
    expected = float(direct.total_reward[0]) / key.size
    assert found["it"].reward.mean == pytest.approx(expected, rel=1e-9)
    assert any("exchangeable" in each for each in found.assumptions)


def test_cells_with_few_rewards_do_not_answer() -> None:
    key, arm, reward = one_arm_each(2 * LEAST, 3)
    fewer = ~((key < 2) & (np.arange(key.size) >= 2 * 2 * LEAST))  # the last of two is missing
    log = log_of(key[fewer], arm[fewer], reward[fewer])
    source = Pooled(log, log.key.size, seed=0)
    tape = source.original().tape
    assert tape.many.tolist() == 2 * [[LEAST, LEAST, LEAST - 1]]
    found = replay(log, {"it": policies.RoundRobin()}, resamples=0, runs=1, pooled=True)["it"]
    shown: dict[tuple[int, int], int] = {}
    answered = 0
    for t, who in enumerate(log.key[np.argsort(log.time)]):
        place = int(who), t % 2
        n = shown[place] = shown.get(place, 0) + 1
        many = tape.many[place[1], n - 1] if n <= 3 else 0
        answered += many >= LEAST
    assert 0 < answered < log.key.size
    assert found.coverage == pytest.approx(answered / log.key.size)
    assert found.bounds is not None
    assert found.bounds[0] <= found.reward.mean <= found.bounds[1] + 1e-12


def test_a_reward_is_a_function_of_seed_run_key_arm_and_exposure() -> None:
    log = random_log([[0.8, 0.5, 0.3], [0.5, 0.4, 0.4]], 400, 5, keys=40)
    source = Pooled(log, 400, seed=9)

    def player(seed: int) -> Replayer:
        return Replayer(policies.UCB1(), 2, log.keys, horizon=400, most=400, seed=seed, keyed=True)

    sample = source.original()
    together = player(9).play(sample, 0, 6).total
    apart = player(9).play(sample, 4, 2).total
    assert together[4:].tolist() == apart.tolist()
    assert len(set(together.tolist())) == 6
    assert player(10).play(sample, 0, 6).total.tolist() != together.tolist()


def test_a_resample_repeats_all_rows_of_a_key() -> None:
    log = random_log([[0.8, 0.5, 0.3], [0.5, 0.4, 0.4]], 120, 5, gaussian=True, keys=10)
    source = Pooled(log, 100, seed=2)
    drawn = source.drawn(1)
    sample = source.resample(1)
    expected = np.sort(np.concatenate([log.reward[log.key == key] for key in drawn]))
    assert np.sort(sample.tape.rewards).tolist() == expected.tolist()
    assert sample.arrivals.tolist() == log.key[np.argsort(log.time)][:100].tolist()
    for arm in range(2):
        rows = [(log.key == k) & (log.arm == arm) & (log.exposure == 1) for k in drawn]
        cell = np.concatenate([log.reward[row] for row in rows])
        assert sample.tape.many[arm, 0] == cell.size
        assert sample.tape.means[arm, 0] == pytest.approx(cell.mean())
        begin = sample.tape.first[arm, 0]
        assert sorted(sample.tape.rewards[begin : begin + cell.size]) == sorted(cell)


def test_the_interval_of_the_log_itself_is_that_of_its_keys() -> None:
    """Rows of one arm: the bootstrap's error is the textbook's, of a ratio of sums by key."""
    log = random_log([[0.4], [0.4]], 600, 3, keys=60)
    found = replay(log, {"it": policies.UCB1()}, runs=2, resamples=400, pooled=True)
    sums = np.bincount(log.key, log.reward - log.reward.mean(), log.keys)
    error = float(np.sqrt(np.dot(sums, sums))) / log.key.size
    # the standard deviation of 400 draws is known to 1 part in sqrt(2 * 400), three times that
    assert found.logged.error == pytest.approx(error, rel=3.0 / np.sqrt(800.0))
    assert found.logged.mean == pytest.approx(log.reward.mean())


def test_levels_fall_and_sure_ones_do_not_take_chance_for_steps() -> None:
    single = 0
    for seed in range(20):
        rewards = np.random.default_rng(seed).normal(0.5, 0.3, 200)
        levels = levels_of(cells_of(np.arange(200), rewards, (1, 200)))
        assert np.all(np.diff(levels.best[0]) <= 0.0)
        assert np.all(np.diff(levels.sure[0]) <= 0.0)
        assert levels.sigma == pytest.approx(0.3, abs=3.5 * 0.3 / np.sqrt(2.0 * 200.0))
        single += bool(np.ptp(levels.sure[0]) == 0.0)
    assert single >= 15  # a chance of 5 % each to see a step: fewer has one of 0.01 %
    falling = np.linspace(1.0, 0.0, 200) + np.random.default_rng(0).normal(0.0, 0.1, 200)
    sure = levels_of(cells_of(np.arange(200), falling, (1, 200))).sure[0]
    assert sure[0] > 0.7
    assert sure[-1] < 0.3


def test_an_arm_without_rewards_has_the_curve_of_all_and_no_ceiling() -> None:
    log = log_of(np.arange(20) % 4, np.zeros(20, dtype=int), [1.0, 0.0] * 10, arms=2)
    source = Pooled(log, 20, seed=0)
    tape = source.original().tape
    assert tape.curve[1].tolist() == tape.curve[0].tolist()
    assert tape.ceiling[1].tolist() == [1.0] * tape.ceiling.shape[1]
