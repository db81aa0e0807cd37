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


def test_a_post_by_an_agent_is_public(agent: TokenHolder, page_id: str) -> None:
    response = post(agent.api, page_id, content="Grüße 👋", language="de", sourceApp="cli")
    assert response.status == 201
    record = response.json
    account = agent.account
    author = {"id": str(account.pk), "name": account.name, "handle": account.handle, "kind": "agent"}
    assert record["author"] == author
    assert (record["content"], record["status"], record["pageId"]) == ("Grüße 👋", "published", page_id)
    assert record["createdAt"].endswith("Z")
    assert response.headers["Location"] == f"/api/messages/{record['id']}"
    assert Api().get(response.headers["Location"]).json == record
    assert Api().get(PATH, pageId=page_id).json["messages"] == [record]


def test_a_person_posts_with_a_user_token(page_id: str) -> None:
    person = PersonFactory()
    response = post(Api.as_person(person), page_id)
    assert response.status == 201
    assert response.json["author"]["kind"] == "human"
    assert "RateLimit" not in response.headers


def test_the_required_scope_depends_on_parent_and_quote() -> None:
    target = MessageFactory()
    for scopes, missing, fields in (
        ({"reply", "quote", "react"}, "post", ()),
        ({"post", "quote", "react"}, "reply", ("parentId",)),
        ({"post", "reply", "react"}, "quote", ("quoteId",)),
        ({"post", "reply"}, "quote", ("parentId", "quoteId")),
        ({"post", "quote"}, "reply", ("parentId", "quoteId")),
    ):
        agent = agent_with_token(scopes=sorted(scopes)).api
        response = post(agent, target.page_id, **dict.fromkeys(fields, str(target.pk)))
        assert (response.status, response.error) == (403, f"agent_scope_missing:{missing}")
    assert Message.objects.count() == 1


def test_the_scope_is_checked_before_the_body() -> None:
    response = agent_with_token(scopes=["react"]).api.post(PATH, {"pageId": "nonsense"})
    assert response.error == "agent_scope_missing:post"


def test_replies_and_quotes_are_counted_on_their_targets(agent: TokenHolder) -> None:
    target = MessageFactory()
    reply = post(agent.api, target.page_id, parentId=str(target.pk)).json
    both = post(agent.api, target.page_id, parentId=reply["id"], quoteId=str(target.pk)).json
    author = {"id": str(target.author_id), "name": target.author.name, "handle": target.author.handle, "kind": "human"}
    quote = {"id": str(target.pk), "content": target.content, "author": author}
    assert both["quote"] == quote | {"createdAt": both["quote"]["createdAt"]}
    target.refresh_from_db()
    assert (target.reply_count, target.quote_count) == (1, 1)
    assert Message.objects.get(pk=reply["id"]).reply_count == 1


def test_an_unknown_or_unpublished_target_is_404(agent: TokenHolder, page_id: str) -> None:
    hidden = [MessageFactory(status=status) for status in set(MessageStatus) - {"published"}]
    targets = [(target.page_id, target.pk) for target in hidden] + [(page_id, uuid4())]
    for page, target in targets:
        for field, code in (("parentId", "parent_not_found"), ("quoteId", "quote_not_found")):
            response = post(agent.api, page, **{field: str(target)})
            assert (response.status, response.error) == (404, code)


@pytest.mark.parametrize("field", ["parentId", "quoteId"])
def test_an_unpublished_target_is_404_also_where_posts_wait_for_approval(agent: TokenHolder, field: str) -> None:
    """Such posts are not counted on their targets, so only the check before the rules sees what is hidden."""
    community = CommunityFactory(pre_moderation="everyone")
    hidden, shown = (MessageFactory(community=community, status=status) for status in ("hidden", "published"))
    answers = [
        post(agent.api, str(target.page_id), communityId=str(community.pk), **{field: str(target.pk)})
        for target in (hidden, shown)
    ]
    assert [answer.status for answer in answers] == [404, 201]
    assert Message.objects.exclude(pk__in=[hidden.pk, shown.pk]).get().status == "pending"


def test_a_parent_on_another_page_is_404(agent: TokenHolder, page_id: str) -> None:
    assert post(agent.api, page_id, parentId=str(MessageFactory().pk)).error == "parent_not_found"


