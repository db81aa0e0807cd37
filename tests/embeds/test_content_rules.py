"""createMessage with `x-service-embed-id`."""

from __future__ import annotations

from typing import Any

import pytest

from embeds.models import Embed, EmbedStatus
from messaging.models import Message
from tests.agents.factories import agent_with_token
from tests.api import Answer, Api
from tests.embeds.making import UNKNOWN_ID, a_widget_on, an_embed
from tests.factories import CommunityFactory, MessageFactory, PageFactory, PersonFactory

pytestmark = pytest.mark.django_db


def post(embed: Embed | str, *, api: Api | None = None, origin: str | None = None, **body: Any) -> Answer:
    sent = {"pageId": PageFactory().pk, "content": "Good day"} | body
    headers = {"x-service-embed-id": str(embed.pk) if isinstance(embed, Embed) else embed}
    headers |= {"Origin": origin} if origin else {}
    return (api or Api.as_person(PersonFactory())).post("/api/messages", sent, headers=headers)


def test_a_message_stores_the_embed_and_takes_its_community() -> None:
    embed = an_embed()
    response = post(embed)
    assert (response.status, response.json["communityId"]) == (201, str(embed.community_id))
    assert Message.objects.get().embed_id == embed.pk


def test_a_message_may_name_only_the_community_of_the_embed() -> None:
    embed = an_embed()
    assert post(embed, communityId=str(embed.community_id)).status == 201
    other = post(embed, communityId=str(CommunityFactory().pk))
    assert (other.status, other.error) == (400, "community_mismatch")
    assert Message.objects.count() == 1


def test_a_reply_gets_the_community_of_its_parent() -> None:
    embed = an_embed()
    for parent in (MessageFactory(), MessageFactory(community=CommunityFactory())):
        response = post(embed, pageId=parent.page_id, parentId=str(parent.pk))
        assert response.status == 201
        assert response.json["communityId"] == (str(parent.community_id) if parent.community_id else None)


def test_a_reply_may_name_only_the_community_of_its_parent() -> None:
    embed, parent = an_embed(), MessageFactory(community=CommunityFactory())
    reply = {"pageId": parent.page_id, "parentId": str(parent.pk)}
    response = post(embed, **reply, communityId=str(parent.community_id))
    assert (response.status, response.json.get("communityId")) == (201, str(parent.community_id))
    for other in (embed.community_id, CommunityFactory().pk):
        refused = post(embed, **reply, communityId=str(other))
        assert (refused.status, refused.error) == (400, "community_mismatch")


def test_a_quote_takes_the_community_of_the_embed() -> None:
    embed = an_embed()
    assert post(embed, quoteId=str(MessageFactory().pk)).json["communityId"] == str(embed.community_id)


@pytest.mark.parametrize("unknown", [UNKNOWN_ID, "17", "", "{}"])
def test_an_unknown_embed_is_404(unknown: str) -> None:
    response = post(unknown)
    assert (response.status, response.error) == (404, "embed_not_found")


@pytest.mark.parametrize("status", [EmbedStatus.PAUSED, EmbedStatus.DISABLED])
def test_an_inactive_embed_refuses_messages(status: EmbedStatus) -> None:
    embed = an_embed()
    Embed.objects.update(status=status)
    response = post(embed)
    assert (response.status, response.error) == (403, "embed_not_active")
    assert not Message.objects.exists()


@pytest.mark.parametrize(
    ("origin", "status"),
    [(None, 201), ("https://example.com", 201), ("https://example.com.evil.net", 403), ("null", 403)],
)
def test_the_embed_has_to_allow_the_origin(origin: str | None, status: int) -> None:
    response = post(an_embed(domain_whitelist=["example.com"]), origin=origin)
    assert response.status == status
    assert status == 201 or response.error == "domain_not_allowed"


@pytest.mark.parametrize(
    ("app", "origin", "status"),
    [
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000", 201),
        ("http://127.0.0.1:8000", "http://localhost:8000", 201),
        ("http://localhost:8000", "http://127.0.0.1:8000", 201),
        ("http://127.0.0.1:8000", "http://localhost:9000", 403),
        ("http://127.0.0.1:8000", "https://localhost:8000", 403),
        ("https://app.example", "https://app.example", 201),
        ("https://app.example", "http://app.example", 403),
        ("https://app.example", "http://localhost:8000", 403),
    ],
)
def test_the_panel_of_the_app_may_post_and_on_the_local_host_that_of_its_other_name(
    settings: Any, app: str, origin: str, status: int
) -> None:
    settings.APP_URL = app
    assert post(an_embed(domain_whitelist=["example.com"]), origin=origin).status == status


