"""The OpenAPI document of the service, /v1/openapi.json.

Schemas are made from the types of requests (`requests`) and of answers (`answers`). Only what types
do not contain is written here: paths, roles, examples.
"""

from __future__ import annotations

from typing import Any

import msgspec

from rotting._serve import answers, requests
from rotting._serve.errors import DESCRIBED

Schema = dict[str, Any]
_REF = "#/components/schemas/{name}"
_ALWAYS = (405, 429, 503)
_KEYED = (401, 403)
_SENT = (400, 413, 415)
_NAMED = (404, 410)
_ONE = "/v1/experiments/{name}"
_NAME = {"$ref": "#/components/parameters/Name"}
_VERBS = ("add", "retire", "restore")

# conditions on several fields, which types cannot express
_TOGETHER: dict[str, Schema] = {
    "NewExperiment": {
        "allOf": [
            {
                "anyOf": [
                    {"properties": {"default_reward": {"type": "null"}}},
                    {
                        "required": ["reward_window"],
                        "properties": {"reward_window": {"type": "number"}},
                    },
                ]
            },
            {
                "anyOf": [
                    {"properties": {"shown_window": {"type": "null"}}},
                    {
                        "required": ["require_shown"],
                        "properties": {"require_shown": {"const": True}},
                    },
                ]
            },
        ]
    },
    "ArmChange": {
        "oneOf": [
            {
                "required": [verb],
                "properties": {
                    each: {"type": "string" if each == verb else "null"} for each in _VERBS
                },
            }
            for verb in _VERBS
        ]
    },
    "NewShown": {
        "anyOf": [
            {"required": ["arm"], "properties": {"arm": {"type": "string"}}},
            {"properties": {"key": {"type": "null"}, "confirmed": {"enum": [None, True]}}},
        ]
    },
}
_EXAMPLES: dict[str, list[Any]] = {
    "NewExperiment": [
        {"name": "banner", "arms": ["A", "B", "C"]},
        {
            "name": "mail",
            "arms": ["A", "B"],
            "policy": {"policy": "fatigue"},
            "audience": {"rest": {"half_life": 20, "unit": "decisions"}},
            "control": 0.1,
            "reward_window": 600,
            "default_reward": 0,
            "fallback": "A",
        },
    ],
    "NewDecision": [{"id": "8d0c1f"}, {"id": "8d0c20", "key": "ann", "among": ["A", "B"]}],
    "NewShown": [{"decision": "8d0c1f"}, {"decision": "8d0c1f", "arm": "A", "key": "ann"}],
    "NewReward": [
        {"decision": "8d0c1f", "reward": 1},
        {"decision": "8d0c1f", "reward": 0.25, "id": "order-17"},
    ],
    "ArmChange": [{"add": "D"}, {"retire": "A"}, {"restore": "A"}],
    "NewPolicy": [{"policy": {"policy": "ucb1", "c": 0.5}}, {"policy": "mixture"}],
    "NewHistory": [
        {"id": "import-0", "rows": [{"arm": "A", "reward": 1}, {"arm": "B", "reward": 0}]}
    ],
    "Erasure": [{"key": "ann"}],
    "Error": [{"error": {"code": "not_found", "message": "no decision 'x'", "field": "decision"}}],
    "Decision": [{"id": "8d0c20", "arm": "A", "pull": 3, "key": "ann", "seq": 1234}],
    "Shown": [{"decision": "8d0c20", "pull": 3, "seq": 1235}],
    "Reward": [
        {"decision": "8d0c20", "applied": True, "seq": 1236},
        {"decision": "8d0c20", "applied": False, "why": "repeated", "seq": 1236},
    ],
    "ArmState": [{"arm": "D", "open": True, "applied": True, "seq": 1237}],
    "History": [{"id": "import-0", "rows": 2, "applied": True, "seq": 1238}],
    "Erased": [{"erased": True, "seq": 1239}],
    "Events": [
        {"events": [{"seq": 7, "at": 1790000000.0, "kind": "decided", "arm": "A"}], "last": 7}
    ],
    "Alive": [{"alive": True}],
    "Ready": [{"ready": True}, {"ready": True, "clock_offset": 3600.0}],
}
_SENT_TYPES: tuple[Any, ...] = (
    *(requests.NewExperiment, requests.NewDecision, requests.NewShown, requests.NewReward),
    *(requests.ArmChange, requests.NewPolicy, requests.NewHistory, requests.Erasure),
)
_ANSWER_TYPES: tuple[Any, ...] = (
    *(answers.Error, answers.Decision, answers.Shown, answers.Reward, answers.ArmState),
    *(answers.PolicyChanged, answers.History, answers.Erased, answers.Experiment),
    *(answers.Summaries, answers.Events, answers.Audit, answers.Status),
    *(answers.Alive, answers.Ready),
)


