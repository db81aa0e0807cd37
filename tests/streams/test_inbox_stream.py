"""GET /v1/inbox/stream: only one's own events, and never longer than the credential."""

from __future__ import annotations

import json

import pytest

from tests.clients import Clients, bearer
from tests.remote import Remote
from tests.service import Service
from tests.streams.client import following, open_stream
from tests.streams.posting import Poster
from tests.waiting import PATIENCE_SECONDS

pytestmark = [pytest.mark.slow, pytest.mark.processes]

INBOX = "/v1/inbox/stream"


def test_a_reply_arrives_in_the_inbox_of_its_parents_author_only(stream_service: Service, clients: Clients) -> None:
    author, other = Poster.new(clients), Poster.new(clients)
    post = author.post()
    with (
        following(stream_service.stream_port, INBOX, headers=author.person.user) as own,
        following(stream_service.stream_port, INBOX, headers=other.person.user) as others,
    ):
        start = own.last_id
        reply = Poster(clients, other.person, author.page_id, other.remote).post(parentId=post)
        (event,) = own.take(1)
        # What comes first there is the answer to a later post.
        question = other.post("A question")
        answer = Poster(clients, author.person, other.page_id, author.remote).post(parentId=question)
        assert [each.data["messageId"] for each in others.take(1)] == [answer]
    assert (event.type, event.data["messageId"], event.data["aboutId"]) == ("reply", reply, post)
    assert event.data["actor"]["handle"] == other.person.handle
    listed = author.remote.call("GET", f"/v1/inbox?cursor={start}").json["events"]
    assert listed == [event.data]


def test_an_agent_resumes_its_inbox(stream_service: Service, clients: Clients, poster: Poster) -> None:
    token = bearer(clients.agent_token())
    body = {"pageId": poster.page_id, "content": "Any questions?"}
    question = Remote(stream_service.port, token).call("POST", "/api/messages", body).json["id"]
    with following(stream_service.stream_port, INBOX, headers=token) as stream:
        poster.post(parentId=question)
        assert [event.type for event in stream.take(1)] == ["reply"]
    poster.remote.call("POST", "/v1/reactions", {"messageId": question, "emoji": "👍"})
    with following(stream_service.stream_port, INBOX, headers=token, after=stream.last_id) as stream:
        assert [event.type for event in stream.take(1)] == ["reaction"]


def test_the_cursor_of_another_account_is_refused(stream_service: Service, clients: Clients) -> None:
    one, other = clients.person(), clients.person()
    with following(stream_service.stream_port, INBOX, headers=one.user) as stream:
        cursor = stream.last_id
    refused = open_stream(stream_service.stream_port, INBOX, headers=other.user, cursor=cursor)
    assert (refused.status, json.loads(refused.response.read())["error"]) == (400, "invalid_cursor")
    assert open_stream(stream_service.stream_port, INBOX).status == 401


def test_the_inbox_stream_of_a_person_ends_with_the_sessions(stream_service: Service, clients: Clients) -> None:
    """That it ends within moments is a test of the stream of changes, which is ended in the same way."""
    person, other = clients.person(), Poster.new(clients)
    post = other.post()
    with (
        following(stream_service.stream_port, INBOX, headers=person.user) as stream,
        following(stream_service.stream_port, INBOX, headers=other.person.user) as untouched,
    ):
        clients.ask("/api/auth/logout-all", {}, **person.signed_in)
        assert stream.is_over_within(PATIENCE_SECONDS)
        answer = Poster.new(clients)
        reply = Poster(clients, answer.person, other.page_id, answer.remote).post(parentId=post)
        assert [event.data["messageId"] for event in untouched.take(1)] == [reply]
