"""The tables of the store, and the migrations from older versions."""

from __future__ import annotations

from rotting._serve.database import Connection

APPLICATION = 0x726F7474  # "rott", SQLite's application id of the file

# Archives have this table as well, with the column below.
EVENT = """CREATE TABLE event (
    seq INTEGER PRIMARY KEY,
    experiment INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    id TEXT,
    at REAL NOT NULL,
    body BLOB NOT NULL
) STRICT"""

CHAIN = "ALTER TABLE event ADD COLUMN chain INTEGER"

# Each entry migrates version n to n + 1. Entries never change, since existing databases have them.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        EVENT,
        # at most one event of each kind for a decision
        "CREATE UNIQUE INDEX event_id ON event (experiment, id, kind) WHERE id IS NOT NULL",
        "CREATE TABLE experiment (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT",
        # the key of each surrogate: to erase a person, one row here is deleted
        """CREATE TABLE person (
            experiment INTEGER NOT NULL,
            name TEXT NOT NULL,
            surrogate INTEGER NOT NULL,
            mark INTEGER NOT NULL,
            PRIMARY KEY (experiment, name)
        ) STRICT, WITHOUT ROWID""",
        "CREATE UNIQUE INDEX person_surrogate ON person (experiment, surrogate)",
        # marks of rows that were deleted, random numbers: a backup may still have the rows
        "CREATE TABLE erasure (mark INTEGER PRIMARY KEY) STRICT",
        """CREATE TABLE snapshot (
            experiment INTEGER NOT NULL,
            seq INTEGER NOT NULL,
            version TEXT NOT NULL,
            checksum TEXT NOT NULL,
            body BLOB NOT NULL,
            PRIMARY KEY (experiment, seq)
        ) STRICT""",
        """CREATE TABLE token (
            id TEXT PRIMARY KEY,
            name TEXT NOT NULL,
            hash TEXT NOT NULL,
            roles TEXT NOT NULL,
            experiments TEXT NOT NULL,
            created REAL NOT NULL,
            revoked REAL
        ) STRICT""",
        """CREATE TABLE audit (
            number INTEGER PRIMARY KEY,
            at REAL NOT NULL,
            by TEXT NOT NULL,
            what TEXT NOT NULL,
            experiment TEXT NOT NULL,
            details TEXT NOT NULL
        ) STRICT""",
        # ids of decisions whose events were moved to an archive: they are not decided again
        """CREATE TABLE archived (
            experiment INTEGER NOT NULL,
            digest BLOB NOT NULL,
            PRIMARY KEY (experiment, digest)
        ) STRICT, WITHOUT ROWID""",
        """CREATE TABLE archive (
            number INTEGER PRIMARY KEY,
            file TEXT NOT NULL,
            first INTEGER NOT NULL,
            last INTEGER NOT NULL,
            events INTEGER NOT NULL,
            at REAL NOT NULL
        ) STRICT""",
        # a value to change, to check that writing works
        "CREATE TABLE pulse (beat INTEGER NOT NULL) STRICT",
        "INSERT INTO pulse VALUES (0)",
    ),
    (
        # the running checksum of events; older ones have none
        CHAIN,
        "CREATE TABLE chain (seq INTEGER NOT NULL, sum INTEGER NOT NULL) STRICT",
        """INSERT INTO chain SELECT
            max(coalesce((SELECT max(seq) FROM event), 0), coalesce(max(last), 0)), 0
            FROM archive""",
        # finds the events of one experiment in order, even if they are rare among all
        "CREATE INDEX event_experiment ON event (experiment)",
    ),
)
VERSION = len(MIGRATIONS)


def version_of(connection: Connection) -> int:
    """The version of a database's tables, 0 for an empty one; ValueError for foreign files."""
    ((application,),) = connection.execute("PRAGMA application_id")
    ((version,),) = connection.execute("PRAGMA user_version")
    tables = connection.execute("SELECT count(*) FROM sqlite_master")[0][0]
    if application not in (0, APPLICATION) or (application == 0 and tables):
        raise ValueError("data must be a database of rotting serve, got one of something else")
    if version > VERSION:
        raise ValueError(
            f"data must have tables of version {VERSION} at most, got version {version}: it was "
            "written by a newer rotting, which has to be installed to open it"
        )
    return int(version)


def migrate(connection: Connection) -> int:
    """Migrate the tables to the present version, all steps or none; returns the old version."""
    before = version_of(connection)
    if before == VERSION:
        return before
    connection.execute("BEGIN IMMEDIATE")
    try:
        for step in MIGRATIONS[before:]:
            for statement in step:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    return before
