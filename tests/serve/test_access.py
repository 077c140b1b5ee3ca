"""Access: roles, keys, hosts and rates, and refusals of malformed input."""

from __future__ import annotations

import csv
import hmac
import io
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from helpers.serve.in_process import Inside, make_key, serving
from rotting._serve import access
from rotting._serve.access import ROLES, Gate, Rate, add_token, revoke_token
from rotting._serve.app import Limits
from rotting._serve.errors import Refusal
from rotting._serve.store import Store

HOSTILE = [
    "<script>alert(1)</script>",
    "'; DROP TABLE event; --",
    '"><img src=x onerror=alert(1)>',
    "\u202eright to left \u05d0\u05d1",
    "\U0001f98a" * 200,
    "{{7*7}} ${x} %s %n",
    "=1+2",
    "../../etc/passwd",
    "__proto__",
    " padded ",
    "a,b;c\td".replace("\t", " "),
    'quoted "twice"',
]
REFUSED = [
    b'"a\\u0000b"',  # NUL
    b'"\\ud800"',  # half of a pair
    b'"a\\udfffb"',
    b'"line\\nbreak"',
    b'"\\u2028"',
    b'"\\u0085"',
    '"{}"'.format("\U0001f98a" * 2600).encode(),  # 10 kB
    b'""',
    b'"\xff\xfe"',
]
VERBS: dict[str, tuple[str, str, Any, set[str]]] = {
    "create": ("POST", "/v1/experiments", {"name": "n", "arms": ["A"]}, {"admin"}),
    "list": ("GET", "/v1/experiments", None, {"read"}),
    "look": ("GET", "/v1/experiments/e", None, {"read"}),
    "decide": ("POST", "/v1/experiments/e/decisions", {"id": "d2"}, {"decide"}),
    "shown": ("POST", "/v1/experiments/e/shown", {"decision": "d"}, {"decide", "reward"}),
    "reward": ("POST", "/v1/experiments/e/rewards", {"decision": "d", "reward": 1.0}, {"reward"}),
    "arms": ("POST", "/v1/experiments/e/arms", {"add": "D"}, {"admin"}),
    "policy": ("POST", "/v1/experiments/e/policy", {"policy": "roundrobin"}, {"admin"}),
    "history": (
        *("POST", "/v1/experiments/e/history"),
        {"id": "h", "rows": [{"arm": "A", "reward": 1.0}]},
        {"admin"},
    ),
    "erase": ("POST", "/v1/experiments/e/erase", {"key": "k"}, {"admin"}),
    "events": ("GET", "/v1/experiments/e/events", None, {"read"}),
    "export": ("GET", "/v1/experiments/e/export", None, {"read"}),
    "audit": ("GET", "/v1/audit", None, {"admin"}),
    "metrics": ("GET", "/metrics", None, {"read"}),
    "status": ("GET", "/v1/status", None, set(ROLES)),
}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Inside, dict[str, str]]]:
    """A service with a key for each role, and one that sees another experiment only."""
    path = tmp_path_factory.mktemp("guarded") / "s.db"
    keys = {role: make_key(path, role, name=role) for role in ROLES}
    keys["elsewhere"] = make_key(path, "admin", name="elsewhere", only=("other",))
    with serving(path, keys_required=True) as inside:
        inside.client.headers["authorization"] = f"Bearer {keys['admin']}"
        inside.create()
        inside.create(name="other")
        inside.post("decisions", {"id": "d"})
        yield inside, keys


@pytest.fixture(scope="module")
def free(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inside]:
    """A service without keys, on this machine only."""
    with serving(tmp_path_factory.mktemp("free") / "s.db") as inside:
        inside.create()
        inside.create(name="k", audience=True)
        yield inside


def raw(client: TestClient, path: str, body: bytes, **headers: str) -> Any:
    """A POST of these bytes."""
    return client.post(path, content=body, headers={"content-type": "application/json"} | headers)


