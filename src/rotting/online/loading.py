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

import numpy as np

from rotting import checks, plain
from rotting.engines.plan import check_audience
from rotting.live import ledger as at
from rotting.live.keys import exposure_of
from rotting.live.ledger import Desk, Row
from rotting.online import attendance, saving
from rotting.online.attendance import Attendance
from rotting.online.desks import restored_desk, waiting_rows
from rotting.online.growing import UNLIMITED
from rotting.online.labels import matched
from rotting.policies.base import POLICIES, Policy
from rotting.policies.parts.exposures import most_fresh
from rotting.policies.parts.openings import closable
from rotting.random import Draw, new_draw
from rotting.state import Leaf, check, check_form, leaves, rebuild

FIRST = 256  # pulls that tables reach, and decisions that a state has space for, at first
MOST = 1 << 30  # bytes of tables and state that are loaded from a file that is not trusted
_SMALL = 16  # pulls: tables that fit into memory, whatever the policy
_FEW = 4096  # arms: a state of so many does, too
_DRAW = new_draw(0)


class Loaded(NamedTuple):
    """All that a player is made of, checked."""

    policy: Policy
    arms: tuple[Hashable, ...]
    params: Any
    state: Any
    draw: Draw
    desk: Desk
    waiting: list[Row]
    space: tuple[int, int]  # capacity and reach
    keys: Attendance | None  # of an audience


def load(
    saved: saving.Saved, arms: Iterable[Hashable] | None, policy: Policy | None, trusted: bool
) -> Loaded:
    """What a saved player is made of; `trusted` is what the caller says of the file.

    A trusted file is checked all the same, but its policy need not say what its state may hold, and
    it may need any amount of memory.
    """
    with _only_value_errors():
        policy = policy_of(saved, policy)
        labels = matched(saved.arms, saved.arm_count, arms)
        keys = None if saved.audience is None else attendance.from_plain(saved.audience)
        if keys is not None:
            _check_audience(saved, policy, keys, trusted)
        desk = restored_desk(saved, keys, policy.by_key is not True)
        most = int(desk.pulls.max() if keys is None else desk.clock[at.FURTHEST])
        _check_sizes(saved, policy, int(desk.clock[at.DECIDED]), most)
        saved = _of_one_size(saved, policy)
        params, fresh = _prepared(saved, policy, keys, trusted)
        state = _state(saved, policy, fresh, trusted)
        _check_agreement(state, desk)
        exposure = None if keys is None else exposure_of(state, desk)
        waiting = waiting_rows(saved, desk, keys, None if exposure is None else exposure.shown)
        check(state, fresh, params, [(row[0], row[7]) for row in waiting])
        if exposure is not None and most_fresh(exposure) > desk.clock[at.FURTHEST] + 1:
            raise ValueError(
                "saved state is damaged: a key was shown more than the policy was told"
            )
        space = saved.capacity, saved.reach
        return Loaded(policy, labels, params, state, _draw(saved), desk, waiting, space, keys)


