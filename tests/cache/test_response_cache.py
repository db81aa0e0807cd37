"""Public GETs through the response cache and Django: hits send no query, and every acknowledged write is visible."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Any

import pytest

from config.api.operations import query_names
from config.cache import versions
from config.cache.memory import ResponseStore
from config.cache.versions import store as version_store
from config.cache.wsgi import cache_key, finish
from embeds.services import disable_embed
from messaging.cache_tags import page_tag
from messaging.services.accounts import ensure_person
from messaging.services.moderation import hide_message, restore_message
from tests.agents.factories import agent_with_token
from tests.cache.conftest import Call, environ_of
from tests.embeds.making import an_embed
from tests.factories import MessageFactory, PageFactory, PersonFactory, SuperAdminFactory
from tests.operations import values

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_hit_sends_no_query(call: Call) -> None:
    message = MessageFactory()
    query = f"pageId={message.page_id}"
    first, second = call("/api/messages", query), call("/api/messages", query)
    assert (first.status, first.queries > 0, second.queries) == (200, True, 0)
    assert (second.body, second.headers) == (first.body, first.headers)
    assert second.headers["Access-Control-Allow-Origin"] == "*"
    assert second.headers["Cache-Control"] == "public, no-cache"


def test_the_metric_has_the_size_of_what_is_cached(call: Call, store: ResponseStore) -> None:
    before, query = values.value("response_cache_bytes"), f"pageId={PageFactory().pk}"
    body = call("/api/messages", query).body
    size = values.value("response_cache_bytes") - before
    assert size == store.bytes > len(body)
    key = cache_key(environ_of("/api/messages", query), query_names)
    assert key
    store.pop(key)
    assert values.value("response_cache_bytes") == before


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
def test_a_write_invalidates_the_lists_that_it_changes(call: Call, change: Callable[..., Any]) -> None:
    message, agent = MessageFactory(), agent_with_token()
    query = f"pageId={message.page_id}&includeTopReply=true"
    before = call("/api/messages", query).body
    change(message, agent)
    after = call("/api/messages", query)
    assert after.body != before
    assert after.queries > 0


def test_hiding_a_post_invalidates_the_lists_that_quote_it(call: Call) -> None:
    quoted = MessageFactory(content="Secret of the author")
    quoting = MessageFactory(quote=quoted)
    query = f"pageId={quoting.page_id}"
    assert b"Secret" in call("/api/messages", query).body
    hide_message(message_id=quoted.pk, by=SuperAdminFactory())
    assert b"Secret" not in call("/api/messages", query).body
    restore_message(message_id=quoted.pk, by=SuperAdminFactory())
    assert b"Secret" in call("/api/messages", query).body


def test_a_reaction_invalidates_its_message_and_its_list(call: Call) -> None:
    message, agent = MessageFactory(), agent_with_token()
    paths = [f"/api/messages/{message.pk}", f"/v1/reactions/{message.pk}"]
    bodies = [call(path).body for path in paths]
    assert [call(path).queries for path in paths] == [0, 0]
    agent.api.post("/v1/reactions", {"messageId": str(message.pk), "emoji": "🎉"})
    assert all(call(path).body != before for path, before in zip(paths, bodies, strict=True))


def test_a_config_is_cached_for_each_origin(call: Call) -> None:
    embed = an_embed(domain_whitelist=["good.example"])
    path = f"/api/embeds/config/{embed.pk}"
    assert call(path, HTTP_ORIGIN="https://good.example").status == 200
    assert call(path, HTTP_ORIGIN="https://good.example").queries == 0
    assert call(path, HTTP_ORIGIN="https://evil.example").status == 403
    disable_embed(embed_id=embed.pk, by=SuperAdminFactory())
    assert b'"status":"disabled"' in call(path, HTTP_ORIGIN="https://good.example").body


def test_a_request_with_a_credential_is_not_served_from_the_cache(call: Call) -> None:
    message = MessageFactory()
    query, token = f"pageId={message.page_id}", agent_with_token().value
    call("/api/messages", query)
    assert call("/api/messages", query, HTTP_AUTHORIZATION=f"Bearer {token}").queries > 0
    assert call("/api/messages", query, HTTP_AUTHORIZATION="Bearer cag_nonsense").status == 401


def test_a_hit_with_a_matching_etag_is_304(call: Call) -> None:
    query = f"pageId={MessageFactory().page_id}"
    etag = call("/api/messages", query).headers["ETag"]
    for tags in (etag, f'"other", W/{etag}', "*"):
        hit = call("/api/messages", query, HTTP_IF_NONE_MATCH=tags)
        assert (hit.status, hit.body, hit.headers["ETag"], hit.queries) == (304, b"", etag, 0)
    for tags in ('"other"', "", "nonsense"):
        assert call("/api/messages", query, HTTP_IF_NONE_MATCH=tags).status == 200


@pytest.mark.parametrize("name", ["HTTP_IF_MATCH", "HTTP_IF_UNMODIFIED_SINCE", "HTTP_IF_MODIFIED_SINCE"])
def test_other_conditions_are_ignored_by_hits_and_misses(call: Call, name: str) -> None:
    condition = {name: '"x"' if name == "HTTP_IF_MATCH" else "Thu, 01 Jan 2015 00:00:00 GMT"}
    query = f"pageId={MessageFactory().page_id}"
    miss, hit = (call("/api/messages", query, **condition) for _ in range(2))
    assert (miss.status, hit.status, hit.queries) == (200, 200, 0)
    assert call("/api/messages", query, HTTP_IF_NONE_MATCH=hit.headers["ETag"], **condition).status == 304


def test_a_miss_that_is_304_caches_the_whole_response(call: Call) -> None:
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
        ("/v1/smart-tags", "", "OPTIONS"),
    ],
)
def test_refusals_and_other_methods_are_not_cached(
    call: Call, store: ResponseStore, path: str, query: str, method: str
) -> None:
    assert call(path, query, method).status in {200, 400, 404, 405}
    assert store.bytes == 0


def test_head_is_served_like_get_and_fills_the_cache_for_it(call: Call) -> None:
    message = MessageFactory()
    path, query = "/api/messages", f"pageId={message.page_id}"
    filling = call(path, query, "HEAD")
    whole = call(path, query)
    assert (filling.status, filling.body, filling.queries > 0) == (200, b"", True)
    assert (whole.status, whole.queries) == (200, 0)
    hit = call(path, query, "HEAD")
    assert (hit.status, hit.body, hit.queries) == (200, b"", 0)
    assert filling.headers == hit.headers == whole.headers | {"Content-Length": str(len(whole.body))}
    MessageFactory(page=message.page)
    versions.invalidate(page_tag(message.page_id))
    assert call(path, query, "HEAD").headers["ETag"] != whole.headers["ETag"]


@pytest.mark.parametrize(
    ("path", "query", "again"),
    [
        ("/feeds/pages/{page}.atom", "", ("x=1", "limit=7", "&&", "%70ageId=2")),
        ("/api/messages/{post}", "", ("pageId=1", "x")),
        ("/api/messages", "pageId={page}&limit=5", ("x=1&pageId={page}&limit=5", "pageId={page}&&limit=5&Limit=6")),
    ],
)
def test_parameters_that_an_operation_does_not_know_enter_django_once(
    call: Call, path: str, query: str, again: tuple[str, ...]
) -> None:
    post = MessageFactory(content="A post")
    places = {"page": post.page_id, "post": post.pk}
    first = call(path.format(**places), query.format(**places))
    assert (first.status, first.queries > 0) == (200, True)
    for other in again:
        sent = call(path.format(**places), other.format(**places))
        assert (sent.status, sent.queries, sent.body) == (200, 0, first.body), other


def test_a_known_parameter_with_an_encoded_name_is_part_of_the_key(call: Call) -> None:
    post = MessageFactory()
    MessageFactory(page=post.page)
    assert call("/api/messages", f"pageId={post.page_id}").body.count(b'"replyCount"') == 2
    assert call("/api/messages", f"pageId={post.page_id}&%6Cimit=1").body.count(b'"replyCount"') == 1


def test_a_foreign_host_is_refused_when_the_path_is_cached(call: Call) -> None:
    assert call("/v1/smart-tags").status == 200
    assert call("/v1/smart-tags", HTTP_HOST="evil.example").status == 400


def test_headers_that_no_response_varies_by_are_not_part_of_the_key(call: Call) -> None:
    query = f"pageId={MessageFactory(author=PersonFactory()).page_id}"
    call("/api/messages", query)
    assert call("/api/messages", query, HTTP_USER_AGENT="another", HTTP_X_USER_ID="x").queries == 0


def test_the_memory_is_bounded_and_the_oldest_entries_are_evicted(call: Call, store: ResponseStore) -> None:
    message = MessageFactory(content="x" * 20_000)
    queries = [f"pageId={message.page_id}&limit={n}" for n in range(1, 101)]
    for query in queries:
        call("/api/messages", query)
    oldest, newest = (cache_key(environ_of("/api/messages", query), query_names) for query in (queries[0], queries[-1]))
    assert oldest
    assert newest
    assert 0 < store.bytes <= 1_000_000
    assert store.get(oldest) is None
    assert store.get(newest)


def test_without_versions_each_read_enters_django_once(
    call: Call, django_paths: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"/api/messages/{MessageFactory().pk}"
    queries = call(path).queries
    for name, value in (("read", None), ("is_available", False)):
        monkeypatch.setattr(version_store(), name, lambda *_, value=value: value)
        assert call(path).queries == queries
    assert len(django_paths) == 3


def test_a_stream_passes_through(call: Call) -> None:
    page = call("/static/admin/css/base.css")
    assert page.status in {HTTPStatus.OK, HTTPStatus.NOT_FOUND}
    streamed: Iterator[bytes] = iter([b"a", b"b"])
    assert finish(streamed) is streamed