def check_error(answer: Any, status: int) -> str:
    """An error has its shape, whatever it is; returns its message."""
    assert answer.status_code == status, (answer.status_code, answer.text[:300])
    assert answer.headers["content-type"] == "application/json"
    error = answer.json()["error"]
    assert set(error) <= {"code", "message", "field"}
    assert isinstance(error["message"], str)
    return str(error["message"])


@pytest.mark.parametrize("verb", VERBS)
def test_each_role_may_do_its_own(guarded: tuple[Inside, dict[str, str]], verb: str) -> None:
    inside, keys = guarded
    method, path, body, roles = VERBS[verb]
    for role in ROLES:
        headers = {"authorization": f"Bearer {keys[role]}"}
        answer = inside.client.request(method, path, json=body, headers=headers)
        if role == "admin" or role in roles:
            # whatever it answers, it is not that they may not
            assert answer.status_code in (200, 201, 400, 409), (role, answer.text)
        else:
            assert "may not" in check_error(answer, 403)


@pytest.mark.parametrize("verb", [v for v in VERBS if VERBS[v][1].startswith("/v1/experiments/e")])
def test_out_of_sight_is_as_if_not_there(guarded: tuple[Inside, dict[str, str]], verb: str) -> None:
    inside, keys = guarded
    method, path, body, _ = VERBS[verb]
    headers = {"authorization": f"Bearer {keys['elsewhere']}"}
    one = inside.client.request(method, path, json=body, headers=headers)
    nowhere = path.replace("/experiments/e", "/experiments/nowhere")
    none = inside.client.request(method, nowhere, json=body, headers=headers)
    check_error(one, 404)
    assert (one.content, one.headers) == (none.content, none.headers)


def test_a_key_for_some_sees_those(guarded: tuple[Inside, dict[str, str]]) -> None:
    inside, keys = guarded
    headers = {"authorization": f"Bearer {keys['elsewhere']}"}
    found = inside.client.get("/v1/experiments", headers=headers).json()
    assert [one["name"] for one in found["experiments"]] == ["other"]
    text = inside.client.get("/metrics", headers=headers).text
    assert 'experiment="other"' in text
    assert 'experiment="e"' not in text
    assert inside.client.get("/v1/status", headers=headers).json()["experiments"] == 1
    check_error(inside.client.get("/v1/audit", headers=headers), 403)
    made = inside.client.post("/v1/experiments", json={"name": "x", "arms": ["A"]}, headers=headers)
    check_error(made, 403)


def test_others_cannot_write_into_what_an_experiment_tells(
    guarded: tuple[Inside, dict[str, str]],
) -> None:
    """A client without a key, or without access to an experiment, does not set its last error."""
    inside, keys = guarded
    path = "/v1/experiments/other/decisions"
    for header in ["Bearer wrong"] * 30:
        raw(inside.client, path, b"{}", authorization=header)
    assert inside.get(name="other")["last_error"] is None
    only = make_key(inside.service.journal.path, "decide", only=("e",))
    inside.service.gate._read_at = -1e9
    check_error(raw(inside.client, path, b"{}", authorization=f"Bearer {only}"), 400)
    assert inside.get(name="other")["last_error"] is None
    check_error(raw(inside.client, path, b"{}", authorization=f"Bearer {keys['decide']}"), 400)
    assert "missing" in inside.get(name="other")["last_error"]["message"]


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", "Basic abc", "Bearer rot_", "Bearer rot__", "bearer rot_a_b"],
)
def test_a_wrong_key_is_told_so(guarded: tuple[Inside, dict[str, str]], header: str) -> None:
    inside, _ = guarded
    inside.service.refused = Rate(10.0)
    answer = inside.client.get("/v1/experiments", headers={"authorization": header})
    check_error(answer, 401)
    assert answer.headers["www-authenticate"] == "Bearer"


def test_the_right_id_with_another_secret_is_wrong(guarded: tuple[Inside, dict[str, str]]) -> None:
    inside, keys = guarded
    inside.service.refused = Rate(10.0)
    for given in (keys["admin"][:-1], keys["admin"] + "x", keys["admin"][:15] + "_"):
        answer = inside.client.get("/v1/status", headers={"authorization": f"Bearer {given}"})
        check_error(answer, 401)


