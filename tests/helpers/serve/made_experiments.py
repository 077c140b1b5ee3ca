"""Made-up answers of the service, in the shape of its contract, for trying the page."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

START = 1_790_000_000.0
WIDTH = 60.0
Answer = dict[str, Any]

HOSTILE = [
    "<script>window.harmed = 1</script>",
    '<img src=x onerror="window.harmed = 1">',
    "'; DROP TABLE arms; --",
    "🦊" * 200,
    "تجربة من اليمين إلى اليسار \u202e abc",
    "w" * 200,
    "__proto__",
]


def experiment(
    name: str,
    arms: list[str],
    *,
    minutes: int = 90,
    each: int = 400,
    audience: bool = True,
    control: float = 0.1,
    window: float | None = 600.0,
    rewarded: bool = True,
    retired: tuple[str, ...] = (),
    error: str | None = None,
    seed: int = 7,
) -> Answer:
    """An experiment of some minutes, `each` decisions a minute; more minutes only add to it."""
    draw = random.Random(f"{name} {seed}")
    worth = [0.14 * math.exp(-place / 1.5) + 0.03 for place in range(len(arms))]
    shares: dict[str, list[int]] = {arm: [] for arm in arms}
    policy: list[list[float]] = []
    equal: list[list[float]] = []
    for minute in range(minutes):
        heat = 1 + 3 * minute / 60
        weights = [math.exp(heat * w / max(worth)) for w in worth]
        counts = [round(each * weight / sum(weights)) for weight in weights]
        for arm, number in zip(arms, counts, strict=True):
            shares[arm].append(number)
        late = window is not None and minute > minutes - window / WIDTH
        known = 0 if not rewarded else round(sum(counts) * (0.3 if late else 0.98))
        level = sum(w * n for w, n in zip(worth, counts, strict=True)) / max(1, sum(counts))
        for group, share, mean in (
            (policy, 1 - control, level),
            (equal, control, sum(worth) / len(worth)),
        ):
            n = round(known * share)
            noise = draw.gauss(0, math.sqrt(mean / max(1, n)))
            group.append([n, round(max(0.0, n * (mean + noise)), 3)])
    decisions = sum(map(sum, shares.values()))
    known = round(sum(n for n, _ in policy + equal))
    rewards = sum(total for _, total in policy + equal)
    answer: Answer = {
        "name": name,
        "created": START,
        "seq": decisions + known + 1,
        "now": START + minutes * WIDTH - 15,
        "policy": {
            "name": "fatigue" if audience else "ucb1",
            "label": "Fatigue" if audience else "UCB1",
            "version": "0.17.0-3f9a2c1b",
            "since": 17,
            "compiled": True,
        },
        "audience": audience,
        "control": control,
        "reward_window": window,
        "default_reward": None if window is None else 0.0,
        "require_shown": False,
        "shown_window": None,
        "fallback": arms[0],
        "seed": 123,
        "decisions": decisions,
        "pulls": decisions,
        "rewards": known,
        "observed": known,
        "mean": rewards / known if known else None,
        "outstanding": decisions - known,
        "late": 12 if known else 0,
        "missing": round(0.85 * known) if window is not None else 0,
        "unshown": 0,
        "keys": decisions // 7 if audience else 0,
        "last_error": None if error is None else {"at": START + 600, "message": error},
        "lift": _lift(policy, equal, control),
        "arms": [
            _arm(arm, worth[place], sum(shares[arm]), decisions, audience, rewarded, draw)
            for place, arm in enumerate(arms)
        ],
        "series": {
            "start": START,
            "width": WIDTH,
            "policy": policy,
            "control": equal,
            "shares": shares,
        },
    }
    for place, row in enumerate(answer["arms"]):
        row["open"] = row["arm"] not in retired
        other = answer["arms"][place + 1]["arm"] if place + 1 < len(arms) else None
        if audience and other is not None and row["curve"]:
            showings = 3 + place
            row["cap"] = {
                "showings": showings,
                "below": other,
                "sentence": f"After {showings} showings its mean reward is below that of {other}.",
            }
    return answer


def _lift(policy: list[list[float]], equal: list[list[float]], control: float) -> Answer | None:
    known, held = sum(n for n, _ in policy), sum(n for n, _ in equal)
    if not control or held < 100:
        return None
    ours, theirs = sum(s for _, s in policy) / known, sum(s for _, s in equal) / held
    error = 1.96 * math.sqrt(ours / known + theirs / held)
    return {
        "policy": ours,
        "equal": theirs,
        "lift": ours - theirs,
        "low": ours - theirs - error,
        "high": ours - theirs + error,
        "level": 0.95,
        "decisions": known,
        "control": held,
        "sentence": f"the policy earns {ours / theirs - 1:.0%} more than an equal choice would",
    }


def _arm(
    arm: str, worth: float, pulls: int, all_pulls: int, audience: bool, rewarded: bool,
    draw: random.Random,
) -> Answer:  # fmt: skip
    observed = round(0.97 * pulls) if rewarded else 0
    curve = None
    if audience and observed:
        curve = [
            {"n": n, "mean": m, "low": 0.9 * m - 0.002 * n, "high": 1.1 * m + 0.002 * n}
            for n in range(1, 13)
            for m in [worth * (0.25 + 0.75 * math.exp(-(n - 1) / 4))]
        ]
    cells = []
    starts = [1, 2, 3, 4, 5, 7, 10] if audience else [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
    for first, following in itertools.pairwise(starts):
        if not observed or (not audience and first > pulls):
            break
        last = following - 1
        n = max(3, round(observed / (2 + first))) if audience else last - first + 1
        fatigue = 0.25 + 0.75 * math.exp(-(first - 1) / (4 if audience else 300))
        error = 1.5 * math.sqrt(worth * fatigue / n)
        mean = max(0.0, worth * fatigue + draw.gauss(0, error / 3))
        cells.append(
            {"from": first, "to": last, "n": n, "mean": mean, "low": mean - error,
             "high": mean + error}
        )  # fmt: skip
    return {
        "arm": arm,
        "open": True,
        "pulls": pulls,
        "observed": observed,
        "mean": 0.6 * worth if observed else None,
        "estimate": 0.5 * worth if observed else None,
        "low": 0.4 * worth if observed else None,
        "high": 0.6 * worth if observed else None,
        "share": pulls / all_pulls if all_pulls else None,
        "recent_share": pulls / all_pulls if all_pulls else None,
        "curve": curve,
        "cells": cells,
        "cap": None,
    }


def summary(one: Answer) -> Answer:
    """An experiment as it stands in the list."""
    names = ("name", "created", "policy", "audience", "decisions", "rewards", "observed", "mean")
    more = ("outstanding", "late", "missing", "last_error")
    found = {name: one[name] for name in names + more}
    return found | {"arms": sum(arm["open"] for arm in one["arms"])}


def zoo(minutes: int = 90) -> dict[str, Answer]:
    """One experiment of every kind the page has to bear with."""
    many = [f"offer {number:02d}" for number in range(1, 41)]
    three = ["Summer sale", "Free delivery", "New arrivals"]
    made = [
        experiment("banner", three, minutes=minutes),
        experiment("hostile", HOSTILE, error="<b>bold</b> & \u202e trouble " * 3),
        experiment("many", many, each=600, retired=tuple(many[30:])),
        experiment("plain", ["A", "B"], audience=False, control=0.0, window=None, each=9),
        experiment("thin", ["A", "B", "C"], each=3, minutes=240),
        experiment("one-arm", ["only"], control=0.0),
        experiment("all-retired", ["A", "B"], retired=("A", "B")),
        experiment("no-decisions", ["A", "B"], minutes=0),
        experiment("no-rewards", ["A", "B"], rewarded=False),
        experiment("first-minute", ["A", "B"], minutes=1, each=40),
        experiment("n" * 100, three, minutes=5),
    ]
    return {one["name"]: one for one in made}
