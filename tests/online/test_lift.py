"""The lift over the control group: its sums, and an interval valid at any time."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lift as study
from rotting import Lift, Player, policies
from rotting._live import ledger as at
from rotting._online import lift
from rotting._online import save as saving
from rotting.policies._base import Policy

ARMS = ["a", "b", "c"]
RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "lift.json"


def played(
    count: int,
    explore: float = 0.2,
    policy: Policy | None = None,
    reward: Callable[[Any, Any], float] = lambda decision, rng: float(rng.random() < 0.3),
    **more: Any,
) -> tuple[Player, list[Any], list[float]]:
    """A player after some decisions with prompt rewards, and these two lists."""
    rng = np.random.default_rng(3)
    chosen = policies.UCB1() if policy is None else policy
    player = chosen.online(ARMS, compiled=False, explore=explore, **more)
    decisions, rewards = [], []
    for _ in range(count):
        decision = player.select()
        decisions.append(decision)
        rewards.append(reward(decision, rng))
        player.update(decision, rewards[-1])
    return player, decisions, rewards


def weights_of(decisions: list[Any], explore: float, arms: int) -> Any:
    """The weights, from what the user sees: only the policy's arm has more than explore / K."""
    chance = np.array([decision.propensity for decision in decisions])
    return ((chance > explore / arms * (1 + 1e-9)) - 1 / arms) / chance


@pytest.mark.parametrize("explore", [0.05, 0.5, 0.9])
def test_the_sums_are_those_of_the_log(explore: float) -> None:
    player, decisions, rewards = played(300, explore)
    weights = weights_of(decisions, explore, 3)
    terms = [
        (rewards[k] - sum(rewards[:k]) / k) * weights[k] for k in range(1, len(rewards))
    ]  # the first decision has no centre
    found = player.lift()
    assert found.decisions == 299
    assert found.lift == pytest.approx(sum(terms) / 299)
    assert player.core.ledger.numbers[at.LIFT_SQUARES] == pytest.approx(sum(x * x for x in terms))
    assert found.control == sum(decision.control for decision in decisions[1:])
    assert player.core.ledger.numbers[at.LIFT_OTHERS] == (weights[1:] < 0).sum()
    # a share `explore` of all rewards is that of equal shares
    mixed = (1 - explore) * found.policy + explore * found.equal
    assert mixed == pytest.approx(np.mean(rewards[1:]))
    assert found.policy - found.equal == pytest.approx(found.lift)
    # and what the study draws with NumPy enters as what the player sees
    each = study.terms(np.array([rewards]), weights[None])
    assert each.sum() / 299 == pytest.approx(found.lift)


def test_late_rewards_count_when_they_come_and_dropped_ones_never() -> None:
    player = policies.UCB1().online(ARMS, compiled=False, explore=0.5)
    early = [player.select() for _ in range(5)]
    player.update(early[0], 1.0)
    late = [player.select() for _ in range(6)]
    for decision in early[1:]:  # made before the first reward: they have no centre
        player.update(decision, 0.0)
    assert player.lift().decisions == 0
    player.drop(late[0])
    for decision in reversed(late[1:]):
        player.update(decision, 0.0)
    weights = weights_of(late[1:], 0.5, 3)
    assert player.lift().decisions == 5
    assert player.lift().lift == pytest.approx((weights * (0.0 - 1.0)).mean())


def test_dropped_decisions_do_not_count_with_the_default_either() -> None:
    player = policies.UCB1().online(
        ARMS, compiled=False, explore=0.5, reward_window=100, default_reward=0.0
    )
    player.update(player.select(), 1.0)
    before = player.core.ledger.numbers[at.LIFT_COUNT : at.LIFT_CONTROL].copy()
    decisions = [player.select() for _ in range(20)]
    assert player.lift().decisions == 20
    for decision in decisions:
        player.drop(decision)
    assert player.lift().decisions == 0
    np.testing.assert_allclose(
        player.core.ledger.numbers[at.LIFT_COUNT : at.LIFT_CONTROL], before, atol=1e-9
    )


def test_silence_is_in_the_centre_before_it_ends() -> None:
    """Clicks come at once and silence after the window: a mean of clicks alone would be one."""
    player = policies.UCB1().online(
        ARMS, compiled=False, explore=0.5, reward_window=10, default_reward=0.0
    )
    decisions = [player.select() for _ in range(4)]
    player.update(decisions[3], 1.0)
    fifth = player.select()
    centre = (1.0 + 3 * 0.0) / 4
    weight = weights_of([fifth], 0.5, 3)[0]
    assert player.lift()[5:7] == (0.95, 1)  # it counts with the default until its reward comes
    assert player.lift().lift == pytest.approx((0 - centre) * weight)
    player.update(fifth, 1.0)
    assert player.lift().decisions == 1
    assert player.lift().lift == pytest.approx((1 - centre) * weight)
    with pytest.raises(ValueError, match="between must hold all rewards, which were 0 to 1"):
        player.lift(between=(0.5, 1))


