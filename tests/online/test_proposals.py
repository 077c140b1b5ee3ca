"""Proposing and taking equals selecting, and names give the same random numbers again."""

from __future__ import annotations

from typing import Any

import pytest

from rotting import Player, models, policies
from rotting._online.audience import AudiencePlayer
from rotting.policies import Policy

FAMILY = models.Polynomial().over([0.1, 0.3, 0.5])
POLICIES: dict[str, Policy] = {
    "ucb1": policies.UCB1(),
    "thompson": policies.Thompson(),
    "exp3s": policies.EXP3S(),
    "uniform": policies.Uniform(),
    "roundrobin": policies.RoundRobin(),
    "swucb": policies.SWUCB(tau=10),
    "rawucb": policies.RAWUCB(sigma=0.5),
    "cto": policies.CTO(FAMILY),
    "fatigue": policies.Fatigue(),
}
ARMS = ["A", "B", "C"]
STEPS = 40


def player_of(name: str, audience: bool, **more: Any) -> Any:
    """A player, or a skip where the policy cannot play so."""
    kind = AudiencePlayer if audience else Player
    try:
        return kind(POLICIES[name], ARMS, **{"seed": 3, "horizon": 200, "compiled": False, **more})
    except ValueError as why:
        pytest.skip(str(why))


def reward_of(step: int) -> float:
    return float(step * 7 % 5 == 0)


@pytest.mark.parametrize("explore", [0.0, 0.3])
@pytest.mark.parametrize("audience", [False, True])
@pytest.mark.parametrize("name", POLICIES)
def test_to_propose_and_take_is_to_select(name: str, audience: bool, explore: float) -> None:
    one, two = (player_of(name, audience, explore=explore) for _ in range(2))
    for step in range(STEPS):
        whose: tuple[int, ...] = (step % 4,) if audience else ()
        among = ["A", "C"] if step % 5 == 4 else None
        for player in (one, two):
            player.draw_by(f"d{step}")
        selected = one.select(*whose, among=among)
        proposed = two.propose(*whose, among=among)
        taken = two.take(proposed)
        assert (taken.arm, taken.pull) == (selected.arm, selected.pull)
        assert proposed.key == (whose[0] if audience else None)
        if explore:
            assert proposed.propensity == selected.propensity
            assert proposed.control == selected.control
        if step % 3:
            for player, made in ((one, selected), (two, taken)):
                player.update((*whose, made.arm, made.pull), reward_of(step))
        if name == "cto":  # marks arms to rank again at another moment: no decision differs
            assert str(one.table()) == str(two.table())
        else:
            assert one.to_bytes() == two.to_bytes()


@pytest.mark.parametrize("audience", [False, True])
@pytest.mark.parametrize("name", ["ucb1", "roundrobin", "swucb", "rawucb", "cto", "fatigue"])
def test_what_is_never_taken_counts_nothing(name: str, audience: bool) -> None:
    quiet, asked = (player_of(name, audience) for _ in range(2))
    for step in range(STEPS):
        whose: tuple[int, ...] = (step % 4,) if audience else ()
        for again in range(3):
            found = []
            for _ in range(2):
                asked.draw_by(f"never {step} {again}")
                found.append(asked.propose(*whose))
            assert found[0] == found[1]
        decisions = []
        for player in (quiet, asked):
            player.draw_by(f"d{step}")
            made = player.select(*whose)
            decisions.append(made)
            player.update(made, reward_of(step))
        assert decisions[0] == decisions[1]
    assert [row.pulls for row in quiet.table()] == [row.pulls for row in asked.table()]
    assert asked.outstanding == []


def test_what_was_proposed_may_be_taken_much_later() -> None:
    player = player_of("roundrobin", False)
    early = player.propose()
    for _ in range(4):
        player.update(player.select(), 1.0)
    before = {row.arm: row.pulls for row in player.table()}
    taken = player.take(early)
    assert taken == (early.arm, before[early.arm] + 1)
    assert player.outstanding == [taken]
    player.update(taken, 1.0)
    with pytest.raises(ValueError, match="arm of a proposal must be"):
        player.take(early._replace(arm="Z"))


@pytest.mark.parametrize("name", ["uniform", "thompson", "exp3s"])
def test_names_and_seeds_give_the_numbers(name: str) -> None:
    def arms(seed: int, names: list[str], noise: int = 0) -> list[str]:
        player = player_of(name, False, seed=seed)
        found = []
        for word in names:
            for extra in range(noise):
                player.draw_by(f"noise {extra}")
                player.propose()
            player.draw_by(word)
            found.append(player.propose().arm)
        return found

    names = [f"d{number}" for number in range(60)]
    usual = arms(1, names)
    assert len(set(usual)) > 1
    assert arms(1, names) == usual
    assert arms(1, names, noise=2) == usual
    assert arms(1, names[::-1]) == usual[::-1]
    assert arms(2, names) != usual
    assert arms(1, [f"e{number}" for number in range(60)]) != usual


def test_compiled_in_the_middle_is_compiled_from_the_start() -> None:
    middle = player_of("ucb1", False, explore=0.2)
    start = player_of("ucb1", False, explore=0.2, compiled=True)
    for step in range(STEPS):
        if step == STEPS // 2:
            middle.go_compiled()
            assert middle.compiled
        made = []
        for player in (middle, start):
            player.draw_by(f"d{step}")
            made.append(player.take(player.propose()) if step % 2 else player.select())
            player.update(made[-1][:2], reward_of(step))
        assert made[0] == made[1]
    assert middle.to_bytes() == start.to_bytes()
