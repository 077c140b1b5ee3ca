"""Players of audiences: their decisions, refusals, and the case of a single key."""

from __future__ import annotations

import enum
import json
import random
import re
import sys
import threading
from types import FrameType
from typing import Any

import numpy as np
import pytest

from helpers.cases import examples, name_of
from helpers.damaged_files import forged
from rotting import (
    Arm,
    AssignedShowing,
    AudiencePlayer,
    Curves,
    HalfLife,
    Player,
    Showing,
    Window,
    models,
    policies,
)
from rotting._live.ledger import FURTHEST
from rotting._online import keys as module
from rotting._online.curves import keeps_curves
from rotting.kernel.verbs import KINDS, score
from rotting.policies import (
    LCTO,
    UCB1,
    Capped,
    CellUCB,
    Fatigue,
    Mixture,
    Oracle,
    PerKey,
    Policy,
    SteadyUCB,
)
from rotting.policies.parts.exposures import present_key

FAMILY = models.Plateau(length=2).over([0.1, 0.3, 0.45])


CTO = policies.CTO(FAMILY)


PLAYABLE = [policy for policy in examples() if not policy.no_audience]


REFUSING = {type(policy): policy for policy in examples() if policy.no_audience}


def audience(policy: Policy = CTO, **settings: Any) -> AudiencePlayer:
    if policy.needs_horizon:
        settings = {"horizon": 3000, **settings}
    return policy.audience(["a", "b", "c"], **{"compiled": False, **settings})


# compiled code divides by zero without a word
@pytest.mark.parametrize("policy", PLAYABLE, ids=name_of)
def test_one_key_is_the_plain_player(policy: Policy) -> None:
    """Decision by decision, with late, lost and restricted ones, counted by key or pooled."""
    settings: dict[str, Any] = {"horizon": 3000} if policy.needs_horizon else {}
    plain = policy.online(["a", "b", "c"], seed=3, compiled=False, **settings)
    single = audience(policy, seed=3)
    rng, waiting = random.Random(2), []
    for _ in range(120):
        among = rng.sample("abc", 2) if rng.random() < 0.2 else None
        decision, showing = plain.select(among), single.select("only", among)
        assert showing == ("only", *decision)
        waiting.append(decision)
        while len(waiting) > 8 or (waiting and rng.random() < 0.5):
            late = waiting.pop(rng.randrange(len(waiting)))
            if rng.random() < 0.9:
                reward = rng.gauss(0.5 / late.pull**0.3, 0.3)
                plain.update(late, reward)
                single.update(("only", *late), reward)


@pytest.mark.parametrize(
    ("policy", "settings"),
    [
        (CTO, {}),
        (CTO, {"reward_window": 6, "default_reward": 0.2}),
        (CTO, {"rest": HalfLife(4.0)}),
        (policies.LCTO(models.Polynomial().over([0.1, 0.3, 0.9])), {}),
    ],
    ids=["CTO", "expiring", "fading", "L-CTO"],
)
def test_the_arm_is_the_best_for_the_key_whoever_was_rewarded_last(
    policy: Policy, settings: Any
) -> None:
    """Late rewards of other keys come in between; each arm's score is refreshed."""
    player = audience(policy, **settings)
    rng, waiting, compared = random.Random(5), [], 0
    for _ in range(400):
        key = rng.choice((1, 1, 1, *range(12)))
        among = rng.sample("abc", 2) if rng.random() < 0.2 else None
        player.expire()
        tried = all(row.observed for row in player.table())
        decision = player.select(key, among)
        if tried:
            keys: Any = player.core.keys
            place = keys.numbers[key]
            after = player.core.state.arms.exposure
            fresh = np.array(getattr(after, "effective", after.counts), dtype=float)
            # a little more than was added, which was rounded to 32 bits
            fresh[place, player.arms.index(decision.arm)] -= 1.000001
            worth = {
                arm: score(player.core.params, player.core.state, n, int(fresh[place, n] + 0.5) + 1)
                for n, arm in enumerate(player.arms)
                if among is None or arm in among
            }
            assert worth[decision.arm] == max(worth.values())
            compared += len(set(worth.values())) > 1
        waiting.append(decision)
        while len(waiting) > 4 and rng.random() < 0.8:
            late = waiting.pop(rng.randrange(len(waiting)))
            if late in player.outstanding:
                player.update(late, {"a": 0.9, "b": 0.6, "c": 0.5}[late.arm] + rng.gauss(0.0, 0.2))
    assert compared > 200


