"""The tournament tree chooses what a scan over all arms chooses."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.cases import examples, name_of
from rotting import Gaussian, RandomArms, Scenario, models, policies, simulate
from rotting.kernel.random import new_draw, tie
from rotting.kernel.state import check, kinds
from rotting.policies import POLICIES, Policy
from rotting.policies.parts import ranking
from rotting.policies.parts.openings import AllOpen, OpenArms, set_open_flags

FAMILY = models.Plateau(length=3).over([0.1, 0.25, 0.4])


def is_ranked(policy: Policy) -> bool:
    """Whether its state, or that of a policy in it, ranks the arms."""
    params = policy.prepare(3, 900, 900)
    return ranking.Ranking in kinds(policy.verbs.init(params, 3, 900))


RANKED = [policy for policy in examples() if is_ranked(policy)]


def test_all_that_rank_arms_are_here() -> None:
    """Found by their states; these are among them."""
    found = {type(policy).__name__ for policy in RANKED}
    known = {"CTO", "CCTO", "LCTO", "SWA", "WSWA", "GreedyLast", "Posterior", "Guarded"}
    assert known <= found
    assert found < {kind.__name__ for kind in POLICIES.values()}


@pytest.mark.parametrize("engine", ["cpu", "reference"])
@pytest.mark.parametrize("policy", RANKED, ids=name_of)
def test_same_decisions_as_a_scan(
    policy: Policy, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """150 and 129 arms, with many ties: plateaus, and little noise. Plain Python plays one run."""
    runs = 3 if engine == "cpu" else 1
    for arms in (129, 150):
        scenario = Scenario(RandomArms(FAMILY, arms), Gaussian(0.05), 900)
        by_tree = simulate(policy, scenario, runs=runs, engine=engine)
        with monkeypatch.context() as patch:
            patch.setattr(ranking, "TREE_FROM", 10**9)
            by_scan = simulate(policy, scenario, runs=runs, engine=engine)
        np.testing.assert_array_equal(by_tree.pulls, by_scan.pulls)
        np.testing.assert_array_equal(by_tree.regret, by_scan.regret)


@pytest.mark.parametrize("arms", [1, 2, 5, 47, 48, 49, 64, 100])
def test_the_best_is_the_best_of_all(arms: int) -> None:
    """Values of few kinds, so that many tie, changed for one arm, for several or for none."""
    rng = np.random.default_rng(arms)
    plain, pulled = ranking.unranked(arms), ranking.unranked(arms)
    assert (plain.tree.size > 1) == (arms >= 48)
    draw, pulls = new_draw(1), np.zeros(arms, dtype=np.int64)
    for _ in range(300):
        for arm in rng.integers(arms, size=rng.choice([0, 1, 1, 1, 2, 5])):
            value = float(rng.integers(-2, 3))
            ranking.rank(plain, arm, value)
            ranking.rank(pulled, arm, value)
        first = ranking.best(plain, AllOpen(), draw)
        assert first == int(np.argmax(plain.value))
        found = ranking.best_least_pulled(pulled, pulls, AllOpen(), draw)
        tied = [i for i in range(arms) if pulled.value[i] == pulled.value.max()]
        assert found == min(tied, key=lambda i: (pulls[i], tie(draw, i, pulls[i] + 1)))
        pulls[found] += 1
        ranking.rank(pulled, found, pulled.value[found])  # as after its reward
        ranking.rank(plain, found, plain.value[found])


@pytest.mark.parametrize("arms", [2, 5, 47, 48, 64, 100])
def test_the_best_of_the_open_arms(arms: int) -> None:
    """Arms close and open between decisions; scan and tree find the same."""
    rng = np.random.default_rng(arms)
    plain, pulled = ranking.unranked(arms), ranking.unranked(arms)
    draw, pulls = new_draw(1), np.zeros(arms, dtype=np.int64)
    opening = OpenArms(np.ones(arms, dtype=np.int64), np.full(1, arms))
    for t in range(200):
        if t % 3 == 0:
            flags = (rng.random(arms) < rng.random()).astype(np.int64)
            flags[rng.integers(arms)] = 1
            set_open_flags(opening, flags)
            ranking.rerank(plain)
            ranking.rerank(pulled)
        for arm in rng.integers(arms, size=rng.choice([0, 1, 1, 1, 2, 5])):
            value = float(rng.integers(-2, 3))
            ranking.rank(plain, arm, value)
            ranking.rank(pulled, arm, value)
        seen = np.where(opening.flags == 1, plain.value, -np.inf)
        found = ranking.best_least_pulled(pulled, pulls, opening, draw)
        tied = [i for i in np.flatnonzero(opening.flags) if pulled.value[i] == seen.max()]
        assert ranking.best(plain, opening, draw) == tied[0]
        assert found == min(tied, key=lambda i: (pulls[i], tie(draw, int(i), pulls[i] + 1)))
        pulls[found] += 1
        ranking.rank(pulled, found, pulled.value[found])
        ranking.rank(plain, found, plain.value[found])


def test_late_rewards_update_the_whole_tree() -> None:
    player = policies.CTO(FAMILY).online(range(140), compiled=False, seed=1)
    waiting = [player.select() for _ in range(300)]
    for decision in reversed(waiting):
        player.update(decision, 0.5)
    assert player.core.state.ranking.changed[0] == ranking.MANY
    values, pulls = player.core.state.ranking.value.copy(), player.core.state.arms.pulls.copy()
    best = np.flatnonzero(values == values.max())
    least = best[pulls[best] == pulls[best].min()]
    assert player.select().arm in least


@pytest.mark.parametrize("arms", [1, 2, 5, 48, 65])
def test_what_is_known_of_the_order(arms: int) -> None:
    """The leader, the runner-up's value, and whose value has changed since."""
    rng = np.random.default_rng(arms)
    kept, draw = ranking.unranked(arms), new_draw(2)
    for _ in range(200):
        touched: set[int] = set()
        before = int(kept.leader[0])
        fresh = kept.changed[0] == ranking.MANY
        for arm in rng.integers(arms, size=rng.choice([0, 1, 1, 2, 3])).tolist():
            ranking.rank(kept, arm, float(rng.normal()))
            touched |= {arm} - {before}
            if not fresh:
                alone = min(touched, default=ranking.NOTHING)
                assert kept.changed[0] == (alone if len(touched) < 2 else ranking.MANY)
        found = ranking.best(kept, AllOpen(), draw)
        assert found == kept.leader[0] == int(np.argmax(kept.value))
        assert kept.changed[0] == ranking.NOTHING
        if arms < 48 and (fresh or touched):
            assert kept.rival[0] == max(np.delete(kept.value, found), default=-np.inf)


