"""listMessages with `sort`: each order, its cursors, and its cost on a long page."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from config.api.pagination import CursorPage
from messaging.models import Message, Page
from tests.api import Api
from tests.factories import MessageFactory, PageFactory
from tests.messaging.test_list_messages_cost import PATH, long_page, messages_read, nodes, plans_of

__all__ = ["long_page"]
pytestmark = pytest.mark.django_db
START = datetime(2026, 11, 1, tzinfo=UTC)
SORTS = ("newest", "oldest", "reactions")


def posts(page: Page, totals: list[int], **fields: Any) -> list[Message]:
    """Posts one minute apart with these numbers of reactions, oldest first."""
    return [
        MessageFactory(page=page, created_at=START + timedelta(minutes=n), reaction_total=total, **fields)
        for n, total in enumerate(totals)
    ]


def in_order(messages: list[Message], sort: str) -> list[str]:
    keys: dict[str, Any] = {
        "newest": lambda post: (-post.created_at.timestamp(), -post.pk.int),
        "oldest": lambda post: (post.created_at.timestamp(), post.pk.int),
        "reactions": lambda post: (-post.reaction_total, -post.created_at.timestamp(), -post.pk.int),
    }
    return [str(post.pk) for post in sorted(messages, key=keys[sort])]


def walked(limit: int, **query: Any) -> list[str]:
    """The ids of all pages of the list, each full but the last."""
    ids: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        body = Api().get(PATH, limit=limit, **query, **cursor).json
        ids += [message["id"] for message in body["messages"]]
        if not body["hasMore"]:
            return ids
        assert len(body["messages"]) == limit
        cursor = {"cursor": body["nextCursor"]}


@pytest.mark.parametrize("limit", [1, 3, 100])
@pytest.mark.parametrize("sort", SORTS)
def test_every_order_lists_each_post_and_each_reply_once(sort: str, limit: int) -> None:
    page = PageFactory()
    of_page = posts(page, [0, 2, 2, 0, 5, 2, 0])
    replies = posts(page, [1, 0, 1, 3], parent=of_page[0])
    posts(PageFactory(), [9])
    assert walked(limit, pageId=page.pk, sort=sort) == in_order(of_page, sort)
    assert walked(limit, pageId=page.pk, sort=sort, parentId=of_page[0].pk) == in_order(replies, sort)


@pytest.mark.parametrize("sort", SORTS)
def test_posts_of_the_same_moment_are_ordered_by_their_ids(sort: str) -> None:
    page = PageFactory()
    same = [MessageFactory(page=page, created_at=START) for _ in range(5)]
    assert walked(2, pageId=page.pk, sort=sort) == in_order(same, sort)


def test_filters_and_top_replies_work_in_every_order() -> None:
    page = PageFactory()
    tagged = posts(page, [1, 3, 2], tag_type="note")
    posts(page, [7, 7])
    reply = MessageFactory(parent=tagged[0])
    for sort in SORTS:
        query = {"pageId": page.pk, "tagType": "note", "sort": sort, "includeTopReply": "true"}
        listed = Api().get(PATH, **query).json["messages"]
        assert [message["id"] for message in listed] == in_order(tagged, sort)
        assert [message["topReply"]["id"] for message in listed if message["topReply"]] == [str(reply.pk)]


def test_a_changed_count_affects_only_its_own_post() -> None:
    """A post that moves across the cursor is listed twice or not at all; the others once."""
    page = PageFactory()
    first, _second, third, fourth = posts(page, [8, 6, 4, 2])
    cursor = Api().get(PATH, pageId=page.pk, sort="reactions", limit=2).json["nextCursor"]
    Message.objects.filter(pk=first.pk).update(reaction_total=3)
    Message.objects.filter(pk=fourth.pk).update(reaction_total=9)
    rest = Api().get(PATH, pageId=page.pk, sort="reactions", cursor=cursor).json["messages"]
    assert [message["id"] for message in rest] == [str(third.pk), str(first.pk)]


def test_a_cursor_is_bound_to_its_order() -> None:
    page = PageFactory()
    posts(page, [1, 1])
    cursors = {sort: Api().get(PATH, pageId=page.pk, sort=sort, limit=1).json["nextCursor"] for sort in SORTS}
    for sort in SORTS:
        for other in SORTS:
            answer = Api().get(PATH, pageId=page.pk, sort=other, cursor=cursors[sort])
            assert answer.status == (200 if sort == other else 400)
    plain = Api().get(PATH, pageId=page.pk, cursor=cursors["newest"])
    assert plain.status == 200


def test_a_cursor_of_a_release_without_orders_is_valid() -> None:
    page = PageFactory()
    older, newer = posts(page, [0, 0])
    cursor = CursorPage.of("messages", {"page_id": page.pk, "include_top_reply": False}).cursor_at(
        (newer.created_at, newer.pk)
    )
    answer = Api().get(PATH, pageId=page.pk, cursor=cursor)
    assert [message["id"] for message in answer.json["messages"]] == [str(older.pk)]


@pytest.mark.parametrize("sort", ["", "top", "NEWEST", "newest,oldest", "\x00", "x" * 10_000])
def test_an_unknown_order_is_400(sort: str) -> None:
    answer = Api().get(PATH, pageId=PageFactory().pk, sort=sort)
    assert (answer.status, answer.json["field"]) == (400, "sort")
    repeated = Api().send("GET", f"{PATH}?pageId={PageFactory().pk}&sort=oldest&sort=newest")
    assert (repeated.status, repeated.json["field"]) == (400, "sort")


def test_no_order_sorts_or_reads_a_long_page(long_page: dict[str, str]) -> None:
    page, parent = long_page["page"], long_page["parent"]
    for sort in SORTS:
        of_page = f"{PATH}?pageId={page}&sort={sort}"
        deep = Api().get(PATH, pageId=page, sort=sort, limit=100)
        for _ in range(10):
            deep = Api().get(PATH, pageId=page, sort=sort, limit=100, cursor=deep.json["nextCursor"])
        assert deep.json["hasMore"]
        for url, rows in (
            (of_page, 11),
            (f"{of_page}&cursor={deep.json['nextCursor']}", 11),
            (f"{of_page}&parentId={parent}", 12),
            (f"{of_page}&limit=100", 101),
        ):
            assert messages_read(url) == rows
            # The window that adds up the sizes of a long list may sort its hundred rows, but no more.
            sorts = [node for plan in plans_of(url) for node in nodes(plan) if "Sort" in node["Node Type"]]
            assert all(node["Actual Rows"] <= 101 for node in sorts)
