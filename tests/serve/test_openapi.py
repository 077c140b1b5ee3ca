"""The OpenAPI document: it loads, references resolve, and it refuses what the service refuses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import msgspec
import pytest
import schemathesis
from schemathesis.core.result import Ok

from helpers.serve.fake_transport import Fake
from helpers.serve.in_process import Inside, serving
from rotting._serve import requests
from rotting._serve.errors import DESCRIBED
from rotting._serve.openapi import description

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


def of_type(kind: Any) -> Any:
    return validator(msgspec.json.schema(kind))


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
    assert jsonschema_rs.meta.is_valid({"$schema": META, **SCHEMAS[name]})
    for each in SCHEMAS[name].get("examples", ()):
        assert list(of(name).iter_errors(each)) == []


META = "https://json-schema.org/draft/2020-12/schema"


def test_nothing_unknown_may_be_sent() -> None:
    for path, item in DOCUMENT["paths"].items():
        if "post" not in item:
            continue
        schema = item["post"]["requestBody"]["content"]["application/json"]["schema"]
        batches = schema.get("anyOf", [{}])[-1].get("type") == "array"
        single = schema["anyOf"][0] if batches else schema
        name = single["$ref"].rpartition("/")[2]
        for good in SCHEMAS[name]["examples"]:
            assert sent_to(path).is_valid(good), path
            assert not sent_to(path).is_valid({**good, "unknown": 1}), path
            assert sent_to(path).is_valid([good]) == batches, path
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
    assert check.is_valid([[item]])  # an item that is wrong is refused in its place


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (
            requests.Label,
            ["A", "ä" * 200, " ", "😀"],
            ["", "a" * 201, "a\0", "\n", "\x7f", "\x9f", 1],
        ),
        (requests.Key, ["k" * 500], ["k" * 501, "\t"]),
        (requests.Id, ["k" * 200], ["k" * 201, "\t", "a\u202eb"]),
        (requests.Name, ["a", "A.b_c-1", "x" * 100], ["", ".a", "a/b", "x" * 101, "a\n", "ä"]),
    ],
)
def test_texts_are_limited(kind: Any, good: list[Any], bad: list[Any]) -> None:
    for each in good:
        assert of_type(kind).is_valid(each), each
    for each in bad:
        assert not of_type(kind).is_valid(each), each


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("NewReward", [{"decision": "a", "reward": v} for v in (None, "1", 1e101, True)]),
        ("NewReward", [{"reward": 1.0}, {"decision": "a"}]),
        ("ArmChange", [{"add": "A", "retire": "B"}, {"remove": "A"}, {"add": None}]),
        ("NewDecision", [{"id": "a", "among": []}, {"key": "k"}]),
        ("NewShown", [{"decision": "a", "key": "k"}, {"decision": "a", "confirmed": False}]),
        ("NewHistory", [{"id": "a", "rows": []}, {"id": "a", "rows": [{"arm": "A"}]}]),
    ],
)
def test_limits(name: str, bad: list[Any], tmp_path: Path) -> None:
    """The description refuses it, and so does the service."""
    with serving(tmp_path / "s.db") as inside:
        inside.create()
        verb = {"NewReward": "rewards", "ArmChange": "arms", "NewDecision": "decisions"}
        path = verb.get(name, "history" if name == "NewHistory" else "shown")
        for each in bad:
            assert not of(name).is_valid(each), each
            inside.post(path, each, 400)


LIMITS: list[tuple[str, Any, Any]] = [
    ("arms", [f"a{n}" for n in range(1000)], [f"a{n}" for n in range(1001)]),
    ("control", 0.999, 1.0),
    ("reward_window", 1e9, 1.1e9),
    ("reward_window", 1e-9, 0),
    ("seed", 2**63 - 1, 2**63),
    ("seed", 0, -1),
    ("horizon", 2**53, 2**53 + 1),
    ("horizon", 1, 0),
    ("fallback", "A", ""),
    ("audience", {"rest": {"half_life": 0.5}}, {"rest": {"half_life": 0}}),
    ("audience", {"rest": {"window": 7, "unit": "rounds"}}, {"rest": {"window": 0}}),
    ("audience", {"rest": {"window": 7}}, {"rest": {"window": 7, "half_life": 1}}),
    (
        "audience",
        {"rest": {"half_life": 2, "unit": "decisions"}},
        {"rest": {"half_life": 2, "unit": "x"}},
    ),
    ("policy", "ucb1", 3),
    ("policy", {"policy": "ucb1", "c": 0.5}, {"c": 0.5}),
    ("require_shown", True, 1),
]


@pytest.mark.parametrize(("field", "good", "bad"), LIMITS, ids=lambda value: str(value)[:20])
def test_the_limits_described_are_those_of_the_service(
    field: str, good: Any, bad: Any, tmp_path: Path
) -> None:
    with serving(tmp_path / "s.db") as inside:
        for name, value, status in (("e", good, 201), ("f", bad, 400)):
            body = {"name": name, "arms": ["A", "B"], "policy": None, field: value}
            assert of("NewExperiment").is_valid(body) == (status == 201), value
            assert inside.client.post("/v1/experiments", json=body).status_code == status, value


def test_defaults_described_are_those_of_the_service(tmp_path: Path) -> None:
    properties = SCHEMAS["NewExperiment"]["properties"]
    with serving(tmp_path / "s.db") as inside:
        inside.create(policy=None)
        page = inside.get()
        for name in ("control", "reward_window", "default_reward", "fallback", "horizon"):
            assert properties[name]["default"] == page[name], name
        for name in ("audience", "require_shown"):
            assert properties[name]["default"] is page[name] is False
        (limit,) = (p for p in of_path("events") if p["name"] == "limit")
        inside.get(f"/events?limit={limit['schema']['maximum']}")
        inside.get(f"/events?limit={limit['schema']['maximum'] + 1}", 400)


def of_path(verb: str) -> Any:
    return DOCUMENT["paths"][f"{ONE}/{verb}"]["get"]["parameters"]


@pytest.mark.parametrize(("verb", "most"), [("decisions", 1000), ("history", 10_000)])
def test_batches_and_histories_are_as_long_as_described(
    verb: str, most: int, tmp_path: Path
) -> None:
    def body(size: int) -> Any:
        if verb == "history":
            return {"id": f"h{size}", "rows": [{"arm": "A", "reward": 1}] * size}
        return [{"id": f"d{size}-{n}"} for n in range(size)]

    with serving(tmp_path / "s.db") as inside:
        inside.create()
        path = f"/v1/experiments/e/{verb}"
        for size in (most, most + 1):
            assert sent_to(f"{ONE}/{verb}").is_valid(body(size)) == (size == most)
            found = inside.client.post(path, json=body(size)).status_code
            assert (found == 200) == (size == most), found


def exactly(name: str, answer: Any, optional: tuple[str, ...] = ()) -> None:
    """An answer is of its type, and has no field that the type does not have."""
    of(name).validate(answer)
    described = set(SCHEMAS[name]["properties"])
    assert described - set(optional) <= set(answer) <= described, name


def test_answers_are_of_their_types(tmp_path: Path) -> None:
    """All answers of the service, with an audience, a control group and a reward window."""
    settings = {"control": 0.3, "reward_window": 60, "default_reward": 0.0, "fallback": "A"}
    with serving(tmp_path / "s.db") as inside:
        inside.create(audience=True, policy=None, **settings)
        played(inside)
        exactly("ArmState", inside.post("arms", {"add": "D"}))
        exactly("PolicyChanged", inside.post("policy", {"policy": "mixture"}))
        past = {"id": "h", "rows": [{"arm": "A", "reward": 1, "key": "eve"}]}
        exactly("History", inside.post("history", past))
        exactly("Erased", inside.post("erase", {"key": "eve"}))
        exactly("Erased", inside.post("erase", {"key": "nobody"}))
        page = inside.get()
        exactly("Experiment", page)
        for arm in page["arms"]:
            exactly("Arm", arm)
        exactly("Lift", page["lift"])
        exactly("Series", page["series"])
        exactly("PolicyInUse", page["policy"])
        listed = inside.client.get("/v1/experiments").json()
        exactly("Summaries", listed)
        exactly("Summary", listed["experiments"][0])
        exactly("Events", inside.get("/events"))
        exactly("Error", inside.post("decisions", {"id": "x"}, 400))
        exactly("Audit", inside.client.get("/v1/audit").json())
        exactly("Status", inside.client.get("/v1/status").json())
        exactly("Alive", inside.client.get("/health").json())
        exactly("Ready", inside.client.get("/ready").json(), ("clock_offset",))
        assert inside.get()["last_error"]["code"] in DESCRIBED
        many = inside.post("erase", [{"key": "ann"}, {"key": ""}])
        answered = DOCUMENT["paths"][f"{ONE}/erase"]["post"]["responses"]["200"]["content"]
        validator(answered["application/json"]["schema"]).validate(many)
    with serving(tmp_path / "alone.db") as inside:
        inside.create()
        exactly("Experiment", inside.get())
        assert inside.get()["keys"] is None


def played(inside: Inside) -> None:
    for number in range(40):
        made = inside.post("decisions", {"id": f"d{number}", "key": f"k{number % 5}"})
        exactly("Decision", made)
        if number % 3:
            body = {"decision": f"d{number}", "reward": number % 2}
            exactly("Reward", inside.post("rewards", body), ("why",))
            exactly("Reward", inside.post("rewards", body))
    exactly("Shown", inside.post("shown", {"decision": "d1"}))


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
    assert set(responses) == {f"Status{status}" for status in DESCRIBED.values()}
    for status in ("Status429", "Status503"):
        assert "Retry-After" in responses[status]["headers"]
    for item in DOCUMENT["paths"].values():
        for method in set(item) - {"parameters"}:
            for status, answer in item[method]["responses"].items():
                assert re.fullmatch("20[01]", status) or answer["$ref"].endswith(status)
    assert DOCUMENT["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"


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
