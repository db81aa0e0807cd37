"""A stream of a page is over when the page is moved: its client connects again, to the page with the new id."""

from __future__ import annotations

import asyncio

import pytest

from kernel.changes import reading
from kernel.changes.channels import Channel
from kernel.changes.log import NewChange, append
from kernel.changes.models import Change
from kernel.changes.rows import Cursor
from kernel.changes.streams import events
from kernel.changes.streams.hub import Hub
from kernel.changes.streams.opening import Items, Source
from messaging.models import MovedPage
from tests.streams.in_process import (
    OTHER_PAGE,
    PAGE,
    SOURCE,
    Connection,
    Rows,
    Subscriber,
    append_rows,
    ready_hub,
    render,
)
from tests.waiting import PATIENCE_SECONDS

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_connections_closed")]
OF_OTHER_PAGE = Source(Items(Rows, render), Channel(page_id=OTHER_PAGE), "test")


def move() -> None:
    """As `renormalize_pages --apply` does."""
    Change.objects.filter(page_id=PAGE).update(page_id=OTHER_PAGE)
    MovedPage.objects.create(old_id=PAGE, page_id=OTHER_PAGE)


def a_hub(*subscribers: Subscriber) -> Hub:
    hub = ready_hub(reading.now())
    for subscriber in subscribers:
        hub.groups.add(subscriber)
    return hub


def test_a_stream_is_ended_before_the_hub_passes_rows_that_it_does_not_get() -> None:
    moved, other = Subscriber(), Subscriber(OF_OTHER_PAGE)
    hub = a_hub(moved, other)
    before = hub.delivered
    append_rows("one")
    move()
    ended_at: list[Cursor] = []
    moved.end = lambda: ended_at.append(hub.delivered)  # type: ignore[method-assign]
    asyncio.run(hub._read_and_deliver())
    assert (ended_at, moved.chunks, len(other.chunks)) == ([before], [], 1)
    assert list(hub.groups) == [other]


def test_streams_of_other_pages_go_on() -> None:
    stream = Subscriber()
    hub = a_hub(stream)
    MovedPage.objects.create(old_id="p1_old", page_id=PAGE)
    append([NewChange(type="row", page_id=OTHER_PAGE, data={"n": "1"})])
    append_rows("2")
    asyncio.run(hub._read_and_deliver())
    assert (stream.calls, len(stream.chunks)) == ([], 1)


def test_a_stream_that_catches_up_is_ended_at_its_cursor() -> None:
    start = reading.now()
    append_rows("one")
    move()

    async def scenario(end: Cursor) -> Connection:
        client = Connection()
        async with asyncio.timeout(PATIENCE_SECONDS):
            await client.stream(ready_hub(end), start).run()
        return client

    client = asyncio.run(scenario(reading.now()))
    assert (client.bodies, client.is_complete) == ([events.greeting(SOURCE, start), b""], True)
