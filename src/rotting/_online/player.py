"""The player: a policy that decides one request at a time."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Self

import numpy as np

from rotting import _checks, _display
from rotting._checks import HUGE
from rotting._live import ledger as at_
from rotting._live.ledger import listed
from rotting._online import inspect, save
from rotting._online.core import Core, Settings
from rotting._online.decision_types import Assigned, Decision, Decisions, Proposal
from rotting._online.history import columns_of, numbers_of, propensities_of
from rotting._online.hooks import Hook, reported
from rotting._online.labels import some
from rotting._online.lift import Lift, lift_of
from rotting._online.load import load
from rotting._online.lock import holder
from rotting._online.table import ArmTable
from rotting.kernel.arrays import FloatArray, IntArray
from rotting.policies._base import Policy

MOST = 10**8  # decisions at once: some GB
_new = tuple.__new__  # half the time of a NamedTuple's own


class AnyPlayer:
    """The part of a player that is the same with and without an audience.

    Attributes:
        core: Everything that the player owns; saving, tables and the service use it.
    """

    __slots__ = ("__weakref__", "core")

    core: Core
    _COLUMNS = 3  # of a row of a batch, see `live.steps`

    @property
    def policy(self) -> Policy:
        """The policy that is played."""
        return self.core.policy

    @property
    def arms(self) -> tuple[Any, ...]:
        """The labels of all arms, retired ones too, in the order of their numbers."""
        return self.core.arms

    @property
    def horizon(self) -> int | None:
        """The number of decisions there will be, if it was given."""
        return self.core.horizon

    @property
    def seed(self) -> int:
        """The seed of all random numbers, as a 64-bit word."""
        return self.core.seed

    @property
    def compiled(self) -> bool:
        """Whether the policy's verbs are compiled now; see `Policy.online`."""
        return self.core.fast

    def _alone(self, work: Callable[[], Any]) -> Any:
        return self.core.lock.alone(work)

    def _named(self, decision: Any) -> tuple[int, Any, int]:
        """The number of the arm, the pull and the key's number of a decision, or a refusal."""
        raise NotImplementedError

    def go_compiled(self) -> None:
        """Continue with compiled verbs, from the same state.

        Compiling takes seconds the first time on a machine. Does nothing if the verbs are compiled.

        Raises:
            ValueError: The policy cannot be compiled; the message says why.
        """
        self.core.go_compiled()

    # ------------------------------------------------------------ rewards that do not come

    @reported
    def drop(self, decision: Any) -> None:
        """Stop waiting for the reward of a decision.

        Use it for a decision that was never shown. A click that did not come is not such a case:
        its reward is zero.

        Args:
            decision: What `select` returned, or the same as a tuple.

        Raises:
            ValueError: The decision does not wait for a reward.

        >>> from rotting import policies
        >>> player = policies.UCB1().online(["red", "blue"], compiled=False)
        >>> player.drop(player.select())
        >>> player.outstanding
        []
        """

        def let_go() -> bool:
            return self.core.drop(*self._named(decision))

        try:
            found = self._alone(let_go)
        except ValueError:
            found = False
        if not found:
            raise ValueError(f"decision must be one that waits for its reward, got {decision!r}")

    @reported
    def expire(self, at: Any = None) -> int:
        """Expire the decisions whose reward window has ended; returns how many.

        An expired decision gets the default reward, if there is one. `select` does the same before
        it decides, so this is for quiet hours and for the end.

        Args:
            at: The time now, for a player with a `reward_time`.

        Returns:
            The number of decisions that expired.
        """

        def give_up() -> int:
            self.core.set_time(at, deciding=False)
            return self.core.expire()

        return int(self._alone(give_up))

    @reported
    def update_many(self, decisions: Any, rewards: Any) -> None:
        """Learn the rewards of several decisions, in this order: all of them or none.

        Args:
            decisions: What `select_many` returned, or a list of decisions.
            rewards: A number for each of them.

        Raises:
            ValueError: A decision does not wait for a reward, or comes twice; a reward is not
                finite; the numbers of decisions and rewards differ. Nothing is learnt then.

        >>> from rotting import policies
        >>> player = policies.UCB1().online(["red", "blue"], compiled=False)
        >>> batch = player.select_many(3)
        >>> player.update_many(batch, [1.0, 0.0, 1.0])
        """
        values = _checks.rewards(rewards)
        given = decisions
        if not isinstance(decisions, Decisions):
            try:
                given = list(decisions)
            except TypeError:
                raise ValueError(f"decisions must be a list of them, got {decisions!r}") from None
        self._alone(lambda: self.core.learn_rows(self._rows_of(given), values))

    def _rows_of(self, decisions: Any) -> IntArray:
        """Rows for decisions that a player has made, in either form."""
        rows = np.zeros((len(decisions), self._COLUMNS), dtype=np.int64)
        if self._fill(rows, decisions):
            return rows
        for place, decision in enumerate(decisions):
            number, pull, key = self._named(decision)
            rows[place, 0], rows[place, 1] = number, _checks.whole(pull)
            rows[place, 3:] = key
        return rows

    def _fill(self, rows: IntArray, decisions: Any) -> bool:
        """Fill in rows from a batch whose numbers are this player's; False if it is none."""
        if not isinstance(decisions, Decisions):
            return False
        if decisions.arms != self.core.arms[: len(decisions.arms)]:
            return False
        rows[:, 0], rows[:, 1] = decisions.numbers, decisions.pulls
        return True

    def draw_by(self, name: str) -> None:
        """Take the random numbers of the next decision from the player's seed and a name.

        The same name gives the same numbers, whatever was decided before. So a decision in a log
        can be made again on its own.

        Args:
            name: A text, such as the id of a request.
        """
        self._alone(lambda: self.core.draw_by(name))

    def _columns(self, rows: IntArray, chances: FloatArray) -> tuple[Any, ...]:
        """The columns of `Decisions`, from the rows of a batch."""
        numbers, pulls = rows[:, 0].copy(), rows[:, 1].copy()
        if not self.core.assigned:
            return self.core.arms, numbers, pulls
        return self.core.arms, numbers, pulls, chances, rows[:, 2] != 0

    # ------------------------------------------------------------------ arms that come and go

    @property
    def pulls(self) -> dict[Any, int]:
        """The number of pulls of each arm, by label."""
        core = self.core
        counts = self._alone(lambda: zip(core.arms, core.ledger.pulls.tolist(), strict=True))
        return dict(counts)

    @property
    def retired(self) -> list[Any]:
        """The arms that are retired."""
        core = self.core
        flags = self._alone(lambda: zip(core.arms, core.ledger.open.tolist(), strict=True))
        return [label for label, is_open in flags if not is_open]

    @reported
    def add(self, label: Any) -> None:
        """Add an arm. It has no pulls, so the policy's ramp-up finds it.

        Args:
            label: A new label, anything hashable.

        Raises:
            ValueError: The label exists, or the arms of this policy cannot change.

        >>> from rotting import policies
        >>> player = policies.UCB1().online(["red", "blue"], compiled=False)
        >>> player.add("green")
        >>> player.arms
        ('red', 'blue', 'green')
        """
        self.core.check_closable()
        self._alone(lambda: self.core.add(label))

    @reported
    def retire(self, label: Any) -> None:
        """Stop choosing an arm. It keeps its statistics, and its late rewards count.

        Args:
            label: An arm that is not retired.

        Raises:
            ValueError: There is no such arm, or it is retired already.
        """
        self._set_open(label, 0)

    @reported
    def restore(self, label: Any) -> None:
        """Choose a retired arm again, with its statistics.

        Args:
            label: A retired arm.

        Raises:
            ValueError: There is no such arm, or it is not retired.
        """
        self._set_open(label, 1)

    def _set_open(self, label: Any, value: int) -> None:
        self.core.number_of("label", label)
        self.core.check_closable()
        self._alone(lambda: self.core.set_open(label, value))

    # --------------------------------------------------------------------- looking at it

    def table(self) -> ArmTable:
        """The player's view of its arms, one row an arm.

        Returns:
            A `Table`, which prints itself, shows itself in a notebook, and has `to_frame()`. Its
            columns are explained at `rotting._online.table.Row`.

        >>> from rotting import policies
        >>> player = policies.UCB1().online(["red", "blue"], compiled=False)
        >>> player.update(player.select(), 1.0)
        >>> [(row.arm, row.pulls, row.mean) for row in player.table()]
        [('red', 1, 1.0), ('blue', 0, None)]
        """
        return inspect.table_of(self.core.snapshot())

    def explain(self) -> str:
        """Why the last arm was chosen.

        >>> from rotting import policies
        >>> player = policies.UCB1().online(["red", "blue"], compiled=False)
        >>> for reward in (1.0, 0.0):
        ...     player.update(player.select(), reward)
        >>> decision = player.select()
        >>> player.explain()
        "'red' was chosen (pull 2): its index 2.482 = 1 + 1.482 is the highest of 2 arms; next is \
'blue' with 1.482."
        """
        return inspect.explain(self.core.snapshot())

    def lift(self, *, level: float = 0.95, between: Any = None) -> Lift:
        """What the policy earns over equal shares of the arms, for a player with `explore`.

        The interval holds whenever you look, and however often: with probability `level` none of
        them ever misses the mean lift of the decisions so far. `between=(0, 1)` says which rewards
        are possible, and should be the same at every look. Without it the observed range is used:
        enough for clicks and Gaussian rewards, but too narrow if some arm pays rarely and a lot.
        Late rewards count when they come, dropped ones do not; rewards must not be missing or late
        because of what they are. Where clicks alone are sent give a reward window and
        `default_reward=0.0`: decisions then count with that until their reward comes. Decisions
        made before the first reward are left out. The method is in `rotting._online.lift`.
        """
        core = self.core
        numbers, arms = self._alone(lambda: (core.ledger.numbers.copy(), core.ledger.pulls.size))
        return lift_of(numbers, arms, level, between)

    def watch(self, hook: Hook | None) -> None:
        """Call a function after every call that decides, learns or changes arms.

        The hook gets an `Event`: which call it was, its arguments and result, and how long it took.
        It runs in the thread that made the call, after the player is free again. An exception of
        the hook is raised from the call, whose work is done. Copies, pickles and saved players have
        no hook.

        Args:
            hook: A function of one event; None removes it.

        Raises:
            ValueError: `hook` is neither a function nor None.

        >>> from rotting import policies
        >>> player = policies.UCB1().online(["red", "blue"], compiled=False)
        >>> player.watch(lambda event: print(event.call, event.decision))
        >>> decision = player.select()
        select Decision(arm='red', pull=1)
        """
        if hook is not None and not callable(hook):
            raise ValueError(f"hook must be a function of one event, or None, got {hook!r}")
        self.core.watch(hook)

    def _repr_html_(self) -> str:
        """For notebooks: the table, and curves where the policy has some."""
        return _display.html(self)

    # ---------------------------------------------------------------- saving and copying

    def to_json(self) -> str:
        """The whole state as JSON text.

        Returns:
            Text from which `from_json` continues exactly, on any machine.

        Raises:
            ValueError: A label cannot be saved.

        >>> from rotting import Player, policies
        >>> player = policies.UCB1().online(["red", "blue"], compiled=False)
        >>> again = Player.from_json(player.to_json())
        >>> again.select() == player.select()
        True
        """
        return save.write_json(save.saved_of(self.core.snapshot()))

    @classmethod
    def from_json(
        cls,
        text: str,
        *,
        arms: Iterable[Hashable] | None = None,
        policy: Policy | None = None,
        trusted: bool = False,
    ) -> Self:
        """A player that continues where `to_json` was called.

        Args:
            text: What `to_json` returned.
            arms: The labels; needed only for members of an Enum. They are matched by label, in any
                order.
            policy: The policy; needed only if it holds a Python function, which is not saved.
            trusted: Whether the text is from a source you trust: needed for a player of more than a
                GiB, and for a policy of your own whose state does not say what it may hold.

        Raises:
            ValueError: The text is no saved player, is damaged, or needs one of the arguments
                above.
        """
        return cls._restored(save.read_json(text), arms, policy, trusted)

    def to_bytes(self) -> bytes:
        """The whole state as bytes, smaller than JSON; `from_bytes` continues from it."""
        return save.write_bytes(save.saved_of(self.core.snapshot()))

    @classmethod
    def from_bytes(
        cls,
        data: bytes,
        *,
        arms: Iterable[Hashable] | None = None,
        policy: Policy | None = None,
        trusted: bool = False,
    ) -> Self:
        """A player that continues where `to_bytes` was called; arguments as for `from_json`."""
        return cls._restored(save.read_bytes(data), arms, policy, trusted)

    @classmethod
    def _check_kind(cls, saved: save.Saved) -> None:
        """Refuse the saved state of another kind of player."""
        raise NotImplementedError

    @classmethod
    def _restored(
        cls,
        saved: save.Saved,
        arms: Iterable[Hashable] | None,
        policy: Policy | None,
        trusted: bool,
    ) -> Self:
        cls._check_kind(saved)
        player = cls.__new__(cls)
        player.core = Core(load(saved, arms, policy, trusted))
        return player

    def __getstate__(self) -> dict[str, Any]:
        """A snapshot, without the lock, the hook and the addresses of arrays."""
        more = getattr(self, "__dict__", {})  # of a subclass
        return {**more, "core": self.core.snapshot()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, Core(value) if name == "core" else value)

    def __copy__(self) -> Self:
        """A copy that shares nothing with the original."""
        return copy.deepcopy(self)