def test_silence_that_ends_is_what_it_counted_as() -> None:
    rng = np.random.default_rng(1)
    player = policies.UCB1().online(
        ARMS, compiled=False, explore=0.3, reward_window=20, default_reward=0.0
    )
    decisions = []
    clicks = rng.random(400) < 0.2
    for k in range(400):
        decisions.append(player.select())
        if clicks[k]:
            player.update(decisions[k], 1.0)
    before = player.lift()
    first = int(np.argmax(clicks)) + 1  # before that there was no centre
    weights = weights_of(decisions, 0.3, 3)
    rewards = clicks.astype(float)
    terms = [(rewards[k] - rewards[:k].mean()) * weights[k] for k in range(first, 400)]
    assert before.decisions == 400 - first
    assert before.lift == pytest.approx(np.mean(terms))
    assert player.core.ledger.numbers[at.LIFT_SQUARES] == pytest.approx(np.square(terms).sum())
    # what is silent now stays so: nothing changes when the window is over
    for decision in player.outstanding:
        player.update(decision, 0.0)
    assert player.lift() == before


def test_history_gives_a_centre_and_is_not_compared() -> None:
    player = policies.UCB1().online(ARMS, compiled=False, explore=0.5)
    player.learn(["a", "b", "c"], [1.0, 0.0, 0.5])
    assert player.lift().decisions == 0
    decision = player.select()
    player.update(decision, 1.0)
    assert player.lift().lift == pytest.approx(0.5 * weights_of([decision], 0.5, 3)[0])
    player.update(player.select(among=["b"]), 1.0)  # nothing to compare
    assert player.lift().decisions == 1


def test_the_lift_is_unbiased() -> None:
    """The mean weight is zero, and the weighted rewards have the policy's mean less the others'."""
    for explore, arms in [(0.02, 2), (0.3, 7), (0.9, 3)]:
        means = np.linspace(0.1, 0.9, arms)
        chance = np.full(arms, explore / arms)
        chance[-1] += 1 - explore  # the policy's arm
        weights = ((np.arange(arms) == arms - 1) - 1 / arms) / chance
        assert chance @ weights == pytest.approx(0, abs=1e-12)
        assert chance @ (weights * means) == pytest.approx(means[-1] - means.mean())
        assert lift.largest_weight(explore, arms) == pytest.approx(np.abs(weights).max())
    pay = {"a": 0.1, "b": 0.2, "c": 0.9}
    player, _, _ = played(4000, 0.3, reward=lambda decision, rng: pay[decision.arm])
    found = player.lift(between=(0, 1))
    error = math.sqrt(player.core.ledger.numbers[at.LIFT_SQUARES]) / found.decisions
    assert abs(found.equal - 0.4) < 4 * error
    assert abs(found.policy - 0.9) < 0.05  # UCB1 soon takes c
    assert found.low < found.lift < found.high
    assert found.low > 0.3


def test_a_saved_player_compares_on() -> None:
    player, _, _ = played(100)
    again = Player.from_bytes(player.to_bytes())
    assert again.lift() == player.lift()
    for one in (player, again):
        one.update(one.select(), 1.0)
    assert again.lift() == player.lift()


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (at.LIFT_COUNT, 1e6),
        (at.LIFT_COUNT, math.nan),
        (at.LIFT_SQUARES, -1.0),
        (at.LIFT_OTHERS, -1.0),
        (at.LIFT_OTHERS, 100.0),
        (at.LIFT_CONTROL, math.inf),
    ],
)
def test_sums_that_cannot_be_are_refused(place: int, value: float) -> None:
    saved = saving.saved_of(played(100)[0].core.snapshot())
    saved.ledger["numbers"][place] = value
    with pytest.raises(ValueError, match="its control group cannot be"):
        Player.from_bytes(saving.write_bytes(saved))


def test_looking_changes_nothing() -> None:
    player, _, _ = played(100)
    before = player.to_bytes()
    player.lift()
    assert player.to_bytes() == before


def test_without_a_control_group_it_is_refused() -> None:
    player = policies.UCB1().online(ARMS, compiled=False)
    with pytest.raises(ValueError, match="explore must be above 0"):
        player.lift()


@pytest.mark.parametrize(
    "wrong", [(1, 0), (0, 0), 3, "01", (0, 1, 2), (0, math.inf), (0, 0.5), (0.5, 2)]
)
def test_a_range_that_cannot_be_is_refused(wrong: Any) -> None:
    player, _, _ = played(50)
    with pytest.raises(ValueError, match="between must"):
        player.lift(between=wrong)