def test_guessing_is_slowed_down(guarded: tuple[Inside, dict[str, str]]) -> None:
    inside, _ = guarded
    inside.service.refused = Rate(10.0)
    found = [
        inside.client.get("/v1/status", headers={"authorization": f"Bearer rot_a_{n}"})
        for n in range(40)
    ]
    assert {answer.status_code for answer in found} == {401, 429}
    assert found[-1].headers["retry-after"] == "1"
    assert inside.client.get("/v1/status").status_code == 200  # a right one is not


def test_keys_are_stored_hashed_and_compared_in_constant_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_key(tmp_path / "s.db", "read")
    secret = made.split("_", 2)[2]
    for file in tmp_path.iterdir():
        assert secret.encode() not in file.read_bytes()
    seen: list[tuple[str, str]] = []

    def compare(one: str, other: str) -> bool:
        seen.append((one, other))
        return hmac.compare_digest(one, other)

    class Watched:
        compare_digest = staticmethod(compare)

    monkeypatch.setattr(access, "hmac", Watched)
    store = Store.open(tmp_path / "s.db")
    gate = Gate(True)
    gate.refresh(store.tokens())
    store.close()
    assert gate.who(f"Bearer {made}").name == "somebody"
    for given in (made + "x", "rot_unknown_x"):
        with pytest.raises(Refusal, match="valid API key"):
            gate.who(f"Bearer {given}")
    assert len(seen) == 3  # also for an id that does not exist


def test_revoking_the_last_key_opens_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    made = make_key(path, "admin")
    with serving(path) as inside:
        headers = {"authorization": f"Bearer {made}"}
        assert inside.client.get("/v1/experiments", headers=headers).status_code == 200
        check_error(inside.client.get("/v1/experiments"), 401)
        revoke_token(inside.book.store, made.split("_")[1])
        inside.service.gate._read_at = -1e9
        check_error(inside.client.get("/v1/experiments", headers=headers), 401)
        check_error(inside.client.get("/v1/experiments"), 401)
    with serving(path) as inside:  # and after a restart
        check_error(inside.client.get("/v1/experiments"), 401)


def test_keys_for_nothing_are_refused(tmp_path: Path) -> None:
    """An empty name would be stored as a key that sees everything."""
    store = Store.open(tmp_path / "s.db")
    for only in ([""], ["a,b"], ["a", ""], ["<b>"]):
        with pytest.raises(ValueError, match="experiment must be a name"):
            add_token(store, "x", ["read"], only)
    for roles in ([], ["root"], ["read", "everything"]):
        with pytest.raises(ValueError, match="role must be"):
            add_token(store, "x", roles, [])
    assert store.tokens() == []
    store.close()


