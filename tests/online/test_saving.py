"""Saved players go on exactly; damaged ones are refused."""

from __future__ import annotations

import json
import pickle
import random as python_random
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

import mutants
import recorded
import rotting
from cases import examples, name_of, player_of
from rotting import Arm, Decision, Player, models, policies
from rotting.arrays import IntArray
from rotting.online import loading, saving
from rotting.policies import Oracle, Policy
from rotting.state import leaves, silent

FILES = Path(__file__).parents[1] / "files"


@pytest.mark.parametrize("policy", examples(), ids=name_of)
@pytest.mark.parametrize("form", ["json", "bytes"])
def test_saving_continues_exactly(policy: Policy, form: str) -> None:
    player = player_of(policy, seed=9)
    rng = python_random.Random(4)
    kept = []
    for _ in range(700):
        decision = player.select()
        if rng.random() < 0.9:
            player.update(decision, rng.gauss(0.3, 0.5))
        else:
            kept.append(decision)
    if form == "json":
        text = player.to_json()
        json.loads(text)
        again = Player.from_json(text)
    else:
        again = Player.from_bytes(player.to_bytes())
    assert again.policy == policy
    assert again.outstanding == player.outstanding
    for decision in kept:
        again.update(decision, 0.2)
        player.update(decision, 0.2)
    for _ in range(700):
        decision = player.select()
        assert again.select() == decision
        reward = rng.gauss(0.3, 0.5)
        player.update(decision, reward)
        again.update(decision, reward)


def test_a_damaged_state_is_refused() -> None:
    player = player_of(policies.UCB1())
    player.update(player.select(), 0.5)
    data, text = player.to_bytes(), player.to_json()
    damaged: list[bytes | str] = [
        b"",
        b"nothing",
        data[:-5],
        data[:20] + b"\x00" + data[21:],
        text.replace('"decided": 1', '"decided": 2'),
        text[:-2],
        "[]",
        "{}",
        "3",
    ]
    for wrong in damaged:
        load: Any = Player.from_bytes if isinstance(wrong, bytes) else Player.from_json
        with pytest.raises(ValueError, match="saved state"):
            load(wrong)


def test_what_cannot_be_saved_is_asked_for() -> None:
    function = models.Function(lambda n: 1.0 / n)
    policy = Oracle([Arm(function), Arm(models.Constant(0.2))])
    labels = [frozenset({1}), frozenset({2})]
    player = policy.online(labels, compiled=False)
    first = [player.select().arm for _ in range(3)]
    assert first == [labels[0]] * 3
    data = player.to_bytes()
    with pytest.raises(ValueError, match="policy must be given"):
        Player.from_bytes(data)
    with pytest.raises(ValueError, match="policy must be the saved Oracle"):
        Player.from_bytes(data, policy=3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="arms must be given"):
        Player.from_bytes(data, policy=policy)
    with pytest.raises(ValueError, match="arms must be 2 labels, got 1"):
        Player.from_bytes(data, policy=policy, arms=["a"])
    again = Player.from_bytes(data, policy=policy, arms=labels)
    assert [again.select() for _ in range(20)] == [player.select() for _ in range(20)]


def test_a_saved_player_names_its_format_and_the_library() -> None:
    saved = json.loads(player_of(policies.UCB1(), compiled=False).to_json())
    assert saved["format"] == saving.FORMAT == 3
    assert saved["rotting"] == rotting.__version__
    assert {"arms.pulls", "arms.clock", "total", "mean", "width"} <= set(saved["state"])


def test_format_1_is_refused_with_what_to_do() -> None:
    text = (FILES / "player-format-1.json").read_text()
    with pytest.raises(ValueError, match=r"^saved state has format 1, .*play its log again"):
        Player.from_json(text)


# the arms that the player of the file chose after its outstanding rewards had come, by number
CONTINUED = "201210210120102021210201210210102021120201120012012021120210"


