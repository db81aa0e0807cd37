"""GET /v1/changes: the public change log."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

from kernel.changes.log import NewChange, append
from kernel.changes.models import Change
from kernel.changes.pruning import prune
from kernel.database.sql import database_now
from messaging.models import Message, Page
from messaging.moderation.services import approve_message, hide_message, restore_message
from tests.agents.factories import agent_with_token
from tests.api import Api
from tests.factories import CommunityFactory, MessageFactory, PageFactory, SuperAdminFactory

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


def post(page: Page, **fields: Any) -> Message:
    """A published post that is in the log."""
    message = MessageFactory(page=page, **fields)
    append(
        [
            NewChange(
                type="message.created",
                page_id=page.pk,
                community_id=message.community_id,
                message_id=message.pk,
            )
        ]
    )
    return message


def ids(**query: Any) -> list[str]:
    return [change["messageId"] for change in changes(**query)["changes"]]


def test_changes_of_a_page_of_a_community_and_of_all_pages() -> None:
    first, second, community = PageFactory(), PageFactory(), CommunityFactory()
    one, two, three = post(first), post(first, community=community), post(second, community=community)
    assert ids() == [str(each.pk) for each in (one, two, three)]
    assert ids(pageId=first.pk) == [str(one.pk), str(two.pk)]
    assert ids(communityId=str(community.pk)) == [str(two.pk), str(three.pk)]
    assert ids(communityId=str(CommunityFactory().pk)) == []
    assert [change["communityId"] for change in changes()["changes"]] == [None, str(community.pk), str(community.pk)]


def test_types_select_changes() -> None:
    page, boss = PageFactory(), SuperAdminFactory()
    hide_message(message_id=post(page).pk, by=boss)
    assert [change["type"] for change in changes(types="message.hidden,message.edited")["changes"]] == [
        "message.hidden"
    ]
    assert changes(types="reaction.added")["changes"] == []


def test_every_change_is_listed_once_with_any_limit() -> None:
    page = PageFactory()
    posts = [str(post(page).pk) for _ in range(7)]
    for limit in (1, 3, 7, 8):
        seen, cursor = [], None
        while True:
            listed = changes(limit=limit, **({} if cursor is None else {"cursor": cursor}))
            seen += [change["messageId"] for change in listed["changes"]]
            cursor = listed["nextCursor"]
            if not listed["hasMore"]:
                break
        assert seen == posts


def test_a_cursor_is_bound_to_its_filters_and_types() -> None:
    page = PageFactory()
    post(page)
    cursors = {
        "all": changes()["nextCursor"],
        "page": changes(pageId=page.pk)["nextCursor"],
        "types": changes(types="message.created,message.hidden")["nextCursor"],
    }
    queries: dict[str, dict[str, str]] = {
        "all": {},
        "page": {"pageId": page.pk},
        "types": {"types": "message.hidden,message.created"},
    }
    for of, cursor in cursors.items():
        for name, query in queries.items():
            answer = Api().get("/v1/changes", cursor=cursor, **query)
            expected = (200, None) if of == name else (400, "invalid_cursor")
            assert (answer.status, answer.error) == expected


def test_a_malformed_query_is_400() -> None:
    for query, code in [
        ({"pageId": "nonsense"}, "invalid_input"),
        ({"pageId": "p1_" + "a" * 32, "communityId": "01a20149-c1b9-719e-abe3-84e4d0d48703"}, "invalid_input"),
        ({"communityId": "nonsense"}, "invalid_input"),
        ({"types": "reply"}, "invalid_input"),
        ({"types": ","}, "invalid_input"),
        ({"tail": "2"}, "invalid_input"),
        ({"limit": "-1"}, "invalid_input"),
        ({"cursor": ""}, "invalid_cursor"),
        ({"cursor": "A" * 40}, "invalid_cursor"),
        ({"cursor": "A" * 129}, "invalid_cursor"),
        ({"types": ["message.created", "message.hidden"]}, "invalid_input"),
    ]:
        answer = Api().get("/v1/changes", **query)
        assert (answer.status, answer.error) == (400, code), (query, code)


def test_an_unknown_page_has_no_changes() -> None:
    assert ids(pageId=PageFactory.build().pk) == []


def test_changes_name_no_moderator_and_show_no_hidden_post() -> None:
    message = post(PageFactory(), content="A secret")
    hide_message(message_id=message.pk, by=SuperAdminFactory(handle="the_moderator"), reason="Private")
    body = Api().get("/v1/changes").body
    assert not any(word in body for word in (b"A secret", b"the_moderator", b"Private"))


def test_a_reaction_of_a_hidden_post_is_not_shown() -> None:
    agent, message = agent_with_token(), MessageFactory()
    agent.api.post("/v1/reactions", {"messageId": str(message.pk), "emoji": "👍"})
    hide_message(message_id=message.pk, by=SuperAdminFactory())
    added = changes()["changes"][0]
    assert (added["type"], added["message"], added["reaction"]) == ("reaction.added", None, None)


def test_a_cursor_before_deleted_changes_is_410() -> None:
    page = PageFactory()
    post(page)
    post(page)
    first, second = changes()["changes"]
    Change.objects.update(at="2026-01-01T00:00:00Z")
    prune(now=database_now(), dry_run=False)
    answer = Api().get("/v1/changes", cursor=first["id"])
    assert (answer.status, answer.error) == (410, "cursor_expired")
    assert changes(cursor=second["id"])["changes"] == []


def test_a_response_with_several_posts_is_at_most_2_mib() -> None:
    page = PageFactory()
    posts = [str(post(page, content="\x01" * 20_000).pk) for _ in range(40)]
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        answer = Api().get("/v1/changes", limit=100, **cursor)
        assert len(answer.body) < 2.1 * 1024 * 1024
        seen += [change["messageId"] for change in answer.json["changes"]]
        cursor = {"cursor": answer.json["nextCursor"]}
        if not answer.json["hasMore"]:
            break
    assert seen == posts


def test_the_number_of_queries_does_not_depend_on_the_changes(django_assert_num_queries: Any) -> None:
    page = PageFactory()
    for _ in range(30):
        post(page)
    changes()
    with django_assert_num_queries(3):  # the horizon, the changes, the posts
        assert len(ids(limit=30)) == 30
    with django_assert_num_queries(2):  # the horizon, the newest change
        changes(tail="true")


def test_clients_may_store_changes_and_revalidate_them() -> None:
    answer = Api().get("/v1/changes")
    assert answer.headers["Cache-Control"] == "public, no-cache"
    again = Api().get("/v1/changes", headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status, again.body) == (304, b"")
