"""listMessages: order, paging, filters, replies, top replies, and invalid parameters."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from messaging.models import Message, MessageStatus
from tests.agents.factories import agent_with_token
from tests.api import Api
from tests.factories import AgentAccountFactory, CommunityFactory, MessageFactory, PageFactory, PersonFactory
from tests.messaging.walking import pages_of

pytestmark = pytest.mark.django_db
PATH = "/api/messages"
START = datetime(2026, 11, 1, tzinfo=UTC)


@pytest.fixture
def page_id() -> str:
    return str(PageFactory().pk)


def posts(page_id: str, count: int, **fields: Any) -> list[str]:
    """Create posts one minute apart; returns their ids newest first."""
    author = fields.pop("author", None) or PersonFactory()
    created_posts = [
        MessageFactory(page_id=page_id, page=None, author=author, created_at=START + timedelta(minutes=n), **fields)
        for n in range(count)
    ]
    return [str(post.pk) for post in reversed(created_posts)]


def listed(page_id: str, **query: Any) -> list[str]:
    response = Api().get(PATH, pageId=page_id, **query)
    assert response.status == 200, response.json
    return [message["id"] for message in response.json["messages"]]


def walk(page_id: str, limit: int, **query: Any) -> list[list[str]]:
    """The ids of each page of the list."""
    pages = pages_of(PATH, pageId=page_id, limit=limit, **query)
    return [[message["id"] for message in page.json["messages"]] for page in pages]


def test_a_page_without_posts_is_an_empty_list(page_id: str) -> None:
    nothing = {"messages": [], "hasMore": False, "nextCursor": None}
    assert Api().get(PATH, pageId=page_id).json == nothing
    assert Api().get(PATH, pageId="p1_" + "a" * 32).json == nothing, "a page that does not exist"


def refused_field(**query: Any) -> str:
    response = Api().get(PATH, **query)
    assert (response.status, response.error) == (400, "invalid_input"), query
    return str(response.json["field"])


MALFORMED: dict[str, tuple[str, ...]] = {
    "pageId": ("", "p1_", "p2_" + "a" * 32, "p1_" + "A" * 32, "p1_" + "a" * 33, "https://a.eu", "p1_" + "1" * 32),
    "limit": ("0", "-1", "1_0", "５", "abc", "", "1.0", "1e1", " 5", "+5", "0x5", "\x00", "None"),
    "authorKind": ("robot", "", "Agent", "agent\n", "\x00"),
    "communityId": ("x", "", "{6ba7b810-9dad-11d1-80b4-00c04fd430c8}", "\x00"),
    "parentId": ("x", "", "6ba7b8109dad11d180b400c04fd430c8"),
    "includeTopReply": ("yes", "", "tru", "2"),
    "tagType": ("", "\x00"),
}


def test_a_malformed_parameter_is_400_and_named(page_id: str) -> None:
    assert refused_field() == "pageId", "it is required"
    for name, values in MALFORMED.items():
        assert [refused_field(**{"pageId": page_id, name: value}) for value in values] == [name] * len(values)


def test_posts_are_listed_newest_first_ten_per_page(page_id: str) -> None:
    ids = posts(page_id, 12)
    posts(str(PageFactory().pk), 2)
    assert listed(page_id) == ids[:10]
    assert walk(page_id, 10) == [ids[:10], ids[10:]]
    assert walk(page_id, 12) == [ids], "a last page with `limit` posts has no next cursor"


def test_paging_skips_and_repeats_no_post_during_changes(page_id: str) -> None:
    ids = posts(page_id, 9)
    seen, cursor = [], {}
    for _ in range(3):
        body = Api().get(PATH, pageId=page_id, limit=3, **cursor).json
        seen += [message["id"] for message in body["messages"]]
        cursor = {"cursor": body["nextCursor"]}
        MessageFactory(page_id=page_id, page=None)  # newer than all others
        Message.objects.filter(pk=seen[-1]).update(status=MessageStatus.HIDDEN)  # the post in the cursor
    assert seen == ids
    assert body["hasMore"] is False


@hypothesis_settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(offsets=st.lists(st.integers(0, 4), max_size=12), limit=st.integers(1, 5))
def test_paging_with_any_limit_returns_the_whole_list(offsets: list[int], limit: int) -> None:
    page_id, author = str(PageFactory().pk), PersonFactory()
    created_posts = [
        MessageFactory(page_id=page_id, page=None, author=author, created_at=START + timedelta(microseconds=offset))
        for offset in offsets
    ]
    expected = [
        str(post.pk) for post in sorted(created_posts, key=lambda post: (post.created_at, post.pk), reverse=True)
    ]
    pages = walk(page_id, limit)
    assert list(chain(*pages)) == expected
    assert all(len(page) == limit for page in pages[:-1])


def test_a_limit_over_100_is_served_as_100(page_id: str) -> None:
    author = PersonFactory()
    Message.objects.bulk_create(Message(page_id=page_id, author=author, author_kind="human") for _ in range(102))
    counts = {"1": 1, "99": 99, "100": 100, "101": 100, "9" * 30: 100}
    assert {limit: len(listed(page_id, limit=limit)) for limit in counts} == counts


def test_a_cursor_is_valid_for_its_own_list_only(page_id: str) -> None:
    (newest, *_rest) = posts(page_id, 3)
    for _ in range(3):
        MessageFactory(parent=Message.objects.get(pk=newest))

    def cursor_of(**query: Any) -> str:
        cursor = Api().get(PATH, limit=1, **query).json["nextCursor"]
        assert isinstance(cursor, str)
        return cursor

    own = cursor_of(pageId=page_id)
    assert Api().get(PATH, pageId=page_id, cursor=own, limit=50).status == 200
    foreign = [
        {"pageId": PageFactory().pk, "cursor": own},
        {"pageId": page_id, "cursor": own, "parentId": newest},
        {"pageId": page_id, "cursor": own, "authorKind": "human"},
        {"pageId": page_id, "cursor": cursor_of(pageId=page_id, parentId=newest)},
        {"pageId": page_id, "cursor": own[:-1] + ("A" if own[-1] != "A" else "B")},
        {"pageId": page_id, "cursor": own + "A"},
        {"pageId": page_id, "cursor": own.lower()},
        {"pageId": page_id, "cursor": "x" * 5000},
        {"pageId": page_id, "cursor": ""},
        {"pageId": page_id, "cursor": "ключ"},
    ]
    for query in foreign:
        response = Api().get(PATH, **query)
        assert (response.status, response.error) == (400, "invalid_cursor"), query


def test_a_cursor_is_valid_with_and_without_top_replies(page_id: str) -> None:
    _newest, *rest = posts(page_id, 3)
    for first, then in (("true", "false"), ("false", "true")):
        cursor = Api().get(PATH, pageId=page_id, limit=1, includeTopReply=first).json["nextCursor"]
        assert listed(page_id, cursor=cursor, includeTopReply=then) == rest


def test_only_published_posts_are_returned(page_id: str) -> None:
    shown = str(MessageFactory(page_id=page_id, page=None).pk)
    hidden = [MessageFactory(page_id=page_id, page=None, status=each).pk for each in set(MessageStatus) - {"published"}]
    assert listed(page_id) == [shown]
    unknown = ["x", "1", "01a1f80b-885c-7204-addd-5334a770b464", "01a1f80b885c7204addd5334a770b464"]
    for message_id in [*hidden, *unknown]:
        response = Api().get(f"{PATH}/{message_id}")
        assert (response.status, response.error) == (404, "message_not_found"), message_id


def test_replies_are_listed_under_their_post_only(page_id: str) -> None:
    parent = MessageFactory(page_id=page_id, page=None)
    replies = [str(MessageFactory(parent=parent).pk) for _ in range(3)]
    nested = str(MessageFactory(parent=Message.objects.get(pk=replies[0])).pk)
    assert listed(page_id) == [str(parent.pk)]
    assert listed(page_id, parentId=parent.pk) == replies[::-1]
    assert listed(page_id, parentId=replies[0]) == [nested]
    assert walk(page_id, 2, parentId=parent.pk) == [replies[:0:-1], replies[:1]]
    assert listed(str(PageFactory().pk), parentId=parent.pk) == [], "the parent is on another page"
    assert listed(page_id, parentId=uuid4()) == []


def test_replies_to_an_unpublished_post_are_not_listed(page_id: str) -> None:
    parent = MessageFactory(page_id=page_id, page=None)
    reply = MessageFactory(parent=parent)
    assert listed(page_id, parentId=parent.pk) == [str(reply.pk)]
    for status in (MessageStatus.PENDING, MessageStatus.HIDDEN):
        Message.objects.filter(pk=parent.pk).update(status=status)
        assert listed(page_id, parentId=parent.pk) == []


def test_filters_by_author_community_and_tag(page_id: str) -> None:
    community, agent = CommunityFactory(), AgentAccountFactory()
    plain = posts(page_id, 2)
    tagged = posts(page_id, 1, tag_type="note", payload={}, community=community)
    by_agent = posts(page_id, 2, author=agent, community=community)
    assert set(listed(page_id)) == {*plain, *tagged, *by_agent}
    assert listed(page_id, authorKind="agent") == by_agent
    assert set(listed(page_id, authorKind="human")) == {*plain, *tagged}
    assert listed(page_id, tagType="note") == tagged
    assert listed(page_id, tagType="no such type") == []
    assert set(listed(page_id, communityId=community.pk)) == {*tagged, *by_agent}
    assert listed(page_id, communityId=community.pk, authorKind="agent") == by_agent
    assert listed(page_id, communityId=uuid4()) == []
    assert walk(page_id, 1, authorKind="agent") == [[by_agent[0]], [by_agent[1]]]


def test_a_repeated_parameter_is_refused_and_unknown_ones_are_ignored(page_id: str) -> None:
    posts(page_id, 3)
    assert Api().get(f"{PATH}?pageId={page_id}&limit=1&limit=2").json["field"] == "limit"
    assert len(Api().get(f"{PATH}?pageId={page_id}&limit=2&shoeSize=44&shoeSize=45").json["messages"]) == 2


def top_replies(page_id: str, **query: Any) -> dict[str, Any]:
    body = Api().get(PATH, pageId=page_id, includeTopReply="true", **query).json
    return {message["id"]: message["topReply"] for message in body["messages"]}


def test_the_top_reply_has_most_reactions_then_is_oldest(page_id: str) -> None:
    lonely, discussed, tied = (MessageFactory(page_id=page_id, page=None) for _ in range(3))
    for minute, total in enumerate([1, 5, 2]):
        MessageFactory(parent=discussed, reaction_total=total, created_at=START + timedelta(minutes=minute))
    for minute in (2, 1, 3):
        MessageFactory(parent=tied, content=f"minute {minute}", created_at=START + timedelta(minutes=minute))
    MessageFactory(parent=tied, reaction_total=9, status=MessageStatus.HIDDEN)
    top = top_replies(page_id)
    assert top[str(lonely.pk)] is None
    assert top[str(discussed.pk)]["reactionTotal"] == 5
    assert top[str(tied.pk)]["content"] == "minute 1"
    assert top[str(tied.pk)]["parentId"] == str(tied.pk)
    assert top[str(tied.pk)].keys() == Api().get(f"{PATH}/{tied.pk}").json.keys()


def test_replies_have_top_replies_only_on_request(page_id: str) -> None:
    reply = MessageFactory(parent=MessageFactory(page_id=page_id, page=None))
    nested = MessageFactory(parent=reply)
    assert top_replies(page_id, parentId=reply.parent_id)[str(reply.pk)]["id"] == str(nested.pk)
    for query in ({}, {"includeTopReply": "false"}):
        (message,) = Api().get(PATH, pageId=page_id, **query).json["messages"]
        assert "topReply" not in message


def test_a_quote_contains_its_target_only_while_that_is_published(page_id: str) -> None:
    target = MessageFactory()
    quote = MessageFactory(page_id=page_id, page=None, quote=target)
    (message,) = Api().get(PATH, pageId=page_id).json["messages"]
    assert (message["quoteId"], message["quote"]["content"]) == (str(target.pk), target.content)
    for status in (MessageStatus.HIDDEN, MessageStatus.DELETED):
        Message.objects.filter(pk=target.pk).update(status=status)
        message = Api().get(f"{PATH}/{quote.pk}").json
        assert (message["quoteId"], message["quote"]) == (str(target.pk), None)


FIELDS = (
    "id content status author pageId communityId parentId quoteId quote tagType payload anchorText contextAnchor "
    "attachments language sourceApp replyCount quoteCount reactionCounts reactionTotal createdAt updatedAt url pageUrl "
    "editedAt imported importedScore authorRole"
)


def test_list_get_and_create_return_the_same_message(page_id: str) -> None:
    """The response has exactly the documented fields."""
    agent = agent_with_token()
    sent = {
        "pageId": page_id,
        "content": "Grüße",
        "communityId": str(CommunityFactory().pk),
        "tagType": "note",
        "payload": {"b": [1, {"ü": None}], "a": 1.5},
        "anchorText": "anchor",
        "contextAnchor": {"x": {}},
        "attachments": [{"type": "link", "url": "https://a.example/"}],
        "language": "de",
        "sourceApp": "cli",
    }
    created = agent.api.post(PATH, sent).json
    got = Api().get(f"{PATH}/{created['id']}").json
    assert Api().get(PATH, pageId=page_id).json["messages"] == [got] == [created]
    assert sorted(got) == sorted(FIELDS.split())
    assert {name: got[name] for name in sent} == sent
    assert got["author"].keys() == {"id", "name", "handle", "kind"}
    counts = {name: got[name] for name in ("replyCount", "quoteCount", "reactionCounts", "reactionTotal")}
    assert counts == {"replyCount": 0, "quoteCount": 0, "reactionCounts": {}, "reactionTotal": 0}
    assert got["createdAt"] == got["updatedAt"]


def test_reads_are_the_same_for_every_valid_caller(page_id: str) -> None:
    """Public reads accept agent tokens, user tokens and sign-in tokens."""
    (post_id,), person = posts(page_id, 1), PersonFactory()
    readers = Api(), agent_with_token(scopes=["react"]).api, Api.as_person(person), Api.as_signed_in(person)
    for url in (f"{PATH}?pageId={page_id}", f"{PATH}/{post_id}"):
        responses = [api.get(url) for api in readers]
        assert [response.status for response in responses] == [200] * 4
        assert len({response.body for response in responses}) == 1
