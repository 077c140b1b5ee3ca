"""Loading of saved players, with checks of everything, since a file may be damaged or forged.

Compiled code reads and writes at indices from the state, so the state is not trusted. Capacity and
reach must follow from the pulls, shapes and types from the policy, and every value must be one that
play can lead to (`rotting.kernel.state.check`). All errors are ValueErrors.

A loaded player is no larger than one with that many arms and decisions. Its size is estimated from
the policy's own tables and states, small ones first. Beyond `MOST` bytes the file must be trusted.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Hashable, Iterable, Iterator
from typing import Any

import numpy as np

from rotting import _checks, _plain
from rotting._engines.plan import check_audience
from rotting._live import ledger as at
from rotting._live.keys import exposure_of
from rotting._live.ledger import NOBODY, Ledger, Row, new_ledger, waiting_of
from rotting._online import save
from rotting._online.core import Snapshot
from rotting._online.keys import Audience, counted, from_plain, why_no_rest
from rotting._online.labels import matched
from rotting._online.save import Saved
from rotting._online.space import (
    FIRST,
    UNLIMITED,
    capacities_of,
    capacity_of,
    reaches_of,
)
from rotting.kernel.random import Draw, new_draw
from rotting.kernel.state import Leaf, check, check_form, leaves, rebuild
from rotting.policies._base import POLICIES, Policy
from rotting.policies.parts.exposures import NoKeys, most_fresh, no_exposures
from rotting.policies.parts.openings import closable

MOST = 1 << 30  # bytes of tables and state that are loaded from an untrusted file
_DECISIONS = 2**60  # more than any player makes
_ARMS = 10**8  # more than any player has
_SMALL = 16  # pulls; tables of this reach fit into memory for any policy
_FEW = 4096  # arms; a state with this number fits into memory
_DRAW = new_draw(0)


def load(
    saved: Saved, arms: Iterable[Hashable] | None, policy: Policy | None, trusted: bool
) -> Snapshot:
    """The parts of a saved player, checked; `trusted` says that the caller trusts the file.

    A trusted file is checked too, but its policy need not declare what its state may hold, and it
    may need any amount of memory.
    """
    with _only_value_errors():
        policy = policy_of(saved, policy)
        labels = matched(saved.arms, saved.arm_count, arms)
        audience = None if saved.audience is None else from_plain(saved.audience)
        if audience is not None:
            _check_audience(saved, policy, audience, trusted)
        ledger = restored_ledger(saved, audience, not policy.counts_by_key)
        most = int(ledger.pulls.max() if audience is None else ledger.clock[at.FURTHEST])
        _check_sizes(saved, policy, int(ledger.clock[at.DECIDED]), most)
        saved = _of_one_size(saved, policy)
        params, fresh = _prepared(saved, policy, audience, trusted)
        state = _state(saved, policy, fresh, trusted)
        _check_agreement(state, ledger)
        exposure = None if audience is None else exposure_of(state, ledger)
        waiting = waiting_rows(
            saved, ledger, audience, None if exposure is None else exposure.counts
        )
        check(state, fresh, params, [(row[0], row[7]) for row in waiting])
        if exposure is not None and most_fresh(exposure) > ledger.clock[at.FURTHEST] + 1:
            raise ValueError("saved state is damaged: a key has more showings than the policy saw")
        ledger = ledger._replace(waiting=waiting_of(waiting, keyed=audience is not None))
        return Snapshot(
            policy=policy,
            arms=labels,
            horizon=saved.horizon,
            seed=saved.seed,
            compiled=saved.compiled,
            dated=saved.dated,
            start=saved.start,
            capacity=saved.capacity,
            reach=saved.reach,
            params=params,
            state=state,
            draw=_draw(saved),
            ledger=ledger,
            keys=None if audience is None else audience.keys,
        )


def _check_audience(saved: Saved, policy: Policy, audience: Audience, trusted: bool) -> None:
    """Raise ValueError for a policy that cannot play an audience, or needs too much memory."""
    check_audience(policy)
    why = why_no_rest(policy)
    if audience.keys.rest is not None and why:
        raise ValueError(f"saved state is damaged: it has a rest for {policy.title}, {why}")
    if trusted:
        return
    few = min(saved.arm_count, _FEW)
    params = policy.prepare(max(1, saved.start), saved.horizon, _SMALL)
    fresh = policy.verbs.init(params, few, capacity_of(few, 0) if policy.grows else UNLIMITED)
    sizes = [_bytes(leaves(counted(policy, fresh, n, audience.keys.rest))) for n in (1, 17)]
    by_key = max((sizes[1] - sizes[0]) // 16, 4 * few)
    if by_key * audience.places * saved.arm_count // few > MOST:
        raise ValueError(
            f"saved state of {policy.title} with {saved.arm_count} arms and space for "
            f"{audience.places} keys needs more than {MOST >> 20} MiB; give trusted=True if you "
            "know where it is from"
        )


def _check_agreement(state: Any, ledger: Ledger) -> None:
    """Raise ValueError for a state whose pulls or open arms differ from the ledger's."""
    wanted = {"arms.pulls": ledger.pulls, "opening.flags": ledger.open}
    by_key = {"per_key.flags": ledger.open}  # every other array belongs to one key
    for leaf in leaves(state):
        of_key = any(hasattr(part, "for_keys") for part in leaf.around)
        for path, array in (by_key if of_key else wanted).items():
            if leaf.path.endswith(path) and not np.array_equal(leaf.value, array):
                said = _some(array.tolist())
                raise ValueError(f"saved state is damaged: {leaf.path} must be {said}")


