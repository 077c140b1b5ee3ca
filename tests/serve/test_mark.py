"""The mark of acknowledged events outside the database; a start that lacks them is refused."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest

from helpers.serve.in_process import Time, serving
from rotting._serve.backup import backup, restore
from rotting._serve.event_types import Event
from rotting._serve.mark import Mark, MarkFile, linked, mark_of, read_mark, set_mark
from rotting._serve.store import Store
from rotting._serve.verify import verify
from serve_process import Server

FILES = Path(__file__).parents[1] / "files"
EXPERIMENT = {"name": "e", "arms": ["A", "B"], "policy": "ucb1"}
PLAIN = {"ROTTING_SERVE_COMPILED": "false"}


def wal(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def killed(path: Path, decisions: int = 40) -> int:
    """A service that was killed after it had acknowledged some; the last event."""
    with Server(path, environment=PLAIN) as server:
        client = server.client()
        assert client.post("/v1/experiments", EXPERIMENT)[0] == 201
        for number in range(decisions):
            status, answer = client.post("/v1/experiments/e/decisions", {"id": f"d{number}"})
            assert status == 200
        server.kill()
    return int(answer["seq"])


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """The folder that a killed service left, to be copied, and its last event."""
    folder = tmp_path_factory.mktemp("killed")
    return folder, killed(folder / "s.db")


def one_byte(path: Path) -> None:
    data = bytearray(wal(path).read_bytes())
    data[len(data) // 3] ^= 1
    wal(path).write_bytes(data)


def cut(path: Path) -> None:
    os.truncate(wal(path), wal(path).stat().st_size // 2)


def missing(path: Path) -> None:
    wal(path).unlink()


def emptied(path: Path) -> None:
    wal(path).unlink()
    path.write_bytes(b"")


def gone(path: Path) -> None:
    wal(path).unlink()
    path.unlink()


@pytest.mark.parametrize("damage", [one_byte, cut, missing, emptied, gone])
def test_a_start_that_lacks_what_was_acknowledged_is_refused(
    tmp_path: Path, damage: Any, left: tuple[Path, int]
) -> None:
    folder, last = left
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "s.db"
    damage(path)
    server = Server(path, environment=PLAIN)
    with pytest.raises(RuntimeError, match=r"ended with 2"):
        server.start()
    said = server.said()
    assert "Traceback" not in said
    assert "--accept-loss" in said
    assert f"event {last}" in said
    if damage is gone:
        assert not path.exists()
        return
    code, found = server.verify()
    assert code != 0
    assert "acknowledged" in found
    # on purpose, and said; after that it is a database like any other
    with Server(path, options=("--accept-loss",), environment=PLAIN) as again:
        assert "going on without acknowledged events" in again.said()
    assert verify(path).problems == []
    with Server(path, environment=PLAIN):
        pass


def test_an_undamaged_one_that_was_killed_starts(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    last = killed(path, 15)
    mark = read_mark(path)
    assert mark is not None
    assert mark.seq == last
    with Server(path, environment=PLAIN) as server:
        assert server.client().get("/v1/experiments/e")[1]["decisions"] == 15
    assert verify(path).problems == []


def test_another_file_in_its_place_is_not_taken(tmp_path: Path) -> None:
    """Replaced while it runs, by an older copy, before this process has committed anything."""
    path, copy = tmp_path / "s.db", tmp_path / "monday.db"
    with serving(path) as inside:
        inside.create()
        inside.post("decisions", {"id": "d1"})
        backup(path, copy)
        inside.post("decisions", {"id": "d2"})
    with serving(path) as inside:
        for beside in (path, wal(path)):
            beside.unlink()
        shutil.copyfile(copy, path)
        assert (
            inside.client.post("/v1/experiments/e/decisions", json={"id": "d3"}).status_code == 503
        )

        def ready() -> Any:
            return inside.client.get("/ready")

        deadline = 60
        while deadline and "was acknowledged" not in ready().text:
            deadline -= 1
            import time

            time.sleep(0.1)
        assert ready().status_code == 503
        assert "1 events are missing" in ready().text
    assert "was acknowledged" in verify(path).problems[0]


def test_an_event_that_was_changed_does_not_fit_its_checksum(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with serving(path) as inside:
        inside.create()
        for number in range(5):
            inside.post("decisions", {"id": f"d{number}"})
    with sqlite3.connect(path) as database:
        database.execute("UPDATE event SET at = at + 1 WHERE seq = 3")
    database.close()
    assert any("event 3 does not fit its checksum" in line for line in verify(path).problems)
    with (
        pytest.raises(ValueError, match=r"event 3 of s\.db does not fit"),
        serving(path),
    ):
        pass
    with serving(path, accept_loss=True) as inside:
        assert inside.get()["decisions"] == 5


def test_one_from_version_0_2_0_gets_checksums_and_a_mark(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    shutil.copyfile(FILES / "serve-0.2.0.db", path)
    shutil.copyfile(FILES / "out-archive.db", tmp_path / "out-archive.db")
    assert verify(path).problems == []
    assert read_mark(path) is None
    with serving(path, Time(1_790_009_000.0)) as inside:
        assert inside.get()["decisions"] == 14
        inside.post("decisions", {"id": "new", "key": "u1"})
    found = verify(path)
    assert found.problems == []
    assert any("of them fit their running checksum" in line for line in found.lines)
    store = Store.open(path)
    mark = read_mark(path)
    assert mark == (store.seq, store.chain)
    store.close()


def test_a_restored_one_has_the_mark_of_the_backup(tmp_path: Path) -> None:
    path, copy = tmp_path / "s.db", tmp_path / "monday.db"
    with serving(path) as inside:
        inside.create()
        inside.post("decisions", {"id": "d1"})
        backup(path, copy)
        for number in range(2, 9):
            inside.post("decisions", {"id": f"d{number}"})
    restore(copy, path, force=True)
    with serving(path) as inside:
        assert inside.get()["decisions"] == 1
    elsewhere = tmp_path / "elsewhere.db"
    shutil.copyfile(copy, elsewhere)  # without a mark, taken as it is
    with serving(elsewhere) as inside:
        assert inside.get()["decisions"] == 1


def test_a_mark_survives_a_write_that_was_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    assert read_mark(path) is None
    set_mark(path, Mark(7, 123))
    file = MarkFile(path)
    for seq in (8, 9):
        file.write(Mark(seq, seq * 1000))
        assert read_mark(path) == (seq, seq * 1000)
    file.close()
    data = mark_of(path).read_bytes()
    mark_of(path).write_bytes(data[:64] + data[64:].replace(b"9", b"8"))
    assert read_mark(path) in (Mark(8, 8000), Mark(9, 9000))
    mark_of(path).write_bytes(b"nothing of the kind")
    with pytest.raises(ValueError, match="is damaged"):
        read_mark(path)


def test_the_checksum_is_of_all_that_an_event_has() -> None:
    event = Event(5, 1, 2, "d", 3.5, b"{}")
    known = linked(77, event)
    changes: list[dict[str, Any]] = [
        {"seq": 6},
        {"experiment": 2},
        {"kind": 3},
        {"id": "e"},
        {"id": None},
        {"at": 3.6},
        {"body": b"{ }"},
    ]
    for change in changes:
        assert linked(77, event._replace(**change)) != known
    assert linked(78, event) != known
    assert linked(77, event._replace(chain=9)) == known


# ------------------------------------------------------------------------------- files and names


def test_a_symbolic_link_leads_to_the_one_file(tmp_path: Path) -> None:
    real, link = tmp_path / "real.db", tmp_path / "folder" / "link.db"
    link.parent.mkdir()
    link.symlink_to(real)
    with Server(link, environment=PLAIN) as server:
        assert server.client().post("/v1/experiments", EXPERIMENT)[0] == 201
        second = Server(real, environment=PLAIN)
        with pytest.raises(RuntimeError, match="must not be served already"):
            second.start()
        server.stop()
        assert "Traceback" not in server.said()
    assert sorted(file.name for file in link.parent.iterdir()) == ["link.db", "link.db.stderr"]
    assert verify(link).problems == []


def test_two_names_of_one_file_are_refused(tmp_path: Path) -> None:
    path, other = tmp_path / "a.db", tmp_path / "b.db"
    with Server(path, environment=PLAIN):
        os.link(path, other)
        second = Server(other, environment=PLAIN)
        with pytest.raises(RuntimeError, match="has 2 names"):
            second.start()
        assert "Traceback" not in second.said()


@pytest.mark.parametrize("place", [0, 100, 40_000])
def test_a_damaged_file_is_one_line(tmp_path: Path, place: int) -> None:
    path = tmp_path / "s.db"
    with serving(path) as inside:
        inside.create()
        for number in range(200):
            inside.post("decisions", {"id": f"d{number}"})
    data = bytearray(path.read_bytes())
    assert len(data) > place + 6000
    data[place : place + 6000] = b"\xff" * 6000
    path.write_bytes(data)
    server = Server(path, environment=PLAIN)
    if place < 4096:  # of a page that is not read at a start it hears later
        with pytest.raises(RuntimeError, match="ended with"):
            server.start()
    assert "Traceback" not in server.said()
    done = subprocess.run(
        [*server.command, "verify", "--data", str(path)],
        capture_output=True,
        text=True,
        env=server.surroundings,
    )
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr
