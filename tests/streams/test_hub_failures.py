"""The hub when something fails: no stream loses an event, and none gets one after its credential has ended."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from django.db import OperationalError

from kernel.api.credentials import Credential, CredentialKind
from kernel.changes import reading
from kernel.changes.rows import ChangeRow
from kernel.changes.streams import events
from kernel.changes.streams.events import Chunk
from kernel.changes.streams.hub import Hub
from tests.streams.in_process import Rows, Subscriber, a_source, append_rows, ready_hub

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_connections_closed")]
CHECK = f"{__name__}.ended"


class Failing(Rows):
    """Loading fails as often as `errors` has errors."""

    errors: list[Exception] = []

    def __init__(self, rows: Sequence[ChangeRow]) -> None:
        if self.errors:
            raise self.errors.pop(0)
        super().__init__(rows)


class Check:
    """A check of credentials. `results`: those that have ended by the first call, by the second, … or an error."""

    results: list[Sequence[Credential] | Exception] = []

    def __call__(self, credentials: Sequence[Credential]) -> list[Credential]:
        result = self.results.pop(0) if self.results else []
        if isinstance(result, Exception):
            raise result
        return [credential for credential in credentials if credential in result]


ended = Check()


@pytest.fixture(autouse=True)
def _own_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Check, "results", [])
    monkeypatch.setattr(Failing, "errors", [])


class Defective(Subscriber):
    def put(self, chunk: Chunk) -> None:
        raise RuntimeError("a defect")


def numbers(subscriber: Subscriber) -> int:
    """How many events the subscriber has got."""
    return sum(chunk.body.count(b'"n"') for chunk in subscriber.chunks)


def a_hub(*subscribers: Subscriber) -> Hub:
    hub = ready_hub(reading.now())
    for subscriber in subscribers:
        hub.groups.add(subscriber)
    return hub


def test_a_stream_that_fails_is_cut_and_the_others_get_every_event() -> None:
    subscribers = [*(Subscriber() for _ in range(5)), Defective(), *(Subscriber() for _ in range(5))]
    hub = a_hub(*subscribers)
    append_rows("one", "two")
    asyncio.run(hub._read_and_deliver())
    others = [each for each in subscribers if not isinstance(each, Defective)]
    assert [numbers(each) for each in others] == [2] * 10
    assert [each.calls for each in subscribers if isinstance(each, Defective)] == [["cut"]]
    assert hub.delivered == hub.cursor


def test_events_that_cannot_be_rendered_cut_their_streams() -> None:
    Failing.errors = [ValueError("a defect")]
    failing, other = Subscriber(a_source(Failing)), Subscriber(a_source(Failing))
    hub = a_hub(failing, other)
    append_rows("one")
    asyncio.run(hub._read_and_deliver())
    assert [failing.calls, other.calls, failing.chunks] == [["cut"], ["cut"], []]


def test_events_wait_for_postgresql_and_for_another_check_of_the_credentials(settings: Any) -> None:
    settings.CREDENTIAL_CHECKS = [CHECK]
    Failing.errors = [OperationalError("PostgreSQL is away")]
    revoked, valid = Credential(CredentialKind.PERSON, user=1), Credential(CredentialKind.PERSON, user=2)
    Check.results = [[], [revoked]]
    ending, other = Subscriber(a_source(Failing), revoked), Subscriber(a_source(Failing), valid)
    hub = a_hub(ending, other)
    append_rows("one")

    async def scenario() -> None:
        with pytest.raises(OperationalError):
            await hub._read_and_deliver()
        assert [ending.calls, ending.chunks, other.chunks] == [[], [], []]
        await hub._read_and_deliver()

    asyncio.run(scenario())
    assert (ending.calls, ending.chunks) == (["end"], [])
    assert numbers(other) == 1


def test_a_check_that_fails_is_due_again_before_anything_is_read(settings: Any) -> None:
    settings.CREDENTIAL_CHECKS = [CHECK]
    revoked = Credential(CredentialKind.PERSON, user=1)
    Check.results = [OperationalError("PostgreSQL is away"), [revoked]]
    ending = Subscriber(credential=revoked)
    hub = a_hub(ending)
    append_rows("one")

    async def scenario() -> None:
        with pytest.raises(OperationalError):
            await hub._read_and_deliver()
        await hub._read_and_deliver()

    asyncio.run(scenario())
    assert ending.calls == ["end"]


def test_one_delivery_is_limited_and_the_rest_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "CHUNK_BYTES", 1)
    subscriber = Subscriber()
    hub = a_hub(subscriber)
    append_rows("one", "two", "three")

    async def scenario() -> list[float]:
        return [(await hub._read_and_deliver())[0] for _ in range(4)]

    assert asyncio.run(scenario())[:2] == [0.0, 0.0], "the next delivery follows at once"
    assert [len(chunk.positions) for chunk in subscriber.chunks] == [1, 1, 1]
    assert numbers(subscriber) == 3


def test_every_stream_gets_a_resync_when_the_hub_has_missed_rows() -> None:
    subscribers = [Subscriber(), Defective(), Subscriber()]
    hub = a_hub(*subscribers)
    hub.cursor = hub.cursor._replace(generation=hub.cursor.generation - 1)
    asyncio.run(hub._read_and_deliver())
    assert [[b"event: resync" in chunk.body for chunk in each.chunks] for each in subscribers] == [[True], [], [True]]
    assert hub.cursor.generation == reading.now().generation
