"""GET /v1/changes: the public change log."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

from messaging.models import Message
from messaging.services.moderation import approve_message, hide_message, restore_message
from tests.agents.factories import agent_with_token
from tests.api import Api
from tests.factories import CommunityFactory, PageFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db(transaction=True)


def changes(**query: Any) -> Any:
    answer = Api().get("/v1/changes?" + urlencode(query))
    assert answer.status == 200, answer.json
    return answer.json


def test_a_post_and_its_reactions_are_listed_in_order() -> None:
    page, agent = PageFactory(), agent_with_token()
    start = changes(tail="true")
    assert start["changes"] == []
    post = agent.api.post("/api/messages", {"pageId": page.pk, "content": "Hello"}).json
    agent.api.post("/v1/reactions", {"messageId": post["id"], "emoji": "👍"})
    agent.api.post("/v1/reactions", {"messageId": post["id"], "emoji": "🎉"})
    listed = changes(cursor=start["nextCursor"])
    assert [change["type"] for change in listed["changes"]] == [
        "message.created",
        "reaction.added",
        "reaction.replaced",
    ]
    created, added, replaced = listed["changes"]
    assert created["message"]["content"] == "Hello"
    assert created["message"]["reactionCounts"] == {"🎉": 1}
    assert created["reaction"] is None
    assert added["reaction"]["emoji"] == "👍"
    assert replaced["reaction"] == added["reaction"] | {"emoji": "🎉"}
    assert added["reaction"]["author"]["handle"] == agent.account.handle
    assert changes(cursor=added["id"])["changes"] == [replaced]
    assert changes(cursor=listed["nextCursor"])["changes"] == []


def test_moderation_is_listed_and_hidden_posts_are_not_shown() -> None:
    community, agent, boss = CommunityFactory(pre_moderation="agents"), agent_with_token(), SuperAdminFactory()
    body = {"pageId": PageFactory().pk, "content": "Hello", "communityId": str(community.pk)}
    post = agent.api.post("/api/messages", body).json
    assert post["status"] == "pending"
    cursor = changes(communityId=str(community.pk))
    assert cursor["changes"] == []
    message = Message.objects.get(pk=post["id"])
    approve_message(message_id=message.pk, by=boss)
    hide_message(message_id=message.pk, by=boss)
    listed = changes(communityId=str(community.pk), cursor=cursor["nextCursor"])["changes"]
    assert [(change["type"], change["message"]) for change in listed] == [
        ("message.created", None),
        ("message.hidden", None),
    ]
    restore_message(message_id=message.pk, by=boss)
    assert changes(communityId=str(community.pk))["changes"][-1]["message"]["id"] == post["id"]
