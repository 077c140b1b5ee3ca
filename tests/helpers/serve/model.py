"""A naive model of `rotting serve`: dictionaries and loops, nothing imported from `rotting`.

It answers every request as the service must, in one thread and in memory. The caller passes a
function that chooses among the allowed arms (in tests, it looks up the service's choice), and the
times. Everything stored is an event with the next number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Body = Any
Choose = Callable[[str, list[str]], str]  # of the decision's id and the arms allowed

STATUS = {
    "bad_request": 400,
    "not_found": 404,
    "conflict": 409,
    "no_open_arm": 409,
    "not_shown": 409,
    "expired": 409,
}
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
MOST_ITEMS = 1000
SHOWN_WINDOW = 3600.0


class Refused(Exception):  # noqa: N818
    """An error as the service answers it; several codes where more than one is right."""

    def __init__(self, *codes: str) -> None:
        super().__init__("|".join(codes))
        self.codes = codes


class Reply(NamedTuple):
    """A status, and the body or, of an error, the codes that are right."""

    status: int
    body: Any = None
    codes: tuple[str, ...] = ()


@dataclass
class Decision:
    """What is known of one decision."""

    body: Body
    arm: str
    key: str | None
    at: float
    seq: int
    pull: int | None = None
    shown_seq: int | None = None
    shown_at: float | None = None
    waits_from: int | None = None  # the event, if neither the showing nor the decision
    state: str = "open"  # open, rewarded, timed out, expired
    reward: float | None = None
    reward_id: str | None = None
    reward_seq: int | None = None
    late: dict[str, Any] | None = None
    gone: bool = False  # its key was erased: it cannot be requested again
    own: bool = False  # the client chose the arm, while it had no answer
    elsewhere: bool = False  # and the request for it had never arrived


@dataclass
class Experiment:
    """One experiment: its settings and its events."""

    body: Body
    created: float
    arms: dict[str, bool]
    decisions: dict[str, Decision] = field(default_factory=dict)
    pulls: dict[tuple[str | None, str], int] = field(default_factory=dict)
    arm_pulls: dict[str, int] = field(default_factory=dict)
    known: dict[str, list[float]] = field(default_factory=dict)
    history: dict[str, tuple[Body, int]] = field(default_factory=dict)
    keys: set[str] = field(default_factory=set)
    surrogates: dict[str, int] = field(default_factory=dict)  # numbers that stand for keys
    rewards: int = 0  # that came in time
    late: int = 0
    missing: int = 0
    expired: int = 0
    history_pulls: int = 0
    taken_back: int = 0  # decisions whose pull was of another arm before
    last_seq: int = 0

    @property
    def audience(self) -> bool:
        return self.body.get("audience") not in (None, False)

    @property
    def requires_shown(self) -> bool:
        return bool(self.body.get("require_shown"))

    @property
    def shown_window(self) -> float:
        given = self.body.get("shown_window")
        return SHOWN_WINDOW if given is None else float(given)


def text(value: Any, most: int) -> bool:
    """Whether this is a text of 1 to `most` characters without control characters."""
    return (
        isinstance(value, str)
        and 1 <= len(value) <= most
        and all(ord(c) >= 32 and ord(c) != 127 and not 0xD800 <= ord(c) < 0xE000 for c in value)
    )


def number(value: Any) -> bool:
    """Whether this is a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def demand(*facts: bool) -> None:
    """Refuse the request unless all of this holds."""
    if not all(facts):
        raise Refused("bad_request")


