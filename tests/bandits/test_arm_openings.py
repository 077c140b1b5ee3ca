"""Opening times of arms: arguments, storage, display and refusals."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest

from rotting import Arm, NoNoise, RandomArms, Scenario, models
from rotting.bandits import Opening

ARMS = [Arm(models.Constant(value)) for value in (0.3, 0.5, 0.9)]


def scenario(openings: Any, horizon: int = 20) -> Scenario:
    return Scenario(ARMS, NoNoise(), horizon, openings=openings)


def test_what_is_said_is_kept_in_order() -> None:
    said = {2: (11, None), 0: [(8, 12), (1, 5)]}
    made = scenario(said)
    assert made.openings == (Opening(0, 1, 5), Opening(0, 8, 12), Opening(2, 11, None))
    rounds, flags = made.changes()
    assert rounds.tolist() == [1, 6, 8, 11, 13]
    assert flags.tolist() == [[1, 1, 0], [0, 1, 0], [1, 1, 0], [1, 1, 1], [0, 1, 1]]
    assert made.closes
    assert made.first_arms == 2
    # the same again, said as it is kept, and in other words
    for same in (made.openings, [list(o) for o in made.openings], {**said, 1: (1, None)}):
        assert scenario(same) == made
        assert hash(scenario(same)) == hash(made)
    assert scenario({**said, 0: [(1, 3), (2, 5), (8, 9), (10, 12)]}) == made
    assert scenario({**said, 0: (None, 5)}) != made
    assert pickle.loads(pickle.dumps(made)) == made


def test_flags_are_those_of_a_round_by_round_look() -> None:
    draw = np.random.default_rng(5)
    for _ in range(50):
        said = {}
        for arm in (0, 2):
            firsts = draw.integers(1, 25, size=draw.integers(1, 4))
            said[arm] = [(int(f), int(f + draw.integers(0, 9))) for f in firsts]
        made = scenario(said)
        rounds, flags = made.changes()
        for t in range(1, 21):
            row = flags[np.searchsorted(rounds, t, side="right") - 1]
            for arm, intervals in said.items():
                assert row[arm] == any(first <= t <= last for first, last in intervals)
            assert row[1] == 1
        assert made.first_arms == flags[0].sum()


@pytest.mark.parametrize("nothing", [None, {}, {1: (1, None)}, {0: [(1, 4), (5, None)]}, []])
def test_where_nothing_closes_all_is_as_without(nothing: Any) -> None:
    plain = Scenario(ARMS, NoNoise(), 20)
    assert scenario(nothing) == plain
    assert repr(scenario(nothing)) == repr(plain)
    assert "openings" not in repr(plain)
    assert not plain.closes
    assert plain.first_arms == 3


def test_shown_as_said() -> None:
    made = scenario({2: (11, None), 0: [(8, 12), (1, 5)]})
    assert repr(made).endswith("name='', openings={0: [(1, 5), (8, 12)], 2: (11, None)})")
    short = dataclasses.replace(made, horizon=4)
    assert short.openings == made.openings
    assert short.first_arms == 2
    beyond = scenario({0: (1, 30)})
    assert not beyond.closes  # it closes after the end
    assert dataclasses.replace(beyond, horizon=31).closes


REFUSED: list[tuple[str, Any]] = [
    ("arm in openings must be an integer from 0 to 2, got 7", {7: (1, 2)}),
    ("arm in openings must be an integer from 0 to 2, got -1", {-1: (1, 2)}),
    ("arm in openings must be an integer from 0 to 2, got 'a'", {"a": (1, 2)}),
    ("last round in openings of arm 0 must be an integer >= 5, got 2", {0: (5, 2)}),
    ("first round in openings of arm 1 must be an integer >= 1, got 0", {1: (0, 2)}),
    ("openings of arm 0 must be .first, last., got .1, 2, 3.", {0: (1, 2, 3)}),
    ("openings of arm 0 must be .first, last. or a list of these, got 3", {0: 3}),
    (r"openings of arm 0 must be .first, last. or a list of these, got \[\]", {0: []}),
    ("openings must be a dict, as .*, got 'always'", "always"),
    ("openings must be a dict, as .*, got 5", 5),
    (r"openings must be a dict, as .*, got \(1, 2\) in a list", [(1, 2)]),
    (
        "leave an arm open in every round up to the horizon 20, but in round 8 all are closed",
        {0: (1, 5), 1: [(1, 7), (9, None)], 2: (12, None)},
    ),
    ("but in round 1 all are closed", {0: (2, None), 1: (3, None), 2: (2, None)}),
]


@pytest.mark.parametrize(("words", "openings"), REFUSED, ids=[words for words, _ in REFUSED])
def test_refused(words: str, openings: Any) -> None:
    with pytest.raises(ValueError, match=words):
        scenario(openings)


def test_rounds_after_the_horizon_may_be_empty() -> None:
    """They are refused once the horizon reaches them."""
    made = scenario(dict.fromkeys(range(3), (1, 20)))
    assert not made.closes
    with pytest.raises(ValueError, match="but in round 21 all are closed"):
        dataclasses.replace(made, horizon=21)


def test_random_arms_come_and_go_too() -> None:
    arms = RandomArms(models.Plateau(length=5).over([0.1, 0.4]), 3)
    assert Scenario(arms, NoNoise(), 9, openings={2: (4, None)}).first_arms == 2
    with pytest.raises(ValueError, match="from 0 to 2, got 3"):
        Scenario(arms, NoNoise(), 9, openings={3: (4, None)})