def test_a_policy_knows_whose_reward_it_is_told() -> None:
    """Late, by the default, in a batch or from history."""
    player = audience(reward_window=3, default_reward=0.0)
    told = []

    def update(params: Any, state: Any, arm: int, pull: int, reward: float) -> None:
        told.append((int(present_key(state.arms.exposure)), pull))

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(KINDS, CTO.verbs.params, CTO.verbs._replace(update=update))
        ann, bob = player.select("ann"), player.select("bob")
        player.update(ann, 1.0)
        player.update(bob, 1.0)
        player.select("ann", among=[ann.arm])
        player.select_many(["cat"] * 3)  # by the fourth, ann's second is given up
        player.select("cat")
        assert told == [(0, 1), (1, 1), (0, 2)]
        del told[:]
        player.learn(["a", "b"], [0.0, 1.0], keys=["bob", "dan"], pulls=[7, 9])
        assert told == [(1, 7), (3, 9)]


def test_who_hears_of_clicks_only_is_warned_where_it_is_called() -> None:
    player = audience(policies.UCB1())

    def clicks_only() -> None:
        for n in range(3000):
            decision = player.select(n % 9)
            if n % 10 == 0:
                player.update(decision, 1.0)

    with pytest.warns(UserWarning, match="No click is a reward of 0") as told:
        clicks_only()
    assert told[0].filename == __file__


@pytest.mark.parametrize("policy", REFUSING.values(), ids=name_of)
def test_a_policy_that_cannot_says_why(policy: Policy) -> None:
    with pytest.raises(ValueError, match="policy must be one that can play an audience, got") as no:
        audience(policy)
    assert policy.no_audience in str(no.value)


def test_a_decision_names_key_arm_and_the_keys_own_pull() -> None:
    player = audience()
    shown = [player.select(key) for key in ("ann", "bob", "ann", "ann", "bob", "ann")]
    assert all(type(one) is Showing for one in shown)
    counts: dict[Any, int] = {}
    for key, arm, pull in shown:
        counts[key, arm] = counts.get((key, arm), 0) + 1
        assert pull == counts[key, arm]
    controlled = audience(explore=0.5).select("ann")
    assert type(controlled) is AssignedShowing
    assert controlled.key == "ann"
    assert 0.0 < controlled.propensity <= 1.0


@pytest.mark.parametrize("rest", [HalfLife(0.5), Window(1)], ids=repr)
def test_pulls_are_of_all_time_though_counts_fade(rest: Any) -> None:
    """The policy gets the first few pull numbers only, again and again."""
    player = audience(rest=rest)
    for _ in range(30):
        decision = player.select("ann")
        player.update(decision, {"a": 0.9, "b": 0.5, "c": 0.1}[decision.arm])
    assert decision.pull == player.shown("ann")[decision.arm] >= 10
    assert player.core.ledger.clock[FURTHEST] <= 3
    kept = AudiencePlayer.from_json(player.to_json())
    assert kept.rest == rest
    assert kept.select("ann") == player.select("ann")