@contextlib.contextmanager
def _only_value_errors() -> Iterator[None]:
    """Turn other exceptions into ValueError: wrong data can raise anything in a policy."""
    try:
        yield
    except ValueError:
        raise
    except Exception as error:
        words = f"{type(error).__name__}: {error}"
        raise ValueError(f"saved state is damaged ({words[:200]})") from None


def policy_of(saved: Saved, policy: Policy | None) -> Policy:
    """The policy of a saved player, or the one given."""
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
    made: Policy = _plain.from_plain(saved.policy)
    return made


def _check_sizes(saved: Saved, policy: Policy, decided: int, most: int) -> None:
    """Raise ValueError for sizes that do not follow from the decisions and the highest pull."""
    if not 1 <= saved.start <= saved.arm_count:
        raise ValueError(
            f"saved state is damaged: start must be 1 to {saved.arm_count} arms, "
            f"got {str(saved.start)[:40]}"
        )
    # a state that never grows has one size, which `_of_one_size` sets
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


def _of_one_size(saved: Saved, policy: Policy) -> Saved:
    """The document with the present size of states and tables that never grow."""
    capacity = saved.capacity if policy.grows else UNLIMITED
    return saved._replace(capacity=capacity, reach=saved.reach if policy.tables else FIRST)


def _bytes(found: Iterable[Leaf]) -> int:
    """Bytes of the arrays of params and states."""
    return sum(getattr(leaf.value, "nbytes", 8) for leaf in found)


def _prepared(
    saved: Saved, policy: Policy, audience: Audience | None, trusted: bool
) -> tuple[Any, Any]:
    """Params and a fresh state of a saved player's size.

    Both grow at most in proportion to pulls, decisions and arms. So small ones bound the size of
    the next ones, and show whether the saved arrays can have grown from them.
    """
    arms, horizon = saved.arm_count, saved.horizon
    if policy.needs_horizon and horizon is None:
        raise ValueError(f"saved state is damaged: {policy.title} needs a horizon, got None")
    if horizon is not None:
        _checks.integer("horizon", horizon, least=1)
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
        if audience is not None:
            fresh = counted(policy, fresh, audience.places, audience.keys.rest)
        fresh = closable(fresh)
        if (reach, capacity) == (saved.reach, saved.capacity):
            return params, fresh
        models = list(leaves(fresh))
        _check_shapes(saved, policy, models)
        times = MOST // _bytes([*leaves(params), *models])
        if times < 2:
            _check_need(saved, policy, 2 * MOST)
        reach, capacity = min(saved.reach, reach * times), min(saved.capacity, capacity * times)


def _check_shapes(saved: Saved, policy: Policy, models: list[Leaf]) -> None:
    """Raise ValueError for arrays that cannot have grown from those of a smaller state."""
    _check_paths(saved, policy, models)
    for path, like, *_ in models:
        packed = saved.state[path]
        shape: Any = packed.get("shape") if isinstance(packed, dict) else None
        fine = type(shape) is list and len(shape) == like.ndim
        if not fine or any(
            type(n) is not int or n < least for n, least in zip(shape, like.shape, strict=True)
        ):
            check_form(path, like, like.dtype.name, str(shape)[:80])


