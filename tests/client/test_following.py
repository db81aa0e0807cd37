"""Following the inbox and the changes: live, without a gap after failures, and by polling while there is no stream."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from secrets import token_hex
from typing import Any

import pytest
from community_messaging import Client, RetryPolicy, ServiceError

from tests.client.scripted import CUT, Answer, Received, refusal, scripted
from tests.clients import Clients
from tests.service import Service
from tests.streams.faults import kill_stream_process

PATIENCE_SECONDS = 120
QUICK = RetryPolicy(attempts=1)
ALWAYS = 10**6


def taken(events: Iterator[Any], count: int) -> list[Any]:
    """The next events. Fails if they do not come."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.extend(islice(events, count)), daemon=True)
    thread.start()
    thread.join(PATIENCE_SECONDS)
    assert len(found) == count, found
    return found


@pytest.mark.slow
@pytest.mark.processes
def test_an_answer_arrives_live(client_service: Service, clients: Clients, agent: Client) -> None:
    posted = agent.post(f"https://follow.example/{token_hex(8)}", "A post")
    cursor = list(agent.inbox())[-1]["id"]
    with Client(client_service.base_url, clients.agent_token()) as other:
        # Polling as the only way would take longer than the test.
        events = agent.follow_inbox(cursor, poll_seconds=ALWAYS)
        first = other.reply(posted["id"], "One")
        assert taken(events, 1)[0]["messageId"] == first["id"]
        second = other.reply(posted["id"], "Two")
        assert taken(events, 1)[0]["messageId"] == second["id"]
        events.close()


@pytest.mark.slow
@pytest.mark.processes
def test_nothing_is_missed_or_repeated_when_the_stream_breaks(client_service: Service, agent: Client) -> None:
    posted = agent.post(f"https://follow.example/{token_hex(8)}", "A post")
    place = {"page": posted["pageId"], "types": ["message.created"]}
    (first,) = agent.changes(**place)
    with closing(agent.follow_changes(first["id"], poll_seconds=0.1, **place)) as changes:
        replies = [agent.reply(posted["id"], "Before")["id"]]
        found = taken(changes, 1)
        kill_stream_process(client_service)
        replies += [agent.reply(posted["id"], "After")["id"] for _ in range(3)]
        found += taken(changes, 3)
    assert [change["messageId"] for change in found] == replies


class Polled:
    """A service without streams. Its list has one event after each cursor; `c3` is no longer stored."""

    def __init__(self, start: Answer) -> None:
        self.start = start

    def __call__(self, request: Received) -> Answer:
        if request.path == "/":
            return self.start
        if request.path.startswith("/v1/inbox/stream"):
            return refusal(429, "too_many_streams")
        if "tail=true" in request.path:
            return Answer(200, {"events": [], "hasMore": False, "nextCursor": "c7"})
        number = int(request.path.partition("cursor=c")[2].partition("&")[0])
        if number == 3:
            return refusal(410, "cursor_expired")
        event = {"id": f"c{number + 1}", "type": "reply"}
        return Answer(200, {"events": [event], "hasMore": number == 1, "nextCursor": f"c{number + 1}"})


@pytest.mark.parametrize(
    "start",
    [
        Answer(200, {"streamUrl": None}),
        Answer(200, b"<html></html>"),
        Answer(404),
        CUT,
        Answer(200, {"streamUrl": "http://127.0.0.1:9"}),
        Answer(200, {"streamUrl": 5}),
    ],
    ids=["null", "html", "404", "cut", "away", "wrong"],
)
def test_without_a_stream_the_list_is_polled_from_the_same_cursor(start: Answer) -> None:
    with scripted(Polled(start)) as server, Client(server.base_url, "cag_x", retry=QUICK) as client:
        events = client.follow_inbox("c1", poll_seconds=0.01)
        assert [event["id"] for event in taken(events, 2)] == ["c2", "c3"]
        events.close()


def test_a_lost_position_is_told_and_following_goes_on_from_now() -> None:
    with scripted(Polled(Answer(200, {"streamUrl": None}))) as server, Client(server.base_url, "cag_x") as client:
        events = client.follow_inbox("c2", poll_seconds=0.01)
        found = taken(events, 3)
        events.close()
    assert [(event["type"], event["id"]) for event in found] == [("reply", "c3"), ("resync", "c7"), ("reply", "c8")]
    assert (found[1]["message"], found[1]["data"]) == (None, {})


def test_following_goes_on_after_the_service_was_away_at_a_lost_position() -> None:
    polled, asked = Polled(Answer(200, {"streamUrl": None})), []

    def service(request: Received) -> Answer:
        if "tail=true" in request.path:
            asked.append(request)
            if len(asked) <= 2:
                return CUT if len(asked) == 1 else refusal(503, "temporarily_unavailable")
        return polled(request)

    with scripted(service) as server, Client(server.base_url, "cag_x", retry=QUICK) as client:
        events = client.follow_inbox("c3", poll_seconds=0.01)
        assert [(event["type"], event["id"]) for event in taken(events, 2)] == [("resync", "c7"), ("reply", "c8")]
        events.close()


def stream_of(server_url: str, *bodies: str) -> Any:
    remaining = iter(bodies)

    def answer(request: Received) -> Answer:
        if request.path == "/":
            return Answer(200, {"streamUrl": server_url})
        if not request.path.startswith("/v1/inbox/stream"):
            return Answer(200, {"events": [], "hasMore": False, "nextCursor": request.path.partition("cursor=")[2][:2]})
        body = next(remaining, None)
        if body is None:
            return refusal(401, "token_revoked")
        return Answer(200, body.encode(), {"Content-Type": "text/event-stream"})

    return answer


def test_the_stream_is_resumed_after_its_last_event_until_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("community_messaging.following.RESUME_SECONDS", 0.01)
    bodies = [
        'retry: 2000\nid: c1\n\n:\n\nid: c2\nevent: reply\ndata: {"id":"c2","type":"reply"}\n\n',
        'id: c3\nevent: resync\ndata: {"id":"c3"}\n\nid: c4\nevent: reply\ndata: {"id":"c4","ty',
        "id: c5\nevent: reply\ndata: no json\n\n",
    ]
    holder: list[Any] = []
    found: list[Any] = []
    with scripted(lambda request: holder[0](request)) as server:  # noqa: PLW0108  filled below
        holder.append(stream_of(server.base_url, *bodies))
        with Client(server.base_url, "cag_x") as client, pytest.raises(ServiceError) as refused:
            found.extend(client.follow_inbox("c0"))
    assert refused.value.code == "token_revoked"
    assert [(event["id"], event["type"]) for event in found] == [("c2", "reply"), ("c3", "resync")]
    resumed = [request.headers["last-event-id"] for request in server.received if "stream" in request.path]
    assert resumed == ["c0", "c2", "c3", "c3"]


def test_a_token_is_not_sent_in_clear_to_a_stream_of_an_https_service() -> None:
    from community_messaging.following import _stream_origin

    client = Client("https://service.example", "cag_x")
    steps = _stream_origin(client)
    next(steps)
    import httpx

    with pytest.raises(StopIteration) as stopped:
        steps.send(httpx.Response(200, json={"streamUrl": "http://service.example"}))
    assert stopped.value.value == ""
    client.close()


@pytest.mark.slow
@pytest.mark.processes
def test_a_refused_list_ends_following(person: Client) -> None:
    with pytest.raises(ServiceError) as refused:
        next(person.follow_inbox())
    assert refused.value.code == "not_authenticated"
