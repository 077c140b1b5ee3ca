"""Backups, and restoring them: beside the service, elsewhere, with archives and erasures."""

from __future__ import annotations

import sqlite3
import stat
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from helpers.serve.in_process import (
    WHO,
    Time,
    archive_closed,
    check_same,
    files_with,
    play,
    serving,
)
from rotting._cli import app
from rotting._serve import backup as backups
from rotting._serve.backup import backup, restore
from rotting._serve.erasure import list_of
from rotting._serve.export import write
from rotting._serve.lease import lease
from rotting._serve.snapshots import content_of
from rotting._serve.verify import verify


def test_a_backup_while_running_comes_back(tmp_path: Path) -> None:
    path, copy = tmp_path / "s.db", tmp_path / "monday.db"
    with serving(path) as inside:
        inside.create(control=0.2)
        play(inside, 0, 30)
        state = content_of(inside.live())
        assert backup(path, copy) == inside.book.seq
        play(inside, 30, 60)
        with pytest.raises(ValueError, match="must be new"):
            backup(path, copy)
    assert verify(copy).problems == []
    with pytest.raises(ValueError, match="exists"):
        restore(copy, path)
    assert restore(copy, path, force=True)[:2] == (61, 0)
    assert verify(path).problems == []
    with serving(path, inside.time) as inside:
        assert content_of(inside.live()) == state
        inside.post("decisions", {"id": "d30"})
    assert {file.name for file in tmp_path.iterdir()} <= {
        *("s.db", "monday.db", "s.db.lock", "s.db.mark", "s.db.erased", "monday.db.erased"),
    }


