"""All decisions of an experiment as a table: CSV, or Parquet if polars is installed.

One row for each decision, with its outcome. The table is written page by page, so memory does not
grow with the log.
"""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rotting._serve import event_types
from rotting._serve.archive import all_events, archive_files
from rotting._serve.database import Connection
from rotting._serve.errors import Refusal, bad
from rotting._serve.event_types import Event, Kind
from rotting._serve.experiment import Experiment
from rotting._serve.recovery import load_one
from rotting._serve.sqlite import connect
from rotting._serve.store import Store

COLUMNS = (
    *("seq", "id", "at", "key", "arm", "pull", "propensity", "control", "policy", "version"),
    *("rests_on", "shown_at", "outcome", "reward", "reward_at", "late_reward", "late_at"),
)
_PAGE = 500  # decisions
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # spreadsheets take cells that begin so for formulas
_EVENT = "SELECT seq, experiment, kind, id, at, body FROM event"


def rows_of(store: Store, experiment: Experiment) -> Iterator[list[Any]]:
    """The rows, archived decisions first: all decisions made so far, or a refusal at the end."""
    # taken now and not at the first row, since the experiment goes on
    return _rows(store, experiment, experiment.seq, experiment.counts.decisions)


def _rows(store: Store, experiment: Experiment, until: int, count: int) -> Iterator[list[Any]]:
    names = store.persons(experiment.number)
    try:
        played, erased = _policies(store, experiment)
    except ValueError as error:  # an archive is missing
        raise Refusal("unavailable", str(error)) from None
    found = 0
    for event, about in _decisions(store, experiment.number, until):
        found += 1
        yield _row(experiment, event, about, names, played, erased)
    if found != count:
        raise Refusal(
            "unavailable",
            f"the export must have {count} decisions, but {found} were found: unless an archive is "
            "being made now, one is damaged or of another database (rotting serve verify)",
        )


def _decisions(store: Store, number: int, until: int) -> Iterator[tuple[Event, list[Event]]]:
    """Decisions up to an event, each with all events of it."""
    own = connect(store.path)  # its own connection, since this may take long
    try:
        for path in _archive_files(store):
            made = connect(path)
            try:
                for page in _pages(made, number, until):
                    # in both files: being moved now, or archived after a backup
                    sql = f"SELECT seq FROM event WHERE seq IN ({', '.join('?' * len(page))})"
                    both = {seq for (seq,) in own.execute(sql, [event.seq for event in page])}
                    yield from _with_others(made, [one for one in page if one.seq not in both])
            finally:
                made.close()
        for page in _pages(own, number, until):
            yield from _with_others(own, page)
    finally:
        own.close()


def _archive_files(store: Store) -> list[Path]:
    try:
        return archive_files(store)
    except ValueError as error:
        raise Refusal("unavailable", str(error)) from None


def _pages(made: Connection, number: int, until: int) -> Iterator[list[Event]]:
    after = 0
    sql = f"{_EVENT} WHERE experiment = ? AND kind = ? AND seq > ? AND seq <= ? ORDER BY seq"
    while True:
        rows = made.execute(f"{sql} LIMIT {_PAGE}", (number, int(Kind.DECIDED), after, until))
        if not rows:
            return
        yield [Event(*row) for row in rows]
        after = rows[-1][0]


def _with_others(made: Connection, page: list[Event]) -> Iterator[tuple[Event, list[Event]]]:
    """Decisions, each with all events of it."""
    if not page:
        return
    sql = f"{_EVENT} WHERE experiment = ? AND id IN ({', '.join('?' * len(page))}) ORDER BY +seq"
    about: dict[str | None, list[Event]] = {}
    for row in made.execute(sql, (page[0].experiment, *(event.id for event in page))):
        about.setdefault(row[3], []).append(Event(*row))
    for event in page:
        if event.id in about:  # else it was just moved; the count at the end notices
            yield event, about[event.id]


def _policies(
    store: Store, experiment: Experiment
) -> tuple[dict[int, tuple[str, str]], dict[int, int]]:
    """The policy and version set by each event that sets one; and the event that erased each key.

    Both are read from the log, since the experiment goes on while the export is written.
    """
    erased: dict[int, int] = {}
    found: dict[int, tuple[str, str]] = {}
    name = ""
    for event in all_events(store, experiment.number):
        if event.kind in (Kind.CREATED, Kind.POLICY_CHANGED, Kind.UPGRADED):
            body = event_types.decode(event)
            name = body.policy["policy"] if event.kind != Kind.UPGRADED else name
            found[event.seq] = (name, body.version)
        elif event.kind == Kind.ERASED:
            erased[event_types.decode(event).key] = event.seq
    return found, erased


