"""The tournament tree chooses what a scan over all arms chooses."""

from __future__ import annotations

import numpy as np
import pytest

from rotting import Gaussian, RandomArms, Scenario, models, policies, simulate
from rotting.policies import Policy
from rotting.policies.parts import tree

FAMILY = models.Plateau(length=3).over([0.1, 0.25, 0.4])
POLICIES = [
    policies.CTO(FAMILY),
    policies.GreedyLast(),
    policies.SWA(0.05, 0.3),
    policies.Posterior(FAMILY, 0.3),
    policies.Posterior(FAMILY, 0.3, constants=True, rule="upper"),
]


@pytest.mark.parametrize("engine", ["cpu", "reference"])
@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.key + str(policy)[-12:])
def test_same_decisions_as_a_scan(
    policy: Policy, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """150 and 129 arms, with many ties: plateaus, and little noise."""
    for arms in (129, 150):
        scenario = Scenario(RandomArms(FAMILY, arms), Gaussian(0.05), 900)
        by_tree = simulate(policy, scenario, runs=3, engine=engine)
        with monkeypatch.context() as patch:
            patch.setattr(tree, "FROM", 10**9)
            by_scan = simulate(policy, scenario, runs=3, engine=engine)
        np.testing.assert_array_equal(by_tree.pulls, by_scan.pulls)
        np.testing.assert_array_equal(by_tree.regret, by_scan.regret)


def test_late_rewards_mend_the_whole_tree() -> None:
    player = policies.CTO(FAMILY).online(range(140), compiled=False, seed=1)
    waiting = [player.select() for _ in range(300)]
    for decision in reversed(waiting):
        player.update(decision, 0.5)
    assert player._state.changed[0] == tree.MANY
    values, pulls = player._state.next_mean.copy(), player._state.pulls.copy()
    best = np.flatnonzero(values == values.max())
    least = best[pulls[best] == pulls[best].min()]
    assert player.select().arm in least
