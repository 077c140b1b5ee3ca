"""Descriptions of experiments and events as plain data; unknown numbers are null."""

from __future__ import annotations

import math
import time
from typing import Any

from rotting._online.curves import keeps_curves
from rotting._serve import event_types
from rotting._serve.event_types import Event, Kind
from rotting._serve.experiment import Experiment
from rotting._serve.statistics import CONTROL, POLICY
from rotting.theory._caps import Cap

_ARMS = 20  # arms whose shares over time are listed; the others are summed
_FURTHEST = 20  # showings of a curve
_RECENT = 12  # buckets
OTHERS = "(others)"


class Views:
    """Descriptions of experiments, with a cache of the expensive part."""

    def __init__(self) -> None:
        self._made: dict[str, tuple[int, float, float, dict[str, Any]]] = {}

    def of(self, experiment: Experiment, now: float) -> dict[str, Any]:
        """The full description of an experiment.

        A policy's estimates take milliseconds to compute, and block other requests meanwhile. They
        are therefore cached so long that they take at most 5 % of the time.
        """
        known = self._made.get(experiment.name)
        clock = time.perf_counter()
        if known is None or (known[0] != experiment.seq and clock - known[1] > 20.0 * known[2]):
            estimates = _estimates(experiment)
            took = time.perf_counter() - clock
            known = self._made[experiment.name] = (experiment.seq, clock, took, estimates)
        return {**summary(experiment), **_facts(experiment, now), **_joined(experiment, known[3])}


def policy_of(experiment: Experiment) -> dict[str, Any]:
    """The policy, its version, and the event since which it decides."""
    policy = experiment.player.policy
    return {
        "name": policy.key,
        "label": policy.short_label,
        "version": experiment.version,
        "since": experiment.since,
        "compiled": experiment.player.compiled,
    }


def summary(experiment: Experiment) -> dict[str, Any]:
    """An experiment's entry in the list."""
    counts, ledger = experiment.counts, experiment.player.core.ledger
    seen = int(ledger.rewarded.sum())
    return {
        "name": experiment.name,
        "created": experiment.created,
        "policy": policy_of(experiment),
        "audience": experiment.settings.audience,
        "arms": sum(experiment.open),
        "decisions": counts.decisions,
        "rewards": counts.rewards,
        "observed": seen,
        "mean": known(float(ledger.total.sum()) / seen) if seen else None,
        "outstanding": len(experiment.waiting) + len(experiment.unshown),
        "late": counts.late,
        "missing": counts.missing,
        "last_error": None,
    }


def _facts(experiment: Experiment, now: float) -> dict[str, Any]:
    settings, counts = experiment.settings, experiment.counts
    return {
        "seq": experiment.seq,
        "now": now,
        "control": settings.control,
        "reward_window": settings.reward_window,
        "default_reward": settings.default_reward,
        "require_shown": settings.require_shown,
        "shown_window": settings.shown_window if settings.require_shown else None,
        "fallback": settings.fallback,
        "seed": settings.seed,
        "horizon": experiment.horizon,
        "pulls": counts.pulls,
        "unshown": counts.unshown,
        "history": counts.history,
        "keys": len(experiment.player.keys) if settings.audience else None,
        "series": _series(experiment),
    }


def _estimates(experiment: Experiment) -> dict[str, Any]:
    """The policy's estimates, curves and lift, which take longest."""
    player = experiment.player
    rows = {row.arm: (known(row.estimate), known(row.padding)) for row in player.table()}
    lift = None
    if experiment.settings.control > 0.0:
        found = player.lift()
        lift = {name: known(value) for name, value in found._asdict().items()}
        lift["sentence"] = str(found)
    curves: dict[str, Any] = {}
    caps: dict[str, Any] = {}
    if experiment.settings.audience and keeps_curves(player.policy) and any(experiment.open):
        made = player.curves()
        if made.most > _FURTHEST:
            made = player.curves(_FURTHEST)
        for place, arm in enumerate(made.arms):
            points = zip(made.estimate[place], made.low[place], made.high[place], strict=True)
            curve = [
                {"n": n + 1, "mean": known(a), "low": known(b), "high": known(c)}
                for n, (a, b, c) in enumerate(points)
            ]
            curves[arm] = curve if any(point["mean"] is not None for point in curve) else None
        caps = {arm: _cap_view(cap, made.arms) for arm, cap in made.turns().items()}
    return {"rows": rows, "lift": lift, "curves": curves, "caps": caps}


