"""Each response that is served from memory has an id of its own."""

from __future__ import annotations

import pytest

from messaging.services.moderation import hide_message
from tests.cache.conftest import Call
from tests.factories import MessageFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db(transaction=True)


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
            '</openapi.json>; rel="service-desc", </llms.txt>; rel="service-doc"'
        )