def test_pages_of_others_are_refused(free: Inside) -> None:
    client = free.client
    path, body = "/v1/experiments/e/decisions", b'{"id": "cross"}'
    for headers in (
        {"host": "evil.example"},
        {"host": "evil.example:8100"},
        {"host": ""},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://["},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ):
        check_error(raw(client, path, body, **headers), 403)
    check_error(client.get("/v1/experiments", headers={"host": "evil.example"}), 403)
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        check_error(raw(client, path, body, **{"content-type": kind}), 415)
    for headers in (
        {"host": "127.0.0.1:8100", "origin": "http://127.0.0.1:8100"},
        {"host": "[::1]:8100"},
        {"host": "localhost", "sec-fetch-site": "same-origin"},
        {"content-type": "application/json; charset=utf-8"},
    ):
        assert raw(client, path, body, **headers).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/health", "/ready", "/metrics", "/v1/status", "/v1/openapi.json", "/v1/audit"),
        *("/v1/experiments", "/v1/experiments/e", "/v1/experiments/e/events"),
        *("/v1/experiments/e/export", "/v1/experiments/nowhere", "/v1/nothing", "/static/page.css"),
        *("/static/nothing", "/v1/experiments/e/decisions"),
    ],
)
def test_every_answer_protects_itself(free: Inside, path: str) -> None:
    headers = free.client.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"].endswith("no-store")
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    if path == "/" or path.startswith("/static"):  # a browser shows it
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_come_back_unchanged(tmp_path: Path, text: str) -> None:
    with serving(tmp_path / "s.db") as inside:
        inside.create(arms=[text, "other"], audience=True, policy="roundrobin", fallback=text)
        turned = "\u202e" in text  # in ids such a character is refused
        id_ = "d1" if turned else text
        if turned:
            inside.post("decisions", {"id": text, "key": text}, status=400)
        made = inside.post("decisions", {"id": id_, "key": text, "among": [text]})
        assert (made["id"], made["arm"], made["key"]) == (id_, text, text)
        assert inside.post("decisions", {"id": id_, "key": text, "among": [text]}) == made
        inside.post("rewards", {"decision": id_, "reward": 1.0, "id": id_})
        inside.post("arms", {"add": text + "!" if len(text) < 200 else "new"})
        inside.post("arms", {"retire": text})
        assert inside.get()["arms"][0]["arm"] == text
        found = inside.get("/events")["events"]
        assert found[1]["arm"] == text
        assert found[1]["id"] == found[2]["reward_id"] == id_
        assert found[-1]["label"] == text
        table = inside.client.get("/v1/experiments/e/export").text
        (row,) = csv.DictReader(io.StringIO(table))
        harmless = f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
        assert (row["id"], row["key"], row["arm"]) == (id_ if turned else harmless, *[harmless] * 2)
        assert inside.client.get("/metrics").status_code == 200
        audit = inside.client.get("/v1/audit").json()["audit"]
        assert json.loads(audit[0]["details"]) == text
    with sqlite3.connect(tmp_path / "s.db") as database:
        assert database.execute("SELECT count(*) FROM event").fetchone() == (5,)
    database.close()


@pytest.mark.parametrize("text", REFUSED)
def test_texts_that_deceive_are_refused(free: Inside, text: bytes) -> None:
    one, key = "/v1/experiments/e", "/v1/experiments/k"
    for path, body in (
        ("/v1/experiments", b'{"name": "t", "arms": [%s]}'),
        ("/v1/experiments", b'{"name": %s, "arms": ["A"]}'),
        (f"{one}/decisions", b'{"id": %s}'),
        (f"{key}/decisions", b'{"id": "a", "key": %s}'),
        (f"{one}/decisions", b'{"id": "a", "among": [%s]}'),
        (f"{one}/arms", b'{"add": %s}'),
        (f"{one}/history", b'{"id": %s, "rows": [{"arm": "A", "reward": 1}]}'),
        (f"{key}/history", b'{"id": "h", "rows": [{"arm": "A", "reward": 1, "key": %s}]}'),
        (f"{key}/erase", b'{"key": %s}'),
    ):
        check_error(raw(free.client, path, body % text), 400)
    for verb in (b'{"decision": %s, "reward": 1}', b'{"decision": "x", "reward": 1, "id": %s}'):
        answer = raw(free.client, f"{one}/rewards", verb % text)
        check_error(answer, 404 if answer.status_code == 404 else 400)