def _cap_view(cap: Cap, arms: tuple[str, ...]) -> dict[str, Any] | None:
    """The number of showings after which an arm's mean is below another's, with a sentence."""
    if not cap.showings or cap.other is None or cap.showing is None:
        return None
    after = "1 showing" if cap.showings == 1 else f"{cap.showings} showings"
    which = "" if cap.showing == 1 else f" at its showing {cap.showing}"
    sentence = f"After {after} its mean reward is below that of {arms[cap.other]}{which}."
    return {"showings": cap.showings, "below": arms[cap.other], "sentence": sentence}


def _joined(experiment: Experiment, estimates: dict[str, Any]) -> dict[str, Any]:
    ledger = experiment.player.core.ledger
    everything = max(1, int(ledger.pulls.sum()))
    recent = [sum(row[-_RECENT:]) for row in _padded(experiment)]
    lately = max(1, sum(recent))
    arms = []
    for number, label in enumerate(experiment.labels):
        seen = int(ledger.rewarded[number])
        estimate, padding = estimates["rows"].get(label, (None, None))
        curve = estimates["curves"].get(label)
        first = curve[0] if curve else {}
        half = None if estimate is None or padding is None else padding
        arms.append(
            {
                "arm": label,
                "open": experiment.open[number],
                "pulls": int(ledger.pulls[number]),
                "observed": seen,
                "mean": known(ledger.total[number] / seen) if seen else None,
                "estimate": estimate,
                "low": first.get("low") if half is None else known(estimate - half),
                "high": first.get("high") if half is None else known(estimate + half),
                "share": int(ledger.pulls[number]) / everything,
                "recent_share": recent[number] / lately,
                "curve": curve,
                "cells": experiment.cells.shown(number),
                "cap": estimates["caps"].get(label),
            }
        )
    return {"arms": arms, "lift": estimates["lift"]}


def _padded(experiment: Experiment) -> list[list[int]]:
    """Decisions of all arms by bucket, padded to the same number of buckets."""
    series = experiment.series
    size = len(series.rewards[POLICY])
    rows = series.shares + [[]] * (len(experiment.labels) - len(series.shares))
    return [row + [0] * (size - len(row)) for row in rows]


def _series(experiment: Experiment) -> dict[str, Any]:
    series = experiment.series
    rows = _padded(experiment)
    order = sorted(range(len(rows)), key=lambda arm: -sum(rows[arm]))
    shown = sorted(order[:_ARMS])
    shares = {experiment.labels[arm]: rows[arm] for arm in shown}
    if len(order) > _ARMS:
        shares[OTHERS] = [
            sum(column) for column in zip(*(rows[a] for a in order[_ARMS:]), strict=True)
        ]
    return {
        "start": float(series.start),
        "width": series.width,
        "policy": series.rewards[POLICY],
        "control": series.rewards[CONTROL],
        "shares": shares,
    }


def known(value: Any) -> Any:
    """A number, or None for one that JSON cannot hold."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    number = float(value)
    return number if math.isfinite(number) else None


def event_view(experiment: Experiment, event: Event) -> dict[str, Any]:
    """An event as data: arms as labels, keys as surrogates."""
    body = event_types.decode(event)
    data: dict[str, Any] = {"seq": event.seq, "at": event.at, "kind": Kind(event.kind).name.lower()}
    if event.id:
        data["id"] = event.id
    for name in body.__struct_fields__:
        value = getattr(body, name)
        if name == "arm":
            value = experiment.labels[value]
        elif name in ("arms", "among") and value is not None:
            value = [experiment.labels[arm] for arm in value]
        elif name == "asked":
            value = value["request"]
        data[_CALLED.get(name, name) if event.kind != Kind.CREATED else name] = value
    if event.kind in (Kind.REWARDED, Kind.LATE):
        data["reward_id"], data["id"] = body.id, event.id
    if event.kind == Kind.DECIDED:
        data["pull"] = body.pull or None
        data["key"] = body.key or None
    return data


_CALLED = {"p": "propensity", "policy": "policy", "rests": "rests_on"}
