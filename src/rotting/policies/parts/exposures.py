"""Exposure counts: how often each arm was shown to each key of an audience.

In the paper's bandit an arm wears out for everyone at once. In an audience it wears out for each
key (a user, say) separately, while learning is shared. A policy that counts by key reads the number
of an arm's next pull from `next_pull(arms, arm)` (`parts.arms`): the current key's, or without an
audience (`NoKeys`) the arm's own, at no cost.

Counts may fade. With a half-life each count halves in that time, and is no whole number; with a
window it starts at zero whenever a window begins ("3 a day"). Time is counted in rounds, or in the
key's own decisions. A key's counts fade lazily, when its next decision comes.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from rotting.bandits._audience import DECISIONS, WINDOW, Rest
from rotting.kernel.arrays import FloatArray, IntArray
from rotting.kernel.compilable import by_type, shared
from rotting.kernel.state import Counts, Finite, Unchanged, Within, is_part, values

__all__ = [
    "Exposures",
    "Fading",
    "NoKeys",
    "effective_count",
    "expose",
    "fades",
    "has_key_counts",
    "interpolated_mean",
    "no_exposures",
    "present_key",
    "turn_to",
    "with_key_counts",
]

S = TypeVar("S")
E = TypeVar("E")
Shown = npt.NDArray[np.int32]

# places in `current`
KEY = 0  # the key of the present decision or reward
SCORED = 1  # the key of the arms' cached scores, or NOBODY
ROUND = 2  # the round
NOBODY = -1
# places in `rest`
KIND, UNIT, LENGTH = 0, 1, 2
_LN2 = math.log(2.0)


class NoKeys(NamedTuple):
    """No audience: one count for all keys.

    The value of `Arms.exposure` from `no_pulls`. In an audience, players and engines replace it by
    `Exposures` or `Fading` (`with_key_counts`). With `NoKeys` these functions compile to nothing.
    """


class Exposures(NamedTuple):
    """Counts by key.

    Attributes:
        counts: [key, arm]: showings, in 32 bits, since there may be many keys.
        current: The numbers at the places KEY (the current key), SCORED (the key of the arms'
            cached scores) and ROUND.

    >>> exposure = no_exposures(keys=2, arms=3)
    >>> turn_to(exposure, 1, time=1)
    >>> expose(exposure, 0)
    >>> exposure.counts.tolist()
    [[0, 0, 0], [1, 0, 0]]
    """

    counts: Annotated[Any, Within(0, 2**31 - 1)]
    current: Annotated[IntArray, Within(-1)]

    def wrong(self, state: Any, params: Any, waiting: Any) -> str | None:
        """As in `Arms`."""
        return _wrong_counts(self, state)

    def for_keys(self, keys: int) -> Exposures:
        """The same part for another number of keys."""
        return self._replace(counts=_longer(self.counts, keys))

    def forget_key(self, key: int) -> None:
        """Set the key's counts to zero."""
        self.counts[key] = 0
        self.current[SCORED] = NOBODY


class Fading(NamedTuple):
    """Counts by key that fade.

    Attributes:
        counts: [key, arm]: all showings, in 32 bits.
        current: As in `Exposures`.
        effective: [key, arm]: counts after fading, in 32 bits.
        last_met: The round of each key's last decision, or its number, by the unit of `rest`.
        rest: How counts fade: the numbers at the places KIND, UNIT and LENGTH.
    """

    counts: Annotated[Any, Within(0, 2**31 - 1)]
    current: Annotated[IntArray, Within(-1)]
    effective: Annotated[Any, Finite()]
    last_met: Counts
    rest: Annotated[FloatArray, Unchanged()]

    def wrong(self, state: Any, params: Any, waiting: Any) -> str | None:
        """As in `Arms`."""
        return _wrong_counts(self, state)

    def for_keys(self, keys: int) -> Fading:
        """The same part for another number of keys."""
        counts, effective, last_met = (
            _longer(x, keys) for x in (self.counts, self.effective, self.last_met)
        )
        return self._replace(counts=counts, effective=effective, last_met=last_met)

    def forget_key(self, key: int) -> None:
        """Set the key's counts to zero."""
        for array in (self.counts, self.effective, self.last_met):
            array[key] = 0
        self.current[SCORED] = NOBODY


def for_arms(exposure: E, arms: int) -> E:
    """The same part for more arms."""
    part: Any = exposure
    if isinstance(part, NoKeys):
        return exposure
    wider = {}
    for name in ("counts", "effective") if isinstance(part, Fading) else ("counts",):
        array = getattr(part, name)
        wider[name] = np.zeros((array.shape[0], arms), dtype=array.dtype)
        wider[name][:, : array.shape[1]] = array
    made: E = part._replace(**wider)
    return made


