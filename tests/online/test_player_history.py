"""History: learnt as if the player itself had made those pulls."""

from __future__ import annotations

import random as python_random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from helpers.cases import FAMILY, examples, name_of, player_of, shorter
from helpers.happenings import check_same_players
from rotting import Decision, Player, policies
from rotting._online.space import UNLIMITED, capacity_of
from rotting.kernel import verbs
from rotting.kernel.state import grown, leaves
from rotting.policies import EXP3S, Policy
from rotting.policies.parts.openings import closable

Row = tuple[int, float]


def history(count: int, seed: int = 5) -> list[Row]:
    rng = python_random.Random(seed)
    return [(rng.choice((0, 0, 1, 2)), rng.gauss(0.4, 0.3)) for _ in range(count)]


def by_hand(policy: Policy, rows: list[Row], reach: int) -> Any:
    """The state of a policy after these pulls and rewards, by its verbs alone."""
    params = policy.prepare(3, 3000 if policy.needs_horizon else None, reach)

    def fresh(decided: int) -> Any:
        capacity = capacity_of(3, decided) if policy.grows else UNLIMITED
        return closable(policy.verbs.init(params, 3, capacity))

    state = fresh(0)
    pulls = [0, 0, 0]
    for made, (arm, reward) in enumerate(rows, 1):
        if capacity_of(3, made) > capacity_of(3, made - 1):
            state = grown(state, fresh(made))
        pulls[arm] += 1
        verbs.pulled(params, state, arm)
        verbs.set_propensity(params, state, arm, pulls[arm], 0.25)
        verbs.update(params, state, arm, pulls[arm], reward)
    return state


@pytest.mark.parametrize("policy", examples(), ids=name_of)
def test_history_is_the_pulls_and_rewards_and_nothing_else(policy: Policy) -> None:
    """Past several growths; bit for bit what the verbs make of it."""
    rows = history(shorter(policy, 400, by=2))
    player = player_of(policy, compiled=False)
    labels = ["abc"[arm] for arm, _ in rows]
    counted = player.learn(labels, [r for _, r in rows], propensities=[0.25] * len(rows))
    assert counted == len(rows)
    wanted = by_hand(policy, rows, player.core.reach)
    for one, other in zip(leaves(player.core.state), leaves(wanted), strict=True):
        np.testing.assert_array_equal(one.value, other.value, err_msg=one.path)
    assert list(player.pulls.values()) == [sum(arm == k for arm, _ in rows) for k in range(3)]
    assert player.outstanding == []
    again = Player.from_json(player.to_json())
    for _ in range(40):
        decision = player.select()
        assert again.select() == decision
        for each in (player, again):
            each.update(decision, 0.3)


@pytest.mark.parametrize("policy", examples(), ids=name_of)
def test_one_call_or_many_between_decisions(policy: Policy) -> None:
    """What was decided before waits on, and its late reward finds its pull."""
    rows = history(60)
    one, other = player_of(policy, compiled=False), player_of(policy, compiled=False)
    for player in (one, other):
        late = player.select()
        for _ in range(9):
            player.update(player.select(), 0.6)
    arms, rewards = ["abc"[arm] for arm, _ in rows], [reward for _, reward in rows]
    assert one.learn(arms, rewards, propensities=[0.5] * 60) == 60
    for arm, reward in zip(arms, rewards, strict=True):
        assert other.learn([arm], [reward], propensities=[0.5]) == 1
    check_same_players(one, other)
    assert one.outstanding == [late]
    one.update(late, 0.1)
    assert sum(one.pulls.values()) == 70


def test_pulls_may_have_gaps_and_come_in_any_order() -> None:
    policy = policies.CTO(FAMILY)
    player, twin = (player_of(policy, compiled=False) for _ in range(2))
    made = player.learn(["b", "a", "b", "b"], [0.1, 0.2, 0.3, 0.4], pulls=[3, 2, 1, 6])
    assert made == 8
    assert player.pulls == {"a": 2, "b": 6, "c": 0}
    assert player.outstanding == []
    with pytest.raises(ValueError, match="pull 2 of arm 'b' was rewarded or dropped before"):
        player.update(("b", 2), 0.5)  # left out: no reward is awaited
    params, state = twin.core.params, twin.core.state
    for event in ("b", "b", "b", ("b", 3, 0.1), "a", "a", ("a", 2, 0.2), ("b", 1, 0.3)):
        apply(params, state, event)
    for event in ("b", "b", "b", ("b", 6, 0.4)):
        apply(params, state, event)
    for one, other in zip(leaves(player.core.state), leaves(state), strict=True):
        if not one.path.startswith("ranking"):  # scores are refreshed where a reward was late
            np.testing.assert_array_equal(one.value, other.value, err_msg=one.path)
    assert player.select() == Decision("c", 1)


def apply(params: Any, state: Any, event: Any) -> None:
    """A pull of an arm, or a reward."""
    if isinstance(event, str):
        verbs.pulled(params, state, "abc".index(event))
    else:
        arm, pull, reward = event
        verbs.update(params, state, "abc".index(arm), pull, reward)


