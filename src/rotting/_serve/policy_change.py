"""Another policy for a running experiment, which has learnt what came before it begins.

The log is played to the new policy in small steps between requests; the old one decides until the
new one has caught up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from rotting._serve.archive import all_events, shelves
from rotting._serve.book import Answer, Book
from rotting._serve.errors import Refusal
from rotting._serve.experiment import Experiment
from rotting._serve.journal import Journal
from rotting._serve.requests import NewPolicy

_AT_ONCE = 200  # events between two looks at who else wants something


async def change_policy(
    journal: Journal,
    named: Callable[[Book], Experiment],
    asked: NewPolicy,
    by: str,
    prepare: Callable[[Any, Any, int | None], Awaitable[None]],
) -> int:
    """Change the policy; returns the sequence number from which it holds.

    `prepare` has a policy compiled, which may take long, and holds nobody up.
    """
    policy = journal.usable().check_policy(named(journal.usable()), asked)
    if named(journal.usable()).player.compiled:
        await prepare(named(journal.usable()).settings, policy, asked.horizon)
    book = journal.usable()
    one = named(book)
    other: Experiment | None = None
    last, count = 0, 0
    archived = book.store.archives()
    try:
        shelves(book.store)
    except ValueError as error:  # one is missing
        raise Refusal("unavailable", str(error)) from None
    try:
        for event in all_events(book.store, one.number):
            if other is None:
                other = one.successor(event, policy, asked.horizon)
            else:
                other.hear(event)
            last, count = event.seq, count + 1
            if count % _AT_ONCE == 0:
                await asyncio.sleep(0)
                if journal.book is not book:
                    raise Refusal("unavailable", "the database was lost meanwhile")
    except ValueError as error:
        raise Refusal("bad_request", f"the past cannot be told to it: {error}", "policy") from None
    if book.store.archives() != archived:  # what was moved while it was read may have been missed
        raise Refusal("unavailable", "events are being archived: try it again in a moment")

    def finish(book: Book) -> Answer:
        assert other is not None
        try:
            for event in one.past(book.seq + 1, after=last):
                other.hear(event)
        except ValueError as error:  # an arm came meanwhile, say, and this one cannot have it
            message = f"the past cannot be told to it: {error}"
            raise Refusal("bad_request", message, "policy") from None
        return book.change_policy(one, policy, asked.horizon, other, by)

    return (await journal.answer(finish)).seq
