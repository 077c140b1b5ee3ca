"""The core of a player: its parts, and how it decides, learns and grows.

A player (`_online.player`, `_online.audience`) owns one `Core` and gives it signatures, results and
documentation. The core works with numbers of arms and keys; saving, loading, tables and the service
use its public names. Callers must hold `lock`, except for `snapshot`, `go_compiled` and `flags`.

A decision and its reward are two calls, `number, pull = core.decide(core.block)` and
`core.learn(core.block, number, pull, reward)`, of compiled code or of the same functions in plain
Python (`rotting._live.steps`). In an audience both also take the key's number.

**Ctrl-C** finds either the old or the new state. Compiled code holds the addresses of the arrays,
so replacements are made first and then assigned without a call in between.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import logging
import math
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from rotting import _checks
from rotting._live import ledger as at_
from rotting._live import steps
from rotting._live.keys import exposure_of, is_keyed, set_key_for_reward, showings
from rotting._live.ledger import (
    NOBODY,
    Ledger,
    find,
    is_full,
    listed,
    new_ledger,
    no_waiting,
    remove,
    waiting_of,
    with_arms,
    with_space,
)
from rotting._live.steps import leave_out
from rotting._online import background
from rotting._online.background import Job
from rotting._online.decision_types import Proposal
from rotting._online.hooks import Hook
from rotting._online.keys import FEWEST, Keys, counted, places_for
from rotting._online.labels import one_label, some
from rotting._online.lock import Lock
from rotting._online.space import (
    FIRST,
    UNLIMITED,
    capacity_of,
    expected_sizes,
    next_sizes,
    prepared,
    set_limits,
)
from rotting._online.times import duration, moment
from rotting._signals import undivided
from rotting.kernel import random
from rotting.kernel.arrays import FloatArray, IntArray
from rotting.kernel.state import grown, rebuild, values
from rotting.kernel.verbs import set_open
from rotting.policies._base import Policy
from rotting.policies.parts.exposures import for_keys, forget_key, no_exposures
from rotting.policies.parts.openings import closable

NOTHING: FloatArray = np.zeros(0)
_LOG = logging.getLogger("rotting")
_MOST_PULLS = 10**7  # pulls of history at once; those left out take some hundred bytes each
_MANY_SILENT = 1000  # decisions after which equal rewards suggest that only clicks are sent
_POSITIVE = 2**63 - 1  # a mask for words in columns of int64


class Settings(NamedTuple):
    """The settings of `Policy.online` and `Policy.audience`, arms aside."""

    seed: int = 0
    horizon: int | None = None
    compiled: bool | None = None
    reward_window: int | None = None
    reward_time: Any = None
    default_reward: float | None = None
    explore: float = 0.0


class Snapshot(NamedTuple):
    """A player at one moment: what is saved, copied, pickled and inspected."""

    policy: Policy
    arms: tuple[Any, ...]  # labels
    horizon: int | None
    seed: int
    compiled: bool | None  # None: as soon as another process has compiled the calls
    dated: bool | None  # whether times are dates; None before the first
    start: int  # number of open arms at the start
    capacity: int  # decisions for which the state has space
    reach: int  # pulls covered by the tables of the params
    params: Any
    state: Any
    draw: random.Draw
    ledger: Ledger
    keys: Keys | None  # of an audience

    def with_key(self, key: Any = None) -> Snapshot:
        """The snapshot with this key number as the current key; None is a new key."""
        state = self.state
        if self.keys is None or not is_keyed(state):
            return self
        place = key
        if place is None:
            place = self.keys.unused()
            state = for_keys(state, max(place + 1, state.arms.exposure.counts.shape[0]))
        set_key_for_reward(state, place)
        return self._replace(state=state)


class Core:
    """A policy played one decision at a time, by the numbers of arms and keys."""

    # Without slots, one look into `__dict__` slows every later call down: Python 3.11 then keeps
    # the attributes in a dictionary.
    __slots__ = (
        *Snapshot._fields,
        *("assigned", "block", "decide", "decisions", "fast", "hook", "job", "learn", "lock"),
        *("numbers", "plain", "timed", "_batch", "_calls", "_next"),
    )

    policy: Policy
    arms: tuple[Any, ...]
    horizon: int | None
    seed: int
    compiled: bool | None
    dated: bool | None
    start: int
    capacity: int
    reach: int
    params: Any
    state: Any
    draw: random.Draw
    ledger: Ledger
    keys: Keys | None
    decide: Callable[..., tuple[int, int]]  # takes the block, and a key's number if there are keys
    learn: Callable[..., bool]  # takes the block, arm, pull, reward, and a key's number
    decisions: Any  # an iterator that decides, without keys
    block: Any  # addresses of all arrays, for compiled code
    fast: bool  # whether the calls are compiled now
    job: Job | None  # the compilation in the background
    numbers: dict[Any, int]  # arms' numbers by label
    timed: bool  # whether calls must give the time
    assigned: bool  # whether there is a control group
    plain: bool  # without time and hook, where a decision is one call of `decide`
    hook: Hook | None  # a user's function, called after every call
    _batch: Any  # the compiled call for batches, from its first use on
    _calls: Any  # the compiled calls
    _next: Any  # sizes, larger params and an empty state, made ahead

    def __init__(self, parts: Snapshot) -> None:
        for name, value in zip(Snapshot._fields, parts, strict=True):
            setattr(self, name, value)
        self.lock, self.hook = Lock(), None
        self._calls, self._batch, self.block = None, None, None
        self.numbers = _numbers_of(self.arms)
        self.fast, self.job = self.compiled is True, None
        if self.compiled is None:
            job = background.job_for(self)
            self.fast = job.ready  # read once, since its thread may set it now
            self.job = None if self.fast else job
        self.begin(self.params, self.state, self.ledger)

    @classmethod
    def new(
        cls, policy: Policy, arms: Iterable[Any], settings: Settings, keys: Keys | None = None
    ) -> Core:
        """A new core, for an audience if `keys` are given; ValueError for bad settings."""
        labels = _checks.labels("arms", arms)
        horizon = settings.horizon
        if horizon is not None:
            horizon = _checks.integer("horizon", horizon, 1, _checks.EXACT)
        seed, count = int(random.seed_word(settings.seed)), len(labels)
        if policy.needs_horizon and horizon is None:
            way = "online" if keys is None else "audience"
            raise ValueError(
                f"horizon must be given to play {policy.title} online, as "
                f".{way}(arms, horizon=10_000), got None"
            )
        ledger = new_ledger(count, seed)
        if keys is not None:
            ledger = ledger._replace(waiting=no_waiting(keyed=True))
            if not policy.counts_by_key:
                ledger = ledger._replace(exposure=no_exposures(FEWEST, count))
        dated = _set_waiting(ledger, settings)
        capacity = capacity_of(count, 0) if policy.grows else UNLIMITED
        params = prepared(policy, count, horizon, FIRST)
        places = None if keys is None else (FEWEST, keys.rest)
        state = _fresh_state(policy, params, count, capacity, places)
        start = (count, capacity, FIRST, params, state, random.new_draw(seed), ledger, keys)
        return cls(Snapshot(policy, labels, horizon, seed, settings.compiled, dated, *start))

    def snapshot(self) -> Snapshot:
        """A copy of the player at this moment."""

        def copied() -> Snapshot:
            kept = Snapshot(*(getattr(self, name) for name in Snapshot._fields))
            return kept._replace(
                state=_copied(kept.state),
                draw=kept.draw.copy(),
                ledger=_copied(kept.ledger),
                keys=None if kept.keys is None else kept.keys.copy(),
            )

        return self.lock.alone(copied)

    def go_compiled(self) -> None:
        """Continue with compiled calls, from the same state."""

        def change() -> None:
            self._go_fast()
            self.compiled = True

        self.lock.alone(change)

    def _go_fast(self) -> None:
        """Change to compiled calls; ValueError if the policy cannot be compiled."""
        if not self.fast:
            job, self.fast, self.job = self.job, True, None
            try:
                self.begin(self.params, self.state, self.ledger)
            except BaseException:
                self.fast, self.job = False, job
                raise

    def look_at_job(self, coming: int = 0) -> None:
        """Change to compiled calls if they are ready; after `PLAIN_LIMIT` compile them here.

        `coming` is the number of rows of the batch that follows.
        """
        job = self.job
        if job is None:
            return
        if coming > background.PLAIN_LIMIT:
            job.wait()
        late = int(self.ledger.clock[at_.DECIDED]) + coming >= background.PLAIN_LIMIT
        if not job.settled or not (job.ready or late):
            return
        if not job.ready:
            _LOG.info("compiling %s within a call: %s", self.policy.title, job.reason)
        try:
            self._go_fast()
        except ValueError as error:
            self.job = None
            self.begin(self.params, self.state, self.ledger)
            _LOG.warning("%s plays in plain Python: %s", self.policy.title, error)

    def watch(self, hook: Hook | None) -> None:
        """Call `hook` after every call of the player; None removes it."""
        self.hook = hook
        self.plain = hook is None and not self.timed

    # ------------------------------------------------------------------- decisions

    def select(self, allowed: list[int] | None, *key: int) -> tuple[int, int]:
        """Choose an arm; returns its number and pull number. Call `set_time` before."""
        try:
            if allowed is not None:
                self._restrict(allowed)
            number, pull = self.decide(self.block, *key)
            if number < 0:
                number, pull = self.decide_again(number, pull, *key)
        finally:
            if allowed is not None:
                self.ledger.clock[at_.BOUND] = 0  # no call, so Ctrl-C cannot come in between
        return number, pull

    def decide_again(self, number: int, pull: int, *key: int) -> tuple[int, int]:
        """Decide after making space, or raise the error of an invalid choice."""
        while number == steps.NO_SPACE:
            self.make_space()
            number, pull = self.decide(self.block, *key)
        if number < 0:
            self._refuse(number, pull)
        return number, pull

    def assignment(self) -> tuple[float, bool]:
        """The propensity of the latest decision, and whether it is in the control group."""
        return float(self.ledger.numbers[at_.CHANCE]), bool(self.ledger.clock[at_.LAST_CONTROL])

    def select_rows(self, rows: IntArray, allowed: list[int] | None) -> FloatArray:
        """Decide for each row (`_live.steps`); returns propensities. Call `set_time` before."""
        chances, done = np.zeros(len(rows)), 0
        try:
            if allowed is not None:
                self._restrict(allowed)
            while done < len(rows):
                made = self.work(steps.DECIDE, rows[done:], NOTHING, chances[done:])
                if made < 0:
                    self._refuse(made, int(rows[done, 0]))
                done += made
                if done < len(rows):
                    self.make_space()
        finally:
            self.ledger.clock[at_.BOUND] = 0
        return chances

    def rows_by(self, names: Sequence[str]) -> IntArray:
        """Rows for decisions, with the random numbers that `draw_by` gives for each name."""
        rows = np.zeros((len(names), steps.DRAWS + 4), dtype=np.int64)
        rows[:, steps.DRAWS :] = words_of(self.seed, names)
        return rows

    def draw_by(self, name: str) -> None:
        """Take the random numbers of the next decision from the seed and this name."""
        (words,) = words_of(self.seed, [name]).tolist()
        draw, control = self.draw, self.ledger.draw
        draw[0], draw[1], draw[2] = words[0], words[1], 0
        control[0], control[1], control[2] = words[2], words[3], 0

    def redraw(self, draw: random.Draw) -> None:
        """Replace the random numbers, in place: compiled code has the array's address."""
        self.draw[:] = draw

    def propose(self, allowed: list[int] | None, key: Any, *place: int) -> Proposal:
        """Decide without counting a pull; `place` is the key's number, if there are keys."""
        try:
            if allowed is not None:
                self._restrict(allowed)
            self.ledger.clock[at_.BOUND] |= at_.UNCOUNTED
            number, pull = self.decide(self.block, *place)
            if number < 0:
                number, _ = self.decide_again(number, pull, *place)
        finally:
            self.ledger.clock[at_.BOUND] = 0
        if not self.assigned:
            return Proposal(key, self.arms[number], 1.0, False, 0.0)
        weight = float(self.ledger.numbers[at_.NEXT_WEIGHT])
        return Proposal(key, self.arms[number], *self.assignment(), weight)

    def take(self, number: int, proposal: Proposal, *place: int) -> int:
        """Count the pull of a proposal; returns its number."""
        while True:
            ledger = self.ledger
            try:
                ledger.clock[at_.BOUND] = (number + 1) * at_.TAKEN
                if self.assigned:
                    ledger.numbers[at_.CHANCE] = proposal.propensity
                    ledger.numbers[at_.NEXT_WEIGHT] = proposal.weight
                    ledger.clock[at_.LAST_CONTROL] = proposal.control
                made, pull = self.decide(self.block, *place)
            finally:
                self.ledger.clock[at_.BOUND] = 0
            if made >= 0:
                return int(pull)
            self.make_space()

    def flags(self, among: Iterable[Any] | None) -> list[int] | None:
        """A flag for each arm of a restricted decision; None if it is not restricted."""
        if among is None:
            return None
        self.check_closable()
        numbers = self.numbers
        flags = [0] * len(numbers)
        try:
            if isinstance(among, (str, bytes)):
                raise TypeError
            for label in among:
                flags[numbers[label]] = 1
        except (KeyError, TypeError):
            raise ValueError(
                f"among must be a list of arms of {some(self.arms)}, got {among!r}"
            ) from None
        if 1 not in flags:
            raise ValueError("among must hold at least one arm, got none")
        return flags

    def _restrict(self, flags: list[int]) -> None:
        allowed = self.ledger.allowed
        allowed[: len(flags)] = flags
        allowed[len(flags) :] = 0  # arms added by another thread
        self.ledger.clock[at_.BOUND] = at_.AMONG

    def set_time(self, at: Any, allowed: list[int] | None = None, *, deciding: bool = True) -> None:
        """Set the user's time, if the player has one; ValueError if no arm can be chosen."""
        if at is None and not self.timed:
            return
        if at is None:
            raise ValueError("at must be given, as this player has a reward_time, got None")
        numbers = self.ledger.numbers
        now, dated = moment("at", at, self.dated)
        if now < numbers[at_.NOW]:
            raise ValueError(f"at must not be before the time of earlier calls, got {at!r}")
        if deciding:
            self.check_open(allowed)
        self.dated = dated
        numbers[at_.NOW] = now

    def check_open(self, allowed: list[int] | None) -> None:
        """Refuse a decision without an arm to choose."""
        ledger = self.ledger
        if allowed is None:
            found = bool(ledger.clock[at_.OPEN])
        else:
            found = bool(np.any(ledger.open[: len(allowed)] * allowed))
        if not found:
            self._refuse(steps.NONE_OPEN, 0)

    def _refuse(self, why: int, arm: int) -> None:
        """Raise the ValueError of a decision that cannot be made."""
        arms = len(self.arms)
        if why == steps.NONE_OPEN:
            if self.ledger.clock[at_.OPEN] == 0:
                raise ValueError(
                    f"arms must not all be retired when one is to be chosen, but all {arms} are; "
                    "restore one, or add another"
                )
            raise ValueError("among must hold an open arm, but all its arms are retired")
        if why == steps.CLOSED:
            raise ValueError(f"choose must return an open arm, got {self.arms[arm]!r}")
        raise ValueError(f"choose must return an arm from 0 to {arms - 1}, got {arm}")

    # --------------------------------------------------------------------- rewards

    def learn_again(self, number: int, pull: Any, value: float, *key: int) -> None:
        """Learn a reward whose decision was not found at first, or refuse it.

        It can be found now if Ctrl-C had come after the space grew and before its table was built.
        """
        self._find_again()
        if not self.learn(self.block, number, _checks.whole(pull), value, *key):
            raise ValueError(self._why_not(number, pull, *key))

    def learn_rows(self, rows: IntArray, rewards: FloatArray) -> None:
        """Learn the rewards of decisions by rows (`_live.steps`): all of them or none."""
        if len(rows) != len(rewards):
            raise ValueError(
                f"rewards must be {len(rows)}, one for each decision, got {len(rewards)}"
            )
        wrong = self.work(steps.LEARN, rows, rewards, NOTHING)
        if wrong < 0:
            return
        number, pull, why, *key = rows[wrong].tolist()
        if not 0 <= number < len(self.arms):
            raise ValueError(
                f"numbers must be those of arms, from 0 to {len(self.arms) - 1}, "
                f"got {number} at place {wrong}"
            )
        if why == steps.TWICE:
            which = self._called(number, *key)
            raise ValueError(f"pull {pull} of {which} must come once, got it twice")
        raise ValueError(self._why_not(number, pull, *key))

    def drop(self, number: int, pull: Any, key: int) -> bool:
        """Remove a waiting decision; False if it does not wait."""
        self._find_again()
        waiting = self.ledger.waiting
        place = find(waiting, number, _checks.whole(pull), key)
        if place < 0:
            return False
        leave_out(self.ledger, waiting.table[place] - 1)
        remove(waiting, place)
        return True

    def expire(self) -> int:
        """Expire the decisions whose window has ended; returns their number."""
        before = int(self.ledger.clock[at_.EXPIRED])
        self.work(steps.EXPIRE, self.row(), NOTHING, NOTHING)
        return int(self.ledger.clock[at_.EXPIRED]) - before

    def _find_again(self) -> None:
        if self.ledger.clock[at_.UNHASHED]:
            steps.find_again(self.ledger)

    def _why_not(self, number: int, pull: Any, key: int = 0) -> str:
        """A sentence on why a decision does not wait for a reward."""
        made, which = int(showings(self.state, self.ledger, key, number)), self._called(number, key)
        if isinstance(pull, (int, np.integer)) and 1 <= pull <= made:
            if not math.isnan(self.ledger.numbers[at_.DEFAULT]):
                return f"pull {pull} of {which} was rewarded before, perhaps by the default"
            return f"pull {pull} of {which} was rewarded or dropped before"
        return f"pull must be one of the {made} pulls made of {which}, got {pull!r}"

    def _called(self, number: int, key: int = 0) -> str:
        """An arm in a sentence, with its key if there is one."""
        said = f"arm {self.arms[number]!r}"
        labels = {} if self.keys is None else self.keys.labels()
        return f"{said} for key {labels[key]!r}" if key in labels else said

    # ------------------------------------------------------------------------ arms

    def check_closable(self) -> None:
        """Refuse a policy whose arms cannot change."""
        if self.policy.verbs.set_open is None:
            raise ValueError(
                f"policy must have the verb set_open, or a part `arms` of type Arms in its state, "
                f"for arms to come and go; {self.policy.title} has neither"
            )

    def number_of(self, name: str, label: Any) -> int:
        """The number of an arm; `name` is the argument named in the error."""
        try:
            return int(self.numbers[label])
        except (KeyError, TypeError):
            raise ValueError(f"{name} must be an arm of {some(self.arms)}, got {label!r}") from None

    def add(self, label: Any) -> None:
        arms = one_label("label", label, self.arms)
        ledger = with_arms(self.ledger, len(arms))
        flags = ledger.open.copy()
        flags[-1] = 1
        self._reopen(arms, ledger, flags)

    def set_open(self, label: Any, value: int) -> None:
        """Retire an arm (0), or restore it (1)."""
        number = self.number_of("label", label)
        flags = self.ledger.open.copy()
        if flags[number] == value:
            what = "open" if value else "retired"
            raise ValueError(f"label must be an arm that is not {what} already, got {label!r}")
        flags[number] = value
        self._reopen(self.arms, self.ledger, flags)

    def _reopen(self, arms: tuple[Any, ...], ledger: Ledger, flags: IntArray) -> None:
        """Replace the arms and their open flags.

        Before the first pull the number of arms K may change; params and state are then made again.
        """
        start, params, state, capacity = self.start, self.params, self.state, self.capacity
        if ledger.clock[at_.DECIDED] == 0:
            start = max(1, int(flags.sum()))
            capacity = capacity_of(start, 0) if self.policy.grows else capacity
            params = prepared(self.policy, start, self.horizon, self.reach)
            state = self.fresh(params, len(arms), capacity)
        else:
            state = _copied(state)  # changed in place below, which an interrupt may stop halfway
            if len(arms) > len(self.arms):
                state = grown(state, self.fresh(params, len(arms), capacity))
        clock = ledger.clock.copy()
        clock[at_.OPEN] = flags.sum()
        ledger = ledger._replace(open=flags, clock=clock, allowed=np.zeros_like(flags))
        set_open(params, state, flags)
        before = self.arms, self.start, self.numbers
        self.arms, self.start, self.numbers = arms, start, _numbers_of(arms)
        try:
            self.begin(params, state, ledger, capacity, self.reach)
        except BaseException:
            self.arms, self.start, self.numbers = before
            raise

    # ------------------------------------------------------------------------ keys

    @property
    def places(self) -> int:
        """The number of keys for which there is space."""
        return int(exposure_of(self.state, self.ledger).counts.shape[0])

    def key_number(self, key: Any) -> int:
        """The number of a key; new keys are added."""
        assert self.keys is not None
        place = self.keys.numbers.get(key)
        return self._admit([key])[0] if place is None else place

    def key_numbers(self, keys: list[Any]) -> IntArray:
        """The numbers of keys; new keys are added. All have passed `check_key`."""
        assert self.keys is not None
        numbers = self.keys.numbers
        found = [numbers.get(key) for key in keys]
        if None in found:
            new = [key for key, place in zip(keys, found, strict=True) if place is None]
            self._admit(list(dict.fromkeys(new)))
            found = [numbers[key] for key in keys]
        return np.array(found, dtype=np.int64)

    def _admit(self, keys: list[Any]) -> list[int]:
        """Add new keys, and make space for them."""
        assert self.keys is not None
        needed = self.keys.space_for(len(keys))
        if needed > self.places:
            places = places_for(needed, self.places)
            self.begin(self.params, for_keys(self.state, places), for_keys(self.ledger, places))
        return [self.keys.add(key) for key in keys]

    def forget_key(self, key: Any) -> None:
        """Remove a key with its label, its counts and its waiting decisions."""
        assert self.keys is not None
        place = self.keys.number("key must be one", key)
        self.work(steps.GIVE_UP_KEY, self.row(place), NOTHING, NOTHING)
        clock = self.ledger.clock
        if clock[at_.LAST_KEY] == place:
            clock[[at_.LAST_KEY, at_.LAST_ARM]] = NOBODY
        self.keys.stamp = object()
        for part in (self.state, self.ledger):
            forget_key(part, place, self.places)
        self.keys.remove(key)

    # --------------------------------------------------------------------- history

    def record(self, rows: IntArray, rewards: FloatArray, chances: FloatArray, pulls: Any) -> int:
        """Learn history by rows and fill in their pulls; returns the number of pulls counted."""
        before, space = int(self.ledger.clock[at_.DECIDED]), len(self.ledger.waiting.entries)
        if pulls is not None:
            rows[:, 1] = self.checked_pulls(rows, pulls)
        done = 0
        try:
            while True:
                done += self.work(steps.RECORD, rows[done:], rewards[done:], chances[done:])
                if done == len(rewards):
                    break
                self._grow()
        finally:  # after Ctrl-C the first rows are learnt, and nothing may wait
            self.work(steps.GIVE_UP_SINCE, self.row(before), NOTHING, NOTHING)
        if len(self.ledger.waiting.entries) > space:  # it grew for pulls that were left out
            waiting = self.ledger.waiting
            fewer = waiting_of(listed(waiting), space, keyed=waiting.keyed)
            self.begin(self.params, self.state, self.ledger._replace(waiting=fewer))
        counted = int(self.ledger.clock[at_.DECIDED]) - before
        if counted:  # the player did not choose the last arm
            self.ledger.clock[[at_.LAST_ALLOWED, at_.LAST_CONTROL]] = 0
        return counted

    def checked_pulls(self, rows: IntArray, pulls: Any) -> IntArray:
        """Pull numbers, checked to be new and distinct; the rows' fourth column has the keys."""
        found = np.asarray(pulls)
        if found.ndim != 1 or len(found) != len(rows) or found.dtype.kind not in "iuf":
            raise ValueError(f"pulls must be {len(rows)} whole numbers, got {str(pulls)[:80]}")
        with np.errstate(invalid="ignore"):  # NaN is refused below
            whole = found.astype(np.int64)
        made = self._made(rows)
        fine = (whole == found) & (whole > made) & (whole <= _checks.EXACT)
        if not fine.all():
            place = int(np.argmin(fine))
            which = self._called(int(rows[place, 0]), *rows[place, 3:].tolist())
            raise ValueError(
                f"pulls must be above the {made[place]} pulls made of {which}, "
                f"got {found[place]} at place {place}"
            )
        # pulls of the same arm, and in an audience of the same key, have the same code
        codes = rows[:, 0] + len(self.arms) * rows[:, 3:].sum(axis=1)
        arms, same = np.unique(codes, return_inverse=True)
        if np.unique(np.stack([same, whole]), axis=1).shape[1] < len(rows):
            raise ValueError("pulls must be different numbers for an arm, got one twice")
        before, highest = np.zeros((2, len(arms)), dtype=np.int64)
        before[same] = made
        np.maximum.at(highest, same, whole)
        more = int((highest - before).sum())  # of at most 2**53 each
        if more > _MOST_PULLS:
            raise ValueError(f"pulls must imply at most {_MOST_PULLS} pulls, got {more}")
        return whole

    def _made(self, rows: IntArray) -> IntArray:
        """The number of pulls made of each row's arm, for its key if there are keys."""
        if self.keys is None:
            return self.ledger.pulls[rows[:, 0]]
        shown = exposure_of(self.state, self.ledger).counts
        known = rows[:, 3] < shown.shape[0]
        made = np.zeros(len(rows), dtype=np.int64)
        made[known] = shown[rows[known, 3], rows[known, 0]]
        return made

    # --------------------------------------------------------------- calls and space

    def row(self, value: int = 0) -> IntArray:
        """A single row filled with a number."""
        return np.full((1, 4), value, dtype=np.int64)

    def work(self, what: int, rows: Any, rewards: Any, chances: Any) -> int:
        """Run a batch (`_live.steps.work`), compiled or not."""
        if self._batch is None:
            self._find_batch(len(rows))
        if self._batch is not None:
            return int(self._batch(self.block, what, rows, rewards, chances))
        plain = functools.partial(steps.work, *self._parts(), what, rows, rewards, chances)
        return int(plain() if self.job is None else undivided(plain))

    def _find_batch(self, coming: int) -> None:
        """Load the compiled call for batches, if calls are compiled."""
        self.look_at_job(coming)
        if self.fast:
            from rotting._engines.compiled.calls import ready

            self._batch = ready(self._calls, self.params)

    def _parts(self) -> tuple[Any, Any, random.Draw, Ledger]:
        return self.params, self.state, self.draw, self.ledger

    def fresh(self, params: Any, arms: int, capacity: int) -> Any:
        """A fresh state of these sizes."""
        places = None if self.keys is None else (self.places, self.keys.rest)
        return _fresh_state(self.policy, params, arms, capacity, places)

    def begin(self, params: Any, state: Any, ledger: Ledger, *space: int) -> None:
        """Set params, state and ledger, and bind the calls to them.

        `space` is capacity and reach, if they change.
        """
        capacity, reach = space or (self.capacity, self.reach)
        timed = ledger.numbers[at_.LIFETIME] < float("inf")
        assigned = ledger.numbers[at_.EXPLORE] > 0.0
        plain = self.hook is None and not timed
        if self.policy.verbs.set_open is None:
            ledger.clock[at_.SILENT] = 0  # arms cannot be closed to this policy
        parts, calls, block = (params, state, self.draw, ledger), self._calls, self.block
        learn: Any
        decide: Any
        if self.fast:
            from rotting._engines.compiled.calls import calls_for, pack

            calls = calls or calls_for(params, state, ledger)
            block = pack(parts, () if block is None else self._parts(), block)
            decide, learn = calls.decide, calls.learn
        else:
            decide, learn = _plain_calls(*parts)
            if self.job is not None:
                decide, learn = _until_compiled(self, self.job, decide, learn)
        decisions = map(decide, itertools.repeat(block))
        set_limits(ledger, capacity, reach if self.policy.tables else 0)
        self.params, self.state, self.ledger = params, state, ledger
        self.capacity, self.reach, self._next = capacity, reach, None
        self.timed, self.assigned, self.plain = timed, assigned, plain
        if calls is not self._calls:
            self._calls, self._batch = calls, None
        self.block = block
        self.decide, self.decisions, self.learn = decide, decisions, learn

    def make_space(self) -> None:
        """Make space for the next decision; warn if it seems that only clicks are sent."""
        self._grow()
        numbers, clock = self.ledger.numbers, self.ledger.clock
        seen = int(self.ledger.rewarded.sum())
        alike = numbers[at_.LEAST] == numbers[at_.MOST] != 0.0
        if alike and clock[at_.DECIDED] >= _MANY_SILENT and 2 * seen < clock[at_.DECIDED]:
            warnings.warn(
                f"{seen} of {clock[at_.DECIDED]} decisions have a reward, and all rewards are "
                f"{numbers[at_.LEAST]:g}: if only clicks are sent, nothing can be learnt. No click "
                "is a reward of 0: send it, or give default_reward=0.0 with a reward_window",
                stacklevel=_first_level_outside(),
            )

    def _grow(self) -> None:
        """Double the space where it is needed, or do part of that work ahead."""
        ledger, tables = self.ledger, self.policy.tables
        limit = functools.partial(set_limits, ledger, self.capacity, self.reach if tables else 0)
        if is_full(ledger.waiting):
            ledger = ledger._replace(waiting=with_space(ledger.waiting))
            ledger.clock[at_.UNHASHED] = 1
            self.begin(self.params, self.state, ledger)
            return
        capacity, reach = next_sizes(ledger, self.capacity, self.reach, tables)
        due = (capacity, reach) != (self.capacity, self.reach)
        if not due:
            capacity, reach = expected_sizes(ledger, self.capacity, self.reach, tables)
            if reach > self.reach and not self.policy.ahead(reach):
                limit(soon=True)
                return
        if not self._made_ahead((capacity, reach), due):
            limit(soon=True)
            return
        if not due:
            limit(made=capacity)
            return
        _, params, larger, block = self._next
        if block is None:
            state = self.state if larger is None else grown(self.state, larger)
            self.begin(params, state, ledger, capacity, reach)
            return
        set_limits(ledger, capacity, reach if tables else 0)
        self.params, self.reach, self._next = params, reach, None
        self.block[:] = block

    def _made_ahead(self, sizes: tuple[int, int], due: bool) -> bool:
        """Make the next params, then the larger state, or the block if the state stays.

        Each is made in a separate call unless it is due. False if there is more to do.
        """
        if self._next is None or self._next[0] != sizes:
            params = self.params
            if sizes[1] > self.reach:
                params = prepared(self.policy, self.start, self.horizon, sizes[1])
            self._next = sizes, params, None, None
            if not due and sizes[1] > self.reach:
                return False
        _, params, larger, block = self._next
        if self.policy.grows and larger is None:
            larger = self.fresh(params, len(self.arms), sizes[0])
        elif not self.policy.grows and block is None and self.fast:
            from rotting._engines.compiled.calls import pack

            block = pack((params, *self._parts()[1:]), self._parts(), self.block)
        self._next = sizes, params, larger, block
        return True


