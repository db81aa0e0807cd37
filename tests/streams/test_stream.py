"""GET /v1/changes/stream, in the stream process."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.remote import Remote
from tests.service import Service
from tests.streams.client import following, open_stream
from tests.streams.posting import Poster

pytestmark = [pytest.mark.slow, pytest.mark.processes]


def test_a_worker_redirects_to_the_stream_process(stream_service: Service, poster: Poster) -> None:
    reply = Remote(stream_service.port).call("GET", f"/v1/changes/stream?pageId={poster.page_id}")
    origin = f"http://127.0.0.1:{stream_service.stream_port}"
    assert (reply.status, reply.json) == (307, {"streamUrl": origin})
    assert reply.headers["location"] == f"{origin}/v1/changes/stream?pageId={poster.page_id}"
    assert Remote(stream_service.port).call("GET", "/api/embeds/client-config").json["streamUrl"] == origin


@pytest.mark.journey
def test_events_are_the_items_of_the_list(stream_service: Service, poster: Poster) -> None:
    with following(stream_service.stream_port, pageId=poster.page_id) as stream:
        assert stream.retry == 2000
        assert stream.response.headers["Content-Type"] == "text/event-stream"
        assert stream.response.headers["Access-Control-Allow-Origin"] == "*"
        start, post = stream.last_id, poster.post("Two\nlines\r\n and \u2028 one")
        poster.remote.call("POST", "/v1/reactions", {"messageId": post, "emoji": "👍"})
        created, added = stream.take(2)
    listed = poster.changes(cursor=start)["changes"]
    assert [created.data | {"message": None}, added.data] == [listed[0] | {"message": None}, listed[1]]
    assert (created.type, added.type) == ("message.created", "reaction.added")
    assert (created.id, added.id) == (created.data["id"], added.data["id"])


def test_a_client_resumes_after_its_last_event(stream_service: Service, poster: Poster) -> None:
    with following(stream_service.stream_port, pageId=poster.page_id) as stream:
        first = poster.post()
        assert [event.data["messageId"] for event in stream.take(1)] == [first]
    missed = poster.posts(3)
    with following(stream_service.stream_port, pageId=poster.page_id, after=stream.last_id) as stream:
        later = poster.post()
        assert [event.data["messageId"] for event in stream.take(4)] == [*missed, later]


def test_the_header_is_newer_than_the_cursor_of_the_address(stream_service: Service, poster: Poster) -> None:
    start, (_first, second) = poster.changes(tail="true")["nextCursor"], poster.posts(2)
    after = poster.changes(cursor=start, limit=1)["nextCursor"]
    with following(stream_service.stream_port, pageId=poster.page_id, cursor=start) as stream:
        assert len(stream.take(2)) == 2
    with following(stream_service.stream_port, pageId=poster.page_id, cursor=start, after=after) as stream:
        assert [event.data["messageId"] for event in stream.take(1)] == [second]


def test_two_clients_get_the_same_events(stream_service: Service, poster: Poster) -> None:
    port = stream_service.stream_port
    with following(port, pageId=poster.page_id) as one, following(port, pageId=poster.page_id) as other:
        posts = poster.posts(3)
        got = [one.take(3), other.take(3)]
    assert got[0] == got[1]
    assert [event.data["messageId"] for event in got[0]] == posts


def test_filters_select_pages_and_types(stream_service: Service, poster: Poster) -> None:
    other = Poster.new(poster.clients)
    types = {"types": "reaction.added,message.hidden"}
    with (
        following(stream_service.stream_port, pageId=poster.page_id, **types) as reactions,
        following(stream_service.stream_port, pageId=other.page_id) as others,
        following(stream_service.stream_port) as everything,
    ):
        post, elsewhere = poster.post(), other.post()
        poster.remote.call("POST", "/v1/reactions", {"messageId": post, "emoji": "👍"})
        assert [event.type for event in reactions.take(1)] == ["reaction.added"]
        assert [event.data["messageId"] for event in others.take(1)] == [elsewhere]
        seen = [event.data["messageId"] for event in everything.take(3)]
        assert seen == [post, elsewhere, post]


@pytest.mark.parametrize(
    ("query", "headers", "refusal"),
    [
        ({"cursor": "nonsense"}, {}, (400, "invalid_cursor")),
        ({}, {"Last-Event-ID": "x" * 200}, (400, "invalid_cursor")),
        ({"pageId": "p1_x"}, {}, (400, "invalid_input")),
        ({"types": "message.read"}, {}, (400, "invalid_input")),
        ({}, {"Authorization": "Bearer cag_nonsense"}, (401, "invalid_token")),
        ({}, {"Host": "elsewhere.example"}, (400, "invalid_input")),
    ],
)
def test_refusals_are_those_of_a_worker(
    stream_service: Service, query: dict[str, str], headers: dict[str, str], refusal: tuple[int, str]
) -> None:
    stream = open_stream(stream_service.stream_port, headers=headers, **query)
    assert (stream.status, stream.response.read().split(b'"')[3].decode()) == refusal
    assert stream.response.headers["Content-Type"] == "application/json"


def test_a_cursor_of_other_filters_is_refused(stream_service: Service, poster: Poster) -> None:
    cursor = poster.changes(tail="true")["nextCursor"]
    assert open_stream(stream_service.stream_port, cursor=cursor).status == 400
    assert open_stream(stream_service.stream_port, cursor=cursor, pageId=poster.page_id).status == 200


def test_other_paths_and_methods_are_refused(stream_service: Service) -> None:
    remote = Remote(stream_service.stream_port)
    assert remote.call("GET", "/v1/smart-tags").status == 404
    assert remote.call("POST", "/v1/changes/stream", {}).status == 405
    assert remote.call("HEAD", "/v1/changes/stream").headers["content-type"] == "text/event-stream"
    preflight = {"Origin": "https://blog.example", "Access-Control-Request-Method": "GET"}
    allowed = remote.call("OPTIONS", "/v1/changes/stream", **preflight)
    assert "Last-Event-ID" in allowed.headers["access-control-allow-headers"]


def test_an_idle_stream_gets_heartbeats_with_a_cursor_that_goes_on(stream_service: Service, poster: Poster) -> None:
    elsewhere = Poster.new(poster.clients)
    with following(stream_service.stream_port, pageId=poster.page_id) as stream:
        start = stream.last_id
        elsewhere.post()
        blocks = stream.blocks()
        assert [next(blocks).type for _ in range(2)] == ["", ""]
        assert stream.comments == 2
        assert stream.last_id != start
        post = poster.post()
    with following(stream_service.stream_port, pageId=poster.page_id, after=stream.last_id) as stream:
        assert [event.data["messageId"] for event in stream.take(1)] == [post]


def test_a_hidden_post_is_shown_no_more(stream_service: Service, poster: Poster) -> None:
    with following(stream_service.stream_port, pageId=poster.page_id) as stream:
        start, post = stream.last_id, poster.post()
        stream.take(1)
        admin = poster.clients.super_admin()
        poster.clients.ask(f"/v1/moderation/messages/{post}/hide", {"reason": "Test."}, **admin.user)
        (hidden,) = stream.take(1)
    assert (hidden.type, hidden.data["messageId"], hidden.data["message"]) == ("message.hidden", post, None)
    with following(stream_service.stream_port, pageId=poster.page_id, after=start) as stream:
        assert [event.data["message"] for event in stream.take(2)] == [None, None]


def test_curl_follows_a_page(stream_service: Service, poster: Poster) -> None:
    curl = shutil.which("curl")
    if curl is None:
        pytest.skip("no curl: put one on PATH")
    url = f"http://127.0.0.1:{stream_service.port}/v1/changes/stream?pageId={poster.page_id}"
    with subprocess.Popen([curl, "-sNL", url], stdout=subprocess.PIPE, text=True) as client:
        assert client.stdout
        lines = iter(client.stdout.readline, "")
        assert next(lines) == "retry: 2000\n"
        post = poster.post()
        assert f'"messageId":"{post}"' in next(line for line in lines if line.startswith("data: "))
        client.terminate()