def for_keys(part: S, keys: int) -> S:
    """The same part for more keys, in all places that keep something by key."""
    tree: Any = part
    if hasattr(tree, "for_keys"):
        found: S = tree.for_keys(keys)
        return found
    made: S = type(tree)(*(for_keys(x, keys) if is_part(x) else x for x in tree))
    return made


def forget_key(part: Any, key: int, keys: int) -> None:
    """Reset all that is kept for a key, in place: the key is like a new one.

    A part may have a method `forget_key(key)`; otherwise the key gets the values of a new key.
    """
    if hasattr(part, "forget_key"):
        part.forget_key(key)
    elif hasattr(part, "for_keys"):
        more = part.for_keys(keys + 1)
        for old, new in zip(values(part), values(more), strict=True):
            if old.shape != new.shape:
                old[key] = new[keys]
    else:
        for inner in part:
            if is_part(inner):
                forget_key(inner, key, keys)


def _longer(array: Any, keys: int) -> Any:
    made = np.zeros((keys, *array.shape[1:]), dtype=array.dtype)
    made[: array.shape[0]] = array[:keys]
    return made


def no_exposures(keys: int, arms: int, rest: Rest | None = None) -> Exposures | Fading:
    """The part at its start: all counts zero.

    Args:
        keys: The number of keys.
        arms: The number of arms.
        rest: How counts fade: a `HalfLife` or a `Window`; None keeps them.

    Returns:
        `Exposures`, or `Fading` with a rest.
    """
    counts = np.zeros((keys, arms), dtype=np.int32)
    current = np.array([0, NOBODY, 0], dtype=np.int64)
    if rest is None:
        return Exposures(counts, current)
    effective, last_met = np.zeros((keys, arms), dtype=np.float32), np.zeros(keys, dtype=np.int64)
    return Fading(
        counts, current, effective, last_met, np.array([rest.kind, rest.unit_code, rest.length])
    )


def with_key_counts(state: S, keys: int, rest: Rest | None = None) -> S:
    """The same state with space for counts by key; players and engines call it after `init`.

    Args:
        state: A state with a part `arms: Arms`.
        keys: The number of keys.
        rest: How counts fade.

    Returns:
        A state whose `arms.exposure` counts by key.
    """
    tree: Any = state
    exposure = no_exposures(keys, tree.arms.pulls.size, rest)
    made = tree._replace(arms=tree.arms._replace(exposure=exposure))
    more = {
        name: part.for_keys(keys)
        for name, part in zip(made._fields, made, strict=True)
        if is_part(part) and hasattr(part, "for_keys")
    }
    found: S = made._replace(**more)
    return found


def take_back(exposure: NoKeys | Exposures | Fading, arm: int) -> None:
    """Undo the latest showing of an arm to the current key; plain Python only."""
    if isinstance(exposure, (Exposures, Fading)):
        key = exposure.current[KEY]
        exposure.counts[key, arm] -= 1
        if isinstance(exposure, Fading):
            exposure.effective[key, arm] = max(0.0, float(exposure.effective[key, arm]) - 1.0)


def most_fresh(exposure: Exposures | Fading) -> int:
    """The highest effective count of any key and arm, in whole pulls."""
    if isinstance(exposure, Fading):
        return int(np.float64(exposure.effective.max(initial=0.0)) + 0.5)
    return int(exposure.counts.max(initial=0))


def _wrong_counts(exposure: Any, holder: Any) -> str | None:
    """Why no play can lead to these counts, or None; `holder` has the arms' pulls."""
    if not 0 <= exposure.current[KEY] < exposure.counts.shape[0]:
        return f"current must name one of {exposure.counts.shape[0]} keys"
    if exposure.current[SCORED] >= exposure.counts.shape[0]:
        return f"current must name one of {exposure.counts.shape[0]} keys"
    if np.any(exposure.counts.sum(axis=0, dtype=np.int64) > holder.pulls):
        return "counts must be no more than the pulls of everybody"
    if isinstance(exposure, Fading):
        # A proposed decision may not have been taken yet. A key's own decisions have no bound here:
        # proposed ones count too.
        most = holder.pulls.sum() + 1
        if exposure.rest[UNIT] != DECISIONS and exposure.last_met.max(initial=0) > most:
            return "last_met must not be after the next decision"
        if np.any((exposure.effective < 0.0) | (exposure.effective > exposure.counts)):
            return "effective must be no more than counts"
    return None


@by_type("exposure")
def present_key(exposure: Any) -> Any:
    """The current key; always 0 without counts by key.

    Args:
        exposure: `state.arms.exposure`.

    Returns:
        The number of the key.
    """
    return 0


@present_key.of(Exposures, Fading)
def _(exposure: Any) -> Any:
    return exposure.current[KEY]


