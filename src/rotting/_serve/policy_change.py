"""A change of policy in a running experiment.

The new policy learns all earlier events before it decides. The log is replayed to it in small steps
between requests, while the old policy decides.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from rotting._serve.archive import all_events, archive_files
from rotting._serve.book import Answer, Book
from rotting._serve.errors import Refusal
from rotting._serve.experiment import Experiment
from rotting._serve.journal import Journal
from rotting._serve.requests import NewPolicy

_AT_ONCE = 200  # events before other requests have their turn


async def change_policy(
    journal: Journal,
    named: Callable[[Book], Experiment],
    request: NewPolicy,
    by: str,
    prepare: Callable[[Any, Any, int | None], Awaitable[None]],
) -> int:
    """Change the policy; returns the sequence number of the change.

    `prepare` compiles a policy, which may take long and blocks no request.
    """
    policy = journal.usable().check_policy(named(journal.usable()), request)
    if named(journal.usable()).player.compiled:
        await prepare(named(journal.usable()).settings, policy, request.horizon)
    book = journal.usable()
    one = named(book)
    other: Experiment | None = None
    last, count = 0, 0
    archived = book.store.archives()
    try:
        archive_files(book.store)
    except ValueError as error:  # one is missing
        raise Refusal("unavailable", str(error)) from None
    try:
        for event in all_events(book.store, one.number):
            if other is None:
                other = one.successor(event, policy, request.horizon)
            else:
                other.replay(event)
            last, count = event.seq, count + 1
            if count % _AT_ONCE == 0:
                await asyncio.sleep(0)
                if journal.book is not book:
                    raise Refusal("unavailable", "the database was lost meanwhile")
    except ValueError as error:
        message = f"the policy cannot learn the earlier events: {error}"
        raise Refusal("bad_request", message, "policy") from None
    if book.store.archives() != archived:  # events moved during the replay may have been missed
        raise Refusal("unavailable", "events are being archived: try it again in a moment")

    def finish(book: Book) -> Answer:
        assert other is not None
        try:
            for event in one.past(book.seq + 1, after=last):
                other.replay(event)
        except ValueError as error:  # for instance an arm was added that this policy cannot take
            message = f"the policy cannot learn the earlier events: {error}"
            raise Refusal("bad_request", message, "policy") from None
        return book.change_policy(one, policy, request.horizon, other, by)

    return (await journal.answer(finish)).seq