def test_levels_and_their_order() -> None:
    player, _, _ = played(500)
    for wrong in (0, 1, 95, None):
        with pytest.raises(ValueError, match="level must be a number > 0 and < 1"):
            player.lift(level=wrong)  # type: ignore[arg-type]
    wide, narrow = player.lift(level=0.99), player.lift(level=0.5)
    assert wide.low < narrow.low < narrow.lift < narrow.high < wide.high


def test_before_there_is_anything_to_say() -> None:
    player, _, _ = played(0)
    found = player.lift()
    assert math.isnan(found.lift)
    assert (found.low, found.high) == (-math.inf, math.inf)
    assert str(found).startswith("no estimate yet")
    assert player.lift(between=(0, 2))[3:5] == (-2, 2)
    few, _, _ = played(20, 0.05)
    assert (few.lift().low, few.lift().high) == (-math.inf, math.inf)
    assert "no interval yet" in str(few.lift())
    low, high = few.lift(between=(0, 1))[3:5]
    assert (low, high) == (-1, 1)  # as far as a lift can be


def test_the_sentence() -> None:
    found = Lift(0.047, 0.035, 0.012, 0.004, 0.021, 0.95, 20_000, 1_012)
    assert str(found) == (
        "the policy earns 0.012 (34 %) more a decision than equal shares (95 % interval 0.004 to "
        "0.021, whenever you look); 20,000 decisions, 1,012 in the control group"
    )
    assert "0.012 less" in str(found._replace(equal=-1.0, lift=-0.012))


def test_the_bound_is_the_root_of_the_evidence_and_rises() -> None:
    squares = np.array([0.0, 1e-3, 1.0, 30.0, 1e4, 1e9])
    bound = lift.furthest(squares, 0.025)
    assert lift.evidence(bound, squares) == pytest.approx(math.log(40))
    assert np.all(np.diff(bound) > 0)
    assert lift.furthest(30.0, 0.025) == bound[3]
    # no bound for all times is below the best one for a single time, nor much above it
    slopes = np.linspace(1e-5, 0.999, 100_000)
    once = [
        np.min((math.log(40) + (-np.log1p(-slopes) - slopes) * v) / slopes) for v in squares[2:]
    ]
    assert np.all(bound[2:] > once)
    assert np.all(bound[2:] < 1.7 * np.array(once))


def test_one_step_of_the_supermartingale() -> None:
    """exp(h x - psi(h) x^2) <= 1 + h x for x >= -1: what all rests on, and it fails below."""
    x = np.linspace(-1, 30, 2000)
    for slope, psi in zip(lift._SLOPE[:20], lift._PSI[:20], strict=True):
        assert np.all(np.exp(slope * x - psi * x * x) <= 1 + slope * x + 1e-12)
    assert np.exp(lift._LOG_WEIGHT).sum() < 1


def test_the_width_shrinks_as_the_root_of_the_decisions() -> None:
    """With squares in proportion to n: like sqrt(log log n / n), for large n."""
    n = 10.0 ** np.arange(4, 10)
    scaled = lift.half_width(n, 0.2 * n, 20.0, 0.95) * np.sqrt(n / np.log(n))
    assert np.all(np.diff(scaled) < 0)
    assert scaled[-1] > 0.5 * scaled[2]


@pytest.mark.parametrize(
    "case",
    [
        study.Case("no lift", 2, 0.2, 0.01, 0.01, False),
        study.Case("worse than equal", 10, 0.2, 0.001, 0.03, True),
        study.Case("rotting", 10, 0.02, 0.05, 0.01, True, rots=True),
        study.Case("ten sigmas", 2, 0.2, 15.0, 5.0, True, "gaussian"),
    ],
    ids=lambda case: str(case.name),
)
def test_it_holds_whenever_one_looks(case: study.Case) -> None:
    runs = 80
    found = study.misses(case, study.play(case, runs, 1500), study.range_of(case))
    most = 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)
    assert not found["given"] > most  # NaN where there is no range
    assert found["seen"] <= most
    assert found["textbook"] > 0.2  # an interval for one look does not


def test_the_study_on_record_holds() -> None:
    recorded = json.loads(RESULTS.read_text())
    most = 0.05 + 3 * math.sqrt(0.05 * 0.95 / recorded["runs"])
    rows = recorded["rows"]
    assert [row["name"] for row in rows] == [case.name for case in study.cases()]
    assert all(row["given"] is None or row["given"] <= most for row in rows)
    assert all(row["seen"] <= most for row in rows if row["rewards"] != "purchases")
