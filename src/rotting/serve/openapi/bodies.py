"""JSON schemas of what is sent to the service, and of its short answers."""

from __future__ import annotations

from rotting.serve.errors import STATUS
from rotting.serve.openapi.shapes import (
    ITEMS,
    Schema,
    answer,
    body,
    count,
    example,
    number,
    or_null,
    ref,
    reward,
    rows,
    said,
    text,
    truth,
    words,
)

CODES = {code: status for code, status in STATUS.items() if status != 500}
NAME = "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
_LARGEST = 2**62
_MOST_TEXT = 2**20
_SEQ = count("The number of the event, among all of the service.")


def sent() -> dict[str, Schema]:
    """The bodies of requests, by name."""
    return {
        "Id": text(200),
        "Label": text(200, "Of an arm."),
        "Key": text(500, "Whom something is shown to."),
        "Name": {"type": "string", "pattern": NAME, "maxLength": 100},
        "Policy": _policy(),
        "NewExperiment": _new_experiment(),
        "NewDecision": example(
            body(
                {"id": ref("Id")},
                {"key": ref("Key"), "among": rows(ref("Label"), 1, unique=True)},
            ),
            {"id": "8d0c1f"},
            {"id": "8d0c20", "key": "ann", "among": ["A", "B"]},
        ),
        "NewShown": example(
            body(
                {"decision": ref("Id")},
                {
                    "arm": said(ref("Label"), "What was shown, if not what was decided."),
                    "key": ref("Key"),
                    "confirmed": truth("False: whether it came into view is not known."),
                },
            ),
            {"decision": "8d0c1f"},
            {"decision": "8d0c1f", "arm": "A", "key": "ann"},
        ),
        "NewReward": example(
            body({"decision": ref("Id"), "reward": reward()}, {"id": ref("Id")}),
            {"decision": "8d0c1f", "reward": 1},
            {"decision": "8d0c1f", "reward": 0.25, "id": "order-17"},
        ),
        "ArmChange": example(
            {"oneOf": [body({verb: ref("Label")}) for verb in ("add", "retire", "restore")]},
            {"add": "D"},
            {"retire": "A"},
            {"restore": "A"},
        ),
        "NewPolicy": example(
            body({"policy": ref("Policy")}, {"horizon": count(least=1, most=_LARGEST)}),
            {"policy": {"policy": "ucb1", "c": 0.5}},
        ),
        "NewHistory": example(
            body({"id": ref("Id"), "rows": rows(ref("Pull"), 1, ITEMS)}),
            {"id": "import-0", "rows": [{"arm": "A", "reward": 1}, {"arm": "B", "reward": 0}]},
        ),
        "Pull": body({"arm": ref("Label"), "reward": reward()}, {"key": ref("Key")}),
        "Erasure": example(body({"key": ref("Key")}), {"key": "ann"}),
    }


def _policy() -> Schema:
    settings = {
        "type": "object",
        "properties": {"policy": text(200, "The policy's name.")},
        "required": ["policy"],  # and its parameters, which only the policy knows
    }
    named = {"type": "string", "minLength": 1, "maxLength": _MOST_TEXT}
    return example(
        {
            "description": "A policy's name, its name and parameters, the text of a file that "
            "`rotting fit` wrote, or null: the service chooses.",
            "anyOf": [{"type": "null"}, named, settings],
        },
        None,
        "ucb1",
        {"policy": "ucb1", "c": 0.5},
    )


def _new_experiment() -> Schema:
    half_life = body(
        {"half_life": number(exclusiveMinimum=0)}, {"unit": words("decisions", "rounds")}
    )
    seconds = number(exclusiveMinimum=0)
    optional = {
        "policy": ref("Policy"),
        "audience": said(
            {"anyOf": [{"type": "boolean"}, body({"rest": half_life})]},
            "Whether arms wear out for each key; `rest` says how that is forgotten.",
        ),
        "control": number("The share decided by chance.", minimum=0, exclusiveMaximum=1),
        "reward_window": said(seconds, "Seconds that a reward is waited for."),
        "default_reward": reward("What silence means; needs reward_window."),
        "require_shown": truth("Whether a pull counts only when it is confirmed."),
        "shown_window": said(seconds, "Seconds that a confirmation is waited for; 3600."),
        "fallback": said(ref("Label"), "What clients show while the service is away: an arm."),
        "seed": count(most=_LARGEST),
        "horizon": count(least=1, most=_LARGEST),
    }
    required = {"name": ref("Name"), "arms": rows(ref("Label"), 1, unique=True)}
    return example(
        {**body(required, optional), "dependentRequired": {"default_reward": ["reward_window"]}},
        {"name": "banner", "arms": ["A", "B", "C"]},
        {
            "name": "mail",
            "arms": ["A", "B"],
            "policy": {"policy": "ucb1", "c": 0.5},
            "audience": {"rest": {"half_life": 20, "unit": "decisions"}},
            "control": 0.1,
            "reward_window": 600,
            "default_reward": 0,
            "fallback": "A",
        },
    )


def answered() -> dict[str, Schema]:
    """The answers to them, by name."""
    error = body(
        {"code": words(*CODES), "message": {"type": "string"}},
        {"field": or_null({"type": "string"})},
    )
    pull = or_null(count(least=1))
    return {
        "Error": example(
            body({"error": error}),
            {"error": {"code": "not_found", "message": "no decision 'x'", "field": "decision"}},
        ),
        "Decision": example(
            answer(
                {
                    "id": ref("Id"),
                    "arm": ref("Label"),
                    "pull": pull,
                    "key": or_null(ref("Key")),
                    "seq": _SEQ,
                }
            ),
            {"id": "8d0c20", "arm": "A", "pull": 3, "key": "ann", "seq": 1234},
        ),
        "Shown": example(
            answer({"decision": ref("Id"), "pull": pull, "seq": _SEQ}),
            {"decision": "8d0c20", "pull": 3, "seq": 1235},
        ),
        "Reward": example(
            answer(
                {
                    "decision": ref("Id"),
                    "applied": truth("Whether it was learnt by this answer."),
                    "why": said(words("late", "repeated"), "Why not, if it was not."),
                    "seq": _SEQ,
                },
                ["decision", "applied", "seq"],
            ),
            {"decision": "8d0c20", "applied": True, "seq": 1236},
            {"decision": "8d0c20", "applied": False, "why": "repeated", "seq": 1236},
        ),
        "ArmState": example(
            answer({"arm": ref("Label"), "open": truth(), "applied": truth(), "seq": _SEQ}),
            {"arm": "D", "open": True, "applied": True, "seq": 1237},
        ),
        "PolicyChanged": answer({"policy": {"type": "object"}, "seq": _SEQ}),
        "History": example(
            answer({"id": ref("Id"), "rows": count(), "applied": truth(), "seq": _SEQ}),
            {"id": "import-0", "rows": 2, "applied": True, "seq": 1238},
        ),
        "Erased": example(
            answer({"erased": truth(), "seq": or_null(_SEQ)}), {"erased": True, "seq": 1239}
        ),
    }