def test_counting_by_key_makes_a_difference() -> None:
    """Each key is shown the arm that is fresh to it; pooled, all are shown what is fresh to all."""
    player = audience(policies.CTO(models.Polynomial().over([0.1, 0.9])))
    for n in range(60):
        decision = player.select(n % 20)
        player.update(decision, {"a": 0.9, "b": 0.9, "c": 0.1}[decision.arm] ** decision.pull)
    worn = {arm: count for arm, count in player.shown(3).items() if count}
    assert len(worn) >= 2
    assert "keys ignored" not in repr(player)
    pooled = audience(policies.UCB1())
    assert repr(pooled) == "<AudiencePlayer of UCB1, keys ignored: 3 arms, 0 keys, 0 decisions>"
    assert "keys ignored" in pooled.table().title


def test_a_new_key_costs_nothing_until_it_is_seen() -> None:
    player = audience()
    before = player.core.state.arms.exposure.counts.nbytes
    for n in range(1000):
        assert player.shown(n) == {"a": 0, "b": 0, "c": 0}
        player.table(key=n)
    assert player.keys == []
    assert player.core.state.arms.exposure.counts.nbytes == before
    player.retire("a"), player.retire("b"), player.retire("c")
    with pytest.raises(ValueError, match="all be retired"):
        player.select("ann")
    with pytest.raises(ValueError, match="all be retired"):
        player.select_many(["ann", "bob"])
    assert player.keys == []


def test_forgetting_a_key() -> None:
    player = audience()
    for n in range(40):
        player.update(player.select(n % 4), 0.5)
    late, batch = player.select(1), player.select_many([1, 2])
    assert player.table()["a"].observed + player.table()["b"].observed > 0
    learnt = [row.observed for row in player.table()]
    player.forget(1)
    assert player.keys == [0, 2, 3]
    assert player.shown(1) == {"a": 0, "b": 0, "c": 0}
    assert [row.observed for row in player.table()] == learnt  # which stays
    assert [showing.key for showing in player.outstanding] == [2]
    assert player.explain() != "The last decision is not known: its key was forgotten."
    for decision in (late, batch[0]):
        with pytest.raises(ValueError, match="decision must be of a key that was seen, got 1"):
            player.update(decision, 1.0)
    with pytest.raises(ValueError, match="key must be one that was seen, got 1"):
        player.forget(1)
    assert player.select("new").pull == 1
    keys: Any = player.core.keys
    assert len(keys.numbers) + len(keys.spare) == 4  # the place was used again
    with pytest.raises(ValueError, match="of a key that was seen, got 1"):
        player.update_many(batch, [1.0, 1.0])  # though its numbers mean something again
    player.update_many(batch[1:], [1.0])
    player.forget("new")
    assert player.explain() == "The last decision is not known: its key was forgotten."


def test_what_waits_of_a_forgotten_key_gets_the_default() -> None:
    player = audience(reward_window=100, default_reward=0.25)
    made = [player.select(key) for key in ("ann", "bob", "ann")]
    player.forget("ann")
    assert player.outstanding == [made[1]]
    rewarded = [made[0].arm, made[2].arm]
    for row in player.table():
        assert row.observed == rewarded.count(row.arm)
        assert row.mean == (0.25 if row.observed else None)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda p: p.select([]), "key must be hashable, got"),
        (lambda p: p.select(float("nan")), "key must be a label that equals itself, got nan"),
        (lambda p: p.select_many("ann"), "keys must be a list of labels, got 'ann'"),
        (lambda p: p.select_many(7), "keys must be a list of labels, got 7"),
        (lambda p: p.select_many(["ann", {}]), "key must be hashable, got"),
        (lambda p: p.select("ann", among=["z"]), "among must be a list of arms"),
        (lambda p: p.update(("ann", "a"), 1.0), r"decision must be a triple \(key, arm, pull\)"),
        (lambda p: p.update(("ann", "z", 1), 1.0), r"decision must be a triple \(key, arm, pull\)"),
        (lambda p: p.update(("eve", "a", 1), 1.0), "decision must be of a key that was seen"),
        (lambda p: p.update(("ann", "a", 2), 1.0), "the 1 pulls made of arm 'a' for key 'ann'"),
        (lambda p: p.update(("ann", "a", 1), "1"), "reward must be a finite number"),
        (lambda p: p.update_many([("ann", "a", 1)] * 2, [0, 0]), "for key 'ann' must come once"),
        (lambda p: p.update_many([("ann", "a", 1)], [0, 0]), "rewards must be 1, one for each"),
        (lambda p: p.drop(("eve", "a", 1)), "decision must be one that waits for its reward"),
        (lambda p: p.forget("eve"), "key must be one that was seen, got 'eve'"),
        (lambda p: p.learn(["a"], [1.0], keys=[]), "keys must be 1, one for each arm, got 0"),
        (lambda p: p.learn(["a"], [1.0], keys=["ann"], pulls=[1]), "above the 1 pulls made"),
        (lambda p: p.curves(0), "most must be an integer from 1 to 256, got 0"),
    ],
)
@pytest.mark.parametrize("policy", [CTO], ids=["CTO"])
def test_what_is_refused_changes_nothing(policy: Policy, call: Any, match: str) -> None:
    player = audience(policy)
    assert player.select("ann") == ("ann", "a", 1)
    before = player.to_json()
    with pytest.raises(ValueError, match=match):
        call(player)
    assert player.to_json() == before


