"""A saved player, checked before it plays: the file may be damaged, or made up by somebody.

Compiled code reads and writes wherever a state tells it to, so nothing is believed. Capacity and
reach follow from the pulls, shapes and types from the policy, and every value must be one that play
can lead to (`rotting.state.check`). Whatever is wrong, the answer is a ValueError.

What is loaded is no larger than a player of so many arms and decisions is. How much that is, the
policy's own tables and states tell, small ones first; beyond `MOST` bytes the file must be trusted.
"""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Iterable, Iterator
from typing import Any, NamedTuple

from rotting import checks, plain
from rotting.arrays import IntArray
from rotting.engines import steps
from rotting.online import saving
from rotting.policies.base import POLICIES, Policy
from rotting.random import Draw, new_draw
from rotting.state import Leaf, check, check_form, leaves, rebuild

FIRST = 256  # pulls that tables reach, and decisions that a state has space for, at first
MOST = 1 << 30  # bytes of tables and state that are loaded from a file that is not trusted
_SMALL = 16  # pulls: tables that fit into memory, whatever the policy
_FEW = 4096  # arms: a state of so many does, too
_DECISIONS = 2**60  # nobody has made more
_DRAW = new_draw(0)


class Loaded(NamedTuple):
    """All that a player is made of, checked."""

    policy: Policy
    arms: tuple[Hashable, ...]
    params: Any
    state: Any
    draw: Draw
    turn: IntArray
    outstanding: set[tuple[int, int]]


def load(
    saved: saving.Saved, arms: Iterable[Hashable] | None, policy: Policy | None, trusted: bool
) -> Loaded:
    """What a saved player is made of; `trusted` is what the caller says of the file.

    A trusted file is checked all the same, but its policy need not say what its state may hold, and
    it may need any amount of memory.
    """
    with _only_value_errors():
        _check_counts(saved)
        policy = policy_of(saved, policy)
        labels = _labels(saved, arms)
        params, fresh = _prepared(saved, policy, trusted)
        state = _state(saved, policy, fresh, trusted)
        waiting = _outstanding(saved)
        for leaf in leaves(state):
            if leaf.path.endswith("arms.pulls") and leaf.value.tolist() != saved.counts:
                wanted = _some(saved.counts)
                raise ValueError(f"saved state is damaged: {leaf.path} must be {wanted}")
        check(state, fresh, params, waiting)
        return Loaded(policy, labels, params, state, _draw(saved), _turn(saved), set(waiting))


@contextlib.contextmanager
def _only_value_errors() -> Iterator[None]:
    """Data of a wrong kind can raise almost anything, somewhere in a policy or a model."""
    try:
        yield
    except ValueError:
        raise
    except Exception as error:
        words = f"{type(error).__name__}: {error}"
        raise ValueError(f"saved state is damaged ({words[:200]})") from None


def capacity_of(arms: int, decided: int) -> int:
    """The decisions for which a player has space after so many: more than twice those before.

    >>> capacity_of(3, 0), capacity_of(3, 128), capacity_of(3, 129)
    (256, 256, 512)
    """
    return _doubled(max(FIRST, 4 * arms), 2 * (decided - 1))


def reaches_of(pulls: int) -> set[int]:
    """How far the tables of a player may reach whose most pulled arm has so many pulls.

    They become longer at the decision after the one that makes it necessary, which may not have
    been taken yet.

    >>> sorted(reaches_of(100)), sorted(reaches_of(130)), sorted(reaches_of(256))
    ([256], [256, 512], [512, 1024])
    """
    return {_doubled(FIRST, pulls), _doubled(FIRST, 2 * pulls)}


def _doubled(size: int, beyond: int) -> int:
    """The first of size, 2 size, 4 size, ... that is larger."""
    while size <= beyond:
        size *= 2
    return size


def policy_of(saved: saving.Saved, policy: Policy | None) -> Policy:
    """The policy of a saved player: as it was saved, or the one given if that could not be."""
    if policy is not None:
        if not isinstance(policy, Policy) or policy.label != saved.policy_name:
            raise ValueError(f"policy must be the saved {saved.policy_name}, got {policy!r}")
        return policy
    if saved.policy is None:
        raise ValueError(
            f"policy must be given: {saved.policy_name} holds a Python function, which is not saved"
        )
    key = saved.policy.get("policy")
    if not isinstance(key, str) or key not in POLICIES:
        raise ValueError(
            f"policy must be given, or its module imported first: {key!r} is not registered"
        )
    made: Policy = plain.from_plain(saved.policy)
    return made


def _labels(saved: saving.Saved, arms: Iterable[Hashable] | None) -> tuple[Hashable, ...]:
    """The labels of a saved player: as saved, or those given."""
    if arms is None:
        if saved.arms is None:
            raise ValueError("arms must be given: the labels could not be saved")
        arms = [saving.thaw(label) for label in saved.arms]
    labels = checks.labels("arms", arms)
    if len(labels) != saved.arm_count:
        raise ValueError(f"arms must be {saved.arm_count} labels, got {len(labels)}")
    return labels


def _check_counts(saved: saving.Saved) -> None:
    """Refuse counts that contradict each other, and sizes that do not follow from them."""
    counts, decided = saved.counts, saved.decided
    if len(counts) != saved.arm_count or not counts:
        raise ValueError(f"saved state is damaged: {len(counts)} counts of {saved.arm_count} arms")
    fine = all(type(n) is int and n >= 0 for n in counts)
    if not fine or sum(counts) != decided or decided > _DECISIONS:
        raise ValueError(
            f"saved state is damaged: pulls {_some(counts)} of {str(decided)[:40]} decisions"
        )
    if saved.capacity != capacity_of(len(counts), decided):
        raise ValueError(
            f"saved state is damaged: capacity must be {capacity_of(len(counts), decided)} after "
            f"{decided} decisions, got {str(saved.capacity)[:40]}"
        )
    if saved.reach not in reaches_of(max(counts)):
        raise ValueError(
            f"saved state is damaged: reach must be {max(reaches_of(max(counts)))} after "
            f"{max(counts)} pulls, got {str(saved.reach)[:40]}"
        )