@pytest.mark.parametrize(
    "body",
    [
        {"content": "So much SPAM here"},
        {"content": "fine", "anchorText": "spam"},
        {"content": "fine", "tagType": "note", "payload": {"deep": [{"text": "spam"}]}},
    ],
)
def test_the_word_list_of_the_embed_applies(body: dict[str, Any]) -> None:
    embed = an_embed(blocked_words=["spam"])
    response = post(embed, **body)
    assert (response.status, response.error) == (422, "content_blocked")
    assert post(an_embed(), **body).status == 201


def test_a_post_of_a_paused_embed_can_be_edited_by_its_word_list_and_reported_and_deleted() -> None:
    author, reader = Api.as_person(PersonFactory()), Api.as_person(PersonFactory())
    embed = an_embed(blocked_words=["spam"])
    message_id = post(embed, api=author).json["id"]
    Embed.objects.update(status=EmbedStatus.PAUSED)
    sent: dict[str, Any] = {"headers": {"x-service-embed-id": str(embed.pk)}}
    path = f"/api/messages/{message_id}"
    assert author.put(path, {"content": "spam"}).error == "content_blocked"
    assert author.put(path, {"content": "Corrected"}, **sent).status == 200
    assert reader.post("/v1/reactions", {"messageId": message_id, "emoji": "👍"}, **sent).status == 200
    assert reader.post(f"{path}/report", {"reason": "spam"}, **sent).status == 200
    assert author.delete(path, **sent).status == 200


def test_the_word_list_of_the_community_applies_too() -> None:
    embed = an_embed(community_id=CommunityFactory(blocked_words=["rude"]).pk, blocked_words=["spam"])
    assert [post(embed, content=text).status for text in ("rude", "spam", "neither")] == [422, 422, 201]


def test_an_agent_limited_to_communities_has_to_name_one() -> None:
    embed = an_embed()
    assert post(embed, api=agent_with_token().api).status == 201
    limited = agent_with_token(community_ids=[embed.community_id]).api
    assert post(embed, api=limited).error == "agent_community_not_allowed"
    assert post(embed, api=limited, communityId=str(embed.community_id)).status == 201


def test_a_dry_run_takes_the_community_of_the_embed_and_its_rules() -> None:
    embed = an_embed(community_id=CommunityFactory(pre_moderation="everyone", agents_may_post=False).pk)
    sent: dict[str, Any] = {"pageId": PageFactory().pk, "content": "Good day"}
    headers = {"x-service-embed-id": str(embed.pk)}

    def dry_run(api: Api, **body: Any) -> Answer:
        return api.post("/api/messages?dryRun=true", sent | body, headers=headers)

    checked = dry_run(Api.as_person(PersonFactory()))
    assert (checked.status, checked.json["wouldBe"]) == (200, "pending")
    assert checked.json["message"]["communityId"] == str(embed.community_id)
    assert dry_run(agent_with_token().api).error == "community_forbids"
    limited = agent_with_token(community_ids=[embed.community_id]).api
    assert dry_run(limited).error == "agent_community_not_allowed"
    assert dry_run(limited, communityId=str(embed.community_id)).error == "community_forbids"
    assert not Message.objects.exists()


def test_a_post_that_names_neither_an_embed_nor_a_community_has_none_also_on_a_page_with_a_widget() -> None:
    embed = a_widget_on("site.example")
    answer = Api().post("/v1/presence/normalize-url", {"url": "https://site.example/"}).json
    assert [each["id"] for each in answer["communities"]] == [str(embed.community_id)]
    for api in (Api.as_person(PersonFactory()), agent_with_token().api):
        response = api.post("/api/messages", {"pageId": answer["pageId"], "content": "Good day"})
        assert (response.status, response.json["communityId"]) == (201, None)
    limited = agent_with_token(community_ids=[embed.community_id]).api
    refused = limited.post("/api/messages", {"pageId": answer["pageId"], "content": "Good day"})
    assert refused.error == "agent_community_not_allowed"


def test_the_rules_of_the_embeds_community_apply_to_a_post_that_names_none() -> None:
    community, bystander = CommunityFactory(agents_may_post=False), CommunityFactory()
    embed = an_embed(community_id=community.pk)
    agent = agent_with_token().api
    assert post(embed, api=agent).error == "community_forbids"
    assert post(an_embed(community_id=bystander.pk), api=agent).json["communityId"] == str(bystander.pk)


def test_a_refused_message_is_not_charged() -> None:
    agent = agent_with_token()
    embed = an_embed(blocked_words=["spam"], domain_whitelist=["example.com"])
    assert post(embed, api=agent.api, content="spam").status == 422
    assert post(embed, api=agent.api, origin="https://evil.net").status == 403
    response = post(embed, api=agent.api)
    assert response.headers["RateLimit"].startswith('"post";r=29;')
