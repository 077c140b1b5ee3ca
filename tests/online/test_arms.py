"""Arms that come and go, and decisions among some of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

from helpers.cases import examples, name_of, player_of, shorter
from helpers.happenings import check_same_players
from helpers.own_policy import make_mine
from rotting import Decision, Player, policies
from rotting.policies import Oracle, Policy

CLOSING = [policy for policy in examples() if policy.verbs.set_open is not None]
ADDING = [policy for policy in CLOSING if not isinstance(policy, Oracle)]  # it has its arms


def play(player: Player, decisions: int, among: Any = None) -> list[Decision]:
    """Prompt rewards, of which every seventh never comes."""
    made = []
    for k in range(decisions):
        decision = player.select(among)
        made.append(decision)
        if k % 7:
            player.update(decision, 0.1 * ((3 * k + len(str(decision.arm))) % 10))
    return made


def test_every_policy_lets_arms_come_and_go() -> None:
    assert examples() == CLOSING


@pytest.mark.parametrize("policy", CLOSING, ids=name_of)
def test_a_retired_arm_is_not_chosen_and_comes_back_with_its_pull_numbers(policy: Policy) -> None:
    player = player_of(policy, compiled=False)
    play(player, 40)
    late = [player.select() for _ in range(6)]
    pulls = player.pulls
    player.retire("b")
    assert player.retired == ["b"]
    assert {decision.arm for decision in play(player, 60)} <= {"a", "c"}
    assert player.pulls["b"] == pulls["b"]
    for decision in late:  # the retired arm's, too
        player.update(decision, 0.5)
    player.restore("b")
    assert player.retired == []
    for other in "ac":
        player.retire(other)
    assert player.select() == Decision("b", pulls["b"] + 1)


@pytest.mark.parametrize("policy", ADDING, ids=name_of)
def test_a_new_arm_is_found(policy: Policy) -> None:
    """By the ramp-up, or by the rule of those that have none; also after the state has grown."""
    player = player_of(policy, compiled=False)
    play(player, 150)
    player.add(("shop", 3))
    assert player.pulls[("shop", 3)] == 0
    made = play(player, 100)
    assert Decision(("shop", 3), 1) in made
    again = Player.from_json(player.to_json())
    check_same_players(player, again)
    assert play(again, 30) == play(player, 30)


@pytest.mark.parametrize("policy", ADDING, ids=name_of)
def test_arms_added_before_the_first_decision_are_as_if_given_at_once(policy: Policy) -> None:
    horizon = 3000 if policy.needs_horizon else None
    arms = shorter(policy, 100)
    at_once = policy.online(range(arms), horizon=horizon, compiled=False)
    one_by_one = policy.online([0], horizon=horizon, compiled=False)
    for label in range(1, arms):
        one_by_one.add(label)
    check_same_players(at_once, one_by_one)
    check_same_players(one_by_one, Player.from_json(one_by_one.to_json()))
    assert play(at_once, arms + 20) == play(one_by_one, arms + 20)


@pytest.mark.parametrize("compiled", [False, True])
def test_many_arms_come_to_a_player_of_two(compiled: bool) -> None:
    """More than its state was made for at first."""
    player = policies.RAWUCB(0.5).online([0, 1], compiled=compiled)
    play(player, 3)
    for label in range(2, 400):
        player.add(label)
    play(player, 900)
    assert min(player.pulls.values()) >= 1
    check_same_players(player, Player.from_json(player.to_json()))


@pytest.mark.parametrize("policy", CLOSING, ids=name_of)
def test_among_all_arms_is_no_restriction(policy: Policy) -> None:
    one, other = player_of(policy, compiled=False), player_of(policy, compiled=False)
    for k in range(60):
        decision = one.select()
        assert other.select(among=("c", "b", "a", "b")) == decision
        for player in (one, other):
            player.update(decision, 0.1 * (k % 5))
    check_same_players(one, other)
    for player in (one, other):
        player.retire("b")
    assert [one.select() for _ in range(20)] == [other.select(["c", "a"]) for _ in range(20)]
    assert one.select(["b", "a", "c"]) == other.select()  # b is retired
    check_same_players(one, other)


@pytest.mark.parametrize("policy", CLOSING, ids=name_of)
def test_among_is_a_set_and_lasts_for_one_decision(policy: Policy) -> None:
    one, other = player_of(policy, compiled=False), player_of(policy, compiled=False)
    for player in (one, other):
        play(player, 20)
    for _ in range(12):
        assert one.select(["a", "c"]) == other.select(iter(["c", "a", "c"]))
    before = one.pulls["b"]
    assert {one.select(among={"b"}).arm for _ in range(3)} == {"b"}
    assert one.pulls["b"] == before + 3
    chosen = {decision.arm for decision in play(one, 40)}
    assert chosen & {"a", "c"}
    assert one.retired == []


def test_an_unpulled_retired_arm_does_not_block_the_ramp_up() -> None:
    for policy in ADDING:
        player = player_of(policy, compiled=False)
        player.select()
        player.retire("b")
        play(player, 80)
        assert player.pulls["b"] <= 1, policy.label
        assert min(player.pulls["a"], player.pulls["c"]) >= 1, policy.label


Calls = list[tuple[Callable[[Player], Any], str]]
WRONG: Calls = [
    (lambda p: p.select(among=[]), "among must hold at least one arm, got none"),
    (lambda p: p.select(among=["a", "x"]), "among must be a list of arms of 'a', 'b', 'c'"),
    (lambda p: p.select(among="a"), "among must be a list of arms"),
    (lambda p: p.select(among=cast(Any, 7)), "among must be a list of arms"),
    (lambda p: p.select(among=[["a"]]), "among must be a list of arms"),
    (lambda p: p.select(among=["b"]), "among must hold an open arm, but all"),
    (lambda p: p.select(among=["b"], at=9.0), "among must hold an open arm, but all"),
    (lambda p: p.select_many(3, among=["b"]), "among must hold an open arm, but all"),
    (lambda p: p.select_many(3, among=["b"], at=9.0), "among must hold an open arm, but all"),
    (lambda p: p.select_many(3, among=[]), "among must hold at least one arm"),
    (lambda p: p.add("a"), "label must be new, a label never comes back as another arm: 'a'"),
    (lambda p: p.add("b"), "label must be new, a label never comes back as another arm: 'b'"),
    (lambda p: p.add([]), "label must be hashable labels"),
    (lambda p: p.add(float("nan")), "label must be labels that equal themselves"),
    (lambda p: p.retire("x"), "label must be an arm of 'a', 'b', 'c', got 'x'"),
    (lambda p: p.retire([]), "label must be an arm of 'a', 'b', 'c'"),
    (lambda p: p.retire("b"), "label must be an arm that is not retired already, got 'b'"),
    (lambda p: p.restore("a"), "label must be an arm that is not open already, got 'a'"),
    (lambda p: p.restore("x"), "label must be an arm of 'a', 'b', 'c', got 'x'"),
]


@pytest.mark.parametrize("decisions", [0, 10, 128])  # at the last of these space has to be made
@pytest.mark.parametrize("compiled", [False, True])
def test_what_cannot_be_is_refused_and_changes_nothing(compiled: bool, decisions: int) -> None:
    player = player_of(policies.UCB1(), compiled)
    play(player, decisions)
    player.retire("b")
    before = player.to_json()
    for do, words in WRONG:
        with pytest.raises(ValueError, match=words):
            do(player)
        assert player.to_json() == before, words
    player.select(at=9.0)


@pytest.mark.parametrize("policy", CLOSING, ids=name_of)
def test_where_all_arms_are_retired_nothing_is_decided(policy: Policy) -> None:
    player = player_of(policy, compiled=False)
    late = play(player, 128)[0]
    for label in "abc":
        player.retire(label)
    before = player.to_json()
    for do in (player.select, lambda: player.select_many(2), lambda: player.select(["a", "b"])):
        with pytest.raises(ValueError, match=r"arms must not all be retired .* all 3 are"):
            do()
        assert player.to_json() == before
    player.update(late, 0.5)
    again = Player.from_json(player.to_json())
    for one in (player, again):
        one.restore("c")
    assert [player.select() for _ in range(3)] == [again.select() for _ in range(3)]
    assert player.select().arm == "c"


def test_a_policy_that_chooses_a_closed_arm_is_told() -> None:
    """A user's policy whose `choose` ignores which arms are open."""
    mine = make_mine(favourite=1)
    try:
        player = mine().online(["a", "b", "c"], compiled=False)
        assert player.select().arm == "b"
        player.retire("b")
        before = player.to_json()
        for do in (player.select, lambda: player.select(["a", "c"]), lambda: player.select_many(2)):
            with pytest.raises(ValueError, match="choose must return an open arm, got 'b'"):
                do()
            assert player.to_json() == before
    finally:
        del policies.POLICIES["mine"]