class Model:
    """The whole service, in memory."""

    def __init__(self) -> None:
        self.experiments: dict[str, Experiment] = {}
        self.seq = 0
        self.events: list[dict[str, Any]] = []

    # ------------------------------------------------------------------------------- requests

    def create(self, body: Body, now: float) -> Reply:
        """POST /v1/experiments"""
        return self._answer(lambda: self._create(body, now))

    def post(
        self, verb: str, name: str, body: Body, now: float, choose: Choose | None = None
    ) -> Reply:
        """POST /v1/experiments/{name}/{verb}, one item or a batch."""
        choose = choose or (lambda _, allowed: allowed[0])
        if name not in self.experiments:
            return Reply(404, None, ("not_found", "bad_request"))  # the body may be wrong as well
        if isinstance(body, list) and verb in ("decisions", "shown", "rewards"):
            if len(body) > MOST_ITEMS:
                return Reply(0, None, ("bad_request", "too_large"))
            return Reply(200, [self._one(verb, name, item, now, choose) for item in body])
        return self._one(verb, name, body, now, choose)

    def _one(self, verb: str, name: str, body: Body, now: float, choose: Choose) -> Reply:
        experiment = self.experiments[name]
        if not isinstance(body, dict):
            return Reply(400, None, ("bad_request",))
        if verb == "decisions":
            return self._answer(lambda: self._decide(experiment, body, now, choose))
        verbs: dict[str, Callable[[Experiment, Body, float], Any]] = {
            "shown": self._show,
            "rewards": self._reward,
            "arms": self._arms,
            "history": self._history,
            "erase": self._erase,
            "policy": self._policy,
        }
        return self._answer(lambda: verbs[verb](experiment, body, now))

    @staticmethod
    def _answer(act: Callable[[], Any]) -> Reply:
        try:
            found = act()
        except Refused as refused:
            return Reply(STATUS[refused.codes[0]], None, refused.codes)
        return found if isinstance(found, Reply) else Reply(200, found)

    def _next(self, experiment: Experiment, kind: str, **details: Any) -> int:
        self.seq += 1
        experiment.last_seq = self.seq
        name = experiment.body["name"]
        self.events.append({"seq": self.seq, "experiment": name, "kind": kind, **details})
        return self.seq

    # ------------------------------------------------------------------------------ the verbs

    def _create(self, body: Body, now: float) -> Reply:
        demand(isinstance(body, dict))
        name, arms = body.get("name"), body.get("arms")
        demand(isinstance(name, str) and NAME.fullmatch(name) is not None)
        demand(isinstance(arms, list) and bool(arms) and all(text(arm, 200) for arm in arms))
        demand(len(set(arms)) == len(arms))
        window = body.get("reward_window")
        demand(window is None or (number(window) and window > 0))
        demand(body.get("default_reward") is None or window is not None)
        if name in self.experiments:
            if self.experiments[name].body != body:
                raise Refused("conflict")
            return Reply(200, {"name": name})
        self.experiments[name] = Experiment(body, now, dict.fromkeys(arms, True))
        self._next(self.experiments[name], "created")
        return Reply(201, {"name": name})

    def _decide(self, experiment: Experiment, body: Body, now: float, choose: Choose) -> Any:
        demand(text(body.get("id"), 200))
        key, among = body.get("key"), body.get("among")
        if experiment.audience:
            demand(text(key, 500))
        else:
            demand(key is None)
        if among is not None:
            demand(isinstance(among, list) and bool(among))
            demand(all(isinstance(arm, str) and arm in experiment.arms for arm in among))
        found = experiment.decisions.get(body["id"])
        if found is not None:
            before = found.body.get("among")
            same = (among and set(among)) == (before and set(before))
            if found.elsewhere:
                same = among is None or found.arm in among
            if found.gone or found.key != key or not same:
                raise Refused("conflict")
        else:
            wanted = experiment.arms if among is None else among
            allowed = [arm for arm, is_open in experiment.arms.items() if is_open and arm in wanted]
            if not allowed:
                raise Refused("no_open_arm")
            arm = choose(body["id"], allowed)
            assert arm in allowed, f"{arm!r} chosen, but only {allowed} are open and among {among}"
            found = Decision(body, arm, key, now, 0)
            experiment.decisions[body["id"]] = found
            if key is not None:
                experiment.keys.add(key)
            if not experiment.requires_shown:
                found.pull = self._pull(experiment, arm, key)
                found.shown_at = now
            about = {"id": body["id"], "arm": arm, "pull": found.pull, "key": None}
            if key is not None:
                about["key"] = experiment.surrogates.setdefault(key, self.seq)
            found.seq = self._next(experiment, "decided", **about)
        pull = found.pull if found.own or not experiment.requires_shown else None
        return {"id": body["id"], "arm": found.arm, "pull": pull, "key": key, "seq": found.seq}

    @staticmethod
    def _pull(experiment: Experiment, arm: str, key: str | None) -> int:
        place = (key, arm)
        experiment.pulls[place] = experiment.pulls.get(place, 0) + 1
        experiment.arm_pulls[arm] = experiment.arm_pulls.get(arm, 0) + 1
        return experiment.pulls[place]

    @staticmethod
    def _find(experiment: Experiment, body: Body) -> Decision:
        id_ = body.get("decision")
        demand(isinstance(id_, str) and 1 <= len(id_) <= 200)
        if id_ not in experiment.decisions:
            raise Refused("not_found") if text(id_, 200) else Refused("not_found", "bad_request")
        return experiment.decisions[body["decision"]]

    def _show(self, experiment: Experiment, body: Body, now: float) -> Any:
        if body.get("arm") is not None:
            return self._show_other(experiment, body, now)
        demand(body.get("key") is None, body.get("confirmed") is not False)
        found = self._find(experiment, body)
        if experiment.requires_shown and found.state == "expired":
            raise Refused("expired")
        if found.pull is None:
            found.pull = self._pull(experiment, found.arm, found.key)
            found.shown_at = now
            about = {"id": body["decision"], "pull": found.pull}
            found.shown_seq = self._next(experiment, "shown", **about)
        seq = found.shown_seq or found.seq
        return {"decision": body["decision"], "pull": found.pull, "seq": seq}

    def _show_other(self, experiment: Experiment, body: Body, now: float) -> Any:
        """The arm that the client showed by its own choice; it counts from now on."""
        id_, arm, key = body.get("decision"), body["arm"], body.get("key")
        demand(text(id_, 200), isinstance(arm, str) and arm in experiment.arms)
        demand(text(key, 500) if experiment.audience else key is None)
        confirmed = body.get("confirmed") is not False or not experiment.requires_shown
        found = experiment.decisions.get(id_)
        if found is None and id_ in experiment.history:
            raise Refused("conflict")
        if found is None:
            if not confirmed:
                return {"decision": id_, "pull": None}
            if key is not None:
                experiment.keys.add(key)
            pull = self._pull(experiment, arm, key)
            seq = self._next(experiment, "decided", id=id_, arm=arm, pull=pull)
            found = Decision({"id": id_}, arm, key, now, seq, pull, shown_at=now)
            found.own = found.elsewhere = True
            experiment.decisions[id_] = found
            return {"decision": id_, "pull": pull, "seq": seq}
        if found.gone or found.key != key:
            raise Refused("conflict")
        if found.arm == arm:
            if found.pull is None and found.state == "open" and confirmed:
                return self._show(experiment, {"decision": id_}, now)
            return {"decision": id_, "pull": found.pull, "seq": found.shown_seq or found.seq}
        if found.own or found.shown_seq is not None:
            raise Refused("conflict")
        if found.state != "open":
            raise Refused("expired")
        if found.pull is None and not confirmed:
            return {"decision": id_, "pull": None, "seq": found.seq}
        waited = found.pull is not None
        if not waited:
            found.shown_at = now
        else:  # the pull of the other arm stays counted, with a reward that never comes
            experiment.taken_back += 1
        found.pull, found.arm, found.own = self._pull(experiment, arm, key), arm, True
        found.shown_seq = self._next(experiment, "corrected", id=id_, pull=found.pull)
        found.waits_from = found.seq if waited else found.shown_seq
        return {"decision": id_, "pull": found.pull, "seq": found.shown_seq}

    def _reward(self, experiment: Experiment, body: Body, now: float) -> Any:
        demand(number(body.get("reward")), body.get("id") is None or text(body["id"], 200))
        found = self._find(experiment, body)
        value, name = float(body["reward"]), body.get("id")
        answer = {"decision": body["decision"], "applied": False, "seq": found.reward_seq}
        if found.state == "expired":
            raise Refused("expired", "not_shown")
        if found.pull is None:
            raise Refused("not_shown")
        if found.state == "rewarded":
            if found.reward != value and (name is None or name != found.reward_id):
                raise Refused("conflict")
            return answer | {"why": "repeated"}
        if found.state == "timed out":
            if found.late is not None:
                first = found.late["id"]
                if found.late["reward"] != value and (name is None or name != first):
                    raise Refused("conflict")
                return answer | {"why": "late", "seq": found.late["seq"]}
            seq = self._next(experiment, "late", id=body["decision"], reward=value)
            found.late = {"id": name, "reward": value, "seq": seq}
            experiment.late += 1
            return answer | {"why": "late", "seq": found.late["seq"]}
        about = {"id": body["decision"], "reward": value}
        found.reward_seq = self._next(experiment, "rewarded", **about)
        self._known(experiment, found.arm, value)
        found.state, found.reward, found.reward_id = "rewarded", value, name
        experiment.rewards += 1
        return answer | {"applied": True, "seq": found.reward_seq}

    @staticmethod
    def _known(experiment: Experiment, arm: str, value: float) -> None:
        experiment.known.setdefault(arm, []).append(value)

    def _time_out(self, experiment: Experiment, found: Decision) -> None:
        """No reward came: the default is the reward, if there is one."""
        found.state = "timed out"
        experiment.missing += 1
        default = experiment.body.get("default_reward")
        if default is not None:
            self._known(experiment, found.arm, float(default))

    def _arms(self, experiment: Experiment, body: Body, now: float) -> Any:
        demand(len(body) == 1)
        ((verb, arm),) = body.items()
        demand(verb in ("add", "retire", "restore"), text(arm, 200))
        there = arm in experiment.arms
        if verb == "add":
            if there and not experiment.arms[arm]:
                raise Refused("conflict")
        elif not there:
            raise Refused("not_found")
        wanted = verb != "retire"
        applied = not there or experiment.arms[arm] != wanted
        answer: dict[str, Any] = {"arm": arm, "open": wanted, "applied": applied}
        if applied:
            experiment.arms[arm] = wanted
            kind = {"add": "arm_added", "retire": "arm_retired", "restore": "arm_restored"}[verb]
            answer["seq"] = self._next(experiment, kind, arm=arm)
        return answer

    def _history(self, experiment: Experiment, body: Body, now: float) -> Any:
        demand(text(body.get("id"), 200))
        rows = body.get("rows")
        if body["id"] in experiment.history and experiment.history[body["id"]][0] != body:
            raise Refused("conflict", "bad_request")  # the other rows may be wrong as well
        demand(isinstance(rows, list) and bool(rows) and all(isinstance(row, dict) for row in rows))
        for row in rows:
            demand(isinstance(row.get("arm"), str) and row["arm"] in experiment.arms)
            demand(number(row.get("reward")))
            if experiment.audience:
                demand(text(row.get("key"), 500))
            else:
                demand(row.get("key") is None)
        answer = {"id": body["id"], "rows": len(rows), "applied": False}
        if body["id"] in experiment.history:
            return answer | {"seq": experiment.history[body["id"]][1]}
        seq = self._next(experiment, "history", id=body["id"])
        experiment.history[body["id"]] = (body, seq)
        for row in rows:
            if row.get("key") is not None:
                experiment.keys.add(row["key"])
            self._pull(experiment, row["arm"], row.get("key"))
            experiment.history_pulls += 1
            self._known(experiment, row["arm"], float(row["reward"]))
        return answer | {"applied": True, "seq": seq}

    def _erase(self, experiment: Experiment, body: Body, now: float) -> Any:
        demand(experiment.audience, text(body.get("key"), 500))
        key = body["key"]
        if key not in experiment.keys:
            return {"erased": False}
        experiment.keys.discard(key)
        experiment.surrogates.pop(key, None)
        for place in [place for place in experiment.pulls if place[0] == key]:
            del experiment.pulls[place]  # a newcomer under this key begins with pull 1
        for found in experiment.decisions.values():
            if found.key == key and not found.gone:
                found.gone = True
                if found.state == "open" and found.pull is None:
                    found.state = "expired"
                    experiment.expired += 1
                elif found.state == "open":
                    self._time_out(experiment, found)
        return {"erased": True, "seq": self._next(experiment, "erased")}

    def _policy(self, experiment: Experiment, body: Body, now: float) -> Any:
        """Who decides changes; what is known does not."""
        return {"seq": self._next(experiment, "policy_changed")}

    # ----------------------------------------------------------------------------------- time

    def wait(self, now: float) -> None:
        """Let everything end whose time has come: rewards first, then what was never shown."""
        for experiment in self.experiments.values():
            open_ = [d for d in experiment.decisions.values() if d.state == "open"]
            window = experiment.body.get("reward_window")
            if window is not None:
                waiting = [d for d in open_ if d.shown_at is not None]
                for found in sorted(
                    waiting, key=lambda d: (d.shown_at, d.waits_from or d.shown_seq or d.seq)
                ):
                    if found.shown_at is not None and now - found.shown_at > window:
                        self._next(experiment, "timed_out", id=found.body["id"])
                        self._time_out(experiment, found)
            for found in open_:
                if found.shown_at is None and now - found.at > experiment.shown_window:
                    self._next(experiment, "expired", id=found.body["id"])
                    found.state = "expired"
                    experiment.expired += 1

    # ------------------------------------------------------------------------------- the page

    def page(self, name: str) -> dict[str, Any]:
        """What GET answers of the experiment, as far as it follows from the contract."""
        experiment = self.experiments[name]
        decisions = experiment.decisions.values()
        known = [value for values in experiment.known.values() for value in values]
        return {
            "name": name,
            "audience": experiment.audience,
            "decisions": len(experiment.decisions),
            "pulls": sum(experiment.arm_pulls.values())
            - experiment.history_pulls
            - experiment.taken_back,
            "rewards": experiment.rewards,
            "outstanding": sum(d.state == "open" for d in decisions),
            "late": experiment.late,
            "missing": experiment.missing,
            "unshown": experiment.expired,
            "mean": math.fsum(known) / len(known) if known else None,
            "arms": {
                arm: {
                    "open": is_open,
                    "pulls": experiment.arm_pulls.get(arm, 0),
                    "observed": len(experiment.known.get(arm, [])),
                    "mean": mean(experiment.known.get(arm, [])),
                }
                for arm, is_open in experiment.arms.items()
            },
        }


def mean(values: list[float]) -> float | None:
    """Their mean, or None of none."""
    return math.fsum(values) / len(values) if values else None