@by_type("exposure")
def turn_to(exposure: Any, key: Any, time: Any) -> Any:
    """Make a key the current one; its counts fade if they do so. Does nothing without an audience.

    Players and engines call this before `choose` and `update`.

    Args:
        exposure: `state.arms.exposure`.
        key: The number of the key.
        time: The round.
    """


@turn_to.of(Exposures)
def _(exposure: Any, key: Any, time: Any) -> Any:
    exposure.current[KEY] = key
    exposure.current[ROUND] = time


@turn_to.of(Fading)
def _(exposure: Any, key: Any, time: Any) -> Any:
    exposure.current[KEY] = key
    exposure.current[ROUND] = time
    rest, effective = exposure.rest, exposure.effective
    now = exposure.last_met[key] + 1 if rest[UNIT] == DECISIONS else time
    since = now - exposure.last_met[key]
    if rest[KIND] == WINDOW:
        length = int(rest[LENGTH])
        if (now - 1) // length != (exposure.last_met[key] - 1) // length:
            for i in range(effective.shape[1]):
                effective[key, i] = np.float32(0.0)
    elif since > 0:
        part = math.exp(-_LN2 * since / rest[LENGTH])
        for i in range(effective.shape[1]):  # in 64 bits: plain Python would round otherwise
            effective[key, i] = np.float32(np.float64(effective[key, i]) * part)
    exposure.last_met[key] = now


@by_type("exposure")
def clear(exposure: Any) -> Any:
    """Set all counts to zero."""


@clear.of(Exposures)
@shared
def clear_counts(exposure: Any) -> Any:
    """`clear` where counts do not fade."""
    for key in range(exposure.counts.shape[0]):
        for i in range(exposure.counts.shape[1]):
            exposure.counts[key, i] = 0
    exposure.current[KEY] = 0
    exposure.current[SCORED] = NOBODY
    exposure.current[ROUND] = 0


@clear.of(Fading)
def _(exposure: Any) -> Any:
    clear_counts(exposure)
    for key in range(exposure.counts.shape[0]):
        exposure.last_met[key] = 0
        for i in range(exposure.counts.shape[1]):
            exposure.effective[key, i] = np.float32(0.0)


@by_type("exposure")
def expose(exposure: Any, arm: Any) -> Any:
    """Count a showing of the arm to the current key. Does nothing without an audience.

    `rotting.policies.parts.arms.count_pull` calls this; a `pulled` of your own does too.

    Args:
        exposure: `state.arms.exposure`.
        arm: The arm.
    """


@expose.of(Exposures)
def _(exposure: Any, arm: Any) -> Any:
    exposure.counts[exposure.current[KEY], arm] += 1


@expose.of(Fading)
def _(exposure: Any, arm: Any) -> Any:
    exposure.counts[exposure.current[KEY], arm] += 1
    key = exposure.current[KEY]
    exposure.effective[key, arm] = np.float32(np.float64(exposure.effective[key, arm]) + 1.0)


@by_type("exposure")
def effective_count(exposure: Any, arm: Any) -> Any:
    """How often the arm was shown to the current key, after fading; not always a whole number.

    Args:
        exposure: `state.arms.exposure`.
        arm: The arm.

    Returns:
        A float; 0 without an audience.
    """
    return 0.0


@effective_count.of(Exposures)
def _(exposure: Any, arm: Any) -> Any:
    return np.float64(exposure.counts[exposure.current[KEY], arm])


@effective_count.of(Fading)
def _(exposure: Any, arm: Any) -> Any:
    return np.float64(exposure.effective[exposure.current[KEY], arm])


@shared
def interpolated_mean(means: Any, model: Any, n: Any) -> Any:
    """The mean reward after n showings, interpolated between whole numbers.

    Args:
        means: A table [model, n].
        model: The row of the table.
        n: A number of showings; beyond the table the last entry counts.

    Returns:
        A float.

    >>> float(interpolated_mean(np.array([[1.0, 0.5]]), 0, 0.5))
    0.75
    """
    whole = min(int(n), means.shape[1] - 1)
    mean = means[model, whole]
    if n > whole and whole + 1 < means.shape[1]:
        mean += (n - whole) * (means[model, whole + 1] - mean)
    return mean


@by_type("exposure")
def has_key_counts(exposure: Any) -> Any:
    """Whether counts are kept by key.

    Args:
        exposure: `state.arms.exposure`.

    Returns:
        A bool, a constant in compiled code.
    """
    return False


@has_key_counts.of(Exposures, Fading)
def _(exposure: Any) -> Any:
    return True


@by_type("exposure")
def fades(exposure: Any) -> Any:
    """Whether counts fade.

    Args:
        exposure: `state.arms.exposure`.

    Returns:
        A bool, a constant in compiled code.
    """
    return False


@fades.of(Fading)
def _(exposure: Any) -> Any:
    return True