def test_a_backup_is_not_the_database_itself(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with serving(path) as inside:
        inside.create()
        for target in (path, tmp_path / ".." / tmp_path.name / "s.db"):
            with pytest.raises(ValueError, match="another file"):
                backup(path, target, force=True)
            with pytest.raises(ValueError, match="another file"):
                restore(target, path, force=True)
        inside.post("decisions", {"id": "d"})  # still writes into its own file
    for bad in (tmp_path / "none.db", tmp_path / "no" / "folder.db"):
        with pytest.raises(ValueError, match="must"):
            backup(bad, tmp_path / "x.db")
        with pytest.raises(ValueError, match="must"):
            restore(bad, path, force=True)
    with pytest.raises(ValueError, match="folder that exists"):
        backup(path, tmp_path / "no" / "folder.db")


def test_restoring_under_a_running_server_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with serving(path) as inside:
        inside.create()
        backup(path, tmp_path / "copy.db")
    with lease(path), pytest.raises(ValueError, match="served already"):
        restore(tmp_path / "copy.db", path, force=True)


def test_archiving_while_a_backup_is_made_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Events move from one file to the other: copying the target first would miss them."""
    path = tmp_path / "s.db"
    (tmp_path / "copies").mkdir()
    with serving(path) as inside:
        inside.create()
        play(inside, 0, 10)
        inside.time.now += 10.0
        assert archive_closed(inside) > 0
        play(inside, 10, 30)
        inside.time.now += 10.0
        real = backups._copied
        done: list[int] = []

        def between(*args: Any) -> Any:
            if not done:
                done.append(archive_closed(inside))
            found = real(*args)
            if len(done) == 1:
                done.append(0)
            return found

        monkeypatch.setattr(backups, "_copied", between)
        backup(path, tmp_path / "copies" / "copy.db")
        assert done[0] > 0
    assert verify(tmp_path / "copies" / "copy.db").problems == []


def test_an_archive_that_went_on_is_put_back_too(tmp_path: Path) -> None:
    """Events that were archived after the backup belong to what is given up."""
    path, time = tmp_path / "s.db", Time()
    (tmp_path / "copies").mkdir()
    copy = tmp_path / "copies" / "copy.db"
    with serving(path, time) as inside:
        inside.create()
        play(inside, 0, 10)
        time.now += 10.0
        archive_closed(inside)
        backup(path, copy)
        play(inside, 10, 30)
        time.now += 10.0
        archive_closed(inside)
    restore(copy, path, force=True)
    with serving(path, time) as inside:
        play(inside, 100, 140)
        check_same(inside)
    assert verify(path).problems == []


def archived_twice(folder: Path, time: Time) -> tuple[Path, Path]:
    """A service with an archive that went on after its backup, all in one folder."""
    path, copy = folder / "service.db", folder / "monday.db"
    for first in (0, 10, 20, 30):  # stops and starts
        with serving(path, time) as inside:
            if first == 0:
                inside.create()
            play(inside, first, first + 10)
            time.now += 10.0
            assert archive_closed(inside, "2026.db") > 0
            if first == 10:
                backup(path, copy)
    return path, copy


def test_a_restore_beside_the_service_leaves_its_archive_alone(tmp_path: Path) -> None:
    """Both have events in 2026.db, and those after the backup are the service's only copy."""
    time = Time()
    path, copy = archived_twice(tmp_path, time)
    before = (tmp_path / "2026.db").read_bytes()
    done = restore(copy, tmp_path / "restored.db")
    assert done.archives == ["restored-2026.db"]
    assert (tmp_path / "2026.db").read_bytes() == before
    for one in (path, tmp_path / "restored.db"):
        assert verify(one).problems == []
    assert write(path, "e", tmp_path / "all.csv") == 40
    assert write(tmp_path / "restored.db", "e", tmp_path / "some.csv") == 20
    with serving(tmp_path / "restored.db", time) as inside:  # each continues in its own file
        play(inside, 100, 140)
        time.now += 10.0
        assert archive_closed(inside, "restored-2026.db") > 0
        check_same(inside)
    assert (tmp_path / "2026.db").read_bytes() == before
    again = restore(copy, tmp_path / "restored.db", force=True)
    assert again.archives == ["restored-2026-2.db"]
    assert verify(tmp_path / "restored.db").problems == []


def test_a_restore_elsewhere_keeps_the_archive_s_name(tmp_path: Path) -> None:
    _, copy = archived_twice(tmp_path, Time())
    (tmp_path / "new").mkdir()
    assert restore(copy, tmp_path / "new" / "service.db").archives == ["2026.db"]
    assert verify(tmp_path / "new" / "service.db").problems == []


def test_a_restore_that_fails_leaves_no_archive(tmp_path: Path) -> None:
    _, copy = archived_twice(tmp_path, Time())
    (tmp_path / "2026.db").rename(tmp_path / "elsewhere.db")
    with pytest.raises(ValueError, match=r"archive 2026\.db must lie beside"):
        restore(copy, tmp_path / "restored.db")
    made = [file.name for file in tmp_path.iterdir() if file.name.startswith("restored")]
    assert made == ["restored.db.lock"]


def test_a_backup_replaces_no_archive_of_another_service(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        path, _ = archived_twice(tmp_path / name, Time(1e9 if name == "one" else 2e9))
    before = (tmp_path / "one" / "2026.db").read_bytes()
    target = tmp_path / "one" / "copy.db"
    with pytest.raises(ValueError, match=r"without a 2026\.db of another database"):
        backup(path, target)
    assert (tmp_path / "one" / "2026.db").read_bytes() == before
    assert not [file.name for file in target.parent.iterdir() if ".partial" in file.name]
    (tmp_path / "safe").mkdir()
    for name in ("monday.db", "tuesday.db"):  # of one service they share it
        backup(path, tmp_path / "safe" / name)


def test_an_export_of_a_backup_has_what_the_backup_has(tmp_path: Path) -> None:
    """Its archive went on: what lies there twice, or came later, is not exported."""
    _, copy = archived_twice(tmp_path, Time())
    assert write(copy, "e", tmp_path / "monday.csv") == 20
    assert len((tmp_path / "monday.csv").read_text().splitlines()) == 21


def test_an_export_that_lacks_decisions_is_refused(tmp_path: Path) -> None:

    path, _ = archived_twice(tmp_path, Time())
    database = sqlite3.connect(tmp_path / "2026.db")
    database.execute("DELETE FROM event WHERE id = 'd3'")
    database.commit()
    database.close()
    with pytest.raises(ValueError, match="must have 40 decisions, but 39 were found"):
        write(path, "e", tmp_path / "all.csv")
    assert not (tmp_path / "all.csv").exists()


def erased_after_the_backup(folder: Path) -> tuple[Path, Path]:
    path, copy = folder / "service.db", folder / "monday.db"
    with serving(path) as inside:
        inside.create(audience=True, policy="roundrobin")
        play(inside, 0, 5, key=WHO)
        play(inside, 5, 10, key="somebody else")
        backup(path, copy)
        inside.post("erase", {"key": WHO})
    return path, copy


def test_who_was_erased_stays_erased_under_another_name(tmp_path: Path) -> None:
    """The list belongs to the service and lies beside it."""
    _, copy = erased_after_the_backup(tmp_path)
    assert restore(copy, tmp_path / "restored.db").again == 1
    assert files_with(tmp_path, WHO) == ["monday.db"]
    assert verify(tmp_path / "restored.db").problems == []


def test_who_was_erased_stays_erased_elsewhere(tmp_path: Path) -> None:
    path, copy = erased_after_the_backup(tmp_path)
    far = tmp_path / "far"
    far.mkdir()
    copy = copy.rename(far / "monday.db")
    words = ["serve", "restore", "--from", str(copy), "--data", str(far / "service.db")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0
    assert "0 keys erased again" in done.stdout
    assert "no list of erased keys was found" in done.stderr
    assert done.stderr.count("\n") == 1
    assert files_with(far, WHO) == ["monday.db", "service.db"]
    done = CliRunner().invoke(app, [*words, "--force", "--erased", str(list_of(path))])
    assert "1 key erased again" in done.stdout
    assert done.stderr == ""
    assert files_with(far, WHO) == ["monday.db"]
    assert verify(far / "service.db").problems == []


def test_a_restore_without_any_list_says_so(tmp_path: Path) -> None:
    path, copy = erased_after_the_backup(tmp_path)
    assert restore(copy, path, force=True).lists  # recorded in the database itself
    list_of(path).unlink()
    path.unlink()
    done = restore(copy, path)
    assert (done.again, done.lists) == (0, False)
    (tmp_path / "bad.erased").write_text("no number")  # one that lies there is not read
    path.unlink()
    assert restore(copy, path).lists is False


@pytest.mark.parametrize("content", [None, b"1\nann\n", b"\xff\xfe"])
def test_a_list_that_is_none_is_refused_before_any_work(
    tmp_path: Path, content: bytes | None
) -> None:
    _, copy = erased_after_the_backup(tmp_path)
    given = tmp_path / "given.erased"
    if content is not None:
        given.write_bytes(content)
    with pytest.raises(ValueError, match=r"erased must be a list .*given\.erased"):
        restore(copy, tmp_path / "restored.db", erased=[given])
    assert not (tmp_path / "restored.db").exists()


def test_nobody_else_reads_what_is_kept(tmp_path: Path) -> None:
    """Copies of the database hold people's keys as it does."""
    time = Time()
    path, copy = archived_twice(tmp_path, time)
    with serving(path, time) as inside:
        inside.create(name="crowd", audience=True)
        inside.post("decisions", {"id": "d", "key": WHO}, name="crowd")
        inside.post("erase", {"key": WHO}, name="crowd")
    restore(copy, tmp_path / "restored.db")
    (tmp_path / "far").mkdir()
    backup(path, tmp_path / "far" / "copy.db")
    open_to_others = [
        file.name
        for file in [*tmp_path.iterdir(), *(tmp_path / "far").iterdir()]
        if file.is_file() and file.suffix != ".lock" and stat.S_IMODE(file.stat().st_mode) != 0o600
    ]
    assert open_to_others == []


def test_a_list_of_another_database_does_not_silence_the_warning(tmp_path: Path) -> None:
    _, copy = archived_twice(tmp_path, Time())
    place = tmp_path / "new"
    place.mkdir()
    assert not restore(copy, place / "one.db").lists
    (place / "other.db.erased").write_text("123456789\n")
    assert not restore(copy, place / "two.db").lists
    assert restore(copy, place / "three.db", erased=[place / "other.db.erased"]).lists


def test_a_damaged_list_of_its_own_is_named_before_any_work(tmp_path: Path) -> None:
    _, copy = archived_twice(tmp_path, Time())
    for own in (list_of(tmp_path / "one.db"), list_of(copy)):
        own.write_text("nobody\n")
        with pytest.raises(ValueError, match=rf"{own.name} is not one"):
            restore(copy, tmp_path / "one.db")
        own.unlink()
    assert not (tmp_path / "one.db").exists()


def test_a_damaged_archive_is_one_line(tmp_path: Path) -> None:
    _, copy = archived_twice(tmp_path, Time())
    (tmp_path / "2026.db").write_bytes(b"no database, but as long as one" * 99)
    words = ["serve", "restore", "--from", str(copy), "--data", str(tmp_path / "one.db")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 2
    assert "cannot be read" in done.output
    assert not (tmp_path / "one.db").exists()
    assert not (tmp_path / "one-2026.db").exists()