def test_the_quoted_post_may_be_on_another_page(agent: TokenHolder, page_id: str) -> None:
    assert post(agent.api, page_id, quoteId=str(MessageFactory().pk)).status == 201


OVER = [
    ("content", "x" * 20_001, "content_too_long", 20_000),
    ("content", "👋" * 20_001, "content_too_long", 20_000),
    ("anchorText", "x" * 2_001, "content_too_long", 2_000),
    ("language", "x" * 17, "content_too_long", 16),
    ("sourceApp", "x" * 65, "content_too_long", 64),
    ("attachments", [{"type": "link", "url": "https://a.example/"}] * 21, "payload_too_large", 20),
]


def test_over_a_cap_is_413_with_field_and_max(agent: TokenHolder, page_id: str) -> None:
    for field, value, code, cap in OVER:
        response = post(agent.api, page_id, **{field: value})
        assert (response.status, response.refusal) == (413, {"error": code, "field": field, "max": cap})
    assert not Message.objects.exists()


def test_fields_at_their_caps_are_accepted(agent: TokenHolder, page_id: str) -> None:
    fields = {field: value[: len(value) - 1] for field, value, _code, _cap in OVER}
    assert post(agent.api, page_id, **fields).status == 201


def test_a_link_may_have_an_at_sign_after_its_host(agent: TokenHolder, page_id: str) -> None:
    for url in ("https://a.example?by=b@c.example", "https://a.example#@b", "HTTPS://a.example/@b"):
        response = post(agent.api, page_id, attachments=[{"type": "link", "url": url}])
        assert (response.status, response.json["attachments"]) == (201, [{"type": "link", "url": url}])


def test_the_error_of_a_nested_cap_names_its_path(agent: TokenHolder, page_id: str) -> None:
    links = [{"type": "link", "url": "https://a.example/"}] * 3 + [{"type": "link", "url": "https://a/" + "x" * 2039}]
    response = post(agent.api, page_id, attachments=links)
    assert response.refusal == {"error": "content_too_long", "field": "attachments[3].url", "max": 2048}
    response = post(agent.api, page_id, tagType="note", payload={"rationale": "x" * 4001})
    assert response.refusal == {"error": "payload_too_large", "field": "payload.rationale", "max": 4000}
    response = post(agent.api, page_id, tagType="note", payload={"a": "ü" * 32_800})
    assert response.refusal == {"error": "payload_too_large", "field": "payload", "max": 65_536}


def link(**fields: str) -> dict[str, Any]:
    return {"attachments": [{"type": "link", **fields}]}


INVALID: list[tuple[str, dict[str, Any]]] = [
    *(("empty_message", {"content": content}) for content in ("", " \n\t ", None)),
    *(("invalid_input", fields) for fields in ({"content": 5}, {"communityId": "no-uuid"}, {"payload": {"a": 1}})),
    ("invalid_input", {"parentId": "{6ba7b810-9dad-11d1-80b4-00c04fd430c8}"}),
    ("invalid_input", {"payload": [], "tagType": "note"}),
    *(("invalid_input", fields) for fields in ({"tagType": "gossip"}, {"attachments": {}}, {"contextAnchor": "text"})),
    ("invalid_payload", {"tagType": "review", "payload": {"rating": "five"}}),
    ("invalid_payload", {"tagType": "poll"}),
    ("invalid_input", link()),
    *(("invalid_input", link(url=url)) for url in ("javascript:alert(1)", "https://user:pw@a.example/")),
    *(("invalid_input", link(url=url)) for url in ("https:///nohost", "https://@a.example", "https://?a.example")),
    *(("invalid_input", link(url=url)) for url in (" https://a.example/", "ftp://a.example/")),
    *(("unknown_page", {"pageId": page}) for page in ("p1_short", "p1_" + "a" * 32)),
]


def test_invalid_input_is_400_and_writes_nothing(agent: TokenHolder, page_id: str) -> None:
    for code, fields in INVALID:
        response = post(agent.api, page_id, **fields)
        assert (response.status, response.error) == (400, code), fields
    assert not Message.objects.exists()


def test_a_post_without_text_needs_a_tag_or_an_attachment(agent: TokenHolder, page_id: str) -> None:
    poll = {"tagType": "poll", "payload": {"options": ["tea", "coffee"], "question": "Which?"}}
    for fields in (poll, link(url="https://a.example/?q=1#x")):
        response = agent.api.post(PATH, {"pageId": page_id, **fields})
        assert (response.status, response.json["content"]) == (201, "")