class Player(AnyPlayer):
    """Plays a policy online. Made by `policy.online(arms, seed=0)`, whose settings these are.

    `select()` decides; it counts as a pull at once, for the arm rots whether or not its reward
    ever arrives. `update(decision, reward)` learns; rewards may come later, in any order. No click
    is a reward of zero, not a reward that never came: send it, or give a reward window and
    `default_reward=0.0`. A player saves to bytes or JSON and continues exactly. Threads may share
    it: whatever reads or changes it excludes everything else.

    >>> from rotting import policies
    >>> player = policies.UCB1().online(["red", "blue"], seed=0, compiled=False)
    >>> first, second = player.select(), player.select()
    >>> player.update(second, reward=1.0)
    >>> player.update(first, reward=0.0)
    >>> player.select()
    Decision(arm='blue', pull=2)
    """

    __slots__ = ()

    def __init__(self, policy: Policy, arms: Iterable[Hashable], **settings: Any) -> None:
        self.core = Core.new(policy, arms, Settings(**settings))

    @holder
    def select(self, among: Iterable[Any] | None = None, at: Any = None) -> Any:
        """Choose an arm; it counts as a pull at once.

        Args:
            among: Arms to which this decision is restricted; retired arms in it are ignored.
            at: The time, a number or a datetime; used only by a player with a `reward_time`.

        Returns:
            A `Decision` with `arm` and `pull`; with a control group an `Assigned`, which also has
            `propensity` and `control`.

        Raises:
            ValueError: `among` is empty, names an unknown arm or only retired ones; no arm is open;
                or the time is missing, is no time, or runs backwards.

        >>> from rotting import policies
        >>> player = policies.UCB1().online(["red", "blue", "green"], compiled=False)
        >>> player.select(among=["blue", "green"])
        Decision(arm='blue', pull=1)
        """
        core = self.core
        if not core.plain or among is not None or at is not None:
            return self._select(among, at)
        lock = core.lock
        while True:
            try:
                del lock.free
                break
            except AttributeError:
                lock.wait()
        try:
            # One step of an iterator and not a call: no signal is handled in between, so Ctrl-C
            # finds the decision made and counted, or not made.
            for number, pull in core.decisions:  # noqa: B007
                break
            if number < 0:
                number, pull = core.decide_again(number, pull)
            if core.assigned:
                return Assigned(core.arms[number], pull, *core.assignment())
        finally:
            lock.free = None
            if lock.waiting:
                lock.wake()
        return _new(Decision, (core.arms[number], pull))

    @reported
    def _select(self, among: Iterable[Any] | None = None, at: Any = None) -> Any:
        """`select` with arms or a time, or for a player with a hook."""
        core = self.core
        allowed = core.flags(among)

        def decide() -> Any:
            core.set_time(at, allowed)
            number, pull = core.select(allowed)
            if core.assigned:
                return Assigned(core.arms[number], pull, *core.assignment())
            return Decision(core.arms[number], pull)

        return self._alone(decide)

    @holder
    def update(self, decision: Any, reward: Any) -> None:
        """Learn the reward of a decision made earlier, once.

        Rewards may come late and in any order.

        Args:
            decision: What `select` returned, or the pair (arm, pull).
            reward: A finite number; True and False count as 1 and 0.

        Raises:
            ValueError: The decision does not wait for a reward, or the reward is not a finite
                number.

        >>> from rotting import policies
        >>> player = policies.UCB1().online(["red", "blue"], compiled=False)
        >>> decision = player.select()
        >>> player.update(decision, 1.0)
        >>> player.update(decision, 1.0)
        Traceback (most recent call last):
        ValueError: pull 1 of arm 'red' was rewarded or dropped before
        """
        core = self.core
        if core.hook is not None:
            return self._update(decision, reward)
        try:
            arm, pull = decision
            number = core.numbers[arm]
        except (KeyError, TypeError, ValueError):
            number, pull, _ = self._named(decision)
        value = reward if type(reward) is float else _checks.reward(reward)
        if not -HUGE <= value <= HUGE:  # NaN is not, either
            _checks.moderate("reward", reward)
        whole = pull if type(pull) is int else _checks.whole(pull)
        if not 0 < whole <= _checks.EXACT:
            whole = 0
        lock = core.lock
        while True:
            try:
                del lock.free
                break
            except AttributeError:
                lock.wait()
        try:
            if not core.learn(core.block, number, whole, value):
                core.learn_again(number, pull, value)
        finally:
            lock.free = None
            if lock.waiting:
                lock.wake()

    @reported
    def _update(self, decision: Any, reward: Any) -> None:
        """`update` for a player with a hook."""
        number, pull, _ = self._named(decision)
        value = _checks.reward(reward)
        self._alone(lambda: self.core.learn_again(number, pull, value))

    @reported
    def select_many(
        self, count: int, among: Iterable[Any] | None = None, at: Any = None
    ) -> Decisions:
        """Make several decisions before any of their rewards, as `select` would one by one.

        Args:
            count: The number of decisions.
            among: Arms to which these decisions are restricted.
            at: The time, for a player with a `reward_time`.

        Returns:
            `Decisions`: a sequence of decisions, and their `numbers`, `pulls` and `labels` as
            arrays.

        Raises:
            ValueError: As for `select`.
        """
        rows = np.zeros((_checks.integer("count", count, 0, MOST), self._COLUMNS), dtype=np.int64)
        allowed = self.core.flags(among)

        def decide() -> Decisions:
            self.core.set_time(at, allowed)
            return Decisions(*self._columns(rows, self.core.select_rows(rows, allowed)))

        made: Decisions = self._alone(decide)
        return made

    def propose(self, among: Iterable[Any] | None = None) -> Proposal:
        """Choose an arm without counting a pull; `take` counts it when the arm is really shown.

        Args:
            among: Arms to which the decision is restricted.

        Returns:
            A `Proposal` for `take`.
        """
        allowed = self.core.flags(among)
        proposal: Proposal = self._alone(lambda: self.core.propose(allowed, None))
        return proposal

    def take(self, proposal: Proposal) -> Decision:
        """Count the pull of a proposal; it then waits for its reward.

        Args:
            proposal: What `propose` returned.

        Returns:
            The `Decision` that `update` takes.
        """
        number = self.core.number_of("arm of a proposal", proposal.arm)
        return Decision(proposal.arm, self._alone(lambda: self.core.take(number, proposal)))

    def select_by(self, names: Sequence[str]) -> Decisions:
        """Decide once for each name: exactly as `draw_by(name)` and `select()`, one by one.

        Args:
            names: Texts, such as ids of requests.
        """

        def decide() -> Decisions:
            rows = self.core.rows_by(names)
            return Decisions(*self._columns(rows, self.core.select_rows(rows, None)))

        made: Decisions = self._alone(decide)
        return made

    @reported
    def learn(
        self,
        arms: Any,
        rewards: Any = None,
        *,
        pulls: Any = None,
        propensities: Any = None,
    ) -> int:
        """Learn from history: these arms were shown, in this order, with these rewards.

        The player is then exactly where it would be had it made those pulls itself.

        Args:
            arms: Labels; or a frame (pandas, polars, Arrow) with a column of arms and one of
                rewards; or a log (`logs.read`), which is learnt in the order of time.
            rewards: Numbers, NaN where unknown; for a frame the name of the rewards' column.
            pulls: Pull numbers, if known. Pulls that are left out were made; their rewards are
                unknown.
            propensities: The probabilities with which the arms were chosen, for policies that learn
                by them (Exp3.S).

        Returns:
            The number of pulls counted.

        Raises:
            ValueError: An arm is unknown, or the columns do not fit together. Nothing is learnt
                then.

        >>> from rotting import policies
        >>> player = policies.UCB1().online(["red", "blue"], compiled=False)
        >>> player.learn(["red", "blue", "red"], [1.0, 0.0, 1.0])
        3
        """
        labels, values, pulls, propensities, whose = columns_of(arms, rewards, pulls, propensities)
        pulls = None if whose else pulls  # of a log with keys: those are each key's own
        rows = np.zeros((len(values), self._COLUMNS), dtype=np.int64)
        rows[:, 0] = numbers_of(labels, self.core)
        chances = propensities_of(propensities, len(values), self.core.policy)
        return int(self._alone(lambda: self.core.record(rows, values, chances, pulls)))

    @property
    def outstanding(self) -> list[Decision]:
        """The decisions whose rewards have not arrived, by arm and pull."""
        rows = self._alone(lambda: listed(self.core.ledger.waiting))
        return [Decision(self.core.arms[row[0]], row[1]) for row in sorted(rows)]

    def _named(self, decision: Any) -> tuple[int, Any, int]:
        """The same for a player without keys, whose key is zero."""
        try:
            if isinstance(decision, Assigned):
                arm, pull = decision.arm, decision.pull
            else:
                arm, pull = decision
            return self.core.numbers[arm], pull, 0
        except (KeyError, TypeError, ValueError):
            raise ValueError(
                f"decision must be a pair (arm, pull) with an arm of {some(self.core.arms)}, "
                f"got {decision!r}"
            ) from None

    @classmethod
    def _check_kind(cls, saved: save.Saved) -> None:
        if saved.audience is not None:
            raise ValueError(
                "saved state must be that of a Player, got one of an AudiencePlayer, which loads it"
            )

    def __repr__(self) -> str:
        core = self.core
        decided = int(core.ledger.clock[at_.DECIDED])
        return f"<Player of {core.policy.label}: {len(core.arms)} arms, {decided} decisions>"