def test_settings_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="rest must be a HalfLife, a Window or None, got 3"):
        audience(rest=3)
    with pytest.raises(ValueError, match="rest must be None for UCB1, which plays pooled"):
        audience(policies.UCB1(), rest=HalfLife(3.0))
    with pytest.raises(ValueError, match=r"\.audience\(arms, horizon=10_000\)"):
        policies.SWA(alpha=0.2, sigma=0.5).audience(["a", "b"])


def test_history_in_a_frame() -> None:
    frames = pytest.importorskip("pandas")
    frame = frames.DataFrame({"arm": ["a", "b", "a"], "user": [1, 1, 2], "clicked": [0, 1, 1]})
    player = audience()
    assert player.learn(frame, "clicked", keys="user") == 3
    assert player.shown(1) == {"a": 1, "b": 1, "c": 0}
    assert player.keys == [1, 2]
    assert player.explain() == "Nothing was decided since 'a' came last in the history."


def test_batches_are_what_single_calls_give() -> None:
    one, many = audience(seed=1), audience(seed=1)
    keys = [n * n % 37 for n in range(200)]
    batch = many.select_many(np.array(keys))
    assert list(batch) == [one.select(key) for key in keys]
    assert batch.keys == keys
    assert list(batch[3:7]) == list(batch)[3:7]
    rewards = [0.1 * (n % 7) for n in range(200)]
    many.update_many(batch, rewards)
    for decision, reward in zip(batch, rewards, strict=True):
        one.update(decision, reward)
    assert one.to_json() == many.to_json()


def test_a_player_and_one_of_an_audience_are_not_taken_for_each_other() -> None:
    with pytest.raises(ValueError, match="must be that of a Player, got one of an AudiencePlayer"):
        Player.from_json(audience().to_json())
    plain = CTO.online(["a", "b"], compiled=False)
    with pytest.raises(ValueError, match="must be that of an AudiencePlayer, got one of a Player"):
        AudiencePlayer.from_bytes(plain.to_bytes())


class Colour(enum.Enum):
    RED = 1


def test_keys_of_any_kind_are_saved_but_for_members_of_an_enum() -> None:
    player = audience()
    labels: list[Any] = ["ann", 7, None, ("a", 1), 2.5, b"x", np.int64(9)]
    player.select_many(labels)
    assert AudiencePlayer.from_bytes(player.to_bytes()).keys == labels
    player.select(Colour.RED)
    with pytest.raises(ValueError, match="keys must not be members of an Enum to be saved"):
        player.to_json()
    player.forget(Colour.RED)
    player.select(object())
    with pytest.raises(ValueError, match=r"keys must be words, numbers, .* to be saved"):
        player.to_json()


def _set(content: dict[str, Any], field: str, value: Any) -> None:
    content["audience"][field] = value


