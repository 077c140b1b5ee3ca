"""The part that keeps which arms are open."""

from __future__ import annotations

import numpy as np
import pytest

from rotting import policies
from rotting.kernel.state import check, kinds
from rotting.policies.parts import arms as counting
from rotting.policies.parts.openings import (
    AllOpen,
    OpenArms,
    closable,
    is_open,
    may_close,
    next_open,
    nth_open,
    open_arms,
    set_open_flags,
)


def some(*flags: int) -> OpenArms:
    return OpenArms(np.array(flags), np.array([sum(flags)]))


def test_where_nothing_closes_all_are_open() -> None:
    opening = AllOpen()
    assert not may_close(opening)
    assert all(is_open(opening, arm) for arm in range(4))
    assert open_arms(opening, 4) == 4
    assert [nth_open(opening, 4, n) for n in range(4)] == [0, 1, 2, 3]
    assert [next_open(opening, 4, last) for last in range(-1, 4)] == [0, 1, 2, 3, 0]


def test_what_is_asked_of_open_arms() -> None:
    opening = some(0, 1, 0, 1, 1)
    assert may_close(opening)
    assert [bool(is_open(opening, arm)) for arm in range(5)] == [False, True, False, True, True]
    assert open_arms(opening, 5) == 3
    assert [nth_open(opening, 5, n) for n in range(3)] == [1, 3, 4]
    assert nth_open(opening, 5, 3) == 4  # a draw of one, by rounding
    assert [next_open(opening, 5, last) for last in range(-1, 5)] == [1, 1, 3, 3, 4, 1]
    set_open_flags(opening, np.array([1, 0, 0, 0, 0]))
    assert opening.flags.tolist() == [1, 0, 0, 0, 0]
    assert opening.count.tolist() == [1]
    assert [next_open(opening, 5, last) for last in range(-1, 5)] == [0] * 6


def test_a_closable_state_has_the_part_wherever_arms_are_counted() -> None:
    policy = policies.UCB1()
    state = policy.verbs.init(policy.prepare(3, None, 10), 3, 10)
    closing = closable(state)
    assert AllOpen in kinds(state)
    assert AllOpen not in kinds(closing)
    assert closing.arms.opening.flags.tolist() == [1, 1, 1]
    assert closing.arms.opening.count.tolist() == [3]
    assert closing.arms.pulls is state.arms.pulls
    check(closing, closing)
    for flags, count in (([1, 1, 0], 3), ([0, 0, 0], 1)):
        wrong = closing.arms._replace(opening=OpenArms(np.array(flags), np.array([count])))
        with pytest.raises(ValueError, match=r"count must be the \d open arms, got"):
            check(closing._replace(arms=wrong), closing)


def test_arms_that_ramp_up_are_counted_anew() -> None:
    arms = closable(counting.no_pulls(4))
    for arm in (0, 0, 1):
        arms.pulls[arm] += 1
        counting.rewarded(arms, arm, 2)
    assert arms.clock.tolist() == [0, 3, 0]
    assert counting.next_untried(arms, 2) == 2
    for flags, need, waiting in (([1, 1, 1, 0], 2, 2), ([1, 1, 0, 0], 1, 0), ([0, 0, 1, 1], 1, 2)):
        counting.set_open_arms(arms, np.array(flags), need)
        assert arms.clock[1:].tolist() == [waiting, 0]
    assert counting.next_untried(arms, 1) == 2
    counting.set_open_arms(arms, np.array([1, 0, 0, 1]), 1)
    assert counting.next_untried(arms, 1) == 3