def _outstanding(saved: saving.Saved) -> list[tuple[int, int]]:
    """The pulls that wait for their rewards, as pairs (arm, pull): made, and each of them once."""
    counts = saved.counts
    for pair in saved.outstanding:
        if type(pair) is not list or len(pair) != 2 or any(type(n) is not int for n in pair):
            raise ValueError(f"saved state is damaged: {str(pair)[:80]} is no pair of arm and pull")
        number, pull = pair
        if not (0 <= number < len(counts) and 1 <= pull <= counts[number]):
            raise ValueError(f"saved state is damaged: pull {pull} of arm {number} was not made")
    found = {(number, pull) for number, pull in saved.outstanding}
    if len(found) < len(saved.outstanding):
        raise ValueError("saved state is damaged: a pull waits twice for its reward")
    return sorted(found)


def _bytes(found: Iterable[Leaf]) -> int:
    """How much memory the arrays of params and states take."""
    return sum(getattr(leaf.value, "nbytes", 8) for leaf in found)


def _prepared(saved: saving.Saved, policy: Policy, trusted: bool) -> tuple[Any, Any]:
    """Params and a fresh state of a saved player's size.

    Both grow at most in proportion to pulls, decisions and arms, so that small ones tell how much
    larger the next ones may be, and whether the saved arrays can have grown from them at all.
    """
    arms, horizon = saved.arm_count, saved.horizon
    if policy.needs_horizon and horizon is None:
        raise ValueError(f"saved state is damaged: {policy.title} needs a horizon, got None")
    if horizon is not None:
        checks.integer("horizon", horizon, least=1)
    reach, capacity = saved.reach, saved.capacity
    if not trusted:
        reach, capacity = min(reach, _SMALL), capacity_of(arms, 0)
    while True:
        params = policy.prepare(arms, horizon, reach)
        if not trusted and arms > _FEW:
            few = policy.verbs.init(params, _FEW, capacity_of(_FEW, 0))
            _check_need(saved, policy, _bytes(leaves(few)) * arms // _FEW)
        fresh = policy.verbs.init(params, arms, capacity)
        if (reach, capacity) == (saved.reach, saved.capacity):
            return params, fresh
        models = list(leaves(fresh))
        _check_shapes(saved, policy, models)
        times = MOST // _bytes([*leaves(params), *models])
        if times < 2:
            _check_need(saved, policy, 2 * MOST)
        reach, capacity = min(saved.reach, reach * times), min(saved.capacity, capacity * times)


def _check_shapes(saved: saving.Saved, policy: Policy, models: list[Leaf]) -> None:
    """Refuse arrays that could not have grown from those of a smaller state."""
    _check_paths(saved, policy, models)
    for path, like, *_ in models:
        packed = saved.state[path]
        shape: Any = packed.get("shape") if isinstance(packed, dict) else None
        fine = type(shape) is list and len(shape) == like.ndim
        if not fine or any(
            type(n) is not int or n < least for n, least in zip(shape, like.shape, strict=True)
        ):
            check_form(path, like, like.dtype.name, str(shape)[:80])


def _check_need(saved: saving.Saved, policy: Policy, need: int) -> None:
    if need > MOST:
        raise ValueError(
            f"saved state of {policy.title} with {saved.arm_count} arms and {saved.decided} "
            f"decisions needs more than {MOST >> 20} MiB; give trusted=True if you know where it "
            "is from"
        )


def _state(saved: saving.Saved, policy: Policy, fresh: Any, trusted: bool) -> Any:
    """The saved arrays in place of the fresh ones."""
    models = list(leaves(fresh))
    unsaid = next((leaf.path for leaf in models if leaf.silent), None)
    if unsaid is not None and not trusted:
        raise ValueError(
            f"{unsaid} in the state of {policy.title} does not say in its type what it may hold "
            "(rotting.state), so that a forged file could not be told from a good one; give "
            "trusted=True if you know where it is from"
        )
    _check_paths(saved, policy, models)
    arrays = [saving.unpack(leaf.path, saved.state[leaf.path], leaf.value) for leaf in models]
    return rebuild(fresh, iter(arrays))


def _check_paths(saved: saving.Saved, policy: Policy, models: list[Leaf]) -> None:
    if saved.state.keys() != {leaf.path for leaf in models}:
        raise ValueError(f"saved state does not fit this version of {policy.title}")


def _draw(saved: saving.Saved) -> Draw:
    draw: Draw = saving.unpack("draw", saved.draw, _DRAW)
    return draw


def _turn(saved: saving.Saved) -> IntArray:
    """Whose reward is late: an arm that was pulled, or nobody."""
    arms = saved.arm_count
    turn: IntArray = saving.unpack("turn", saved.turn, steps.new_turn(arms))
    late = int(turn[steps.LATE])
    if turn[steps.ARMS] != arms:
        raise ValueError(f"saved state is damaged: its turn must be of {arms} arms")
    if not steps.NOBODY <= late < arms:
        raise ValueError(f"saved state is damaged: nobody can wait for arm {late}")
    return turn


def _some(counts: list[Any]) -> str:
    """The first counts, as many as fit into a line."""
    shown = str(counts[:20])
    return shown if len(counts) <= 20 else f"{shown[:-1]}, ...]"


__all__ = ["FIRST", "MOST", "Loaded", "capacity_of", "load", "policy_of", "reaches_of"]