@pytest.mark.parametrize(
    "damage",
    [
        lambda c: _set(c, "keys", ["ann", "ann"]),
        lambda c: _set(c, "keys", ["ann"]),  # for which another waits
        lambda c: _set(c, "keys", 3),
        lambda c: _set(c, "keys", [[1], "bob"]),
        lambda c: _set(c, "spare", [0, 0]),
        lambda c: _set(c, "spare", [9]),
        lambda c: _set(c, "spare", [True]),
        lambda c: _set(c, "places", 8),
        lambda c: _set(c, "places", 2**40),
        lambda c: _set(c, "places", 32),
        lambda c: _set(c, "rest", 5),
        lambda c: _set(c, "rest", {"type": "HalfLife", "length": 3.0, "unit": "decisions"}),
        lambda c: c.update(audience={}),
        lambda c: c["waiting"][0].__setitem__(6, 5),
        lambda c: c["waiting"][0].__setitem__(7, 200),
        lambda c: c["waiting"][0].__setitem__(1, 2),
        lambda c: c["waiting"][0].pop(),
    ],
)
@pytest.mark.parametrize("policy", [CTO, policies.UCB1()], ids=["by key", "pooled"])
def test_damaged_audiences_are_refused(policy: Policy, damage: Any) -> None:
    player = audience(policy)
    player.select("ann"), player.select("bob")
    content = json.loads(player.to_json())
    del content["checksum"]
    assert AudiencePlayer.from_json(forged(content)).keys == ["ann", "bob"]
    damage(content)
    with pytest.raises(ValueError, match=r"saved state|of the state|must be"):
        AudiencePlayer.from_json(forged(content))


def test_counts_that_no_play_led_to_are_refused() -> None:
    """Compiled code would read wherever they point."""
    for place, value in (("counts", 9), ("current", 10**6)):
        player = audience()
        player.select("ann")
        array = getattr(player.core.state.arms.exposure, place)
        array.reshape(-1)[0] = value
        with pytest.raises(ValueError, match="exposure"):
            AudiencePlayer.from_json(player.to_json())


def test_threads_share_a_player() -> None:
    player = audience(policies.UCB1())
    wrong = []

    def work(thread: int) -> None:
        try:
            for n in range(200):
                player.update(player.select((thread, n % 10)), 0.5)
                player.update_many(player.select_many([n % 7, "all"]), [0.0, 1.0])
                if n % 50 == 0:
                    AudiencePlayer.from_bytes(player.to_bytes())
                    player.forget((thread, n % 10))
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong
    assert sum(player.pulls.values()) == 4 * 600
    assert player.outstanding == []


def test_a_key_with_a_state_of_its_own_is_forgotten_though_it_is_present() -> None:
    player = audience(policies.PerKey(policies.UCB1()))
    for _ in range(20):
        player.update(player.select("ann"), 1.0)
    player.forget("ann")
    per_key = player.core.state.per_key
    assert np.array_equal(per_key.rows[0], per_key.fresh)
    assert per_key.current.inner.arms.pulls.tolist() == [0, 0, 0]
    assert [player.select("bob").arm for _ in range(3)] == ["a", "b", "c"]


THINKING = CellUCB(0.5)  # counts by key, and needs no tables


class Interrupt:
    """Ctrl-C as CPython has it: raised when the n-th call in `keys` begins or returns."""

    def __init__(self, n: int) -> None:
        self.left = n

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        if frame.f_code.co_filename == module.__file__:
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt


def interrupted(n: int, player: AudiencePlayer, name: str, *args: Any) -> bool:
    """Call a method; whether it was interrupted."""
    before = sys.getprofile()
    sys.setprofile(Interrupt(n))
    try:
        getattr(player, name)(*args)
    except KeyboardInterrupt:
        return True
    finally:
        sys.setprofile(before)
    return False