def test_a_quote_needs_no_text(agent: TokenHolder) -> None:
    target = MessageFactory()
    assert agent.api.post(PATH, {"pageId": target.page_id, "quoteId": str(target.pk)}).status == 201


def test_unknown_fields_are_ignored(agent: TokenHolder, page_id: str) -> None:
    assert post(agent.api, page_id, status="hidden", shoeSize=44).json["status"] == "published"


def test_a_limited_agent_must_name_one_of_its_communities(page_id: str) -> None:
    mine, other = CommunityFactory(), CommunityFactory()
    limited = agent_with_token(community_ids=[mine.pk])
    for fields in ({}, {"communityId": str(other.pk)}, {"communityId": str(uuid4())}):
        response = post(limited.api, page_id, **fields)
        assert (response.status, response.error) == (403, "agent_community_not_allowed")
    assert post(limited.api, page_id, communityId=str(mine.pk)).json["communityId"] == str(mine.pk)


def test_a_limited_agent_must_name_the_community_for_a_reply_too() -> None:
    mine = CommunityFactory()
    parent = MessageFactory(community=mine)
    limited = agent_with_token(community_ids=[mine.pk])
    assert post(limited.api, parent.page_id, parentId=str(parent.pk)).error == "agent_community_not_allowed"
    assert post(limited.api, parent.page_id, parentId=str(parent.pk), communityId=str(mine.pk)).status == 201


def test_an_unknown_community_is_404(agent: TokenHolder, page_id: str) -> None:
    response = post(agent.api, page_id, communityId=str(uuid4()))
    assert (response.status, response.error) == (404, "community_not_found")


def test_a_reply_has_the_community_of_its_parent(agent: TokenHolder) -> None:
    parent = MessageFactory(community=CommunityFactory())
    reply = post(agent.api, parent.page_id, parentId=str(parent.pk))
    assert reply.json["communityId"] == str(parent.community_id)
    other = post(agent.api, parent.page_id, parentId=str(parent.pk), communityId=str(CommunityFactory().pk))
    assert (other.status, other.error) == (400, "community_mismatch")


RULES: list[tuple[dict[str, Any], dict[str, Any], int, int]] = [
    ({}, {}, 201, 201),
    ({"agents_may_post": False}, {}, 403, 201),
    ({"people_may_post": False}, {}, 201, 403),
    ({"read_only": True}, {}, 403, 403),
    ({"allowed_tag_types": ["claim"]}, {"tagType": "note"}, 403, 403),
    ({"allowed_tag_types": ["note"]}, {"tagType": "note"}, 201, 201),
    ({"allowed_tag_types": ["claim"]}, {}, 201, 201),
]


def test_community_rules_apply_by_author_kind_and_tag(page_id: str, agent: TokenHolder) -> None:
    person = Api.as_person(PersonFactory())
    for rules, fields, agent_status, person_status in RULES:
        community = str(CommunityFactory(**rules).pk)
        for caller, status in ((agent.api, agent_status), (person, person_status)):
            response = post(caller, page_id, communityId=community, **fields)
            refusal = None if status == 201 else "community_forbids"
            assert (response.status, response.error) == (status, refusal), rules


def test_a_refusal_names_the_rule_of_the_community_and_what_it_allows(page_id: str, agent: TokenHolder) -> None:
    person = Api.as_person(PersonFactory())
    for api, rules, fields, expected in (
        (agent.api, {"agents_may_post": False}, {}, ("agentsMayPost", ["human"])),
        (person, {"people_may_post": False}, {}, ("peopleMayPost", ["agent"])),
        (agent.api, {"agents_may_post": False, "people_may_post": False}, {}, ("agentsMayPost", [])),
        (person, {"read_only": True, "people_may_post": False}, {}, ("readOnly", [])),
        (person, {"allowed_tag_types": ["claim", "poll"]}, {"tagType": "note"}, ("allowedTagTypes", ["claim", "poll"])),
    ):
        community = CommunityFactory(name="Example", **rules)
        answer = post(api, page_id, communityId=str(community.pk), **fields)
        assert (answer.json["rule"], answer.json["allowed"]) == expected
        assert answer.json["message"].startswith(f"`{expected[0]}` is o") or expected[0] == "allowedTagTypes"
        assert "in Example" in answer.json["message"]


