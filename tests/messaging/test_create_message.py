"""createMessage: fields, caps, scopes, communities, rules, word lists."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest

from messaging.models import Message, MessageStatus
from tests.agents.factories import TokenHolder, agent_with_token
from tests.api import Answer, Api
from tests.factories import CommunityFactory, MessageFactory, PageFactory, PersonFactory

pytestmark = pytest.mark.django_db
PATH = "/api/messages"


@pytest.fixture
def agent() -> TokenHolder:
    return agent_with_token()


@pytest.fixture
def page_id() -> str:
    return str(PageFactory().pk)


def post(caller: Api, page_id: str, **fields: Any) -> Answer:
    return caller.post(PATH, {"pageId": page_id, "content": "Hello", **fields})


def test_an_agent_posts_and_everybody_reads_it(agent: TokenHolder, page_id: str) -> None:
    answer = post(agent.api, page_id, content="Grüße 👋", language="de", sourceApp="cli")
    assert answer.status == 201
    record = answer.json
    assert record["author"] == {
        "id": str(agent.account.pk),
        "name": agent.account.name,
        "handle": agent.account.handle,
        "kind": "agent",
    }
    assert (record["content"], record["status"], record["pageId"]) == ("Grüße 👋", "published", page_id)
    assert record["createdAt"].endswith("Z")
    assert answer.headers["Location"] == f"/api/messages/{record['id']}"
    assert Api().get(answer.headers["Location"]).json == record
    assert Api().get(PATH, pageId=page_id).json["messages"] == [record]


def test_a_person_posts_with_a_user_token(page_id: str) -> None:
    person = PersonFactory()
    answer = post(Api.as_person(person), page_id)
    assert answer.status == 201
    assert answer.json["author"]["kind"] == "human"
    assert "RateLimit" not in answer.headers


def test_nobody_and_a_sign_in_token_are_refused(page_id: str) -> None:
    assert (post(Api(), page_id).status, post(Api(), page_id).error) == (401, "not_authenticated")
    signed_in = post(Api.as_signed_in(PersonFactory()), page_id)
    assert (signed_in.status, signed_in.error) == (401, "invalid_token")
    assert not Message.objects.exists()


@pytest.mark.parametrize(
    ("held", "needed", "fields"),
    [
        ({"reply", "quote", "react"}, "post", ()),
        ({"post", "quote", "react"}, "reply", ("parentId",)),
        ({"post", "reply", "react"}, "quote", ("quoteId",)),
        ({"post", "reply"}, "quote", ("parentId", "quoteId")),
        ({"post", "quote"}, "reply", ("parentId", "quoteId")),
    ],
)
def test_the_scope_follows_from_parent_and_quote(held: set[str], needed: str, fields: tuple[str, ...]) -> None:
    target = MessageFactory()
    answer = post(agent_with_token(scopes=sorted(held)).api, target.page_id, **dict.fromkeys(fields, str(target.pk)))
    assert (answer.status, answer.error) == (403, f"agent_scope_missing:{needed}")
    assert Message.objects.count() == 1


def test_the_missing_scope_is_told_before_anything_else_is_looked_at() -> None:
    answer = agent_with_token(scopes=["react"]).api.post(PATH, {"pageId": "nonsense"})
    assert answer.error == "agent_scope_missing:post"


def test_a_reply_and_a_quote_are_counted_on_what_they_answer(agent: TokenHolder) -> None:
    target = MessageFactory()
    reply = post(agent.api, target.page_id, parentId=str(target.pk)).json
    both = post(agent.api, target.page_id, parentId=reply["id"], quoteId=str(target.pk)).json
    assert both["quote"] == {
        "id": str(target.pk),
        "content": target.content,
        "author": {
            "id": str(target.author_id),
            "name": target.author.name,
            "handle": target.author.handle,
            "kind": "human",
        },
        "createdAt": both["quote"]["createdAt"],
    }
    target.refresh_from_db()
    assert (target.reply_count, target.quote_count) == (1, 1)
    assert Message.objects.get(pk=reply["id"]).reply_count == 1


@pytest.mark.parametrize("field", ["parentId", "quoteId"])
@pytest.mark.parametrize("status", [MessageStatus.PENDING, MessageStatus.HIDDEN, MessageStatus.DELETED, None])
def test_an_unknown_or_unpublished_target_is_404(
    agent: TokenHolder, field: str, status: MessageStatus | None, page_id: str
) -> None:
    target = MessageFactory(status=status).pk if status else uuid4()
    page = Message.objects.get(pk=target).page_id if status else page_id
    answer = post(agent.api, page, **{field: str(target)})
    assert (answer.status, answer.error) == (404, "parent_not_found" if field == "parentId" else "quote_not_found")


def test_a_parent_on_another_page_is_404(agent: TokenHolder, page_id: str) -> None:
    assert post(agent.api, page_id, parentId=str(MessageFactory().pk)).error == "parent_not_found"


def test_a_quote_may_come_from_another_page(agent: TokenHolder, page_id: str) -> None:
    assert post(agent.api, page_id, quoteId=str(MessageFactory().pk)).status == 201


OVER = [
    ("content", "x" * 20_001, "content_too_long", 20_000),
    ("content", "👋" * 20_001, "content_too_long", 20_000),
    ("anchorText", "x" * 2_001, "content_too_long", 2_000),
    ("language", "x" * 17, "content_too_long", 16),
    ("sourceApp", "x" * 65, "content_too_long", 64),
    ("attachments", [{"type": "link", "url": "https://a.example/"}] * 21, "payload_too_large", 20),
]


@pytest.mark.parametrize(("field", "value", "code", "cap"), OVER)
def test_over_a_cap_is_413_with_field_and_max(
    agent: TokenHolder, page_id: str, field: str, value: Any, code: str, cap: int
) -> None:
    answer = post(agent.api, page_id, **{field: value})
    assert (answer.status, answer.json) == (413, {"error": code, "field": field, "max": cap})
    assert not Message.objects.exists()


def test_at_the_caps_is_fine(agent: TokenHolder, page_id: str) -> None:
    fields = {field: value[: len(value) - 1] for field, value, _code, _cap in OVER}
    assert post(agent.api, page_id, **fields).status == 201


def test_nested_caps_name_their_path(agent: TokenHolder, page_id: str) -> None:
    links = [{"type": "link", "url": "https://a.example/"}] * 3 + [{"type": "link", "url": "https://a/" + "x" * 2039}]
    answer = post(agent.api, page_id, attachments=links)
    assert answer.json == {"error": "content_too_long", "field": "attachments[3].url", "max": 2048}
    answer = post(agent.api, page_id, tagType="note", payload={"rationale": "x" * 4001})
    assert answer.json == {"error": "payload_too_large", "field": "payload.rationale", "max": 4000}
    answer = post(agent.api, page_id, tagType="note", payload={"a": "ü" * 32_800})
    assert answer.json == {"error": "payload_too_large", "field": "payload", "max": 65_536}


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"content": ""}, "empty_message"),
        ({"content": " \n\t "}, "empty_message"),
        ({"content": 5}, "invalid_input"),
        ({"content": None}, "empty_message"),
        ({"communityId": "no-uuid"}, "invalid_input"),
        ({"parentId": "{6ba7b810-9dad-11d1-80b4-00c04fd430c8}"}, "invalid_input"),
        ({"payload": {"a": 1}}, "invalid_input"),
        ({"payload": [], "tagType": "note"}, "invalid_input"),
        ({"tagType": "gossip"}, "invalid_input"),
        ({"tagType": "review", "payload": {"rating": "five"}}, "invalid_payload"),
        ({"tagType": "poll"}, "invalid_payload"),
        ({"attachments": {}}, "invalid_input"),
        ({"attachments": [{"type": "link"}]}, "invalid_input"),
        ({"attachments": [{"type": "link", "url": "javascript:alert(1)"}]}, "invalid_input"),
        ({"attachments": [{"type": "link", "url": "https://user:pw@a.example/"}]}, "invalid_input"),
        ({"attachments": [{"type": "link", "url": "https:///nohost"}]}, "invalid_input"),
        ({"attachments": [{"type": "link", "url": " https://a.example/"}]}, "invalid_input"),
        ({"attachments": [{"type": "link", "url": "ftp://a.example/"}]}, "invalid_input"),
        ({"contextAnchor": "text"}, "invalid_input"),
        ({"pageId": "p1_short"}, "unknown_page"),
        ({"pageId": "p1_" + "a" * 32}, "unknown_page"),
    ],
)
def test_bad_input_is_400_and_writes_nothing(
    agent: TokenHolder, page_id: str, fields: dict[str, Any], code: str
) -> None:
    answer = post(agent.api, page_id, **fields)
    assert (answer.status, answer.error) == (400, code)
    assert not Message.objects.exists()


@pytest.mark.parametrize(
    "fields",
    [
        {"tagType": "poll", "payload": {"options": ["tea", "coffee"], "question": "Which?"}},
        {"attachments": [{"type": "link", "url": "https://a.example/?q=1#x"}]},
    ],
)
def test_a_post_without_text_needs_something_else(agent: TokenHolder, page_id: str, fields: dict[str, Any]) -> None:
    answer = agent.api.post(PATH, {"pageId": page_id, **fields})
    assert answer.status == 201, answer.json
    assert answer.json["content"] == ""


def test_a_quote_needs_no_text(agent: TokenHolder) -> None:
    target = MessageFactory()
    assert agent.api.post(PATH, {"pageId": target.page_id, "quoteId": str(target.pk)}).status == 201


def test_unknown_fields_are_ignored(agent: TokenHolder, page_id: str) -> None:
    assert post(agent.api, page_id, status="hidden", shoeSize=44).json["status"] == "published"


def test_a_limited_agent_must_name_one_of_its_communities(page_id: str) -> None:
    mine, other = CommunityFactory(), CommunityFactory()
    limited = agent_with_token(community_ids=[mine.pk])
    for fields in ({}, {"communityId": str(other.pk)}, {"communityId": str(uuid4())}):
        answer = post(limited.api, page_id, **fields)
        assert (answer.status, answer.error) == (403, "agent_community_not_allowed")
    assert post(limited.api, page_id, communityId=str(mine.pk)).json["communityId"] == str(mine.pk)


def test_a_limited_agent_must_name_the_community_for_a_reply_too() -> None:
    mine = CommunityFactory()
    parent = MessageFactory(community=mine)
    limited = agent_with_token(community_ids=[mine.pk])
    assert post(limited.api, parent.page_id, parentId=str(parent.pk)).error == "agent_community_not_allowed"
    assert post(limited.api, parent.page_id, parentId=str(parent.pk), communityId=str(mine.pk)).status == 201


def test_an_unknown_community_is_404(agent: TokenHolder, page_id: str) -> None:
    answer = post(agent.api, page_id, communityId=str(uuid4()))
    assert (answer.status, answer.error) == (404, "community_not_found")


def test_a_reply_takes_the_community_of_its_parent_and_no_other(agent: TokenHolder) -> None:
    parent = MessageFactory(community=CommunityFactory())
    reply = post(agent.api, parent.page_id, parentId=str(parent.pk))
    assert reply.json["communityId"] == str(parent.community_id)
    other = post(agent.api, parent.page_id, parentId=str(parent.pk), communityId=str(CommunityFactory().pk))
    assert (other.status, other.error) == (400, "community_mismatch")


@pytest.mark.parametrize(
    ("rules", "fields", "agent_status", "person_status"),
    [
        ({}, {}, 201, 201),
        ({"agents_may_post": False}, {}, 403, 201),
        ({"people_may_post": False}, {}, 201, 403),
        ({"read_only": True}, {}, 403, 403),
        ({"allowed_tag_types": ["claim"]}, {"tagType": "note"}, 403, 403),
        ({"allowed_tag_types": ["note"]}, {"tagType": "note"}, 201, 201),
        ({"allowed_tag_types": ["claim"]}, {}, 201, 201),
    ],
)
def test_community_rules(
    page_id: str, agent: TokenHolder, rules: Any, fields: Any, agent_status: int, person_status: int
) -> None:
    community = str(CommunityFactory(**rules).pk)
    callers = ((agent.api, agent_status), (Api.as_person(PersonFactory()), person_status))
    for caller, status in callers:
        answer = post(caller, page_id, communityId=community, **fields)
        assert answer.status == status
        assert status == 201 or answer.error == "community_forbids"


@pytest.mark.parametrize(
    ("mode", "agent_state", "person_state"),
    [("off", "published", "published"), ("agents", "pending", "published"), ("everyone", "pending", "pending")],
)
def test_pre_moderation(agent: TokenHolder, mode: str, agent_state: str, person_state: str) -> None:
    parent = MessageFactory(community=CommunityFactory(pre_moderation=mode))
    for caller, state in ((agent.api, agent_state), (Api.as_person(PersonFactory()), person_state)):
        record = post(caller, parent.page_id, parentId=str(parent.pk)).json
        assert record["status"] == state
        assert Api().get(f"{PATH}/{record['id']}").status == (200 if state == "published" else 404)
    parent.refresh_from_db()
    assert parent.reply_count == [agent_state, person_state].count("published")


@pytest.mark.parametrize(
    "fields",
    [
        {"content": "Buy CHEAP   pills now"},
        {"content": "ｃｈｅａｐ pills"},
        {"anchorText": "cheap pills"},
        {"content": "Get your _cheap_ _pills_ here"},
        {"content": "**cheap pills**"},
        {"tagType": "note", "payload": {"deep": [{"er": "cheap, pills"}]}},
        {"tagType": "note", "payload": {"deep": [{"cheap pills": 1}]}},
        {"attachments": [{"type": "cheap pills", "url": "https://example.com"}]},
        {"attachments": [{"type": "image", "url": "https://example.com/cheap-pills.png"}]},
    ],
)
def test_a_blocked_word_is_422(agent: TokenHolder, page_id: str, fields: Any) -> None:
    community = CommunityFactory(blocked_words=["cheap pills"])
    answer = post(agent.api, page_id, communityId=str(community.pk), **fields)
    assert (answer.status, answer.json) == (422, {"error": "content_blocked"})
    assert not Message.objects.exists()


def test_property_names_of_a_closed_tag_are_not_the_authors(agent: TokenHolder, page_id: str) -> None:
    community = CommunityFactory(blocked_words=["statement"])
    claim = {"tagType": "claim", "payload": {"statement": "So it is."}}
    assert post(agent.api, page_id, communityId=str(community.pk), **claim).status == 201


def test_a_refusal_spends_no_limit(agent: TokenHolder, page_id: str) -> None:
    community = CommunityFactory(blocked_words=["spam"])
    for _ in range(3):
        post(agent.api, page_id, content="spam", communityId=str(community.pk))
    assert "r=29" in post(agent.api, page_id).headers["RateLimit"]


def test_text_is_stored_as_sent(agent: TokenHolder, page_id: str) -> None:
    text = "<script>alert(1)</script> \u202e evil \u200b & é e\u0301 \\u0000 \r\n"
    assert post(agent.api, page_id, content=text).json["content"] == text


def test_json_values_come_back_as_sent(agent: TokenHolder, page_id: str) -> None:
    payload = {"n": 1.5, "big": 2**53, "null": None, "list": [True, {"x": "ü\u2028"}]}
    anchor = {"type": "TextQuoteSelector", "exact": "abc"}
    record = post(agent.api, page_id, tagType="note", payload=payload, contextAnchor=anchor).json
    assert (record["payload"], record["contextAnchor"]) == (payload, anchor)
    assert json.loads(json.dumps(payload)) == payload