@pytest.mark.parametrize(
    "call",
    [("select", "new"), ("select_many", ["new", "newer", "newest"]), ("forget", "b")],
    ids=lambda call: call[0],
)
def test_an_interrupt_never_gives_two_keys_one_place(call: tuple[Any, ...]) -> None:
    """Nor is a place lost: saved keys are numbered by what is there."""
    for n in range(1, 1000):
        player = UCB1().audience(["x", "y"], compiled=False)
        player.select_many(["a", "b", "c", "d"])
        player.forget("a")
        player.forget("c")
        hit = interrupted(n, player, *call)
        player.select_many(["e", "f", "g"])
        keys: Any = player.core.keys
        places = [*keys.numbers.values(), *keys.spare]
        assert sorted(places) == list(range(len(places))), (n, keys.numbers, keys.spare)
        again = AudiencePlayer.from_json(player.to_json())
        assert {k: again.shown(k) for k in player.keys} == {k: player.shown(k) for k in player.keys}
        if not hit:
            break
    assert 5 < n < 999


@pytest.mark.parametrize("rest", [Window(3), HalfLife(2)])
def test_policies_of_single_keys_do_not_rest(rest: Any) -> None:
    """They count their own pulls: faded counts do not apply to them."""
    words = r"rest must be None for PerKey, of which each key's policy .*, got (Window|HalfLife)"
    with pytest.raises(ValueError, match=words):
        PerKey(SteadyUCB(None)).audience(["a", "b"], rest=rest, compiled=False)


def test_a_saved_policy_of_single_keys_does_not_rest() -> None:
    saved = json.loads(PerKey(UCB1()).audience(["a", "b"], compiled=False).to_json())
    resting = json.loads(THINKING.audience(["a"], rest=Window(3), compiled=False).to_json())
    saved["audience"]["rest"] = resting["audience"]["rest"]
    del saved["checksum"]
    with pytest.raises(ValueError, match="damaged: it has a rest for PerKey, of which each key's"):
        AudiencePlayer.from_json(forged(saved))


