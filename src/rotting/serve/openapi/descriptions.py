"""JSON schemas of what the service tells about itself and its experiments."""

from __future__ import annotations

from rotting.serve.openapi.bodies import CODES
from rotting.serve.openapi.shapes import (
    Schema,
    answer,
    count,
    example,
    number,
    or_null,
    ref,
    rows,
    truth,
    words,
)

KINDS = (
    "created",
    "decided",
    "shown",
    "rewarded",
    "timed_out",
    "expired",
    "late",
    "arm_added",
    "arm_retired",
    "arm_restored",
    "policy_changed",
    "upgraded",
    "history",
    "erased",
    "corrected",
)
_TEXT: Schema = {"type": "string"}
_TIME = number("Seconds since 1970.")
_MAYBE = or_null(number())


def told() -> dict[str, Schema]:
    """The answers to GET, by name."""
    return {
        "PolicyInUse": answer(
            {
                "name": _TEXT,
                "label": _TEXT,
                "version": _TEXT,
                "since": count("The number of the event with which it began."),
                "compiled": truth(),
            }
        ),
        "LastError": answer({"at": _TIME, "message": _TEXT, "code": words(*CODES)}),
        "Summary": _summary(),
        "Summaries": answer({"experiments": rows(ref("Summary"))}),
        "Experiment": _experiment(),
        "Arm": _arm(),
        "Lift": _lift(),
        "Series": _series(),
        "Events": _events(),
        "Audit": _audit(),
        "Status": _status(),
        "Alive": example(answer({"alive": truth()}), {"alive": True}),
        "Ready": example(answer({"ready": truth()}), {"ready": True}),
    }


def _figures() -> dict[str, Schema]:
    whole = ("decisions", "rewards", "observed", "outstanding", "late", "missing")
    return {
        "created": _TIME,
        **{name: count() for name in whole},
        "mean": _MAYBE,
        "last_error": or_null(ref("LastError")),
    }


def _audience() -> Schema:
    return {"anyOf": [{"type": "boolean"}, {"type": "object"}]}


def _summary() -> Schema:
    return answer(
        {
            "name": ref("Name"),
            "policy": {"type": "object"},
            "audience": _audience(),
            "arms": count("How many are open."),
            **_figures(),
        }
    )


def _experiment() -> Schema:
    return answer(
        {
            "name": ref("Name"),
            "seq": count(),
            "now": _TIME,
            "policy": ref("PolicyInUse"),
            "audience": _audience(),
            "control": number(minimum=0, exclusiveMaximum=1),
            "reward_window": _MAYBE,
            "default_reward": _MAYBE,
            "require_shown": truth(),
            "shown_window": _MAYBE,
            "fallback": or_null(ref("Label")),
            "seed": or_null(count()),
            **_figures(),
            "pulls": count(),
            "unshown": count(),
            "keys": count(),
            "lift": or_null(ref("Lift")),
            "arms": rows(ref("Arm")),
            "series": ref("Series"),
        }
    )


def _arm() -> Schema:
    interval = {"mean": _MAYBE, "low": _MAYBE, "high": _MAYBE}
    first = count(least=1)
    return answer(
        {
            "arm": ref("Label"),
            "open": truth(),
            "pulls": count(),
            "observed": count(),
            **interval,
            "estimate": _MAYBE,
            "share": _MAYBE,
            "recent_share": _MAYBE,
            "curve": or_null(rows(answer({"n": first, **interval}))),
            "cells": rows(answer({"from": first, "to": first, "n": count(), **interval})),
            "cap": or_null(answer({"showings": count(), "below": ref("Label"), "sentence": _TEXT})),
        }
    )


def _lift() -> Schema:
    numbers = ("policy", "equal", "lift", "low", "high")
    return answer(
        {
            **dict.fromkeys(numbers, _MAYBE),
            "level": number(exclusiveMinimum=0, exclusiveMaximum=1),
            "decisions": count(),
            "control": count(),
            "sentence": _TEXT,
        }
    )


def _series() -> Schema:
    bucket = rows(number(), least=2, most=2)  # how many rewards, and their sum
    return answer(
        {
            "start": _TIME,
            "width": number(exclusiveMinimum=0),
            "policy": rows(bucket),
            "control": rows(bucket),
            "shares": {"type": "object", "additionalProperties": rows(count())},
        }
    )


def _events() -> Schema:
    event = answer({"seq": count(), "at": _TIME, "kind": words(*KINDS)})
    return example(
        answer({"events": rows(event), "last": count()}),
        {"events": [{"seq": 7, "at": 1790000000.0, "kind": "decided", "arm": "A"}], "last": 7},
    )


def _audit() -> Schema:
    entry = {
        "at": _TIME,
        "by": or_null(_TEXT),
        "what": _TEXT,
        "experiment": or_null(_TEXT),
        "details": {},
    }
    return answer({"audit": rows(answer(entry))})


def _status() -> Schema:
    return example(
        answer(
            {
                "version": _TEXT,
                "started": _TIME,
                "now": _TIME,
                "ready": truth(),
                "reason": or_null(_TEXT),
                "seq": count(),
                "experiments": count(),
                "keys_required": truth(),
            }
        ),
        {
            "version": "0.17.0",
            "started": 1790000000.0,
            "now": 1790000999.0,
            "ready": True,
            "reason": None,
            "seq": 1234,
            "experiments": 2,
            "keys_required": False,
        },
    )
