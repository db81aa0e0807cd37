"""Public GETs through the response cache and Django: hits send no query, and every acknowledged write is visible."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Any

import pytest

from embeds.services import disable_embed
from kernel.api.operations import query_names
from kernel.cache import versions
from kernel.cache.memory import ResponseStore
from kernel.cache.versions import EVERYTHING
from kernel.cache.versions import store as version_store
from kernel.cache.wsgi import cache_key, finish
from messaging.accounts.services import ensure_person
from messaging.cache_tags import page_tag
from messaging.moderation.services import hide_message, restore_message
from tests.agents.factories import agent_with_token
from tests.api import Api, refusal_of
from tests.cache.conftest import Call, environ_of
from tests.embeds.making import an_embed
from tests.factories import CommunityFactory, MessageFactory, PageFactory, SuperAdminFactory
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
    # No response varies by these headers.
    assert call("/api/messages", query, HTTP_USER_AGENT="another", HTTP_X_USER_ID="x").queries == 0


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


@pytest.mark.parametrize("waits", [False, True])
def test_an_edit_invalidates_the_lists_that_quote_the_post(call: Call, waits: bool) -> None:
    """The post may wait for approval after the edit."""
    community = CommunityFactory(pre_moderation="everyone" if waits else "off")
    quoted = MessageFactory(community=community, content="Secret of the author")
    quoting = MessageFactory(quote=quoted)
    query = f"pageId={quoting.page_id}"
    assert b"Secret" in call("/api/messages", query).body
    edited = Api.as_person(quoted.author).put(f"/api/messages/{quoted.pk}", {"content": "Corrected"})
    assert edited.json["status"] == ("pending" if waits else "published")
    after = call("/api/messages", query).body
    assert (b"Secret" in after, b"Corrected" in after) == (False, not waits)


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


def test_other_conditions_are_ignored_by_hits_and_misses(call: Call) -> None:
    date = "Thu, 01 Jan 2015 00:00:00 GMT"
    for name, value in (("MATCH", '"x"'), ("UNMODIFIED_SINCE", date), ("MODIFIED_SINCE", date)):
        condition, query = {f"HTTP_IF_{name}": value}, f"pageId={MessageFactory().page_id}"
        miss, hit = (call("/api/messages", query, **condition) for _ in range(2))
        assert (miss.status, hit.status, hit.queries) == (200, 200, 0)
        assert call("/api/messages", query, HTTP_IF_NONE_MATCH=hit.headers["ETag"], **condition).status == 304


def test_a_miss_that_is_304_caches_the_whole_response(call: Call) -> None:
    query = f"pageId={MessageFactory().page_id}"
    assert call("/api/messages", query, HTTP_IF_NONE_MATCH="*").status == 304
    whole = call("/api/messages", query)
    assert (whole.status, whole.queries, whole.body[:13]) == (200, 0, b'{"messages":[')


def test_refusals_and_other_methods_are_not_cached(call: Call, store: ResponseStore) -> None:
    for path, query, method, status in (
        ("/api/messages", "", "GET", 400),
        ("/api/messages", "pageId=nonsense", "GET", 400),
        ("/api/messages/01a1f811-f718-77e8-9670-721b30c88378", "", "GET", 404),
        ("/api/nothing", "", "GET", 404),
        ("/v1/smart-tags", "", "OPTIONS", 405),
    ):
        assert call(path, query, method).status == status
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


def test_headers_that_change_no_response_are_no_part_of_the_key(call: Call) -> None:
    path = f"/feeds/pages/{MessageFactory().page_id}.atom"
    first = call(path)
    for header, value in (("ORIGIN", "https://x1.example"), ("X_FORWARDED_PROTO", "x1"), ("X_FORWARDED_PROTO", "http")):
        sent = call(path, **{f"HTTP_{header}": value})
        assert (sent.status, sent.queries, sent.body, sent.headers) == (200, 0, first.body, first.headers)
    assert call(path, HTTP_X_FORWARDED_PROTO="https, http").queries > 0


def test_a_foreign_host_is_refused_when_the_path_is_cached(call: Call) -> None:
    assert call("/v1/smart-tags").status == 200
    assert call("/v1/smart-tags", HTTP_HOST="evil.example").status == 400


def test_the_memory_is_bounded_and_the_oldest_entries_are_evicted(call: Call, store: ResponseStore) -> None:
    message = MessageFactory(content="x" * 20_000)
    queries = [f"pageId={message.page_id}&limit={n}" for n in range(1, 61)]
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


# A refreshed response equals Django's; on an error the request enters Django.


def test_a_refreshed_response_is_what_django_would_send(call: Call, django_paths: list[str]) -> None:
    message, embed, agent = MessageFactory(), an_embed(domain_whitelist=["good.example"]), agent_with_token()
    reads = (
        ("/api/messages", f"pageId={message.page_id}&limit=1&includeTopReply=true"),
        (f"/api/messages/{message.pk}", ""),
        (f"/v1/reactions/{message.pk}", "limit=1"),
        (f"/api/embeds/config/{embed.pk}", ""),
        ("/api/embeds/client-config", ""),
        ("/v1/smart-tags", ""),
    )
    for read in reads:
        call(*read, HTTP_ORIGIN="https://good.example")
    agent.api.post("/api/messages", {"pageId": message.page_id, "content": "Re", "parentId": str(message.pk)})
    agent.api.post("/api/messages", {"pageId": message.page_id, "content": "New"})
    agent.api.post("/v1/reactions", {"messageId": str(message.pk), "emoji": "🎉"})
    version_store().bump((EVERYTHING,))
    for path, query in reads:
        django_paths.clear()
        refreshed = call(path, query, HTTP_ORIGIN="https://good.example")
        assert django_paths == []
        # Another key, so this one enters Django.
        sent = call(path, query, HTTP_ORIGIN="https://good.example", HTTP_X_FORWARDED_PROTO="https")
        assert django_paths == [path]
        assert (refreshed.status, refreshed.body, refreshed.headers) == (200, sent.body, sent.headers)


def test_after_a_failed_refresh_django_is_entered_once(call: Call, django_paths: list[str]) -> None:
    message = MessageFactory()
    path = f"/api/messages/{message.pk}"
    assert call(path).status == 200
    hide_message(message_id=message.pk, by=SuperAdminFactory())
    refused = call(path)
    assert (refused.status, refusal_of(refused.body)) == (404, {"error": "message_not_found"})
    assert refused.headers["Access-Control-Allow-Origin"] == "*"
    assert len(django_paths) == 2
    assert call(path).queries == 1


# Each response that is served from memory has an id of its own.


def test_a_hit_a_refresh_and_a_304_have_ids_of_their_own(call: Call, django_paths: list[str]) -> None:
    message = MessageFactory()
    path, query = "/api/messages", f"pageId={message.page_id}"
    filled, hit = call(path, query), call(path, query)
    unmodified = call(path, query, HTTP_IF_NONE_MATCH=hit.headers["ETag"])
    hide_message(message_id=message.pk, by=SuperAdminFactory())
    refreshed = call(path, query)
    assert [sent.status for sent in (filled, hit, unmodified, refreshed)] == [200, 200, 304, 200]
    assert django_paths == [path], "only the first one entered Django"
    assert len({sent.request_id for sent in (filled, hit, unmodified, refreshed)}) == 4


def test_a_refusal_is_not_cached_with_its_id(call: Call) -> None:
    refused = [call("/api/messages", "pageId=x") for _ in range(2)]
    assert all(sent.request_id.encode() in sent.body for sent in refused)
    assert refused[0].request_id != refused[1].request_id


def test_a_trusted_proxy_names_the_id_of_a_hit(call: Call, settings: pytest.MonkeyPatch) -> None:
    call("/v1/smart-tags")
    assert call("/v1/smart-tags", HTTP_X_REQUEST_ID="from-a-client").request_id != "from-a-client"
    settings.TRUSTED_PROXIES = ["127.0.0.1"]  # type: ignore[attr-defined]
    assert call("/v1/smart-tags", HTTP_X_REQUEST_ID="from-the-proxy").request_id == "from-the-proxy"


def test_a_cached_response_links_to_the_description(call: Call) -> None:
    for _ in range(2):
        assert call("/v1/smart-tags").headers["Link"] == (
            '</openapi.json>; rel="service-desc", </llms.txt>; rel="service-doc", '
            '</.well-known/api-catalog>; rel="api-catalog"'
        )
