"""Every policy through random events: a compiled and a plain player and a naive twin agree."""

from __future__ import annotations

from collections import Counter

import pytest

import lockstep
from helpers.cases import examples, name_of, slow
from helpers.happenings import TEMPERS, WAYS, DivergedError
from rotting import policies
from rotting.policies import Policy

STEPS = 100_000  # in all; `make lockstep` does ten million
EPISODES = len(TEMPERS)


# batches are compiled separately, which takes as long again; test_batches.py has two policies
@pytest.mark.parametrize("single", [True, pytest.param(False, marks=pytest.mark.long)])
@pytest.mark.parametrize("policy", examples(), ids=name_of)
def test_compiled_and_plain_do_the_same_whatever_happens(policy: Policy, single: bool) -> None:
    steps = -(-STEPS // (EPISODES * len(examples())))
    steps = steps // 5 if slow(policy) else steps
    for number in range(EPISODES):
        lockstep.check_episode(policy, seed=0, number=number, steps=steps, single=single)


@pytest.mark.parametrize("episodes", [10, pytest.param(50, marks=pytest.mark.long)])
def test_everything_happens(episodes: int) -> None:
    """Of one policy, in up to as many steps as above."""
    happened: Counter[str] = Counter()
    for number in range(episodes * EPISODES):
        run = lockstep.Lockstep(policies.RoundRobin(), 0, number)
        run.run(200)
        happened += run.happened
    verbs = ["select", "update", "drop", "select_many", "update_many", "expire", "learn"]
    verbs += ["add", "retire", "restore"]
    kept = {f"{which} by {way}" for which in ("compiled", "plain") for way in WAYS}
    done = {f"{verb} {how}" for verb in verbs for how in ("returned", "ValueError")}
    assert set(happened) == done | kept | {"lost"}
    assert min(happened.values()) >= episodes // 5


def test_a_difference_is_noticed_and_can_be_played_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """One reward that only the plain player hears about."""
    run = lockstep.Lockstep(policies.UCB1(), 0, 0)
    run.run(100)
    slow = run.players[1]
    slow.learn(["a"], [1.0])
    with pytest.raises(DivergedError, match=r"waiting|ledger|compiled .* plain"):
        run.run(10)
    monkeypatch.setattr(lockstep.Lockstep, "compare", lambda self: 1 / 0)
    with pytest.raises(DivergedError, match="UCB1, seed 3, episode 2, at step 5 ") as told:
        lockstep.check_episode(policies.UCB1(), seed=3, number=2, steps=5)
    place = examples().index(policies.UCB1())
    assert str(told.value).endswith(f"--policy {place} --seed 3 --episode 2 --steps 5")
