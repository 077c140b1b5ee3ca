"""The online object: late, missing and wrong rewards; growth; saving."""

from __future__ import annotations

import copy
import json
import pickle
import random as python_random
from typing import Any

import numpy as np
import pytest

from cases import FAMILY, examples, name_of, scenarios
from rotting import Arm, models, policies
from rotting.engines import plan
from rotting.engines.loop import reward_of
from rotting.policies import Decision, Oracle, Player, Policy
from rotting.policies.parts import halves
from rotting.random import fold, step_of

HORIZON = 3000


def make(policy: Policy, compiled: bool = True, seed: int = 0) -> Player:
    horizon = HORIZON if policy.needs_horizon else None
    return policy.online(["a", "b", "c"], seed=seed, horizon=horizon, compiled=compiled)


@pytest.mark.parametrize("policy", examples(), ids=name_of)
def test_compiled_and_plain_agree_past_several_growths(policy: Policy) -> None:
    fast, slow = make(policy), make(policy, compiled=False)
    rng = python_random.Random(1)
    for _ in range(1500):
        decision = fast.select()
        assert slow.select() == decision
        reward = rng.gauss(0.3, 0.5)
        fast.update(decision, reward)
        slow.update(decision, reward)
    for a, b in zip(fast._state, slow._state, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(
    "policy", [p for p in examples() if not isinstance(p, Oracle)], ids=name_of
)
def test_online_play_is_the_simulation(policy: Policy, known: bool) -> None:
    """An online object fed a run's rewards makes that run's pulls, though its tables grow.

    Not the oracle's: a simulation tells it each run's own arms.
    """
    scenario = scenarios(HORIZON)["constants"]
    noise_key, draw_key = plan.stream_keys(4, "independent", policy.label)
    bandit, world = scenario.bandits(4, 2, 3), scenario.world()
    player = policy.online(range(3), horizon=HORIZON if known or policy.needs_horizon else None)
    player._draw[:2] = fold(draw_key, np.uint64(2)), step_of(fold(draw_key, np.uint64(2)))
    for _ in range(HORIZON):
        decision = player.select()
        key = fold(fold(noise_key, np.uint64(2)), np.uint64(decision.arm))
        arm = decision.arm
        mean = bandit.constants[0, arm] + world.means[bandit.models[0, arm], decision.pull - 1]
        reward = reward_of(world, mean, key, step_of(key), decision.pull)
        player.update(decision, reward)
    from rotting import simulate

    result = simulate(policy, scenario, runs=3, seed=4)
    assert list(player.pulls.values()) == result.pulls[2].tolist()


@pytest.mark.parametrize("policy", examples(), ids=name_of)
def test_late_lost_and_shuffled_rewards(policy: Policy) -> None:
    """Rewards up to 40 decisions late, out of order, a fifth of them never."""
    for compiled in (False, True):
        player = make(policy, compiled)
        rng = python_random.Random(2)
        waiting: list[Decision] = []
        for _ in range(1200):
            waiting.append(player.select())
            while len(waiting) > 40 or (waiting and rng.random() < 0.4):
                decision = waiting.pop(rng.randrange(len(waiting)))
                if rng.random() < 0.8:
                    player.update(decision, rng.gauss(0.3, 0.5))
        assert sum(player.pulls.values()) == 1200
        finite = [x for x in player._state if x.dtype == np.float64]
        assert all(not np.any(np.isposinf(x)) for x in finite)
        if not compiled:
            plain_pulls = player.pulls
    assert player.pulls == plain_pulls


@pytest.mark.parametrize("policy", examples(), ids=name_of)
def test_no_reward_ever(policy: Policy) -> None:
    """Without any information, no arm is played to the exclusion of the others."""
    player = make(policy)
    for _ in range(300):
        player.select()
    if isinstance(policy, Oracle):
        return
    assert min(player.pulls.values()) >= 60
    assert len(player.outstanding) == 300


@pytest.mark.parametrize(
    "policy", [p for p in examples() if not isinstance(p, (Oracle, policies.SWA))], ids=name_of
)
def test_an_arm_that_never_answers_does_not_take_over(policy: Policy) -> None:
    player = make(policy)
    for _ in range(900):
        decision = player.select()
        if decision.arm != "b":
            player.update(decision, 0.5)
    if not isinstance(policy, (policies.Uniform, policies.RoundRobin)):
        assert player.pulls["b"] <= 400


def late_order(policy: Policy, order: list[int]) -> Player:
    """Six decisions, then their rewards in the given order."""
    player = make(policy, compiled=False)
    decisions = [player.select() for _ in range(9)]
    for place in order:
        player.update(decisions[place], 0.1 * place)
    return player


@pytest.mark.parametrize(
    "policy",
    [
        policies.CTO(FAMILY),
        policies.DCTO(FAMILY, sigma=0.5),
        policies.WSWA(alpha=1.0, sigma=0.5, restart="keep"),
        policies.SWUCB(tau=100),
        policies.UCB1(),
        policies.GreedyLast(),
    ],
    ids=name_of,
)
def test_the_order_of_arrival_does_not_matter(policy: Policy) -> None:
    """Rewards are credited to the pull they belong to, so what is known is the same."""
    in_order = late_order(policy, list(range(9)))
    shuffled = late_order(policy, [8, 2, 5, 7, 1, 0, 6, 3, 4])
    for name in ("mean", "total", "next_mean", "estimate", "last", "closest", "Z"):
        if hasattr(in_order._state, name):
            np.testing.assert_allclose(
                getattr(in_order._state, name), getattr(shuffled._state, name), rtol=1e-12
            )
    a, b = in_order.select(), shuffled.select()
    assert a == b


@pytest.mark.parametrize(("prompt", "lost"), [(0, 0.1), (0, 0.0), (60, 0.1), (101, 0.0)])
def test_halves_of_late_rewards_are_those_of_the_observed_pulls(prompt: int, lost: float) -> None:
    """D-CTO's Z and constants equal their definition on the observed pulls in pull order.

    The first rewards are prompt, later ones late in any order, and some are lost.
    """
    family = models.Polynomial().over([0.1, 0.4])
    means = [member.table(500) for member in family.members]
    policy = policies.DCTO(family, sigma=0.5)
    rng = python_random.Random(3)
    player = policy.online([0, 1], compiled=False)
    seen: list[dict[int, float]] = [{}, {}]
    waiting: list[Decision] = []
    for t in range(400):
        waiting.append(player.select())
        while waiting and (t < prompt or rng.random() < 0.6):
            decision = waiting.pop(rng.randrange(len(waiting)))
            if t < prompt or rng.random() >= lost:
                seen[decision.arm][decision.pull] = reward = rng.gauss(0, 1)
                player.update(decision, reward)
        state, tables = player._state, policy.prepare(2, None, 500)
        for arm in (0, 1):
            pulls = sorted(seen[arm])
            half = len(pulls) // 2
            prompt_so_far = state.settled[arm] == halves.PROMPT
            for k, mu in enumerate(means):
                residuals = [seen[arm][n] - mu[n - 1] for n in pulls]
                z = sum(residuals[:half]) - sum(residuals[half:])
                of_model = (tables.halves[len(pulls)] if prompt_so_far else state.halves[arm])[k]
                assert state.lead[arm] - of_model == pytest.approx(z, abs=1e-9)
                if pulls:
                    constant = halves.constant_of(tables, state, arm, len(pulls), k)
                    assert constant == pytest.approx(sum(residuals) / len(pulls), abs=1e-9)
            if lost == 0.0 and not waiting:
                assert prompt_so_far or state.settled[arm] == half  # no hoarding


def test_windows_of_late_rewards_are_the_last_observed_in_pull_order() -> None:
    """SWA's and wSWA's means equal those of the last M observed rewards, whatever arrives when."""
    for policy in (
        policies.SWA(alpha=0.1, sigma=0.5),
        policies.WSWA(alpha=0.05, sigma=0.5),
        policies.WSWA(alpha=0.05, sigma=0.5, restart="keep"),
    ):
        player = policy.online([0, 1], horizon=1500, compiled=False)
        rng = python_random.Random(5)
        seen: list[dict[int, float]] = [{}, {}]
        waiting: list[Decision] = []
        for t in range(1, 1501):
            waiting.append(player.select())
            forgets = isinstance(policy, policies.WSWA) and policy.restart == "forget"
            if forgets and (t & (t - 1)) == 0:  # an epoch begins
                seen = [{}, {}]
            while len(waiting) > 60 or (waiting and rng.random() < 0.6):
                decision = waiting.pop(rng.randrange(len(waiting)))
                if rng.random() < 0.9:
                    reward = rng.gauss(0, 1)
                    player.update(decision, reward)
                    if decision.pull > player._state.base[decision.arm]:
                        seen[decision.arm][decision.pull] = reward
            window = (
                int(player._state.window[0])
                if isinstance(policy, policies.WSWA)
                else player._params.window
            )
            for arm in (0, 1):
                last = [seen[arm][n] for n in sorted(seen[arm])][-window:]
                expected = sum(last) / len(last) if last else -np.inf
                assert player._state.mean[arm] == pytest.approx(expected, abs=1e-9), (policy, t)


def test_swa_with_a_window_longer_than_its_first_room() -> None:
    policy = policies.SWA(alpha=0.2, sigma=0.45)
    player = policy.online([0, 1], horizon=20_000)
    assert player._params.window == 299
    rng = python_random.Random(6)
    seen: list[list[float]] = [[], []]
    for _ in range(3000):
        decision = player.select()
        seen[decision.arm].append(rng.gauss(0, 1))
        player.update(decision, seen[decision.arm][-1])
    for arm in (0, 1):
        last = seen[arm][-299:]
        assert player._state.mean[arm] == pytest.approx(sum(last) / len(last), abs=1e-9)


def test_a_dead_arm_is_left_though_rewards_are_later_than_the_window() -> None:
    for policy in (policies.SWA(0.02, 0.5), policies.WSWA(0.02, 0.5, restart="keep")):
        player = policy.online([0, 1], horizon=4000, compiled=False)
        waiting: list[Decision] = []
        for _ in range(4000):
            waiting.append(player.select())
            if len(waiting) > 12:
                arm, pull = decision = waiting.pop(0)
                player.update(decision, 0.5 if arm == 0 else (1.0 if pull <= 100 else 0.0))
        assert player.pulls[1] < 300


def test_dcto_ucb_detects_from_late_rewards_of_its_exploration() -> None:
    family = models.Polynomial().over([0.1, 0.9])
    policy = policies.DCTO_UCB(family, sigma=0.1, delta=0.1, exploration=50)
    player = policy.online([0, 1], compiled=False)
    decisions = [player.select() for _ in range(150)]
    for decision in reversed(decisions):
        player.update(decision, decision.pull**-0.9)
    assert player._state.closest.tolist() == [1, 1]


@pytest.mark.parametrize(
    "policy",
    [p for p in examples() if not isinstance(p, (Oracle, policies.Uniform, policies.RoundRobin))],
    ids=name_of,
)
def test_an_arm_whose_first_rewards_were_lost_is_not_forgotten(policy: Policy) -> None:
    """Nothing of arm b arrives for 300 rounds; then it proves to be the best by far."""
    if isinstance(policy, policies.GreedyLast):
        return  # it looks at one reward, and 5 is soon seen
    player = policy.online(["a", "b"], horizon=3000)
    for t in range(3000):
        decision = player.select()
        if decision.arm == "a":
            player.update(decision, 0.1)
        elif t >= 300:
            player.update(decision, 5.0)
    assert player.pulls["b"] > 1000


def test_long_silence() -> None:
    """DUCB's weights fade to nothing while no reward arrives; the engines agree all the same."""
    for gamma in (0.2, 0.9):
        players = [policies.DUCB(gamma=gamma).online([0, 1], compiled=c) for c in (True, False)]
        for player in players:
            for _ in range(2):
                player.update(player.select(), 1e300)
            for _ in range(1000):
                last = player.select()
            player.update(last, 0.5)
            assert np.all(np.isfinite(player._state.mean))
        assert players[0].pulls == players[1].pulls


def test_pickling_and_copying_share_nothing() -> None:
    player = make(policies.UCB1())
    player.update(player.select(), 1.0)
    for twin in (pickle.loads(pickle.dumps(player)), copy.copy(player)):
        expected = copy.deepcopy(player).select()
        assert twin.select() == expected
        assert sum(player.pulls.values()) == 1
        assert player._state.time[0] == 1
        assert twin._state.time[0] == 2


def test_wswa_that_forgets_ignores_rewards_of_earlier_epochs() -> None:
    player = policies.WSWA(alpha=0.05, sigma=0.5).online([0, 1], compiled=False)
    early = [player.select() for _ in range(7)]  # epochs of 1, 2 and 4 rounds
    later = player.select()  # the first round of the epoch of 8
    for decision in early:
        player.update(decision, 100.0)
    assert player._state.observed.tolist() == [0, 0]
    player.update(later, 1.0)
    assert player._state.mean[later.arm] == 1.0


def test_a_huge_reward_leaves_the_window_without_a_trace() -> None:
    """Running sums are renewed, so an outlier does not spoil the mean for ever."""
    for policy in (policies.WSWA(0.3, 0.5, "keep"), policies.SWUCB(tau=50)):
        player = policy.online([0, 1], compiled=False)
        for t in range(3000):
            decision = player.select()
            player.update(decision, 1e17 if t < 2 else 0.25)
        assert player._state.mean.max() == 0.25


def test_wrong_rewards_are_refused_and_change_nothing() -> None:
    player = policies.UCB1().online(["red", "blue"], seed=0)
    decision = player.select()
    before = player.to_json()
    bad = [
        (decision, float("nan"), "reward must be a finite number, got nan"),
        (decision, float("inf"), "reward must be a finite number, got inf"),
        (decision, None, "reward must be a finite number, got None"),
        (decision, "0.5", "reward must be a finite number, got '0.5'"),
        (decision, 10**400, "reward must be a finite number"),
        (("green", 1), 1.0, "with an arm of 'red', 'blue'"),
        (("red", 2), 1.0, "pull must be one of the 1 pulls made of arm 'red', got 2"),
        (("blue", 1), 1.0, "pull must be one of the 0 pulls made of arm 'blue', got 1"),
        (("red", []), 1.0, "pull must be one of the 1 pulls"),
        ("red", 1.0, "decision must be a pair"),
        (7, 1.0, "decision must be a pair"),
    ]
    for wrong, reward, words in bad:
        with pytest.raises(ValueError, match=words):
            player.update(wrong, reward)  # type: ignore[arg-type]
    assert player.to_json() == before
    player.update(decision, 1.0)
    with pytest.raises(ValueError, match="pull 1 of arm 'red' was rewarded or dropped before"):
        player.update(decision, 1.0)


def test_dropping_a_decision() -> None:
    player = policies.UCB1().online(["red", "blue"], compiled=False)
    decision = player.select()
    player.drop(decision)
    assert player.outstanding == []
    with pytest.raises(ValueError, match="rewarded or dropped"):
        player.update(decision, 1.0)
    with pytest.raises(ValueError, match="must be one that waits"):
        player.drop(decision)


def test_labels() -> None:
    arms = [("ad", 1), frozenset({2}), None, 3.5]
    player = policies.RoundRobin().online(arms, compiled=False)
    assert [player.select().arm for _ in range(4)] == arms
    for wrong, words in (
        ([], "at least one label"),
        (["a", "a"], "got 'a' twice"),
        ([[1]], "hashable"),
        ("ab", "list of labels"),
        ([float("nan"), 1], "equal themselves"),
        (3, "list of labels"),
    ):
        with pytest.raises(ValueError, match=words):
            policies.RoundRobin().online(wrong, compiled=False)  # type: ignore[arg-type]


@pytest.mark.parametrize("policy", examples(), ids=name_of)
@pytest.mark.parametrize("form", ["json", "bytes"])
def test_saving_continues_exactly(policy: Policy, form: str) -> None:
    player = make(policy, seed=9)
    rng = python_random.Random(4)
    kept = []
    for _ in range(700):
        decision = player.select()
        if rng.random() < 0.9:
            player.update(decision, rng.gauss(0.3, 0.5))
        else:
            kept.append(decision)
    if form == "json":
        text = player.to_json()
        json.loads(text)
        again = Player.from_json(text)
    else:
        again = Player.from_bytes(player.to_bytes())
    assert again.policy == policy
    assert again.outstanding == player.outstanding
    for decision in kept:
        again.update(decision, 0.2)
        player.update(decision, 0.2)
    for _ in range(700):
        decision = player.select()
        assert again.select() == decision
        reward = rng.gauss(0.3, 0.5)
        player.update(decision, reward)
        again.update(decision, reward)


def test_a_damaged_state_is_refused() -> None:
    player = make(policies.UCB1())
    player.update(player.select(), 0.5)
    data, text = player.to_bytes(), player.to_json()
    damaged: list[bytes | str] = [
        b"", b"nothing", data[:-5], data[:20] + b"\x00" + data[21:],
        text.replace('"decided": 1', '"decided": 2'), text[:-2], "[]", "{}", "3",
    ]  # fmt: skip
    for wrong in damaged:
        load: Any = Player.from_bytes if isinstance(wrong, bytes) else Player.from_json
        with pytest.raises(ValueError, match="saved state"):
            load(wrong)


def test_what_cannot_be_saved_is_asked_for() -> None:
    function = models.Function(lambda n: 1.0 / n)
    policy = Oracle([Arm(function), Arm(models.Constant(0.2))])
    labels = [frozenset({1}), frozenset({2})]
    player = policy.online(labels, compiled=False)
    first = [player.select().arm for _ in range(3)]
    assert first == [labels[0]] * 3
    data = player.to_bytes()
    with pytest.raises(ValueError, match="policy must be given"):
        Player.from_bytes(data)
    with pytest.raises(ValueError, match="policy must be the saved Oracle"):
        Player.from_bytes(data, policy=3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="arms must be given"):
        Player.from_bytes(data, policy=policy)
    with pytest.raises(ValueError, match="arms must be 2 labels, got 1"):
        Player.from_bytes(data, policy=policy, arms=["a"])
    again = Player.from_bytes(data, policy=policy, arms=labels)
    assert [again.select() for _ in range(20)] == [player.select() for _ in range(20)]


def test_a_copy_goes_its_own_way() -> None:
    player = make(policies.UCB1())
    player.update(player.select(), 1.0)
    twin = copy.deepcopy(player)
    twin.select()
    assert sum(player.pulls.values()) == 1
    assert sum(twin.pulls.values()) == 2
    assert len(player.outstanding) == 0


def test_swa_asks_for_its_horizon() -> None:
    with pytest.raises(ValueError, match="horizon must be given to play SWA online"):
        policies.SWA(0.2, 0.5).online([0, 1])
    player = policies.SWA(0.2, 0.5).online([0, 1], horizon=20, compiled=False)
    for _ in range(60):  # it may be played on
        player.update(player.select(), 0.1)


def test_cto_runs_past_its_first_table() -> None:
    player = policies.CTO(FAMILY).online([0, 1])
    for _ in range(5000):
        player.update(player.select(), 0.1)
    assert sum(player.pulls.values()) == 5000