@pytest.mark.parametrize("least_pulled", [False, True])
def test_a_leader_that_falls_behind_is_replaced(least_pulled: bool) -> None:
    """The others' values are those of the last scan, also where the first arm led before."""
    kept, pulls, draw = ranking.unranked(3), np.zeros(3, dtype=np.int64), new_draw(0)

    def best() -> int:
        if least_pulled:
            return int(ranking.best_least_pulled(kept, pulls, AllOpen(), draw))
        return int(ranking.best(kept, AllOpen(), draw))

    for arm, value in enumerate([1.0, 5.0, 0.0]):
        ranking.rank(kept, arm, value)
    assert best() == 1
    ranking.rank(kept, 0, 3.0)
    assert best() == 1
    ranking.rank(kept, 1, 3.5)  # the leader's own: it leads still
    assert kept.changed[0] == ranking.NOTHING
    assert best() == 1
    ranking.rank(kept, 1, 2.5)
    assert best() == kept.leader[0] == 0
    assert kept.rival[0] == 2.5
    assert kept.changed[0] == ranking.NOTHING


@pytest.mark.parametrize(("arms", "leaves"), [(48, 64), (63, 64), (64, 64), (65, 128), (129, 256)])
def test_a_tree_has_the_next_power_of_two_as_leaves(arms: int, leaves: int) -> None:
    tree = ranking.unranked(arms).tree
    assert tree.size == 2 * leaves
    assert tree[leaves:].tolist() == [*range(arms), *[-1] * (leaves - arms)]
    assert set(tree[:leaves]) == {-1}


@pytest.mark.parametrize("arms", [3, 50])
def test_what_a_loaded_ranking_may_say(arms: int) -> None:
    """In saved players -1 stands for no value that has changed, -2 for many."""
    fresh = ranking.unranked(arms)
    check(fresh, fresh)
    assert fresh.changed[0] == ranking.MANY == -2
    ranking.best(fresh, AllOpen(), new_draw(0))
    assert fresh.changed[0] == ranking.NOTHING == -1
    for code in (-2, arms - 1, 0, arms // 2):
        check(fresh._replace(changed=np.array([code])), fresh)
    for code in (-3, arms):
        with pytest.raises(ValueError, match="changed of the state must lie between"):
            check(fresh._replace(changed=np.array([code])), fresh)
