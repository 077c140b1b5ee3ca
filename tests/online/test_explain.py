"""Why an arm was chosen, in sentences that are true."""

from __future__ import annotations

import random
import re

import pytest

from helpers.cases import examples
from helpers.own_policy import make_mine
from rotting import Arm, Player, models, policies
from rotting.policies import Policy

FAMILY = models.Plateau(length=20).over([0.1, 0.2])


def played(policy: Policy, rewards: dict[str, float], decisions: int, **more: object) -> Player:
    """A player whose last decision waits for its reward; all others have theirs."""
    player = policy.online(list(rewards), horizon=400, compiled=False, **more)  # type: ignore[arg-type]
    for _ in range(decisions - 1):
        decision = player.select()
        player.update(decision, rewards[decision.arm])
    player.select()
    return player


def test_the_index_in_words_and_numbers() -> None:
    player = played(policies.UCB1(), {"a": 0.4, "b": 0.6}, 9)
    said = player.explain()
    found = re.fullmatch(
        r"'(\w)' was chosen \(pull (\d)\): its index ([\d.]+) = ([\d.]+) \+ ([\d.]+) is the "
        r"highest of 2 arms; next is '(\w)' with ([\d.]+)\.",
        said,
    )
    assert found, said
    arm, pull, index, estimate, padding, other, runner_up = found.groups()
    assert (arm, int(pull)) == player.outstanding[0]
    assert {arm, other} == {"a", "b"}
    assert float(estimate) == {"a": 0.4, "b": 0.6}[arm]
    assert float(index) == pytest.approx(float(estimate) + float(padding), abs=0.002)
    assert float(runner_up) < float(index)


def test_rewards_that_came_since_are_said() -> None:
    player = played(policies.UCB1(), {"a": 0.4, "b": 0.5}, 3)
    assert player.outstanding == [("b", 2)]
    before = player.explain()
    player.update(("b", 2), 0.5)
    assert player.explain() != before
    assert "by the present figures its index" in player.explain()  # the padding of 'b' has shrunk
    rich = played(policies.UCB1(), {"a": 0.0, "b": 5.0}, 3)
    rich.update(("b", 2), 5.0)
    assert rich.explain().endswith(" Rewards have come since: these are the present figures.")


def test_before_anything_and_while_ramping_up() -> None:
    player = policies.UCB1().online(["a", "b"], compiled=False)
    assert player.explain() == "Nothing has been decided yet."
    decision = player.select()
    ramp_up = "'a' was chosen (pull 1) to ramp up: no reward of it was known."
    assert player.explain() == ramp_up
    player.update(decision, 1.0)
    assert player.explain() == ramp_up


def test_a_long_ramp_up() -> None:
    player = played(policies.SWA(alpha=0.2, sigma=0.5), {"a": 0.1, "b": 0.2, "c": 0.3}, 5)
    assert player.explain() == (
        "'b' was chosen (pull 2) to ramp up: SWA needs more data on it before comparing it."
    )


def test_one_arm_or_some_allowed() -> None:
    player = played(policies.UCB1(), {"a": 0.4, "b": 0.6, "c": 0.1}, 9)
    player.select(among=["c"])
    assert player.explain().endswith(": it was the only arm that could be.")
    player.select(among=["a", "c"])
    assert " of 2 arms; next is 'c' with " in player.explain()
    player.retire("b")
    player.select()
    assert " of 2 arms" in player.explain()
    player.restore("b")  # the arms allowed then are no longer stored
    assert "arms; by the present figures it has index " in player.explain()


def test_the_control_group() -> None:
    player = policies.UCB1().online(["a", "b", "c"], explore=0.5, compiled=False)
    said = set()
    for _ in range(40):
        decision = player.select()
        assert player.explain().startswith(f"'{decision.arm}' was chosen (pull {decision.pull})")
        assert (" for the control group: it was drawn from 3 arms" in player.explain()) == (
            decision.control
        )
        said.add(decision.control)
        player.update(decision, 0.5)
    assert said == {True, False}


def test_history_is_no_decision() -> None:
    player = played(policies.UCB1(), {"a": 0.4, "b": 0.6}, 9)
    player.learn(["a"], [0.2])
    assert player.explain() == "Nothing was decided since 'a' came last in the history."
    player.select()
    assert "was chosen" in player.explain()


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (policies.Uniform(), "Uniform draws from 3 arms with equal probabilities."),
        (policies.RoundRobin(), "RoundRobin takes the arms in turn, and it was its turn."),
        (policies.EXP3S(), "it was drawn, with probability 0."),
        (policies.SWTS(30, 0.5), "the number drawn for it was the highest; its posterior has mean"),
        (policies.FEWA(0.5), "it passed the filter of FEWA, and no other arm that did had been"),
        (policies.CTO(FAMILY), "its index "),
        (policies.GreedyLast(), ": its index 0.5 is the highest of 3 arms; next is 'b' with 0.2."),
        (
            policies.Oracle([Arm(models.Constant(x)) for x in (0.5, 0.25, 0.1)]),
            "its next mean 0.5 is the highest of 3 arms; next is 'b' with 0.25.",
        ),
    ],
    ids=lambda value: getattr(value, "title", ""),
)
def test_other_rules(policy: Policy, words: str) -> None:
    assert words in played(policy, {"a": 0.5, "b": 0.2, "c": 0.1}, 12).explain()


def test_a_probability_is_that_among_the_allowed() -> None:
    player = played(policies.EXP3S(), {"a": 0.5, "b": 0.2, "c": 0.1}, 2)
    player.select(among=["a", "b"])
    found = re.search(r"probability ([\d.]+)\.$", player.explain())
    assert found
    assert float(found.group(1)) > 0.4


def test_a_policy_that_says_nothing() -> None:
    player = make_mine(1)().online(["a", "b"], compiled=False)
    player.select()
    assert player.explain() == "'b' was chosen (pull 1) by Mine, which gives no reason."


def test_a_tie() -> None:
    player = played(policies.CTO(FAMILY), {"a": 1.0, "b": 1.0}, 3)
    assert re.search(
        r"its index 1 is the highest of 2 arms, a tie with '[ab]'\.$", player.explain()
    )


@pytest.mark.parametrize("policy", examples(), ids=lambda policy: policy.label[:60])
def test_sentences_of_every_policy(policy: Policy) -> None:
    """Full sentences about the arm that was chosen; and looking changes no decision."""
    silent, asked = (
        policy.online(["a", "b", "c"], seed=5, horizon=90, compiled=False) for _ in range(2)
    )
    rng = random.Random(2)
    not_highest = 0
    for t in range(80):
        decision = asked.select()
        assert silent.select() == decision
        said = asked.explain()
        asked.table()
        assert said.startswith(f"'{decision.arm}' was chosen (pull {decision.pull})")
        assert re.fullmatch(r"[^.]+(\.\d+[^.]*)*\.", said), said
        assert "None" not in said
        assert "nan" not in said
        assert "inf" not in said
        not_highest += "not the highest" in said
        reward = {"a": 1.0, "b": 0.6, "c": 0.7}[decision.arm] / (1 + t / 20) + rng.gauss(0, 0.2)
        for player in (silent, asked):
            player.update(decision, reward)
    # a pull changes what a discount or a window of rounds knows, or the pace at which SteadyUCB
    # explores; Guarded says why it is not the highest
    moved = policies.DUCB | policies.SWUCB | policies.SteadyUCB
    if not isinstance(policy, moved | policies.Guarded):
        assert not_highest == 0
