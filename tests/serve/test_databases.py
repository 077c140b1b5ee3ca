"""The contract of a database (`rotting._serve.database`): one suite that each of them passes.

Another database joins by an entry in `DATABASES`: how it is opened, and how its lease is taken.
"""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from rotting._serve.database import Database
from rotting._serve.event_types import Event, Kind
from rotting._serve.lease import lease
from rotting._serve.mark import linked
from rotting._serve.sqlite import SqliteDatabase
from rotting._serve.store import Audit, Group, Snapshot, Store


class Kept(NamedTuple):
    """A database somewhere: opened as often as a test wants."""

    open: Callable[[], Database]
    lease: Callable[[], AbstractContextManager[None]]


def sqlite(folder: Path) -> Kept:
    path = folder / "s.db"
    return Kept(lambda: SqliteDatabase(path), lambda: lease(path))


DATABASES: dict[str, Callable[[Path], Kept]] = {"sqlite": sqlite}


@pytest.fixture(params=DATABASES)
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Kept:
    return DATABASES[request.param](tmp_path)


@pytest.fixture
def store(kept: Kept) -> Iterator[Store]:
    made = Store(kept.open())
    yield made
    made.close()


def event(seq: int, id_: str | None, kind: Kind = Kind.DECIDED, experiment: int = 1) -> Event:
    return Event(seq, experiment, int(kind), id_, float(seq), b"{}")


def group(*events: Event, **more: Any) -> Group:
    made = Group()
    made.events = list(events)
    for name, rows in more.items():
        setattr(made, name, rows)
    return made


def seqs(store: Store, **which: Any) -> list[int]:
    return [one.seq for one in store.events(**which)]


def test_what_was_committed_is_there_for_whoever_opens_it(kept: Kept, store: Store) -> None:
    store.append(group(event(1, "a"), event(2, "b"), experiments=[(1, "one")]))
    store.append(group(event(3, "c")))
    for other in (Store(kept.open()), store.aside()):
        assert (other.seq, other.chain, other.last()) == (3, store.chain, 3)
        assert seqs(other) == [1, 2, 3]
        assert other.experiments() == [(1, "one")]
        other.close()


@pytest.mark.parametrize("twice", ["id", "experiment", "person"])
def test_a_group_is_stored_whole_or_not_at_all(store: Store, twice: str) -> None:
    """The last row of the group is refused; nothing of the rows before it stays."""
    people = [(1, "ann", 1, 7)]
    store.append(group(event(1, "a"), experiments=[(1, "one")], persons=people))
    before = store.seq, store.chain
    wrong = {
        "id": group(event(2, "b"), event(3, "a")),
        "experiment": group(event(2, "b"), experiments=[(2, "two"), (3, "one")]),
        "person": group(event(2, "b"), experiments=[(2, "two")], persons=people),
    }[twice]
    with pytest.raises(Exception, match=r"(?i)unique|duplicate"):
        store.append(wrong)
    assert (store.seq, store.chain) == before
    assert seqs(store) == [1]
    assert store.experiments() == [(1, "one")]
    store.append(group(event(2, "b"), event(3, "c")))  # and it goes on
    assert seqs(store) == [1, 2, 3]


@pytest.mark.parametrize("first", [1, 3])
def test_sequence_numbers_have_no_gap(store: Store, first: int) -> None:
    store.append(group(event(1, "a")))
    with pytest.raises(ValueError, match=f"must begin at 2, after the last one, got {first}"):
        store.append(group(event(first, "b")))
    assert seqs(store) == [1]


def test_two_that_append_at_once_do_not_both_succeed(kept: Kept) -> None:
    """Each has read the same last number: one of the two commits is refused, whole."""
    one, two = Store(kept.open()), Store(kept.open())
    one.append(group(event(1, "a")))
    with pytest.raises(Exception, match=r"(?i)unique|duplicate"):
        two.append(group(event(1, "b"), event(2, "c")))
    assert [each.id for each in one.events()] == ["a"]
    one.close()
    two.close()


