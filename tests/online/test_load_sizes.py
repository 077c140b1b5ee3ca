"""Size limits of saved players, and sizes that follow from pulls."""

from __future__ import annotations

import pytest

from helpers import damaged_files
from helpers.damaged_files import unpacked
from rotting import Player, models, policies
from rotting._online import load as loading
from rotting._online import space
from rotting.kernel.state import leaves
from rotting.policies import Policy


def with_pulls(policy: Policy, pulls: int) -> str:
    """A forged player whose first arm has that many pulls, and all that follows from them."""
    content = damaged_files.played(policy, 3, 9)
    found = unpacked(content["ledger"]["pulls"]).tolist()
    damaged_files.set_pulls(content, [pulls, *found[1:]])
    if not policy.tables:
        content["reach"] = space.FIRST
    return damaged_files.forged(content)


def test_a_player_that_needs_too_much_memory_must_be_trusted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(loading, "MOST", 1 << 20)
    known = policies.CTO(models.Polynomial().over([0.1, 0.4]))
    with pytest.raises(ValueError, match=r"CTO .* \d{16} pulls needs more than 1 MiB.*trusted"):
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
    with pytest.raises(ValueError, match="5000 arms and space for 20000 decisions needs more"):
        Player.from_json(text)


def test_capacity_and_reach_follow_from_the_pulls() -> None:
    """A file's sizes are checked by the rule by which players grow."""
    for arms in (1, 3, 70):
        player = policies.RAWUCB(0.5).online(range(arms), compiled=False)
        for decided in range(1100):
            assert player.core.capacity == space.capacity_of(arms, decided)
            most = max(player.pulls.values())
            assert player.core.reach in (space.reaches_of(most) | {space.FIRST})
            player.select()


def test_what_is_loaded_has_no_arrays_behind_its_arrays() -> None:
    player = policies.SteadyUCB(None).online(range(3), compiled=False)
    again = Player.from_bytes(player.to_bytes())
    arrays = [leaf.value for part in (again.core.state, again.core.ledger) for leaf in leaves(part)]
    assert all(array.base is None for array in arrays)