def test_errors_say_little_of_what_was_sent(free: Inside) -> None:
    long = "q" * 190
    one, key, new = "/v1/experiments/e", "/v1/experiments/k", "/v1/experiments"
    free.post("decisions", {"id": long})
    for path, body in (
        (f"{one}/decisions", {"id": long, "among": ["A"]}),
        (f"{one}/decisions", {"id": "z", "among": [long]}),
        (f"{one}/decisions", {"id": "z", long * 50: 1}),
        (f"{one}/rewards", {"decision": long + "r", "reward": 1}),
        (f"{one}/shown", {"decision": long + "r"}),
        (f"{one}/arms", {"retire": long}),
        (f"{one}/history", {"id": "h", "rows": [{"arm": long, "reward": 1}]}),
        (f"{one}/history", {"id": "h", "rows": [{"arm": "A", "reward": 1, long: 1}]}),
        (f"{key}/decisions", {"id": "z", "key": long + "\n"}),
        (new, {"name": "x", "arms": ["A"], "fallback": long}),
        (new, {"name": "x", "arms": ["A"], "policy": long * 20}),
        (new, {"name": "x", "arms": ["A"], "policy": {"policy": "ucb1", long * 20: 1}}),
        (new, {"name": "x", "arms": ["A"], "policy": {"policy": "swucb", "tau": long * 20}}),
        (new, {"name": "x", "arms": ["A"], "policy": {"policy": "ucb1", "c": {long: long}}}),
        (new, {"name": "x", "arms": ["A"], "policy": f'[[policies]]\nname = "{long * 20}"'}),
        (new, {"name": "x", "arms": ["A"], "audience": {"rest": {"window": 3, "unit": long * 9}}}),
        (new, {"name": long, "arms": ["A"]}),
    ):
        answer = free.client.post(path, json=body)
        assert answer.status_code in (400, 404, 409), answer.text
        assert "q" * 101 not in answer.text, body
        assert len(answer.text) < 1000
    answer = free.client.get(f"{one}/export", params={"format": long})
    check_error(answer, 400)
    assert "q" * 101 not in answer.text
    free.post("rewards", {"decision": long, "reward": 1.0})
    conflict = free.client.post(f"{one}/rewards", json={"decision": long, "reward": 2.0})
    assert "q" * 101 not in conflict.text


def test_keys_are_in_no_error(free: Inside) -> None:
    """What is said of an error stays to be read, also after the key is erased."""
    bad = {"id": "z", "key": "Ann Person\n"}
    answer = free.client.post("/v1/experiments/k/decisions", json=bad)
    assert "Ann" not in check_error(answer, 400)
    assert "Ann" not in free.client.get("/v1/experiments/k").text


NUMBERS = [b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1e999", b"1e101", b"9" * 400]
NUMBERS += [b'"1"', b"true", b"null", b"[]", b"{}", b"0x1", b"01", b"+1", b"1.", b".5", b""]


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_that_are_none_are_refused(free: Inside, number: bytes) -> None:
    one = "/v1/experiments/e"
    free.post("decisions", {"id": "numbers"})
    for path, body in (
        (f"{one}/rewards", b'{"decision": "numbers", "reward": %s}'),
        (f"{one}/history", b'{"id": "n", "rows": [{"arm": "A", "reward": %s}]}'),
        (
            "/v1/experiments",
            b'{"name": "n", "arms": ["A"], "reward_window": 5, "default_reward": %s}',
        ),
        ("/v1/experiments", b'{"name": "n", "arms": ["A"], "control": %s}'),
        ("/v1/experiments", b'{"name": "n", "arms": ["A"], "reward_window": %s, "control": 2}'),
    ):
        if number == b"null" and b"default" in body:
            continue  # an empty value is no key
        check_error(raw(free.client, path, body % number), 400)
    assert free.get()["rewards"] <= 1


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"null", b"1", b'""', b"{", b"[", b"[" * 100_000, b'{"id": "a"}{', b"\x00", b"\xff"),
        *(b'{"id": "a", "more": 1}', b'{"key": "a"}', b'{"id": null}', b'{"id": ["a"]}'),
        *(b'{"id": "a", "among": "A"}', b'{"id": "a", "among": []}', b'{"id": "a", "among": [1]}'),
        b'{"id": "a", "key": "k"}',
        b'{"id": "' + b"a" * 201 + b'"}',
    ],
)
def test_bodies_that_are_none_are_refused(free: Inside, body: bytes) -> None:
    check_error(raw(free.client, "/v1/experiments/e/decisions", body), 400)
    if body.startswith(b"{") and body.endswith(b"}"):
        answer = raw(free.client, "/v1/experiments/e/decisions", b'[{"id": "fine"}, %s]' % body)
        fine, refused = answer.json()
        assert fine["arm"] in "ABC"
        assert refused["error"]["code"] == "bad_request"