def _check_need(saved: Saved, policy: Policy, need: int) -> None:
    if need > MOST:
        grows, tables = f"space for {saved.capacity} decisions", f"tables for {saved.reach} pulls"
        raise ValueError(
            f"saved state of {policy.title} with {saved.arm_count} arms and "
            f"{grows if policy.grows else tables} needs more than {MOST >> 20} MiB; give "
            "trusted=True if you know where it is from"
        )


def _state(saved: Saved, policy: Policy, fresh: Any, trusted: bool) -> Any:
    """The saved arrays in place of the fresh ones."""
    models = list(leaves(fresh))
    unsaid = next((leaf.path for leaf in models if leaf.silent), None)
    if unsaid is not None and not trusted:
        raise ValueError(
            f"{unsaid} in the state of {policy.title} does not declare in its type what it may "
            "hold (rotting.kernel.state), so a forged file cannot be recognised; give trusted=True "
            "if you trust the file"
        )
    _check_paths(saved, policy, models)
    arrays = [save.unpack(leaf.path, saved.state[leaf.path], leaf.value) for leaf in models]
    return rebuild(fresh, iter(arrays))


def _check_paths(saved: Saved, policy: Policy, models: list[Leaf]) -> None:
    if saved.state.keys() != {leaf.path for leaf in models}:
        raise ValueError(f"saved state does not fit this version of {policy.title}")


def _draw(saved: Saved) -> Draw:
    draw: Draw = save.unpack("draw", saved.draw, _DRAW)
    return draw


def _some(counts: list[Any]) -> str:
    """The first counts, in one line."""
    shown = str(counts[:20])
    return shown if len(counts) <= 20 else f"{shown[:-1]}, ...]"


# -------------------------------------------------------------------------- the ledger


def restored_ledger(saved: Saved, audience: Audience | None, pooled: bool) -> Ledger:
    """The ledger's arrays, without waiting decisions (`waiting_rows`).

    For a policy that plays pooled, the ledger has the counts by key.
    """
    arms = saved.arm_count
    seed = saved.seed
    if type(seed) is not int or not 0 <= seed < 2**64:
        raise ValueError(f"saved state is damaged: seed cannot be {str(seed)[:40]}")
    packed: Any = saved.ledger.get("pulls")
    shape = packed.get("shape") if isinstance(packed, dict) else None
    if not 1 <= arms <= _ARMS or shape != [arms] or not set(save.LEDGER) <= set(saved.ledger):
        raise ValueError(f"saved state is damaged: it has no ledger of {str(arms)[:40]} arms")
    if len(str(packed.get("data"))) * 1000 < arms:
        raise ValueError(f"saved state is damaged: its pulls are not those of {arms} arms")
    fresh = new_ledger(arms, seed)
    if audience is not None and pooled:
        fresh = fresh._replace(exposure=no_exposures(audience.places, arms))
    wanted = save.saved_ledger(fresh)
    if wanted.keys() != saved.ledger.keys():
        raise ValueError(f"saved state is damaged: it has no ledger of {str(arms)[:40]} arms")
    found = {name: save.unpack(name, saved.ledger[name], wanted[name]) for name in wanted}
    counts = (found.pop(f"exposure.{leaf.path}") for leaf in leaves(fresh.exposure))
    found["exposure"] = rebuild(fresh.exposure, counts)
    ledger = fresh._replace(**found)
    check(ledger, fresh)
    _check_clock(ledger, audience, pooled)
    _check_numbers(ledger)
    return ledger


def _check_clock(ledger: Ledger, audience: Audience | None, pooled: bool) -> None:
    clock, arms = ledger.clock, ledger.pulls.size
    decided = int(clock[at.DECIDED])
    if ledger.pulls.max() > _DECISIONS // arms or int(ledger.pulls.sum()) != decided:
        raise ValueError(
            f"saved state is damaged: it counts {decided} decisions, but its arms were pulled "
            f"{int(ledger.pulls.sum())} times"
        )
    if ledger.last_chosen.max() > decided:
        raise ValueError("saved state is damaged: an arm was chosen after the last decision")
    if clock[at.OPEN] != ledger.open.sum():
        raise ValueError(f"saved state is damaged: {int(ledger.open.sum())} arms are open")
    clock[at.SILENT] = np.count_nonzero(ledger.rewarded == 0)
    for place in (at.LATE, at.LAST_ARM):
        if not NOBODY <= clock[place] < arms:
            raise ValueError(f"saved state is damaged: there is no arm {clock[place]}")
    clock[[at.BOUND, at.UNHASHED]] = 0
    if audience is None:
        clock[[at.LAST_KEY, at.FURTHEST]] = 0
    elif pooled:
        clock[at.FURTHEST] = ledger.pulls.max()
    if clock[at.FURTHEST] > ledger.pulls.max():
        raise ValueError("saved state is damaged: the policy saw pulls that were not made")
    if clock[at.LAST_KEY] >= (1 if audience is None else audience.places):
        raise ValueError(f"saved state is damaged: there is no key {clock[at.LAST_KEY]}")
    if min(clock) < NOBODY or min(clock[[at.WINDOW, at.EXPIRED]]) < 0:
        raise ValueError("saved state is damaged: its clock counts below zero")


