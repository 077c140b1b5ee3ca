"""The OpenAPI document of the service, as /v1/openapi.json gives it."""

from __future__ import annotations

from typing import Any

from rotting.serve.openapi import bodies, descriptions
from rotting.serve.openapi.shapes import Schema, answered_or_batch, count, one_or_batch, ref, words

_ALWAYS = (405, 429, 503)
_KEYED = (401, 403)
_SENT = (400, 413, 415)
_NAMED = (404, 410)
_ONE = "/v1/experiments/{name}"


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
        "security": [{"bearer": []}, {}],  # without keys the service asks for none
        "paths": {**_experiments(), **_calls(), **_changes(), **_reports(), **_service()},
        "components": {
            "schemas": {**bodies.sent(), **bodies.answered(), **descriptions.told()},
            "responses": {f"Status{status}": _refused(status) for status in _statuses()},
            "parameters": {"Name": _parameter("path", "name", ref("Name"))},
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def _experiments() -> dict[str, Any]:
    create = _post(
        "createExperiment",
        "Create an experiment; the same body again changes nothing.",
        "admin",
        ref("NewExperiment"),
        ref("Experiment"),
        errors=(409,),
    )
    create["responses"]["201"] = _good("Created.", ref("Experiment"))
    listed = _get("listExperiments", "All experiments.", "read", ref("Summaries"))
    one = _get("getExperiment", "One experiment.", "read", ref("Experiment"), (400, *_NAMED))
    return {
        "/v1/experiments": {"post": create, "get": listed},
        _ONE: {"parameters": [_NAME], "get": one},
    }


def _calls() -> dict[str, Any]:
    """What is called for every showing, one by one or in batches."""
    calls = (
        ("decisions", "decide", "Decide.", "decide", "NewDecision", "Decision"),
        ("shown", "confirmShown", "Confirm a showing.", "decide", "NewShown", "Shown"),
        ("rewards", "sendReward", "Tell a reward.", "reward", "NewReward", "Reward"),
    )
    return {
        f"{_ONE}/{path}": _named(
            _post(name, about, role, one_or_batch(sent), answered_or_batch(answered))
        )
        for path, name, about, role, sent, answered in calls
    }


def _changes() -> dict[str, Any]:
    calls = (
        ("arms", "changeArms", "Add, retire or restore an arm.", "ArmChange", "ArmState"),
        ("policy", "changePolicy", "Decide by another policy.", "NewPolicy", "PolicyChanged"),
        ("history", "learnHistory", "Learn pulls made elsewhere.", "NewHistory", "History"),
        ("erase", "eraseKey", "Forget a key.", "Erasure", "Erased"),
    )
    return {
        f"{_ONE}/{path}": _named(_post(name, about, "admin", ref(sent), ref(answered)))
        for path, name, about, sent, answered in calls
    }


def _reports() -> dict[str, Any]:
    events = _get("listEvents", "Events, in order.", "read", ref("Events"), (400, *_NAMED))
    events["parameters"] = [
        _parameter("query", "after", count("Only later ones.", most=2**62)),
        _parameter("query", "limit", count("So many at most.", least=1, most=1000)),
    ]
    export = _get("exportDecisions", "One row a decision.", "read", {}, (400, *_NAMED))
    export["parameters"] = [_parameter("query", "format", words("csv", "parquet"))]
    export["responses"]["200"]["content"] = {
        "text/csv": {"schema": {"type": "string"}},
        "application/vnd.apache.parquet": {"schema": {}},
    }
    audit = _get("listAudit", "Who changed what.", "admin", ref("Audit"))
    return {
        f"{_ONE}/events": _named(events, "get"),
        f"{_ONE}/export": _named(export, "get"),
        "/v1/audit": {"get": audit},
    }


def _service() -> dict[str, Any]:
    ready = _get("getReady", "Whether it can decide.", None, ref("Ready"))
    pages = {
        "/v1/openapi.json": ("getDocument", "This document.", "application/json", "object"),
        "/metrics": ("getMetrics", "Figures for Prometheus.", "text/plain", "string"),
        "/": ("getDashboard", "The dashboard.", "text/html", "string"),
    }
    found: dict[str, Any] = {
        "/v1/status": {"get": _get("getStatus", "The service.", "read", ref("Status"))},
        "/health": {"get": _get("getHealth", "Whether it runs.", None, ref("Alive"))},
        "/ready": {"get": ready},
    }
    for path, (name, about, media, kind) in pages.items():
        page = _get(name, about, None, {})
        page["responses"]["200"]["content"] = {media: {"schema": {"type": kind}}}
        found[path] = {"get": page}
    return found


# ------------------------------------------------------------------------------------- words

_NAME = {"$ref": "#/components/parameters/Name"}


def _named(operation: dict[str, Any], method: str = "post") -> dict[str, Any]:
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
    """An operation; without a role, anybody may call it."""
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
    return {
        **found,
        "description": f"Role: {role}." if role == "admin" else f"Role: {role}, admin.",
    }


def _good(about: str, answered: Schema) -> dict[str, Any]:
    return {"description": about, "content": {"application/json": {"schema": answered}}}


def _parameter(place: str, name: str, schema: Schema) -> dict[str, Any]:
    return {"in": place, "name": name, "required": place == "path", "schema": schema}


def _statuses() -> list[int]:
    return sorted(set(bodies.CODES.values()))


def _refused(status: int) -> dict[str, Any]:
    codes = [code for code, its in bodies.CODES.items() if its == status]
    found = _good(" or ".join(codes).replace("_", " ").capitalize() + ".", ref("Error"))
    if status in (429, 503):
        wait = {"description": "Seconds to wait.", "schema": {"type": "string"}}
        found["headers"] = {"Retry-After": wait}
    return found