def test_batches_and_bodies_have_limits(tmp_path: Path) -> None:
    with serving(tmp_path / "s.db", limits=Limits(body=50_000)) as inside:
        inside.create()
        path = "/v1/experiments/e/decisions"
        many = [{"id": str(n)} for n in range(1000)]
        assert len(inside.post("decisions", many)) == 1000
        assert "1000" in check_error(inside.client.post(path, json=[*many, {"id": "x"}]), 413)
        assert inside.get()["decisions"] == 1000
        large = b'{"id": "%s"}' % (b"a" * 60_000)
        check_error(raw(inside.client, path, large), 413)
        pieces = (b"a" * 1000 for _ in range(100))  # without a length
        answer = inside.client.post(
            path, content=pieces, headers={"content-type": "application/json"}
        )
        check_error(answer, 413)
        rows = [{"arm": "A", "reward": 0.0}] * 10_001
        assert inside.client.post("/v1/experiments/e/history", json={"id": "h", "rows": rows})
        assert inside.post("decisions", []) == []


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("after=-1", "after"),
        ("after=x", "after"),
        ("after=" + "0" * 30 + "9" * 30, "after"),
        ("after=" + "0" * 5000, "after"),
        ("after=" + "9" * 19, "after"),
        ("after=%C2%B2", "after"),
        ("limit=0", "limit"),
        ("limit=10001", "limit"),
        ("limit=", "limit"),
        ("&".join(f"a{n}" for n in range(60)), None),
    ],
)
def test_odd_addresses_are_refused(free: Inside, query: str, field: str | None) -> None:
    answer = free.client.get(f"/v1/experiments/e/events?{query}")
    check_error(answer, 400)
    assert answer.json()["error"].get("field") == field


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/experiments/e/", 404),
        ("GET", "/v1/experiments/e/nothing", 404),
        ("GET", "/v1/experiments/e/events/more", 404),
        ("GET", "/v1/experiments/", 404),
        ("GET", "/v2/experiments", 404),
        ("GET", "/static/../app.py", 404),
        ("GET", "/static/%2e%2e/app.py", 404),
        ("DELETE", "/v1/experiments/e", 405),
        ("GET", "/v1/experiments/e/decisions", 405),
        ("POST", "/v1/experiments/e/events", 405),
        ("PUT", "/v1/experiments", 405),
        ("POST", "/health", 405),
        ("POST", "/", 405),
    ],
)
def test_addresses_and_methods(free: Inside, method: str, path: str, status: int) -> None:
    answer = free.client.request(method, path)
    assert answer.status_code == status
    if status == 405:
        assert method not in answer.headers["allow"]
        check_error(answer, 405)


def test_rates_are_limited_by_key(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    keys = [make_key(path, "admin", name=name) for name in ("ann", "bob")]
    with serving(path, limits=Limits(rate=5.0)) as inside:
        headers = [{"authorization": f"Bearer {key}"} for key in keys]
        found = [inside.client.get("/v1/status", headers=headers[0]) for _ in range(15)]
        assert {answer.status_code for answer in found} == {200, 429}
        check_error(found[-1], 429)
        assert found[-1].headers["retry-after"] == "1"
        assert inside.client.get("/v1/status", headers=headers[1]).status_code == 200


def test_a_rate_lets_everybody_through_who_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slow rates and large batches are slow, and not impossible."""
    now = [0.0]
    monkeypatch.setattr("rotting._serve.access.time.monotonic", lambda: now[0])
    rate = Rate(0.25)
    rate.take("ann")
    with pytest.raises(Refusal, match=r"at most 0\.25 requests"):
        rate.take("ann")
    now[0] += 4.0
    rate.take("ann")
    rate = Rate(3.0)
    rate.take("ann", 10.0)
    with pytest.raises(Refusal):
        rate.take("ann")
