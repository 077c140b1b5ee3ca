"""Starting the service: what is checked before it listens, and messages that say what to do."""

from __future__ import annotations

import logging
import re
import socket
from pathlib import Path

import pytest
from typer.testing import CliRunner

from helpers.serve.in_process import (
    Time,
    serving,
    wait,
)
from rotting._cli import app
from rotting._serve import config, demo, recovery
from rotting._serve.backup import backup
from rotting._serve.lease import lease
from rotting._serve.server import check, serve
from rotting._serve.store import Store


def test_a_port_in_use_is_refused_and_nothing_is_left_behind(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        wanted = config.Config(data=str(path), port=port)
        for work in (check, serve):
            with pytest.raises(ValueError, match=f"port must be free, but {port} is .* by --port"):
                work(wanted)
        words = ["serve", "--data", str(path), "--port", str(port)]
        for more in ([], ["--check"]):
            done = CliRunner().invoke(app, [*words, *more])
            assert done.exit_code == 2
            assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
    assert check(wanted)  # free again


def test_a_database_that_is_served_is_noticed_by_a_look(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    Store.open(path).close()
    wanted = config.Config(data=str(path), port=0)
    assert check(wanted)
    with lease(path), pytest.raises(ValueError, match="served already"):
        check(wanted)
    assert check(wanted)


def test_an_address_of_elsewhere_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    words = ["serve", "keys", "add", "--data", str(path), "--name", "me", "--role", "admin"]
    assert CliRunner().invoke(app, words).exit_code == 0
    for host in ("192.0.2.1", "no.such.host.invalid"):
        with pytest.raises(ValueError, match="host must be an address of this machine"):
            check(config.Config(data=str(path), host=host, port=0))


def test_a_configuration_that_is_not_there_is_one_plain_line(tmp_path: Path) -> None:
    file = tmp_path / "none.toml"
    with pytest.raises(ValueError, match=r"config must be a TOML file, but .*none\.toml is not"):
        config.resolve({}, {}, file)


def test_a_key_for_a_database_that_was_not_there_says_so(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    words = ["serve", "keys", "add", "--data", str(path), "--name", "me"]
    done = CliRunner().invoke(app, [*words, "--role", "boss"])
    assert (done.exit_code, path.exists()) == (2, False)  # nor is it made for nothing
    done = CliRunner().invoke(app, [*words, "--role", "admin"])
    assert done.stdout.startswith("rot_")
    assert "was not there, and was made" in done.stderr
    done = CliRunner().invoke(app, [*words, "--role", "read", "--experiment", "typo"])
    assert done.stdout.startswith("rot_")
    assert "has no experiment typo yet" in done.stderr
    with serving(path):
        pass
    assert CliRunner().invoke(app, [*words, "--role", "read"]).stderr == ""


def test_a_conflict_names_the_settings_that_differ(tmp_path: Path) -> None:
    with serving(tmp_path / "s.db") as inside:
        inside.create(control=0.1)
        base = {"name": "e", "arms": ["A", "B", "C"], "policy": "ucb1", "seed": 1, "control": 0.1}
        for change, words, field in (
            ({"control": 0.2}, "with another control$", "control"),
            ({"arms": ["A"]}, "another arms; .* by POST /v1/experiments/e/arms$", "arms"),
            ({"policy": "cto"}, "another policy; .* by POST /v1/experiments/e/policy", "policy"),
            ({"seed": 2, "fallback": "A"}, "another fallback and another seed$", "fallback"),
        ):
            answer = inside.client.post("/v1/experiments", json={**base, **change})
            error = answer.json()["error"]
            assert (answer.status_code, error["code"], error["field"]) == (409, "conflict", field)
            assert re.search(words, error["message"]), error["message"]
            assert answer.text.endswith("}\n")  # as answers that say yes


def test_late_and_repeated_rewards_are_told_apart(tmp_path: Path) -> None:
    with serving(tmp_path / "s.db", Time()) as inside:
        inside.create(reward_window=10.0, default_reward=0.0)
        inside.post("decisions", [{"id": "a"}, {"id": "b"}])
        first, again = (inside.post("rewards", {"decision": "a", "reward": 1}) for _ in range(2))
        assert "why" not in first
        assert (again["applied"], again["why"]) == (False, "repeated")
        wait(inside, 11.0)
        late = [inside.post("rewards", {"decision": "b", "reward": 1}) for _ in range(2)]
        assert [one["why"] for one in late] == ["late", "late"]
        assert late[0] == late[1]


def test_the_last_error_says_whose_it_is(tmp_path: Path) -> None:
    with serving(tmp_path / "s.db") as inside:
        inside.create()
        inside.post("rewards", {"decision": "none", "reward": "x"}, 400)
        assert inside.get()["last_error"]["code"] == "bad_request"
        assert inside.client.portal is not None

        async def fail() -> None:
            inside.service.journal._fail("disk full")

        inside.client.portal.call(fail)
        for _ in range(100):
            if inside.client.get("/ready").status_code == 200:
                break
            import time

            time.sleep(0.05)
        assert inside.get()["last_error"]["code"] == "unavailable"


def test_the_demo_leaves_the_guide_s_name_free() -> None:
    page = Path(__file__).parents[2] / "docs" / "guides" / "serving.md"
    names = set(re.findall(r'"name": "([^"]+)"|client\.create\("([^"]+)"', page.read_text()))
    assert names
    assert demo.NAME not in {name for pair in names for name in pair}


def test_one_server_for_each_database(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with lease(path):
        with pytest.raises(ValueError, match="served already"), lease(path):
            pass
        with lease(tmp_path / "other.db"):
            pass
    with lease(path):  # free again
        pass


def test_without_keys_it_listens_here_only(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    for host in ("0.0.0.0", "::", "192.168.0.1", "example.org", ""):
        with pytest.raises(ValueError, match="unless there are API keys"):
            check(config.Config(data=str(path), host=host, port=0))
    for host in ("127.0.0.1", "localhost"):
        assert check(config.Config(data=str(path), host=host, port=0))
    assert list(tmp_path.iterdir()) == []  # a look makes nothing


def test_the_demo_leaves_others_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A user's experiment of the demo's name gets no simulated visitors."""
    from starlette.testclient import TestClient

    from rotting._serve.app import make_app

    path = tmp_path / "s.db"
    with serving(path) as inside:
        inside.create(name=demo.NAME, audience=True, policy="roundrobin")
    app = make_app(path, compiled=False)
    demo.begin(app.service)
    with TestClient(app, "http://127.0.0.1") as client:
        for _ in range(20):
            import time

            time.sleep(0.05)
            if "demo" in caplog.text:
                break
        found = client.get(f"/v1/experiments/{demo.NAME}").json()
        assert client.get("/ready").status_code == 200
    assert found["decisions"] == 0
    assert "is not the demo's" in caplog.text


def test_a_long_start_says_what_it_is_doing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a million keys the log was silent for 13.6 s."""
    monkeypatch.setattr(recovery, "_MOMENT", 0.0)
    monkeypatch.setattr(recovery, "_LARGE", 100)
    path = tmp_path / "s.db"
    with serving(path) as inside:
        inside.create()
        inside.post("decisions", {"id": "d"})
    with serving(path) as inside:
        inside.post("decisions", [{"id": f"d{number}"} for number in range(250)])
        copy = tmp_path / "killed.db"
        backup(path, copy)
    with caplog.at_level(logging.INFO, "rotting.serve"), serving(copy):
        pass
    said = [record.getMessage() for record in caplog.records]
    assert [line for line in said if line.startswith("loading")] == [
        "loading e: a snapshot of 0.0 MB",
        "loading e: 100 of 250 events",
        "loading e: 200 of 250 events",
    ]
    assert any(line.startswith("killed.db is loaded, which took") for line in said)