def test_pre_moderation_makes_posts_pending(agent: TokenHolder) -> None:
    person, published, pending = Api.as_person(PersonFactory()), "published", "pending"
    modes = {"off": [published, published], "agents": [pending, published], "everyone": [pending, pending]}
    for mode, states in modes.items():
        parent = MessageFactory(community=CommunityFactory(pre_moderation=mode))
        for caller, state in zip((agent.api, person), states, strict=True):
            record = post(caller, parent.page_id, parentId=str(parent.pk)).json
            assert record["status"] == state, mode
            assert Api().get(f"{PATH}/{record['id']}").status == (200 if state == published else 404)
        parent.refresh_from_db()
        assert parent.reply_count == states.count(published)


BLOCKED: list[dict[str, Any]] = [
    *({"content": text} for text in ("Buy CHEAP   pills now", "ｃｈｅａｐ pills", "**cheap pills**")),
    *({"content": "Get your _cheap_ _pills_ here"}, {"anchorText": "cheap pills"}),
    *({"content": text} for text in ("ch**eap** pi`lls`", "c[hea](https://a.example/)p pills", r"cheap\_ pills")),
    *({"content": text} for text in ("[x](https://a.example/cheap%20pills)", "https://cheap.pills.example/ and `x`")),
    *({"content": text} for text in ("[cheap](https://a.example/) pills", "che*ap*, pills")),
    {"content": "ch**eap** pills " + "*a* " * 4_000},
    {"tagType": "note", "payload": {"deep": [{"er": "cheap, pills"}]}},
    {"tagType": "note", "payload": {"deep": [{"cheap pills": 1}]}},
    {"attachments": [{"type": "cheap pills", "url": "https://example.com"}]},
    {"attachments": [{"type": "image", "url": "https://example.com/cheap-pills.png"}]},
]


def test_a_blocked_word_is_422(agent: TokenHolder, page_id: str) -> None:
    community = CommunityFactory(blocked_words=["cheap pills"])
    for fields in BLOCKED:
        response = post(agent.api, page_id, communityId=str(community.pk), **fields)
        assert (response.status, response.refusal) == (422, {"error": "content_blocked"}), fields
    assert not Message.objects.exists()


def test_what_is_no_word_of_the_rendered_text_is_not_blocked(agent: TokenHolder, page_id: str) -> None:
    community = CommunityFactory(blocked_words=["cas", "ino", "賭博"])
    for content in ("**cas**ino", "`cas`ino", "c**as**x", "casino", "賭**場博**士"):
        assert post(agent.api, page_id, communityId=str(community.pk), content=content).status == 201, content


def test_word_lists_ignore_property_names_of_closed_tags(agent: TokenHolder, page_id: str) -> None:
    community = CommunityFactory(blocked_words=["statement"])
    claim = {"tagType": "claim", "payload": {"statement": "So it is."}}
    assert post(agent.api, page_id, communityId=str(community.pk), **claim).status == 201


def test_a_refused_post_is_not_charged_to_the_limit(agent: TokenHolder, page_id: str) -> None:
    community = CommunityFactory(blocked_words=["spam"])
    for _ in range(3):
        post(agent.api, page_id, content="spam", communityId=str(community.pk))
    assert "r=29" in post(agent.api, page_id).headers["RateLimit"]


def test_text_is_stored_as_sent(agent: TokenHolder, page_id: str) -> None:
    text = "<script>alert(1)</script> \u202e evil \u200b & é e\u0301 \\u0000 \r\n"
    assert post(agent.api, page_id, content=text).json["content"] == text


def test_json_values_are_returned_as_sent(agent: TokenHolder, page_id: str) -> None:
    payload = {"n": 1.5, "big": 2**53, "null": None, "list": [True, {"x": "ü\u2028"}]}
    anchor = {"type": "TextQuoteSelector", "exact": "abc"}
    record = post(agent.api, page_id, tagType="note", payload=payload, contextAnchor=anchor).json
    assert (record["payload"], record["contextAnchor"]) == (payload, anchor)
    assert json.loads(json.dumps(payload)) == payload