def test_pull_numbers_without_gaps_are_the_same_as_none() -> None:
    one, other = (player_of(policies.RAWUCB(0.5), compiled=False) for _ in range(2))
    for player, pulls in ((one, None), (other, np.array([1.0, 1.0, 2.0]))):
        player.learn(["a", "c", "a"], np.array([True, False, True]), pulls=pulls)
    check_same_players(one, other)


@pytest.mark.parametrize("compiled", [False, True])
def test_history_that_cannot_be_is_refused_and_changes_nothing(compiled: bool) -> None:
    player = player_of(policies.UCB1(), compiled)
    player.learn(["a", "b"], [0.5, 0.5])
    player.select()
    before = player.to_json()
    learn = player.learn
    wrong: list[tuple[Callable[[], Any], str]] = [
        (lambda: learn(["a"], [0.1, 0.2]), "rewards must be 1, one for each arm, got 2"),
        (lambda: learn(["a", "x"], [0.1, 0.2]), "arms must be labels of 'a', 'b', 'c', got 'x'"),
        (lambda: learn(["a", []], [0.1, 0.2]), "arms must be labels of 'a', 'b', 'c'"),
        (lambda: learn("ab", [0.1, 0.2]), "arms must be a list of labels, got 'ab'"),
        (lambda: learn(7, [0.1]), "arms must be a list of labels, got 7"),
        (lambda: learn(["a", "b"], [0.1, float("nan")]), "got nan at place 1"),
        (lambda: learn(["a", "b"], ["x", 0.1]), "rewards must be a list of finite numbers"),
        (lambda: learn(["a"], [0.1], pulls=[1]), "pulls must be above the 1 pulls made of arm 'a'"),
        (lambda: learn(["c", "a"], [0.1] * 2, pulls=[2, 0]), "got 0 at place 1"),
        (lambda: learn(["a"], [0.1], pulls=[2.5]), "pulls must be above"),
        (lambda: learn(["a"], [0.1], pulls=[2**60]), "pulls must be above"),
        (lambda: learn(["a"], [0.1], pulls=["2"]), "pulls must be 1 whole numbers"),
        (lambda: learn(["a"], [0.1], pulls=[2, 3]), "pulls must be 1 whole numbers"),
        (lambda: learn(["a"], [0.1], pulls=7), "pulls must be 1 whole numbers"),
        (lambda: learn(["a"], [0.1], pulls=[float("nan")]), "pulls must be above"),
        (lambda: learn(["a", "a"], [0.1] * 2, pulls=[2, 2]), "pulls must be different numbers"),
        (lambda: learn(["a"], [0.1], pulls=[10**12]), "pulls must imply at most 10000000 pulls"),
        (lambda: learn(["a"], [0.1], propensities=[0.0]), "propensities must be 1 probabilities"),
        (lambda: learn(["a"], [0.1], propensities=[1.1]), "propensities must be 1 probabilities"),
        (lambda: learn(["a"], [0.1], propensities=[]), "propensities must be 1 probabilities"),
    ]
    for do, words in wrong:
        with pytest.raises(ValueError, match=words):
            do()
        assert player.to_json() == before, words
    assert learn([], []) == 0
    assert player.to_json() == before


def test_policies_that_learn_by_propensities_need_them() -> None:
    player = player_of(EXP3S(), compiled=False)
    before = player.to_json()
    with pytest.raises(ValueError, match=r"propensities must be given: Exp3\.S learns by"):
        player.learn(["a"], [0.5])
    assert player.to_json() == before
    assert player.learn([], []) == 0
    other = player_of(EXP3S(), compiled=False)
    assert player.learn(["a"], [0.5], propensities=[0.5]) == 1
    assert other.learn(["a"], [0.5], propensities=[0.1]) == 1
    assert player.core.state.weight[0] < other.core.state.weight[0]  # rarer, so that it says more


def test_compiled_history_is_plain_history() -> None:
    rows = history(700)
    arms, rewards = ["abc"[arm] for arm, _ in rows], np.array([reward for _, reward in rows])
    fast, slow = (player_of(policies.RAWUCB(0.5), compiled) for compiled in (True, False))
    for player in (fast, slow):
        player.select_many(5)
        player.learn(arms, rewards)
        made = player.pulls["a"]
        player.learn(["a"] * 30, [0.5] * 30, pulls=range(made + 30, made, -1))
    check_same_players(fast, slow)


@pytest.mark.parametrize("library", ["pandas.DataFrame", "polars.DataFrame", "pyarrow.table"])
def test_history_in_a_frame(library: str) -> None:
    name, make = library.split(".")
    module = pytest.importorskip(name, reason=f"{name} is not installed")
    frame = getattr(module, make)(
        {"arm": ["a", "b", "a"], "clicked": [True, False, True], "n": [1, 1, 4], "p": [0.5] * 3}
    )
    player, plain = (player_of(EXP3S(), compiled=False) for _ in range(2))
    assert player.learn(frame, "clicked", pulls="n", propensities="p") == 5
    plain.learn(["a", "b", "a"], [1.0, 0.0, 1.0], pulls=[1, 1, 4], propensities=[0.5] * 3)
    check_same_players(player, plain)
    before = player.to_json()
    with pytest.raises(ValueError, match=r"column must be one of .*, got 'click'"):
        player.learn(frame, "click", propensities="p")
    with pytest.raises(ValueError, match="column must be one of"):
        player.learn(frame, frame["clicked"], propensities="p")
    assert player.to_json() == before


