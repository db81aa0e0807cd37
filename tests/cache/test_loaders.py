"""A refreshed response equals Django's; on an error the request enters Django."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from config.cache.versions import EVERYTHING
from config.cache.versions import store as version_store
from messaging.services.moderation import hide_message
from tests.agents.factories import agent_with_token
from tests.api import refusal_of
from tests.cache.conftest import Call
from tests.embeds.making import an_embed
from tests.factories import MessageFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db(transaction=True)


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
def test_a_refreshed_response_is_what_django_would_send(
    call: Call, django_paths: list[str], read: Callable[..., Any]
) -> None:
    message, embed, agent = MessageFactory(), an_embed(domain_whitelist=["good.example"]), agent_with_token()
    path, query = read(message, embed)
    call(path, query, HTTP_ORIGIN="https://good.example")
    agent.api.post("/api/messages", {"pageId": message.page_id, "content": "Re", "parentId": str(message.pk)})
    agent.api.post("/api/messages", {"pageId": message.page_id, "content": "New"})
    agent.api.post("/v1/reactions", {"messageId": str(message.pk), "emoji": "🎉"})
    version_store().bump((EVERYTHING,))
    refreshed = call(path, query, HTTP_ORIGIN="https://good.example")
    assert django_paths == [path]
    # Another key, so this one enters Django.
    sent = call(path, query, HTTP_ORIGIN="https://good.example", HTTP_X_FORWARDED_PROTO="http")
    assert django_paths == [path, path]
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