def _row(
    experiment: Experiment,
    event: Event,
    about: list[Event],
    names: dict[int, str],
    played: dict[int, tuple[str, str]],
    erased: dict[int, int],
) -> list[Any]:
    body: event_types.Decided = event_types.decode(event)
    after = {one.kind: one for one in about}
    other = after.get(Kind.CORRECTED)
    shown, late = after.get(Kind.SHOWN) or other, after.get(Kind.LATE)
    pull = event_types.decode(shown).pull if shown is not None else body.pull
    if other is not None:
        body.arm, body.p, body.control = event_types.decode(other).arm, 1.0, False
    ended = after.get(Kind.REWARDED) or after.get(Kind.TIMED_OUT)
    reward = None if ended is None else event_types.decode(ended).reward
    if Kind.REWARDED in after:
        outcome = "rewarded"
    elif Kind.TIMED_OUT in after:
        outcome = "missing" if reward is None else "default"
    elif Kind.EXPIRED in after:
        outcome = "never shown"
    elif erased.get(body.key, 0) > event.seq:
        outcome = "erased"
    else:
        outcome = "waiting" if pull else "not shown yet"
    own = other is not None or body.elsewhere  # the client's fallback
    policy, version = ("fallback", "") if own else played.get(body.policy, ("", ""))
    return [
        *(event.seq, event.id, event.at, names.get(body.key), experiment.labels[body.arm]),
        *(pull or None, body.p, int(body.control), policy, version, body.rests),
        *(shown.at if shown else None, outcome, reward, ended.at if ended else None),
        *((event_types.decode(late).reward, late.at) if late else (None, None)),
    ]


def csv_of(store: Store, experiment: Experiment) -> Iterator[bytes]:
    """The table as CSV, in pieces."""
    return _csv(rows_of(store, experiment), harmless=True)


def _harmless(cell: Any) -> Any:
    """The cell, with an apostrophe before it if a spreadsheet would take it for a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def _csv(rows: Iterator[list[Any]], harmless: bool) -> Iterator[bytes]:
    """Lines of CSV; `harmless` ones are safe to open in a spreadsheet."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for number, row in enumerate(rows, 1):
        writer.writerow([_harmless(cell) for cell in row] if harmless else row)
        if number % _PAGE == 0:
            yield text.getvalue().encode()
            text.seek(0)
            text.truncate()
    yield text.getvalue().encode()


def parquet_of(store: Store, experiment: Experiment) -> Iterator[bytes]:
    """The table as Parquet, in pieces."""
    try:
        import polars
    except ImportError:
        raise bad(
            "format", "format must be csv here: parquet needs pip install 'rotting[logs]'"
        ) from None
    return _parquet(polars, _csv(rows_of(store, experiment), harmless=False))


def _parquet(polars: Any, lines: Iterator[bytes]) -> Iterator[bytes]:
    whole, number, text = polars.Int64, polars.Float64, polars.String
    types = {
        **dict.fromkeys(COLUMNS, number),
        **dict.fromkeys(("seq", "pull", "control", "rests_on"), whole),
        **dict.fromkeys(("id", "key", "arm", "policy", "version", "outcome"), text),
    }
    with tempfile.TemporaryDirectory() as folder:
        table, target = Path(folder) / "table.csv", Path(folder) / "table.parquet"
        with table.open("wb") as file:
            file.writelines(lines)
        polars.scan_csv(table, schema=types).sink_parquet(target)
        with target.open("rb") as file:
            while piece := file.read(1 << 18):
                yield piece


FORMATS = {
    "csv": (csv_of, "text/csv; charset=utf-8"),
    "parquet": (parquet_of, "application/vnd.apache.parquet"),
}


def check_format(name: str) -> str:
    """The format, or a refusal if there is none of this name."""
    if name not in FORMATS:
        raise bad("format", f"format must be csv or parquet, got {name[:50]!r}")
    return name


def write(path: Path, name: str, out: Path, *, force: bool = False) -> int:
    """Write the table of an experiment to a file atomically; returns the number of rows."""
    if out.suffix not in (".csv", ".parquet"):
        raise ValueError(f"out must end in .csv or .parquet, got {out}")
    if out.exists() and not force:
        raise ValueError(f"out must be new, or --force given, but {out} exists")
    if not path.exists():
        raise ValueError(f"data must be a database, but {path} is not there")
    store = Store.open(path, create=False)
    partial = out.with_name(out.name + ".partial")
    try:
        numbers = {known: number for number, known in store.experiments()}
        if name not in numbers:
            known = ", ".join(numbers) or "none"
            raise ValueError(f"experiment must be one of {known}, got {name!r}")
        one, _ = load_one(store, numbers[name], compiled=False)
        with partial.open("wb") as file:
            file.writelines(FORMATS[out.suffix[1:]][0](store, one))
        partial.replace(out)
        return one.counts.decisions
    except Refusal as why:
        raise ValueError(why.message) from None
    finally:
        partial.unlink(missing_ok=True)
        store.close()
