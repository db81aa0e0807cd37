"""Public reads kept at the entry: hits ask no database, nothing told is ever missed, keys stay apart."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from http import HTTPStatus
from threading import Barrier, Thread
from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.db import connection
from django.http import HttpResponse
from django.test.utils import CaptureQueriesContext

from config.api.freshness import EVERYTHING, home, touch, watch
from config.entry_cache import EntryCached, finished, key_of
from config.entry_cache.memory import EntryCache
from embeds.services import disable_embed
from messaging.accounts import ensure_person
from messaging.services.moderation import hide_message, restore_message
from tests.agents.factories import agent_with_token
from tests.embeds.making import an_embed
from tests.factories import MessageFactory, PageFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db(transaction=True)
Call = Callable[..., "Sent"]


class Sent:
    status: int
    headers: dict[str, str]
    body: bytes
    queries: int


@pytest.fixture
def cache() -> EntryCache:
    return EntryCache(bytes_max=1_000_000, seconds=60)


@pytest.fixture
def django() -> list[str]:
    """The paths that Django was asked for."""
    return []


@pytest.fixture
def call(cache: EntryCache, django: list[str]) -> Call:
    """Calls the application as a server does."""
    handler = WSGIHandler()

    def asked(environ: dict[str, Any], start_response: Any) -> Any:
        django.append(environ["PATH_INFO"])
        return handler(environ, start_response)

    application = EntryCached(asked, cache)

    def send(path: str, query: str = "", method: str = "GET", **environ: str) -> Sent:
        sent = Sent()

        def start_response(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> None:
            sent.status, sent.headers = int(status[:3]), dict(headers)

        with CaptureQueriesContext(connection) as captured:
            sent.body = b"".join(application(_environ(path, query, method) | environ, start_response))
        sent.queries = len(captured)
        return sent

    return send


def _environ(path: str, query: str, method: str) -> dict[str, Any]:
    from io import BytesIO

    return {
        "REQUEST_METHOD": method,
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "8000",
        "HTTP_HOST": "127.0.0.1:8000",
        "REMOTE_ADDR": "127.0.0.1",
        "wsgi.input": BytesIO(),
        "wsgi.url_scheme": "http",
    }


def test_the_second_read_asks_nobody(call: Call) -> None:
    message = MessageFactory()
    query = f"pageId={message.page_id}"
    first, second = call("/api/messages", query), call("/api/messages", query)
    assert (first.status, first.queries > 0, second.queries) == (200, True, 0)
    assert (second.body, second.headers) == (first.body, first.headers)
    assert second.headers["Access-Control-Allow-Origin"] == "*"
    assert second.headers["Cache-Control"] == "public, no-cache"


@pytest.mark.parametrize(
    "change",
    [
        lambda message, agent: agent.api.post("/api/messages", {"pageId": message.page_id, "content": "New"}),
        lambda message, agent: agent.api.post(
            "/api/messages", {"pageId": message.page_id, "content": "Re", "parentId": str(message.pk)}
        ),
        lambda message, agent: agent.api.post(
            "/api/messages", {"pageId": PageFactory().pk, "content": "Said", "quoteId": str(message.pk)}
        ),
        lambda message, agent: agent.api.post("/v1/reactions", {"messageId": str(message.pk), "emoji": "👍"}),
        lambda message, agent: hide_message(message_id=message.pk, by=SuperAdminFactory()),
        lambda message, agent: ensure_person(
            handle=message.author.handle, name="Renamed", password=None, is_staff=False, is_superuser=False
        ),
    ],
    ids=["post", "reply", "quote elsewhere", "reaction", "hide", "rename"],
)
def test_whatever_changes_a_list_shows_at_once(call: Call, change: Callable[..., Any]) -> None:
    message, agent = MessageFactory(), agent_with_token()
    query = f"pageId={message.page_id}&includeTopReply=true"
    before = call("/api/messages", query).body
    change(message, agent)
    after = call("/api/messages", query)
    assert after.body != before
    assert after.queries > 0


@pytest.mark.parametrize(
    "read",
    [
        lambda message, embed: ("/api/messages", f"pageId={message.page_id}&limit=1&includeTopReply=true"),
        lambda message, embed: (f"/api/messages/{message.pk}", ""),
        lambda message, embed: (f"/v1/reactions/{message.pk}", "limit=1"),
        lambda message, embed: (f"/api/embeds/config/{embed.pk}", ""),
        lambda message, embed: ("/api/embeds/client-config", ""),
        lambda message, embed: ("/v1/smart-tags", ""),
    ],
    ids=["list", "message", "reactions", "config", "client config", "smart tags"],
)
def test_what_is_made_again_is_what_django_would_make(call: Call, django: list[str], read: Callable[..., Any]) -> None:
    message, embed, agent = MessageFactory(), an_embed(domain_whitelist=["good.example"]), agent_with_token()
    path, query = read(message, embed)
    call(path, query, HTTP_ORIGIN="https://good.example")
    agent.api.post("/api/messages", {"pageId": message.page_id, "content": "Re", "parentId": str(message.pk)})
    agent.api.post("/api/messages", {"pageId": message.page_id, "content": "New"})
    agent.api.post("/v1/reactions", {"messageId": str(message.pk), "emoji": "🎉"})
    home().renew((EVERYTHING,))
    again = call(path, query, HTTP_ORIGIN="https://good.example")
    assert django == [path]
    # One that is asked for in another way is made from the start.
    anew = call(path, query, HTTP_ORIGIN="https://good.example", HTTP_X_FORWARDED_PROTO="http")
    assert django == [path, path]
    assert (again.status, again.body, again.headers) == (200, anew.body, anew.headers)


def test_what_cannot_be_made_again_is_told_as_ever(call: Call, django: list[str]) -> None:
    message = MessageFactory()
    assert call(f"/api/messages/{message.pk}").status == 200
    hide_message(message_id=message.pk, by=SuperAdminFactory())
    gone = call(f"/api/messages/{message.pk}")
    assert (gone.status, gone.body) == (404, b'{"error":"message_not_found"}')
    assert gone.headers["Access-Control-Allow-Origin"] == "*"
    assert len(django) == 2
    assert call(f"/api/messages/{message.pk}").queries == 1, "and is not tried again"


def test_without_versions_each_read_is_made_once_and_waits_for_nobody(
    call: Call, django: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"/api/messages/{MessageFactory().pk}"
    queries = call(path).queries
    for lack in ("read", "is_away"):
        monkeypatch.setattr(home(), lack, lambda *_, lack=lack: None if lack == "read" else True)
        assert call(path).queries == queries
    assert len(django) == 3


def test_a_hidden_post_leaves_the_lists_that_quote_it(call: Call) -> None:
    quoted = MessageFactory(content="Secret of somebody")
    quoting = MessageFactory(quote=quoted)
    query = f"pageId={quoting.page_id}"
    assert b"Secret" in call("/api/messages", query).body
    hide_message(message_id=quoted.pk, by=SuperAdminFactory())
    assert b"Secret" not in call("/api/messages", query).body
    restore_message(message_id=quoted.pk, by=SuperAdminFactory())
    assert b"Secret" in call("/api/messages", query).body


def test_one_post_and_its_reactions_are_kept_and_fresh(call: Call) -> None:
    message, agent = MessageFactory(), agent_with_token()
    paths = [f"/api/messages/{message.pk}", f"/v1/reactions/{message.pk}"]
    kept = [call(path).body for path in paths]
    assert [call(path).queries for path in paths] == [0, 0]
    agent.api.post("/v1/reactions", {"messageId": str(message.pk), "emoji": "🎉"})
    assert all(call(path).body != before for path, before in zip(paths, kept, strict=True))


def test_a_config_is_kept_for_each_origin_and_fresh(call: Call) -> None:
    embed = an_embed(domain_whitelist=["good.example"])
    path = f"/api/embeds/config/{embed.pk}"
    assert call(path, HTTP_ORIGIN="https://good.example").status == 200
    assert call(path, HTTP_ORIGIN="https://good.example").queries == 0
    assert call(path, HTTP_ORIGIN="https://evil.example").status == 403
    disable_embed(embed_id=embed.pk, by=SuperAdminFactory())
    assert b'"status":"disabled"' in call(path, HTTP_ORIGIN="https://good.example").body


def test_a_credential_passes_by(call: Call) -> None:
    message = MessageFactory()
    query, token = f"pageId={message.page_id}", agent_with_token().value
    call("/api/messages", query)
    assert call("/api/messages", query, HTTP_AUTHORIZATION=f"Bearer {token}").queries > 0
    assert call("/api/messages", query, HTTP_AUTHORIZATION="Bearer cag_nonsense").status == 401


def test_304_for_whoever_has_it(call: Call) -> None:
    query = f"pageId={MessageFactory().page_id}"
    etag = call("/api/messages", query).headers["ETag"]
    for tags in (etag, f'"other", W/{etag}', "*"):
        hit = call("/api/messages", query, HTTP_IF_NONE_MATCH=tags)
        assert (hit.status, hit.body, hit.headers["ETag"], hit.queries) == (304, b"", etag, 0)
    assert call("/api/messages", query, HTTP_IF_NONE_MATCH='"other"').status == 200


@pytest.mark.parametrize("name", ["HTTP_IF_MATCH", "HTTP_IF_UNMODIFIED_SINCE", "HTTP_IF_MODIFIED_SINCE"])
def test_other_conditions_are_ignored_hot_or_not(call: Call, name: str) -> None:
    condition = {name: '"x"' if name == "HTTP_IF_MATCH" else "Thu, 01 Jan 2015 00:00:00 GMT"}
    query = f"pageId={MessageFactory().page_id}"
    first, hot = (call("/api/messages", query, **condition) for _ in range(2))
    assert (first.status, hot.status, hot.queries) == (200, 200, 0)
    assert call("/api/messages", query, HTTP_IF_NONE_MATCH=hot.headers["ETag"], **condition).status == 304


def test_a_first_read_may_be_a_304_and_is_kept_whole(call: Call) -> None:
    query = f"pageId={MessageFactory().page_id}"
    assert call("/api/messages", query, HTTP_IF_NONE_MATCH="*").status == 304
    whole = call("/api/messages", query)
    assert (whole.status, whole.queries, whole.body[:13]) == (200, 0, b'{"messages":[')


@pytest.mark.parametrize(
    ("path", "query", "method"),
    [
        ("/api/messages", "", "GET"),
        ("/api/messages", "pageId=nonsense", "GET"),
        ("/api/messages/01a1f811-f718-77e8-9670-721b30c88378", "", "GET"),
        ("/api/nothing", "", "GET"),
        ("/v1/smart-tags", "", "HEAD"),
    ],
)
def test_refusals_and_other_methods_are_not_kept(
    call: Call, cache: EntryCache, path: str, query: str, method: str
) -> None:
    assert call(path, query, method).status in {200, 400, 404}
    assert cache.bytes == 0


def test_a_foreign_host_is_refused_however_hot_the_answer_is(call: Call) -> None:
    assert call("/v1/smart-tags").status == 200
    assert call("/v1/smart-tags", HTTP_HOST="evil.example").status == 400


def test_the_memory_is_bounded_and_the_oldest_goes_first(call: Call, cache: EntryCache) -> None:
    message = MessageFactory(content="x" * 20_000)
    queries = [f"pageId={message.page_id}&n={n}" for n in range(120)]
    for query in queries:
        call("/api/messages", query)
    oldest, newest = (key_of(_environ("/api/messages", query, "GET")) for query in (queries[0], queries[-1]))
    assert oldest
    assert newest
    assert 0 < cache.bytes <= 1_000_000
    assert cache.find(oldest) is None
    assert cache.find(newest)


def test_nothing_is_served_beyond_its_time() -> None:
    calls: list[int] = []

    def application(environ: Any, start_response: Any) -> HttpResponse:
        calls.append(1)
        return answered(start_response)

    kept_briefly = EntryCached(application, EntryCache(bytes_max=100_000, seconds=0.05))
    for pause in (0, 0, 0.06):
        time.sleep(pause)
        list(kept_briefly(_environ("/api/x", "", "GET"), lambda *_: None))
    assert len(calls) == 2


def answered(start_response: Any) -> HttpResponse:
    response = HttpResponse(b"{}", headers={"ETag": '"tag"'})
    response.watched = watch("page:alone")  # type: ignore[attr-defined]
    start_response("200 OK", list(response.items()))
    return response


def test_one_flight_at_a_time_fills_a_key() -> None:
    calls: list[int] = []
    together = Barrier(8)

    def application(environ: Any, start_response: Any) -> HttpResponse:
        calls.append(1)
        time.sleep(0.1)
        return answered(start_response)

    cached = EntryCached(application, EntryCache(bytes_max=100_000, seconds=60))

    def read() -> None:
        together.wait()
        assert list(cached(_environ("/api/x", "", "GET"), lambda *_: None)) == [b"{}"]

    threads = [Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1


def test_a_write_during_a_fill_makes_the_fill_worthless() -> None:
    calls: list[int] = []

    def application(environ: Any, start_response: Any) -> HttpResponse:
        calls.append(1)
        response = answered(start_response)
        touch("page:alone")
        return response

    cached = EntryCached(application, EntryCache(bytes_max=100_000, seconds=60))
    for _ in range(3):
        list(cached(_environ("/api/x", "", "GET"), lambda *_: None))
    assert len(calls) == 3


def test_what_streams_passes_through(call: Call) -> None:
    page = call("/static/admin/css/base.css")
    assert page.status in {HTTPStatus.OK, HTTPStatus.NOT_FOUND}
    streamed: Iterator[bytes] = iter([b"a", b"b"])
    assert finished(streamed) is streamed


def test_people_are_not_kept_apart_by_what_they_do_not_send(call: Call) -> None:
    query = f"pageId={MessageFactory(author=PersonFactory()).page_id}"
    call("/api/messages", query)
    assert call("/api/messages", query, HTTP_USER_AGENT="another", HTTP_X_USER_ID="x").queries == 0
