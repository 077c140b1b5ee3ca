"""Arms without a reward come first, but never one that was pulled more than another."""

from __future__ import annotations

import pytest

from helpers.cases import FAMILY, name_of
from rotting import models, policies
from rotting.policies import Policy

ONE_REWARD: list[Policy] = [
    policies.UCB1(),
    policies.DUCB(gamma=0.97),
    policies.SWUCB(tau=40),
    policies.DTS(gamma=0.95, sigma=0.4),
    policies.SWTS(tau=40, sigma=0.4),
    policies.GreedyLast(),
    policies.RAWUCB(sigma=0.5),
    policies.EFFRAWUCB(sigma=0.5),
    policies.GLRUCB(sigma=0.5),
    policies.CTO(FAMILY),
    policies.CCTO(models.Polynomial().between(0.1, 0.4, 9)),
    policies.LCTO(FAMILY),
    policies.Posterior(FAMILY, sigma=0.4),
]


@pytest.mark.parametrize("policy", ONE_REWARD, ids=name_of)
def test_an_arm_that_has_not_answered_is_asked_again(policy: Policy) -> None:
    player = policy.online(range(3), seed=2, compiled=False)
    first = [player.select() for _ in range(3)]
    assert [decision.arm for decision in first] == [0, 1, 2]
    player.update(first[0], 0.5)
    player.update(first[2], 0.4)
    again = player.select()
    assert again == (1, 2)  # the only one without a reward, and pulled as often as the others
    following = player.select()
    assert following.arm in (0, 2)  # now it is pulled more than they are, and has no index
