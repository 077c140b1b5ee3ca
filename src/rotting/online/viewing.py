"""What a player thinks, why it chose, and who watches it."""

from __future__ import annotations

from typing import Any

from rotting.live import ledger as at
from rotting.live.ledger import listed
from rotting.online import explaining
from rotting.online.believing import Believed, believed
from rotting.online.curves import LONGEST
from rotting.online.roster import Roster
from rotting.online.table import Row, Table
from rotting.online.watching import Hook, Watched, watched
from rotting.verbs import Opinion, look

_FEWEST = 10  # pulls that are looked at, at least
_BEYOND = 1.25  # times those that were made


class Viewing(Roster):
    """The part of a player that shows itself."""

    __slots__ = ("_hook",)

    _hook: Hook | None

    def table(self) -> Table:
        """What the player thinks of its arms, a row an arm; see `Row` for the columns."""
        return self._table(self._asked())

    def _table(self, asked: explaining.Asked, counts: str = "") -> Table:
        """The table of a player as it was when asked; `counts` is more to be said in its title."""
        desk, labels = asked.desk, asked.arms
        waiting = [0] * len(labels)
        for row in listed(desk.waiting):
            waiting[row[0]] += 1
        rows = []
        for number, label in enumerate(labels):
            seen = int(desk.seen[number])
            opinion = look(asked.params, asked.state, number) or Opinion()
            rows.append(
                Row(
                    arm=label,
                    pulls=int(desk.pulls[number]),
                    observed=seen,
                    mean=_known(desk.total[number] / seen) if seen else None,
                    estimate=_known(opinion.estimate),
                    padding=_known(opinion.padding),
                    index=_known(opinion.index),
                    open=bool(desk.open[number]),
                    chosen=int(desk.chosen[number]),
                    waiting=waiting[number],
                )
            )
        decided = int(desk.clock[at.DECIDED])
        title = f"{self.policy.short_label}: {len(rows)} arms, {decided} decisions{counts}"
        return Table(title, rows)

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
        return explaining.explain(self._asked())

    def watch(self, hook: Hook | None) -> None:
        """Call `hook(event)` after every call that decides, learns or changes arms; None: no more.

        An `Event` says which call it was, what it was about and how long it took. The hook is
        called by the thread that made the call, after its work is done and other threads may use
        the player again; an exception of the hook comes out of the call, which has been made all
        the same. Copies, pickles and saved players have no hook. Methods that were looked up
        before (`select = player.select`) are not watched.
        """
        if hook is not None and not callable(hook):
            raise ValueError(f"hook must be a function of one event, or None, got {hook!r}")
        kind = type(self)
        usual: Any = kind._unwatched if issubclass(kind, Watched) else kind
        self._hook = hook
        self.__class__ = usual if hook is None else watched(usual)

    def _asked(self) -> explaining.Asked:
        return _asked_in(self._snapshot())

    def _believed(self) -> Believed | None:
        """What the policy believes of pulls up to some more than were made; None if nothing."""
        if not (self.policy.verbs.judge or self.policy.verbs.believe):
            return None
        kept = self._snapshot()
        asked = _asked_in(kept)
        most = max(_FEWEST, int(_BEYOND * asked.desk.pulls.max(initial=0)))
        furthest = kept["_reach"] if self.policy.tables else LONGEST
        return believed(asked, min(most, furthest), upcoming=True)

    def _repr_html_(self) -> str:
        """For notebooks: the table, and curves where the policy believes in some."""
        from rotting.reports.notebook_players import player_html

        return player_html(self.table(), self._believed())


def _asked_in(kept: dict[str, Any]) -> explaining.Asked:
    names = ("policy", "arms", "_params", "_state", "_desk")
    return explaining.Asked(*(kept[name] for name in names))


def _known(value: Any) -> float | None:
    """A number for people; None if there is none."""
    return None if value is None or value != value else float(value)