def _check_audience(saved: saving.Saved, policy: Policy, keys: Attendance, trusted: bool) -> None:
    """Refuse what cannot play an audience, and one that needs more memory than a file may ask."""
    check_audience(policy)
    why = attendance.why_no_rest(policy)
    if keys.rest is not None and why:
        raise ValueError(f"saved state is damaged: counts rest for {policy.title}, {why}")
    if trusted:
        return
    few = min(saved.arm_count, _FEW)
    params = policy.prepare(max(1, saved.start), saved.horizon, _SMALL)
    fresh = policy.verbs.init(params, few, capacity_of(few, 0) if policy.grows else UNLIMITED)
    sizes = [_bytes(leaves(attendance.counted(policy, fresh, n, keys.rest))) for n in (1, 17)]
    by_key = max((sizes[1] - sizes[0]) // 16, 4 * few)
    if by_key * keys.places * saved.arm_count // few > MOST:
        raise ValueError(
            f"saved state of {policy.title} with {saved.arm_count} arms and space for "
            f"{keys.places} keys needs more than {MOST >> 20} MiB; give trusted=True if you know "
            "where it is from"
        )


def _check_agreement(state: Any, desk: Desk) -> None:
    """Refuse a state that has not the pulls, or the open arms, of the desk."""
    wanted = {"arms.pulls": desk.pulls, "opening.flags": desk.open}
    shelved = {"shelf.flags": desk.open}  # of a shelf: all else is what a key has of its own
    for leaf in leaves(state):
        of_key = any(hasattr(part, "for_keys") for part in leaf.around)
        for path, array in (shelved if of_key else wanted).items():
            if leaf.path.endswith(path) and not np.array_equal(leaf.value, array):
                said = _some(array.tolist())
                raise ValueError(f"saved state is damaged: {leaf.path} must be {said}")


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


def capacities_of(arms: int, decided: int) -> set[int]:
    """The same with what it is if space was made for a decision that Ctrl-C prevented.

    >>> sorted(capacities_of(3, 127)), sorted(capacities_of(3, 128))
    ([256], [256, 512])
    """
    return {capacity_of(arms, decided), capacity_of(arms, decided + 1)}


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


def _check_sizes(saved: saving.Saved, policy: Policy, decided: int, most: int) -> None:
    """Refuse sizes that do not follow from the decisions, and the highest pull a policy knows."""
    if not 1 <= saved.start <= saved.arm_count:
        raise ValueError(
            f"saved state is damaged: start must be 1 to {saved.arm_count} arms, "
            f"got {str(saved.start)[:40]}"
        )
    # what never grows has one size, which `_of_one_size` sets, whatever the file names
    wanted = capacity_of(saved.start, decided) if policy.grows else UNLIMITED
    if saved.capacity not in {wanted, *capacities_of(saved.start, decided)}:
        raise ValueError(
            f"saved state is damaged: capacity must be {wanted} after "
            f"{decided} decisions, got {str(saved.capacity)[:40]}"
        )
    reaches = reaches_of(most) if policy.tables else {FIRST, *reaches_of(most)}
    if saved.reach not in reaches:
        raise ValueError(
            f"saved state is damaged: reach must be {max(reaches)} after "
            f"{most} pulls, got {str(saved.reach)[:40]}"
        )


def _of_one_size(saved: saving.Saved, policy: Policy) -> saving.Saved:
    """What never grows has the size of today, whatever it was when the player was saved."""
    capacity = saved.capacity if policy.grows else UNLIMITED
    return saved._replace(capacity=capacity, reach=saved.reach if policy.tables else FIRST)


def _bytes(found: Iterable[Leaf]) -> int:
    """How much memory the arrays of params and states take."""
    return sum(getattr(leaf.value, "nbytes", 8) for leaf in found)


def _prepared(
    saved: saving.Saved, policy: Policy, keys: Attendance | None, trusted: bool
) -> tuple[Any, Any]:
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
        reach = min(reach, _SMALL)
        capacity = capacity_of(saved.start, 0) if policy.grows else UNLIMITED
    while True:
        params = policy.prepare(saved.start, horizon, reach)
        if not trusted and arms > _FEW:
            few = closable(policy.verbs.init(params, _FEW, capacity_of(_FEW, 0)))
            _check_need(saved, policy, _bytes(leaves(few)) * arms // _FEW)
        fresh = policy.verbs.init(params, arms, capacity)
        if keys is not None:
            fresh = attendance.counted(policy, fresh, keys.places, keys.rest)
        fresh = closable(fresh)
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
        grows, tables = f"space for {saved.capacity} decisions", f"tables for {saved.reach} pulls"
        raise ValueError(
            f"saved state of {policy.title} with {saved.arm_count} arms and "
            f"{grows if policy.grows else tables} needs more than {MOST >> 20} MiB; give "
            "trusted=True if you know where it is from"
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


def _some(counts: list[Any]) -> str:
    """The first counts, as many as fit into a line."""
    shown = str(counts[:20])
    return shown if len(counts) <= 20 else f"{shown[:-1]}, ...]"


__all__ = [
    "FIRST",
    "MOST",
    "Loaded",
    "capacities_of",
    "capacity_of",
    "load",
    "policy_of",
    "reaches_of",
]