def _set_waiting(ledger: Ledger, settings: Settings) -> bool | None:
    """Set the reward window of a new ledger; returns whether times are dates."""
    dated = None
    window, lifetime, default = settings[3:6]
    if window is not None:
        ledger.clock[at_.WINDOW] = _checks.integer("reward_window", window, 1, _checks.EXACT)
    if lifetime is not None:
        ledger.numbers[at_.LIFETIME], dated = duration("reward_time", lifetime)
    if default is not None:
        if window is None and lifetime is None:
            raise ValueError(
                "default_reward must come with a reward_window (in decisions) or a "
                f"reward_time, after which it is the reward, got {default!r} alone"
            )
        ledger.numbers[at_.DEFAULT] = _checks.reward(default, "default_reward")
    ledger.numbers[at_.EXPLORE] = _checks.number("explore", settings.explore, least=0, below=1)
    return dated


def _fresh_state(
    policy: Policy, params: Any, arms: int, capacity: int, places: tuple[int, Any] | None
) -> Any:
    """A fresh state whose arms can close; `places` are an audience's space for keys and rest."""
    state = policy.verbs.init(params, arms, capacity)
    return closable(state if places is None else counted(policy, state, *places))


def _plain_calls(
    params: Any, state: Any, draw: random.Draw, ledger: Ledger
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """`decide` and `learn` in plain Python, with the signatures of the compiled calls."""

    def decide(block: None, key: int = 0) -> tuple[int, int]:
        arm, pull = steps.decide(params, state, draw, ledger, key)
        return int(arm), int(pull)

    def learn(block: None, arm: int, pull: int, reward: float, key: int = 0) -> bool:
        return bool(steps.learn(params, state, ledger, arm, pull, reward, key))

    return decide, learn


def _until_compiled(
    core: Core, job: Job, decide: Callable[..., Any], learn: Callable[..., Any]
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The same calls, which first change to compiled ones if the job is settled."""

    def decide_or_change(block: None, *key: int) -> Any:
        if job.settled:
            core.look_at_job()
            if core.fast:
                return core.decide(core.block, *key)
        return undivided(decide, block, *key)

    def learn_or_change(block: None, *given: Any) -> Any:
        if job.settled:
            core.look_at_job()
            if core.fast:
                return core.learn(core.block, *given)
        return undivided(learn, block, *given)

    return decide_or_change, learn_or_change


def _copied(state: Any) -> Any:
    return rebuild(state, (value.copy() for value in values(state)))


@functools.lru_cache(maxsize=256)
def _numbers_of(arms: tuple[Any, ...]) -> dict[Any, int]:
    """Arms' numbers by label; players with equal labels share the dictionary."""
    return {label: number for number, label in enumerate(arms)}


def words_of(seed: int, names: Sequence[str]) -> IntArray:
    """The start of each name's random numbers: [name, key and odd step of two streams].

    They depend on the seed and the name alone, not on earlier decisions.
    """
    key, new = seed.to_bytes(8, "little"), hashlib.blake2b
    digests = [new(name.encode(), digest_size=32, key=key).digest() for name in names]
    words = np.frombuffer(b"".join(digests), dtype="<i8").reshape(-1, 4).astype(np.int64)
    words &= _POSITIVE
    words[:, 1::2] |= 1
    return words


def _first_level_outside() -> int:
    """The stack level of the first caller outside this package, for a warning."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("rotting."):
        level, frame = level + 1, frame.f_back
    return level