@pytest.mark.parametrize("compiled", [False, True])
def test_pulls_left_out_take_no_space_afterwards(compiled: bool) -> None:
    player = player_of(policies.UCB1(), compiled=compiled)
    waiting = [player.select() for _ in range(5)]
    space = len(player.core.ledger.waiting.entries)
    assert player.learn(["a", "b"], [1.0, 0.5], pulls=[900, 700]) == 900 - 2 + 700 - 2
    assert len(player.core.ledger.waiting.entries) == space
    assert sorted(player.outstanding) == sorted(waiting)
    check_same_players(player, Player.from_json(player.to_json()))
    for decision in waiting:
        player.update(decision, 0.25)
    assert player.outstanding == []
    assert sum(row.observed for row in player.table()) == 7


def test_the_column_of_the_arms_is_the_only_other_one_or_called_arm() -> None:
    class Frame:
        """As small as a frame can be."""

        def __init__(self, **columns: Any) -> None:
            self.columns = list(columns)
            self.found = columns

        def __getitem__(self, name: str) -> Any:
            return self.found[name]

    player = player_of(policies.UCB1(), compiled=False)
    assert player.learn(Frame(creative=["a", "b"], clicked=[1, 0]), "clicked") == 2
    assert player.learn(Frame(day=[3], arm=["c"], clicked=[1]), "clicked") == 1
    assert player.pulls == {"a": 1, "b": 1, "c": 1}
    before = player.to_json()
    with pytest.raises(ValueError, match="arms must be a frame with one column beside those named"):
        player.learn(Frame(day=[3], creative=["c"], clicked=[1]), "clicked")
    with pytest.raises(ValueError, match="arms must be a frame with one column beside those named"):
        player.learn(Frame(clicked=[1]), "clicked")
    assert player.to_json() == before


class _Log:
    """The part of a log that a player needs: a method that returns keys, arms and rewards."""

    def __init__(self, keys: bool, pulls: list[int] | None = None) -> None:
        self.columns = {"arm": "ad"}  # it is no frame
        self._keys, self._pulls = ["u", "v", "u", "u"] if keys else None, pulls

    def history(self) -> dict[str, Any]:
        return {
            "arms": ["a", "b", "a", "a"],
            "rewards": np.array([1.0, 0.0, np.nan, np.nan]),
            "keys": self._keys,
            "pulls": self._pulls,
            "propensities": None,
        }


@pytest.mark.parametrize(
    ("policy", "compiled"),
    [
        (policies.Fatigue(), False),
        (policies.CTO(FAMILY), True),
        pytest.param(policies.Fatigue(), True, marks=pytest.mark.long),
    ],
    ids=str,
)
def test_a_log_is_learnt_as_it_is_and_unknown_rewards_are_showings(
    policy: Policy, compiled: bool
) -> None:
    player = policies.UCB1().online(["a", "b"], compiled=compiled)
    assert player.learn(_Log(keys=False)) == 4
    assert player.pulls == {"a": 3, "b": 1}
    assert player.core.state.arms.observed.tolist() == [1, 1]
    assert player.outstanding == []
    crowd = policy.audience(["a", "b"], compiled=compiled)
    assert crowd.learn(_Log(keys=True)) == 4
    assert crowd.shown("u") == {"a": 3, "b": 0}
    assert crowd.shown("v") == {"a": 0, "b": 1}
    assert crowd.outstanding == []


def test_pulls_of_a_log_are_each_keys_own() -> None:
    crowd = policies.Fatigue().audience(["a", "b"], compiled=False)
    assert crowd.learn(_Log(keys=True, pulls=[2, 1, 3, 5])) == 6
    assert crowd.shown("u") == {"a": 5, "b": 0}
    pooled = policies.UCB1().online(["a", "b"], compiled=False)
    assert pooled.learn(_Log(keys=True, pulls=[2, 1, 3, 5])) == 4


def test_a_log_is_given_alone_and_keys_are_asked_for() -> None:
    player = policies.UCB1().online(["a", "b"], compiled=False)
    with pytest.raises(ValueError, match="a log must be given alone"):
        player.learn(_Log(keys=False), [1.0])
    crowd = policies.Fatigue().audience(["a", "b"], compiled=False)
    with pytest.raises(ValueError, match="keys must be given"):
        crowd.learn(["a"], [1.0])
    with pytest.raises(ValueError, match="keys must be 4"):
        crowd.learn(_Log(keys=False))
    with pytest.raises(ValueError, match="got nan at place 0"):  # without a log a mistake
        player.learn(["a"], [float("nan")])