def _check_numbers(ledger: Ledger) -> None:
    numbers = ledger.numbers
    share, lifetime, default = numbers[[at.EXPLORE, at.LIFETIME, at.DEFAULT]]
    if not 0.0 <= share < 1.0 or not lifetime > 0.0 or abs(default) > _checks.HUGE:
        raise ValueError("saved state is damaged: its share, lifetime or default cannot be")
    if math.isinf(numbers[at.NOW]):
        raise ValueError("saved state is damaged: its time is infinite")
    compared, squares, others, control = numbers[
        [at.LIFT_COUNT, at.LIFT_SQUARES, at.LIFT_OTHERS, at.LIFT_CONTROL]
    ]
    counts = 0.0 <= others <= compared <= ledger.clock[at.DECIDED] >= control >= 0.0
    if not counts or not squares >= 0.0:
        raise ValueError("saved state is damaged: its control group cannot be")


def waiting_rows(saved: Saved, ledger: Ledger, audience: Audience | None, shown: Any) -> list[Row]:
    """The pulls that wait for rewards, checked to be made, distinct and in order of decisions.

    `shown` are the counts by key of an audience, [key, arm].
    """
    pulls, clock = ledger.pulls.tolist(), ledger.clock
    known = {0} if audience is None else set(audience.keys.numbers.values())
    rows: list[Row] = []
    made = 0
    for row in saved.waiting:
        if not _is_row(row, audience is not None):
            raise ValueError(f"saved state is damaged: {str(row)[:80]} is not a waiting pull")
        arm, pull, number, *notes = row[:6]
        key, seen = row[6:] if audience is not None else (0, pull)
        notes[0] = math.nan if notes[0] is None else notes[0]  # JSON has no NaN
        if key not in known:
            raise ValueError(f"saved state is damaged: there is no key {key} that waits")
        counts = pulls if audience is None else shown[key]
        if not (0 <= arm < len(pulls) and 1 <= pull <= counts[arm]):
            raise ValueError(f"saved state is damaged: pull {pull} of arm {arm} was not made")
        if not made < number <= clock[at.DECIDED]:
            raise ValueError("saved state is damaged: pulls must wait in the order of decisions")
        made = number
        if audience is not None and not 1 <= seen <= min(pulls[arm], clock[at.FURTHEST]):
            raise ValueError(f"saved state is damaged: the policy did not see pull {seen}")
        if not all(math.isfinite(x) for x in notes[1:]) or math.isinf(notes[0]):
            raise ValueError("saved state is damaged: notes of a pull must be finite")
        at_, weight, centre = map(float, notes)
        rows.append((arm, pull, number, at_, weight, centre, key, seen))
    # for a policy that plays pooled, every pull of an arm has its own number
    pooled = audience is not None and not isinstance(ledger.exposure, NoKeys)
    if len({(row[6], *row[:2]) for row in rows}) < len(rows) or (
        pooled and len({(row[0], row[7]) for row in rows}) < len(rows)
    ):
        raise ValueError("saved state is damaged: a pull waits twice for its reward")
    late = np.bincount([row[0] for row in rows], minlength=len(pulls))
    if np.any(ledger.rewarded + late > ledger.pulls):
        raise ValueError("saved state is damaged: a pull that was rewarded waits for its reward")
    return rows


def _is_row(row: Any, keyed: bool) -> bool:
    if type(row) is not list or len(row) != (8 if keyed else 6):
        return False
    if any(type(n) is not int for n in (*row[:3], *row[6:])):
        return False
    return row[3] is None or (type(row[3]) is float and all(type(x) is float for x in row[4:6]))
