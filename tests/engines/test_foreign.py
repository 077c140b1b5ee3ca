"""Players of other classes are simulated as they are."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from helpers.cases import Copycat, scenarios
from rotting import policies, simulate


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


@pytest.mark.parametrize(
    "generator",
    [random.Random(1), np.random.default_rng(1), np.random.RandomState(1)],
    ids=lambda generator: type(generator).__name__,
)
def test_an_object_that_would_repeat_its_draws_is_told_so(generator: Any) -> None:
    dice = Dice(1)
    dice.rng = generator
    told = r"Dice holds a random generator \(rng\) .* all 3 runs repeat .* lambda seed: Dice\("
    dice.select = lambda: 0  # type: ignore[method-assign]
    with pytest.warns(UserWarning, match=told):
        simulate(dice, scenarios()["fixed"], runs=3)
    simulate(dice, scenarios()["fixed"], runs=1)  # nothing to repeat
    simulate(lambda seed: Dice(seed), scenarios()["fixed"], runs=2)


def test_an_impossible_choice_of_a_users_object_is_refused() -> None:
    with pytest.raises(ValueError, match="select\\(\\) must choose one of the arms"):
        simulate(Copycat(4), scenarios()["fixed"], runs=1)