def test_format_2_is_read() -> None:
    """A player of CTO with rewards that came late; what it decided next is on record."""
    player = Player.from_json((FILES / "player-format-2.json").read_text())
    assert player.arms == ("red", "blue", ("shop", 3))
    assert player.pulls == {"red": 20, "blue": 20, ("shop", 3): 20}
    assert len(player.outstanding) == 6
    assert player._state.sums.gaps.tolist() == [1, 1, 1]
    for decision in player.outstanding:
        player.update(decision, 0.25)
    chosen = ""
    for _ in CONTINUED:
        arm, pull = decision = player.select()
        chosen += str(player.arms.index(arm))
        player.update(decision, 0.9 ** (pull // 10) - 0.05 * (pull % 3))
    assert chosen == CONTINUED


# what the players of these files, with two arms, chose next
CONTINUED_2 = {
    "steady": "111110001110001100100011010001100100011010001110001100100011",
    "guarded": "011111111111111111111111111111111111111111111111111110011010",
}


@pytest.mark.parametrize("name", CONTINUED_2)
def test_a_steadyucb_of_format_2_is_read_where_sigma_was_known(name: str) -> None:
    """Alone and in Guarded; format 2 had other fields for a sigma that is not."""
    player = Player.from_json((FILES / f"player-format-2-{name}.json").read_text())
    for decision in player.outstanding:
        player.update(decision, 0.25)
    chosen = ""
    for _ in CONTINUED_2[name]:
        arm, pull = decision = player.select()
        chosen += str(player.arms.index(arm))
        player.update(decision, 0.9 ** (pull // 10) - 0.3 * (pull % 3) + 0.2 * (arm == "red"))
    assert chosen == CONTINUED_2[name]


def test_a_steadyucb_of_format_2_is_refused_where_sigma_was_not_known() -> None:
    text = (FILES / "player-format-2-steady.json").read_text()
    content = json.loads(text)
    del content["checksum"]
    content["policy"]["sigma"] = None
    text = json.dumps({"checksum": saving._checksum(content), **content})
    with pytest.raises(ValueError, match=r"^saved state has format 2, .*play its log again"):
        Player.from_json(text)


def forged(change: Callable[[dict[str, Any]], object]) -> str:
    """The file of format 2 with something changed, and a checksum that fits."""
    content = json.loads((FILES / "player-format-2.json").read_text())
    del content["checksum"]
    change(content)
    return json.dumps({"checksum": saving._checksum(content), **content})


def put(path: str, values: Any) -> Callable[[dict[str, Any]], object]:
    """A change that puts another array into the state."""
    return lambda content: content["state"].update({path: saving._pack(np.array(values))})


@pytest.mark.parametrize(
    ("words", "change"),
    [
        (
            r"format 4, written by rotting 9\.9; this reads 3",
            lambda content: content.update(format=4, rotting="9.9"),
        ),
        ("does not fit this version of CTO", lambda content: content["state"].pop("ranking.tree")),
        ("does not fit this version of CTO", put("more", [1])),
        (r"arms\.pulls of the state must be int64 of shape \(3,\)", put("arms.pulls", [1, 2])),
        (r"arms\.pulls of the state must be int64", put("arms.pulls", [1.0, 2.0, 3.0])),
        (r"arms\.pulls must be \[20, 20, 20\]", put("arms.pulls", [1, 2, -3])),
        (r"ranking\.leader of the state must lie between 0 and 2", put("ranking.leader", [3])),
        (r"sums\.closest of the state must lie between 0 and 2", put("sums.closest", [0, 0, 9**9])),
        (r"arms\.pulls must be \[20, 20, 20\]", put("arms.pulls", [20, 20, 9**9])),
        (r"pulls \[20, 20, 21\] of 60", lambda content: content.update(counts=[20, 20, 21])),
        (
            "its turn must be of 3 arms",
            lambda content: content.update(turn=saving._pack(np.array([4, 0]))),
        ),
        (
            "nobody can wait for arm 1000000000",
            lambda content: content.update(turn=saving._pack(np.array([3, 10**9]))),
        ),
        (
            r"draw of the state must be uint64 of shape \(3,\), got uint64 of shape \(2,\)",
            lambda content: content.update(draw=saving._pack(np.zeros(2, dtype=np.uint64))),
        ),
        (
            r"arms\.observed of the state must be counts of at most pulls",
            put("arms.observed", [0, 0, 21]),
        ),
        ("pull 21 of arm 0 was not made", lambda content: content.update(outstanding=[[0, 21]])),
        (r"sums\.total of the state must be finite", put("sums.total", [0.0, np.inf, 0.0])),
    ],
)
def test_a_state_that_no_play_leads_to_is_refused(
    words: str, change: Callable[[dict[str, Any]], object]
) -> None:
    with pytest.raises(ValueError, match=words):
        Player.from_json(forged(change))


@pytest.mark.parametrize(
    ("words", "change"),
    [
        ("it has no counts", lambda content: content.pop("counts")),
        ("counts cannot be abc", lambda content: content.update(counts="abc")),
        ("state cannot be 3", lambda content: content.update(state=3)),
        ("policy cannot be 3", lambda content: content.update(policy=3)),
        ("is not registered", lambda content: content.update(policy={"policy": [1]})),
        ("is not registered", lambda content: content.update(policy={"type": "Plateau"})),
        (
            "Family: .*missing 2",
            lambda content: content["policy"].update(family={"type": "Family"}),
        ),
        ("family of CTO must be a Family", lambda content: content["policy"].update(family=3)),
        ("compiled cannot be 1", lambda content: content.update(compiled=1)),
        ("seed must be an integer", lambda content: content.update(seed="x")),
        ("horizon must be an integer >= 1", lambda content: content.update(horizon=-1)),
        ("format True", lambda content: content.update(format=True)),
        ("pulls .* of -5 decisions", lambda content: content.update(decided=-5)),
        ("pulls .* of 60 decisions", lambda content: content.update(counts=[80, -40, 20])),
        ("4 counts of 3 arms", lambda content: content.update(counts=[20, 20, 20, 0])),
        ("3 counts of 1000000000000", lambda content: content.update(arm_count=10**12)),
        ("capacity must be 256 after 60", lambda content: content.update(capacity=10**12)),
        ("reach must be 256 after 20", lambda content: content.update(reach=10**12)),
        ("hashable labels", lambda content: content.update(arms=[[1], [2], [3]])),
        ("is no label", lambda content: content.update(arms=[1, 2, {"set": [3]}])),
        ("is no label", lambda content: content.update(arms=[1, 2, {"tuple": 3}])),
        ("no pair of arm and pull", lambda content: content.update(outstanding=[[0, 1, 2]])),
        ("no pair of arm and pull", lambda content: content.update(outstanding=[[0, True]])),
        ("waits twice", lambda content: content["outstanding"].append([2, 20])),
        (
            "observed must leave out the pulls that wait",
            lambda content: content.update(outstanding=[[0, k] for k in range(1, 20)]),
        ),
        (r"sums\.total cannot be decoded", lambda c: c["state"]["sums.total"].update(data="A")),
        ("cannot be decompressed", lambda c: c["state"]["sums.total"].update(data="AAAA")),
        (
            r"sums\.total of the state must be float64 of shape \(3,\)",
            lambda content: content["state"]["sums.total"].update(shape=[3.0]),
        ),
        (
            r"sums\.total of the state must be float64",
            lambda content: content["state"]["sums.total"].update(dtype="nothing"),
        ),
        (r"sums\.total of the state must be", lambda c: c["state"].update({"sums.total": 3})),
    ],
)
def test_a_document_of_a_wrong_kind_is_refused(
    words: str, change: Callable[[dict[str, Any]], object]
) -> None:
    with pytest.raises(ValueError, match=words):
        Player.from_json(forged(change))


def test_nothing_expands_beyond_what_the_state_needs() -> None:
    bomb = saving._pack(np.zeros(1 << 22))["data"]
    with pytest.raises(ValueError, match="expands to more than 24 bytes"):
        Player.from_json(forged(lambda c: c["state"]["sums.total"].update(data=bomb)))
    text = b" " * (20 << 20)
    data = saving._MAGIC + zlib.compress(text)
    with pytest.raises(ValueError, match="expands to more than"):
        Player.from_bytes(data)
    with pytest.raises(ValueError, match="is not a saved player"):
        Player.from_json("[" * 100_000)
    player = policies.RoundRobin().online(range(3), compiled=False)
    for tail in (b"", b"more"):
        text = saving._MAGIC + zlib.compress(player.to_json().encode())
        with pytest.raises(ValueError, match="cannot be decompressed"):
            Player.from_bytes(text[:-3] + tail)


def test_bytes_that_would_expand_too_much_are_written_as_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    player = policies.RoundRobin().online(range(3), compiled=False)
    monkeypatch.setattr(saving, "_longest", len)
    data = player.to_bytes()
    assert len(data) > len(player.to_json())
    assert Player.from_bytes(data).select() == player.select()


def with_pulls(policy: Policy, pulls: int) -> str:
    """A forged player whose first arm has that many pulls, and all that follows from them."""
    content = mutants.played(policy, 3, 9)
    counts = content["counts"] = [pulls, *content["counts"][1:]]
    content["decided"] = sum(counts)
    content["capacity"] = loading.capacity_of(3, sum(counts))
    content["reach"] = max(loading.reaches_of(pulls))
    content["state"]["arms.pulls"] = saving._pack(np.array(counts))
    return mutants.forged(content)


def test_a_player_that_needs_too_much_memory_must_be_trusted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(loading, "MOST", 1 << 20)
    known = policies.CTO(models.Polynomial().over([0.1, 0.4]))
    with pytest.raises(ValueError, match=r"CTO .* 10+\d decisions needs more than 1 MiB.*trusted"):
        Player.from_json(with_pulls(known, 10**15))
    large = with_pulls(known, 10**5)
    with pytest.raises(ValueError, match="give trusted=True"):
        Player.from_json(large)
    assert Player.from_json(large, trusted=True).pulls[0] == 10**5
    # tables that end at a million pulls do not grow with the claim
    monkeypatch.setattr(loading, "MOST", 64 << 20)
    assert Player.from_json(with_pulls(policies.UCB1(), 10**15)).pulls[0] == 10**15


def test_many_arms_are_looked_at_before_their_state_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(loading, "MOST", 1 << 20)
    text = policies.RoundRobin().online(range(5000), compiled=False).to_json()
    assert len(Player.from_json(text).arms) == 5000
    text = policies.RAWUCB(0.5).online(range(5000), compiled=False).to_json()
    with pytest.raises(ValueError, match="5000 arms and 0 decisions needs more than 1 MiB"):
        Player.from_json(text)


def test_capacity_and_reach_follow_from_the_pulls() -> None:
    """The rule by which a file is judged is the one by which players grow, wherever one is."""
    for arms in (1, 3, 70):
        player = policies.Uniform().online(range(arms), compiled=False)
        for _ in range(1100):
            assert player._capacity == loading.capacity_of(arms, player._decided)
            assert player._reach in loading.reaches_of(max(player._counts))
            player.select()


@dataclass(frozen=True)
class Silent(Policy):
    """A policy of somebody's own whose state does not say what it may hold."""

    verbs: ClassVar[policies.Verbs]

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Any:
        return SilentParams(arms)


class SilentParams(NamedTuple):
    arms: int


class SilentState(NamedTuple):
    time: IntArray


def silent_choose(params: SilentParams, state: SilentState, draw: Any) -> int:
    return int(state.time[0]) % params.arms


def silent_pulled(params: SilentParams, state: SilentState, arm: int) -> None:
    state.time[0] += 1


def test_a_state_that_says_nothing_must_be_trusted() -> None:
    def init(params: Any, arms: int, capacity: int) -> SilentState:
        return SilentState(np.zeros(1, dtype=np.int64))

    def update(params: Any, state: Any, arm: int, pull: int, reward: float) -> None:
        pass

    verbs = policies.Verbs(SilentParams, SilentState, init, silent_choose, update, silent_pulled)
    own = type("SilentOne", (Silent,), {"verbs": verbs, "key": "silent"})
    try:
        player = own().online(range(3), compiled=False)
        for _ in range(4):
            player.select()
        with pytest.raises(ValueError, match=r"^time in the state of .*trusted=True"):
            Player.from_json(player.to_json())
        for again in (
            Player.from_json(player.to_json(), trusted=True),
            Player.from_bytes(player.to_bytes(), trusted=True),
        ):
            assert again.select() == Decision(1, 2)
    finally:
        del policies.POLICIES["silent"]


def test_every_state_of_this_library_speaks() -> None:
    for policy in recorded.examples().values():
        params = policy.prepare(3, 1000, 100)
        assert silent(policy.verbs.init(params, 3, 100)) == []


def test_a_forgery_that_changes_nothing_is_read() -> None:
    """The refusals above are for what was changed, not for how."""
    assert Player.from_json(forged(lambda content: None)).pulls["red"] == 20


@pytest.mark.parametrize("form", ["json", "bytes", "pickle"])
def test_a_pull_that_waits_for_its_reward_is_judged_again_after_loading(form: str) -> None:
    """Saved between a decision and its reward, CTO must still know that the arm has worn."""
    family = models.Exponential().over([0.5, 0.01])
    for seed in range(5):
        player = policies.CTO(family).online(range(2), seed=seed, compiled=False)
        for _ in range(2):
            player.update(player.select(), 1.0)
        late = player.select()
        saved: Any
        if form == "json":
            saved = Player.from_json(player.to_json())
        elif form == "bytes":
            saved = Player.from_bytes(player.to_bytes())
        else:
            saved = pickle.loads(pickle.dumps(player))
        # both arms were equally good: the one pulled has fallen behind, though nothing came back
        following = saved.select()
        assert following.arm != late.arm
        assert following == player.select()


def test_what_a_saved_player_holds_is_tied_to_its_format() -> None:
    """Another field or type in any policy's state needs another format, and a reader for this one.

    Run this module to write the file anew, together with a raised `FORMAT`.
    """
    assert json.loads(LAYOUT.read_text()) == layouts()


LAYOUT = FILES / f"states-format-{saving.FORMAT}.json"


def layouts() -> dict[str, dict[str, str]]:
    """The type and number of dimensions of every field of every policy's state."""
    found = {}
    for name, policy in recorded.examples().items():
        params = policy.prepare(3, 1000, 100)
        state = policy.verbs.init(params, 3, 100)
        found[name] = {
            leaf.path: f"{leaf.value.dtype.name}:{leaf.value.ndim}" for leaf in leaves(state)
        }
    return found


if __name__ == "__main__":
    LAYOUT.write_text(json.dumps(layouts(), indent=1) + "\n")