def test_nothing_is_seen_before_its_commit(kept: Kept) -> None:
    database = kept.open()
    reader = Store(database.aside())
    row = (1, 1, 2, "a", 1.0, b"{}", 5)
    given_up = database.transaction()
    given_up.__enter__().execute("INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    assert seqs(reader) == []
    why = RuntimeError("changed my mind")
    assert not given_up.__exit__(RuntimeError, why, None)
    assert seqs(reader) == []
    with database.transaction() as write:
        write.execute("INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        assert seqs(reader) == []
    assert seqs(reader) == [1]
    reader.close()
    database.close()


def test_a_frozen_reader_sees_one_moment(store: Store) -> None:
    store.append(group(event(1, "a")))
    frozen = store.aside()
    frozen.database.freeze()
    store.append(group(event(2, "b")))
    assert seqs(frozen) == [1]
    assert seqs(store) == [1, 2]
    frozen.close()


def test_events_by_place_experiment_and_id(store: Store) -> None:
    events = [event(n, f"d{n}", experiment=1 + n % 2) for n in range(1, 4500)]  # several pages
    store.append(group(*events))
    assert seqs(store) == [one.seq for one in events]
    assert seqs(store, after=4000, until=4003) == [4001, 4002, 4003]
    assert seqs(store, experiment=2, after=4490) == [4491, 4493, 4495, 4497, 4499]
    assert store.count(2, 4490) == 5
    found = store.about(1, ["d2", "d3", "d4", "nothing"])
    assert {id_: [one.seq for one in some] for id_, some in found.items()} == {"d2": [2], "d4": [4]}
    many = store.about(2, [f"d{n}" for n in range(1, 2000)])  # more than one statement
    assert len(many) == 1000
    assert store.decisions(1, after=2, until=9, before=7.0, limit=2) == [(4, "d4"), (6, "d6")]


def test_running_checksums(store: Store) -> None:
    store.append(group(event(1, "a"), event(2, "b")))
    first = linked(0, event(1, "a"))
    assert store.chain_at(1) == first
    assert store.chain == store.chain_at(2) == linked(first, event(2, "b"))
    assert store.chain_at(3) is None
    assert store.broken_link() is None


def test_whose_key_it_is_until_it_is_erased(store: Store) -> None:
    store.append(group(event(1, "a"), persons=[(1, "ann", 1, 70), (1, "bob", 2, 71)]))
    assert store.surrogates(1, ["ann", "bob", "eve"]) == {"ann": 1, "bob": 2}
    assert store.persons(1) == {1: "ann", 2: "bob"}
    assert (store.mark(1, 2), store.mark(1, 9)) == (71, None)
    # the name comes back at once, as a new key
    again = group(event(2, "b"), erased=[(1, 2)], marks=[(71,)], persons=[(1, "bob", 3, 72)])
    store.append(again)
    assert store.persons(1) == {1: "ann", 3: "bob"}
    assert store.erasures() == [71]
    assert store.marked() == {70: (1, 1), 72: (1, 3)}
    assert store.database.truncate()


def test_two_snapshots_of_an_experiment_stay(store: Store) -> None:
    store.append(group(event(1, ""), event(2, None, Kind.POLICY_CHANGED)))
    for seq in (1, 2):
        store.append(group(snapshots=[Snapshot(1, seq, "1", "sum", b"body")]))
    for seq in range(3, 6):
        more = [Snapshot(1, seq, "1", "sum", b"body"), Snapshot(2, seq, "1", "sum", b"other")]
        store.append(group(event(seq, f"d{seq}"), snapshots=more))
    # the latest two, and that with which a policy began
    assert [one.seq for one in store.snapshots(1)] == [5, 4, 2]
    assert store.snapshots(1)[0] == Snapshot(1, 5, "1", "sum", b"body")
    assert [one.seq for one in store.snapshots(2)] == [5, 4]


def test_api_keys_and_audits(store: Store) -> None:
    assert not store.ever_tokens()
    row = ("k1", "ads", "hash", "read", "")
    store.add_token(row, Audit(1.0, "me", "key added", "", "ads"))
    assert store.tokens() == [row]
    store.revoke_token("k1", Audit(2.0, "me", "key revoked", "", "ads"))
    assert store.tokens() == []
    assert store.ever_tokens()
    assert store.all_tokens() == [("k1", "ads", "read", "", 1.0, 2.0)]
    assert [one.what for one in store.audits()] == ["key revoked", "key added"]


def test_what_was_moved_to_an_archive_is_known_by_digest(store: Store) -> None:
    store.append(group(event(1, "a"), event(2, "b"), event(3, "c")))
    store.begin_archive("old.db")
    assert store.archives() == [("old.db", 0, 0, 0)]
    store.move_to_archive(1, [event(1, "a"), event(2, "b")], "old.db")
    assert store.archives() == [("old.db", 1, 2, 2)]
    assert seqs(store) == [3]
    assert store.archived(1, "a")
    assert not store.archived(1, "c")
    assert not store.archived(2, "a")
    store.rename_archive("old.db", "new.db")
    assert [name for name, *_ in store.archives()] == ["new.db"]
    store.rename_archive("new.db", None)
    assert store.archives() == []


def test_upkeep_beside_commits_loses_nothing(store: Store) -> None:
    """Checkpoints run in another thread, as the service does."""
    done = threading.Event()

    def keep() -> None:
        while not done.is_set():
            store.database.checkpoint()

    thread = threading.Thread(target=keep)
    thread.start()
    try:
        for seq in range(1, 200):
            store.append(group(event(seq, f"d{seq}")))
            store.database.pulse()
            if store.database.log_size():
                store.database.restart_log()
    finally:
        done.set()
        thread.join()
    assert seqs(store) == list(range(1, 200))


def test_a_lease_has_one_holder(kept: Kept) -> None:
    kept.open().close()
    with kept.lease(), pytest.raises(ValueError, match="served already"), kept.lease():
        pytest.fail("two hold it")
    with kept.lease():  # it is free again
        pass


def _hold(make: Callable[[Path], Kept], folder: Path, holds: Any) -> None:
    with make(folder).lease():
        holds.set()
        threading.Event().wait(60.0)


@pytest.mark.parametrize("name", DATABASES)
def test_a_lease_ends_with_its_process(name: str, tmp_path: Path) -> None:
    kept = DATABASES[name](tmp_path)
    kept.open().close()
    context = multiprocessing.get_context("spawn")
    holds = context.Event()
    process = context.Process(target=_hold, args=(DATABASES[name], tmp_path, holds))
    process.start()
    try:
        assert holds.wait(30.0)
        with pytest.raises(ValueError, match="served already"), kept.lease():
            pytest.fail("two hold it")
    finally:
        process.kill()
        process.join()
    with kept.lease():
        pass