def description(version: str) -> dict[str, Any]:
    """The document, for this version of the package.

    >>> sorted(description("1.0")["paths"])[:3]
    ['/', '/health', '/metrics']
    """
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "rotting serve",
            "version": version,
            "description": "Decisions among options that wear out with use.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}, {}],  # a service without keys requires none
        "paths": {**_experiments(), **_calls(), **_changes(), **_reports(), **_service()},
        "components": {
            "schemas": schemas(),
            "responses": {
                f"Status{status}": _refused(status) for status in sorted(set(DESCRIBED.values()))
            },
            "parameters": {"Name": _parameter("path", "name", _schema(requests.Name))},
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def schemas() -> dict[str, Schema]:
    """The schemas of all requests and answers, by name."""
    types = (*_SENT_TYPES, *_ANSWER_TYPES)
    _, found = msgspec.json.schema_components(types, ref_template=_REF)
    made = {}
    for name, schema in found.items():
        about = " ".join(schema.get("description", "").split())
        made[name] = {**schema, "description": about, **_TOGETHER.get(name, {})}
        if name in _EXAMPLES:
            made[name]["examples"] = _EXAMPLES[name]
    return made


def _schema(kind: Any) -> Schema:
    found: Schema = msgspec.json.schema(kind)
    return found


def _ref(name: str) -> Schema:
    return {"$ref": _REF.format(name=name)}


def _batch(items: Schema, least: int = 0) -> Schema:
    return {"type": "array", "items": items, "minItems": least, "maxItems": requests.MOST_ITEMS}


# -------------------------------------------------------------------------------------- paths


def _experiments() -> dict[str, Any]:
    create = _post(
        "createExperiment",
        "Create an experiment; the same body again changes nothing.",
        "admin",
        _ref("NewExperiment"),
        _ref("Experiment"),
        errors=(409,),
    )
    create["responses"]["201"] = _good("Created.", _ref("Experiment"))
    listed = _get("listExperiments", "All experiments.", "read", _ref("Summaries"))
    one = _get("getExperiment", "One experiment.", "read", _ref("Experiment"), (400, *_NAMED))
    return {
        "/v1/experiments": {"post": create, "get": listed},
        _ONE: {"parameters": [_NAME], "get": one},
    }


def _calls() -> dict[str, Any]:
    """Endpoints for one body or a list of them; a refused item of a list answers its error."""
    calls = (
        ("decisions", "decide", "Decide.", "decide", "NewDecision", "Decision"),
        ("shown", "confirmShown", "Confirm a showing.", "decide or reward", "NewShown", "Shown"),
        ("rewards", "sendReward", "Send a reward.", "reward", "NewReward", "Reward"),
        ("arms", "changeArms", "Add, retire or restore.", "admin", "ArmChange", "ArmState"),
        ("history", "learnHistory", "Learn pulls.", "admin", "NewHistory", "History"),
        ("erase", "eraseKey", "Erase a key.", "admin", "Erasure", "Erased"),
    )
    found = {}
    for path, name, about, role, sent, answered in calls:
        # a list may hold anything: a wrong item is refused in its place and affects no other
        taken = {"anyOf": [_ref(sent), _batch({"anyOf": [_ref(sent), {}]})]}
        item = {"anyOf": [_ref(answered), _ref("Error")]}
        given = {"anyOf": [_ref(answered), _batch(item)]}
        found[f"{_ONE}/{path}"] = _of_one(_post(name, about, role, taken, given))
    return found


def _changes() -> dict[str, Any]:
    about = "Change the policy."
    change = _post("changePolicy", about, "admin", _ref("NewPolicy"), _ref("PolicyChanged"))
    return {f"{_ONE}/policy": _of_one(change)}


def _reports() -> dict[str, Any]:
    events = _get("listEvents", "Events, in order.", "read", _ref("Events"), (400, *_NAMED))
    after = {"type": "integer", "minimum": 0, "maximum": 2**62, "default": 0}
    limit = {"type": "integer", "minimum": 1, "maximum": requests.MOST_EVENTS, "default": 1000}
    events["parameters"] = [
        _parameter("query", "after", {**after, "description": "Only later ones."}),
        _parameter("query", "limit", {**limit, "description": "At most this many events."}),
    ]
    export = _get("exportDecisions", "One row for each decision.", "read", {}, (400, *_NAMED))
    formats = {"type": "string", "enum": ["csv", "parquet"], "default": "csv"}
    export["parameters"] = [_parameter("query", "format", formats)]
    export["responses"]["200"]["content"] = {
        "text/csv": {"schema": {"type": "string"}},
        "application/vnd.apache.parquet": {"schema": {}},
    }
    audit = _get("listAudit", "The audit trail.", "admin", _ref("Audit"))
    return {
        f"{_ONE}/events": _of_one(events, "get"),
        f"{_ONE}/export": _of_one(export, "get"),
        "/v1/audit": {"get": audit},
    }


def _service() -> dict[str, Any]:
    pages = {
        "/v1/openapi.json": ("getDocument", "This document.", "application/json", "object"),
        "/metrics": ("getMetrics", "Metrics for Prometheus.", "text/plain", "string"),
        "/": ("getDashboard", "The dashboard.", "text/html", "string"),
    }
    found: dict[str, Any] = {
        "/v1/status": {"get": _get("getStatus", "State of the service.", "any", _ref("Status"))},
        "/health": {"get": _get("getHealth", "Whether it runs.", None, _ref("Alive"))},
        "/ready": {"get": _get("getReady", "Whether it can decide.", None, _ref("Ready"))},
    }
    for path, (name, about, media, kind) in pages.items():
        page = _get(name, about, "read" if path == "/metrics" else None, {})
        page["responses"]["200"]["content"] = {media: {"schema": {"type": kind}}}
        found[path] = {"get": page}
    return found


# --------------------------------------------------------------------------------- operations


def _of_one(operation: dict[str, Any], method: str = "post") -> dict[str, Any]:
    return {"parameters": [_NAME], method: operation}


def _post(
    name: str,
    about: str,
    role: str,
    sent: Schema,
    answered: Schema,
    errors: tuple[int, ...] = (*_NAMED, 409),
) -> dict[str, Any]:
    found = _get(name, about, role, answered, (*_SENT, *errors))
    content = {"application/json": {"schema": sent}}
    return {**found, "requestBody": {"required": True, "content": content}}


def _get(
    name: str, about: str, role: str | None, answered: Schema, errors: tuple[int, ...] = ()
) -> dict[str, Any]:
    """An operation; without a role it needs no key."""
    refused = sorted({*_ALWAYS, *errors, *(_KEYED if role else ())})
    found: dict[str, Any] = {
        "operationId": name,
        "summary": about,
        "responses": {
            "200": _good("Done.", answered),
            **{str(each): {"$ref": f"#/components/responses/Status{each}"} for each in refused},
        },
    }
    if role is None:
        return {**found, "security": []}
    more = "" if role in ("admin", "any") else " or admin"
    return {**found, "description": f"Role: {role}{more}."}


def _good(about: str, answered: Schema) -> dict[str, Any]:
    return {"description": about, "content": {"application/json": {"schema": answered}}}


def _parameter(place: str, name: str, schema: Schema) -> dict[str, Any]:
    return {"in": place, "name": name, "required": place == "path", "schema": schema}


def _refused(status: int) -> dict[str, Any]:
    codes = [code for code, its in DESCRIBED.items() if its == status]
    found = _good(" or ".join(codes).replace("_", " ").capitalize() + ".", _ref("Error"))
    if status in (429, 503):
        wait = {"description": "Seconds to wait.", "schema": {"type": "string"}}
        found["headers"] = {"Retry-After": wait}
    return found
