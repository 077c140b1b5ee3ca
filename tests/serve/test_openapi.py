"""The OpenAPI document: it loads, leads nowhere wrong, and refuses what the service refuses."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
import schemathesis
from schemathesis.core.result import Ok

from client_fake import Fake
from rotting.serve.openapi import bodies, description

DOCUMENT = description("1.2.3")
SCHEMAS = DOCUMENT["components"]["schemas"]
ONE = "/v1/experiments/{name}"
OPERATIONS = {
    ("POST", "/v1/experiments"),
    ("GET", "/v1/experiments"),
    ("GET", ONE),
    ("POST", f"{ONE}/decisions"),
    ("POST", f"{ONE}/shown"),
    ("POST", f"{ONE}/rewards"),
    ("POST", f"{ONE}/arms"),
    ("POST", f"{ONE}/policy"),
    ("POST", f"{ONE}/history"),
    ("POST", f"{ONE}/erase"),
    ("GET", f"{ONE}/events"),
    ("GET", f"{ONE}/export"),
    ("GET", "/v1/audit"),
    ("GET", "/v1/status"),
    ("GET", "/v1/openapi.json"),
    ("GET", "/health"),
    ("GET", "/ready"),
    ("GET", "/metrics"),
    ("GET", "/"),
}


def validator(schema: Any) -> Any:
    """A validator of a schema of the document, with those that it names."""
    return jsonschema_rs.Draft202012Validator(
        {"components": DOCUMENT["components"], **schema}, validate_formats=True
    )


def of(name: str) -> Any:
    return validator({"$ref": f"#/components/schemas/{name}"})


def sent_to(path: str) -> Any:
    """A validator of what is posted to a path."""
    content = DOCUMENT["paths"][path]["post"]["requestBody"]["content"]
    return validator(content["application/json"]["schema"])


def everything(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
        node = list(node.values())
    if isinstance(node, list):
        for each in node:
            yield from everything(each)


def test_schemathesis_loads_every_operation() -> None:
    loaded = schemathesis.openapi.from_dict(DOCUMENT)
    found = set()
    for result in loaded.get_all_operations():
        assert isinstance(result, Ok), result
        found.add((result.ok().method.upper(), result.ok().path))
    assert found == OPERATIONS


def test_it_is_plain_json_with_its_version() -> None:
    assert json.loads(json.dumps(DOCUMENT, allow_nan=False)) == DOCUMENT
    assert DOCUMENT["info"]["version"] == "1.2.3"
    names = [each["operationId"] for each in everything(DOCUMENT) if "operationId" in each]
    assert len(names) == len(set(names)) == len(OPERATIONS)


def test_every_reference_leads_somewhere_and_everything_is_used() -> None:
    used = set()
    for node in everything(DOCUMENT):
        if "$ref" not in node:
            continue
        place: Any = DOCUMENT
        for part in node["$ref"].removeprefix("#/").split("/"):
            place = place[part]
        used.add(node["$ref"])
    for kind in ("schemas", "responses", "parameters"):
        for name in DOCUMENT["components"][kind]:
            assert f"#/components/{kind}/{name}" in used, name


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_are_schemas_and_examples_are_examples(name: str) -> None:
    jsonschema_rs.meta.validate({"$schema": META, **SCHEMAS[name]})
    for each in SCHEMAS[name].get("examples", ()):
        of(name).validate(each)


META = "https://json-schema.org/draft/2020-12/schema"


def test_nothing_unknown_may_be_sent() -> None:
    for path, item in DOCUMENT["paths"].items():
        if "post" not in item:
            continue
        schema = item["post"]["requestBody"]["content"]["application/json"]["schema"]
        single = schema["oneOf"][0] if "oneOf" in schema else schema
        name = single["$ref"].rpartition("/")[2]
        for good in SCHEMAS[name]["examples"]:
            assert sent_to(path).is_valid(good), path
            assert not sent_to(path).is_valid({**good, "unknown": 1}), path
            assert sent_to(path).is_valid([good]) == ("oneOf" in schema), path
        assert not sent_to(path).is_valid({})
        assert item["post"]["responses"].keys() >= {"200", "400", "401", "403", "413", "415", "429"}


@pytest.mark.parametrize("path", ["decisions", "shown", "rewards"])
def test_batches_have_a_thousand_items_at_most(path: str) -> None:
    check = sent_to(f"{ONE}/{path}")
    item = {"decisions": {"id": "a"}, "shown": {"decision": "a"}}.get(
        path, {"decision": "a", "reward": 1}
    )
    assert check.is_valid([item] * 1000)
    assert not check.is_valid([item] * 1001)
    assert not check.is_valid([[item]])


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("Label", ["A", "ä" * 200, " ", "😀"], ["", "a" * 201, "a\0", "a\n", "\x7f", "\x9f", 1]),
        ("Key", ["k" * 500], ["k" * 501, "\t"]),
        ("Name", ["a", "A.b_c-1", "x" * 100], ["", ".a", "a/b", "x" * 101, "a\n", "ä"]),
        ("NewReward", [], [{"decision": "a", "reward": v} for v in (None, "1", 1e101, True)]),
        ("NewReward", [], [{"reward": 1.0}, {"decision": "a"}]),
        ("ArmChange", [], [{"add": "A", "retire": "B"}, {"remove": "A"}]),
        ("NewDecision", [], [{"id": "a", "among": []}, {"id": "a", "key": None}, {"key": "k"}]),
        ("NewHistory", [], [{"id": "a", "rows": []}, {"id": "a", "rows": [{"arm": "A"}]}]),
    ],
)
def test_limits(name: str, good: list[Any], bad: list[Any]) -> None:
    for each in good:
        assert of(name).is_valid(each), each
    for each in bad:
        assert not of(name).is_valid(each), each


@pytest.mark.parametrize(
    "wrong",
    [
        {"arms": []},
        {"arms": ["A", "A"]},
        {"name": "../x"},
        {"control": 1},
        {"control": -0.1},
        {"reward_window": 0},
        {"default_reward": 0},
        {"audience": "yes"},
        {"audience": {"rest": {"half_life": 0}}},
        {"policy": 3},
        {"policy": {"c": 1}},
        {"seed": -1},
        {"horizon": 0.5},
        {"require_shown": 1},
    ],
)
def test_new_experiments_are_limited(wrong: dict[str, Any]) -> None:
    good = {"name": "banner", "arms": ["A", "B"]}
    assert of("NewExperiment").is_valid(good)
    assert not of("NewExperiment").is_valid({**good, **wrong})
    assert of("NewExperiment").is_valid({**good, "default_reward": 0, "reward_window": 5})


def test_errors_have_their_statuses() -> None:
    responses = DOCUMENT["components"]["responses"]
    assert set(responses) == {f"Status{status}" for status in bodies.CODES.values()}
    for status in ("Status429", "Status503"):
        assert "Retry-After" in responses[status]["headers"]
    for item in DOCUMENT["paths"].values():
        for method in set(item) - {"parameters"}:
            for status, answer in item[method]["responses"].items():
                assert re.fullmatch("20[01]", status) or answer["$ref"].endswith(status)
    assert DOCUMENT["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"


def test_the_experiment_of_the_contract_is_one() -> None:
    known = copy.deepcopy(EXPERIMENT)
    of("Experiment").validate(known)
    assert known.keys() == SCHEMAS["Experiment"]["properties"].keys()
    assert known["arms"][0].keys() == SCHEMAS["Arm"]["properties"].keys()
    for part in ("mean", "estimate", "low", "high"):
        known["arms"][0][part] = None
    of("Experiment").validate(known)
    del known["seq"]
    assert not of("Experiment").is_valid(known)


def test_what_the_client_sends_is_what_is_described() -> None:
    fake = Fake()
    client = fake.client()
    client.create("banner", ["A", "B"], policy="ucb1", control=0.1, reward_window=5, seed=0)
    choice = client.decide("banner", "ann", among=["A"])
    client.shown("banner", choice)
    client.reward("banner", choice, 1, id="r")
    client.reward_many("banner", [(each, 0.5) for each in client.decide_many("banner", 3)])
    client.add("banner", "C")
    client.retire("banner", "C")
    client.change_policy("banner", {"policy": "ucb1"}, horizon=5)
    client.learn("banner", [("A", 1.0), ("B", 0.0, "ann")])
    client.erase("banner", "ann")
    posted = [request for request in fake.requests if request.method == "POST"]
    assert len({request.url.path for request in posted}) == 8
    for request in posted:
        path = request.url.path.replace("/banner", "/{name}")
        sent_to(path).validate(json.loads(request.content))


EXPERIMENT: dict[str, Any] = {
    "name": "banner",
    "created": 1790000000.0,
    "seq": 1234,
    "now": 1790000999.0,
    "policy": {
        "name": "fatigue",
        "label": "Fatigue",
        "version": "0.17.0-3f9a2c1b",
        "since": 17,
        "compiled": True,
    },
    "audience": True,
    "control": 0.1,
    "reward_window": 600.0,
    "default_reward": 0.0,
    "require_shown": False,
    "shown_window": None,
    "fallback": "A",
    "seed": 123,
    "decisions": 20500,
    "pulls": 20500,
    "rewards": 20210,
    "observed": 20210,
    "mean": 0.081,
    "outstanding": 290,
    "late": 12,
    "missing": 17000,
    "unshown": 0,
    "keys": 3000,
    "last_error": {"at": 1790000000.0, "message": "...", "code": "conflict"},
    "lift": {
        "policy": 0.081,
        "equal": 0.06,
        "lift": 0.021,
        "low": None,
        "high": 0.03,
        "level": 0.95,
        "decisions": 20000,
        "control": 2000,
        "sentence": "the policy earns ...",
    },
    "arms": [
        {
            "arm": "A",
            "open": True,
            "pulls": 8000,
            "observed": 7900,
            "mean": 0.09,
            "estimate": 0.07,
            "low": 0.06,
            "high": 0.09,
            "share": 0.39,
            "recent_share": 0.41,
            "curve": [{"n": 1, "mean": 0.12, "low": 0.11, "high": 0.13}],
            "cells": [{"from": 5, "to": 6, "n": 900, "mean": 0.11, "low": 0.09, "high": 0.13}],
            "cap": {"showings": 3, "below": "B", "sentence": "Shown 3 times, it is worth less."},
        }
    ],
    "series": {
        "start": 1789990000.0,
        "width": 60.0,
        "policy": [[3, 1.5]],
        "control": [[0, 0.0]],
        "shares": {"A": [2], "B": [1]},
    },
}