@pytest.mark.parametrize(("key", "times"), [("u", 1), ("never seen", 0)])
def test_shown_takes_arms_and_counts_at_one_moment(
    key: str, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another thread adds an arm just before the player is free."""
    player = UCB1().audience(["a", "b"], compiled=False)
    player.select("u")
    alone = AudiencePlayer._alone

    def after_adding(self: Any, work: Any) -> Any:
        monkeypatch.undo()
        self.add("c")
        return alone(self, work)

    monkeypatch.setattr(AudiencePlayer, "_alone", after_adding)
    assert player.shown(key) == {"a": times, "b": 0, "c": 0}


def test_a_late_reward_of_a_forgotten_key() -> None:
    """It is refused, except in the one case that `forget` warns about."""
    player = UCB1().audience(["a", "b"], compiled=False)
    old = player.select("u")
    player.forget("u")
    with pytest.raises(ValueError, match="decision must be of a key that was seen"):
        player.update(old, 1.0)
    assert player.select("u", among=["b"]) != old
    with pytest.raises(ValueError, match="pull must be one of the 0 pulls made of arm 'a' for"):
        player.update(old, 1.0)
    assert player.select("u", among=["a"]) == old
    player.update(old, 1.0)  # nothing tells it from the new one
    assert old not in player.outstanding


def test_a_saved_shelf_has_the_open_arms_of_the_desk() -> None:
    player = PerKey(UCB1()).audience(["a", "b", "c"], compiled=False)
    player.select_many(["u", "v"])
    player.retire("a")
    player.forget("v")
    assert AudiencePlayer.from_json(player.to_json()).retired == ["a"]
    player.core.state.per_key.flags[:] = [1, 1, 0]
    with pytest.raises(ValueError, match=r"damaged: per_key.flags must be .*0, 1, 1"):
        AudiencePlayer.from_json(player.to_json())


@pytest.mark.parametrize(
    "policy",
    [PerKey(UCB1()), Capped(UCB1(), 2), Oracle([Arm(models.Constant(0.5))] * 2)],
    ids=lambda policy: policy.title,
)
def test_who_believes_nothing_has_no_curves(policy: Policy) -> None:
    player = policy.audience(["a", "b"], compiled=False)
    player.update(player.select("u"), 0.5)
    with pytest.raises(ValueError, match=f"to have curves, but {policy.title} does not"):
        player.curves()


def test_an_arm_of_which_nothing_is_known_has_no_cap_and_no_place_in_a_plan() -> None:
    """What is known of the others may end before the showings do."""
    player = THINKING.audience(["new", "b", "c"], compiled=False)
    assert player.curves().cap == {"new": None, "b": None, "c": None}
    with pytest.raises(ValueError, match="nothing is known of any"):
        player.curves().plan(3)
    player.update(player.select("u", among=["b"]), 0.5)
    player.update(player.select("u", among=["c"]), 0.25)
    curves = player.curves(4)
    assert np.isnan(curves.estimate).tolist() == [[True] * 4, *[[False, True, True, True]] * 2]
    assert curves.plan(5) == {"new": 0, "b": 5, "c": 0}
    assert curves.cap == {"new": None, "b": None, "c": 0}


@pytest.mark.parametrize(
    "policy", [policy for policy in examples() if keeps_curves(policy)], ids=lambda p: p.short_label
)
def test_nothing_is_believed_of_an_arm_without_rewards(policy: Policy) -> None:
    """Fatigue and Mixture gave the prior's mean, 0.5 for clicks, with caps and a plan from it."""
    player = policy.audience(["a", "b"], compiled=False)
    for _ in range(5):  # any ramp-up has then pulled both
        player.update(player.select("u", among=["a"]), 0.4)
        player.update(player.select("u", among=["b"]), 0.2)
    player.add("new")
    late = player.select("u", among=["new"])  # shown, but not rewarded yet
    curves = player.curves(3)
    assert np.isnan(curves.estimate[:, 0]).tolist() == [False, False, True]
    for band in (curves.estimate, curves.low, curves.high):
        assert np.isnan(band[2]).all()
    assert curves.cap["new"] is None
    assert curves.plan(9)["new"] == 0
    fresh = policy.audience(["a", "b"], compiled=False).curves()
    assert np.isnan(fresh.estimate).all()
    with pytest.raises(ValueError, match="nothing is known of any"):
        fresh.plan(3)
    for _ in range(5):
        player.update(late, 0.3)
        late = player.select("v", among=["new"])
    assert np.isfinite(player.curves(3).estimate[2, 0])


@pytest.mark.parametrize(
    "policy", [Fatigue(rest=Window(10)), Mixture(Window(10)), Capped(UCB1(), 3, rest=Window(10))]
)
def test_one_rest_is_enough(policy: Any) -> None:
    said = f"rest must be None or that of {policy.title} itself, {Window(10)!r}, got {Window(5)!r}"
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        policy.audience(["a", "b"], rest=Window(5), compiled=False)
    for rest in (None, Window(10)):
        assert policy.audience(["a", "b"], rest=rest, compiled=False).rest == Window(10)


def test_showings_before_the_first_that_is_known() -> None:
    nan = np.nan
    estimate = np.array([[nan, 0.6, nan, 0.1], [0.5, nan, 0.3, nan]])
    curves = Curves("P", ["a", "b"], estimate, estimate, estimate)
    assert curves.plan(4) == {"a": 3, "b": 1}
    assert curves.cap == {"a": 3, "b": None}


def test_curves_reach_as_far_as_tables_if_there_are_any() -> None:
    far = THINKING.audience(["a", "b"], compiled=False)
    assert far.curves(300).most == 300
    with pytest.raises(ValueError, match="most must be an integer from 1 to 1000000"):
        far.curves(10**6 + 1)
    near = LCTO(models.Polynomial().over([0.1, 0.5])).audience(["a", "b"], compiled=False)
    with pytest.raises(ValueError, match="most must be an integer from 1 to 256"):
        near.curves(300)
