"""listMessages with `sort`: each order, its cursors, and its cost on a long page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import pytest

from kernel.api.pagination import CursorPage
from messaging.models import Message, Page
from tests.api import Api
from tests.factories import MessageFactory, PageFactory
from tests.messaging.walking import pages_of

pytestmark = pytest.mark.django_db
PATH = "/api/messages"
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
    pages = [page.json["messages"] for page in pages_of(PATH, limit=limit, **query)]
    assert all(len(page) == limit for page in pages[:-1])
    return [message["id"] for page in pages for message in page]


def test_every_order_lists_each_post_and_each_reply_once() -> None:
    page = PageFactory()
    of_page = posts(page, [0, 2, 2, 0, 5, 2, 0])
    # Rows of the same moment are ordered by their ids.
    of_page += [MessageFactory(page=page, created_at=START) for _ in range(5)]
    replies = posts(page, [1, 0, 1, 3], parent=of_page[0])
    posts(PageFactory(), [9])
    for sort, limit in product(SORTS, (1, 3, 100)):
        assert walked(limit, pageId=page.pk, sort=sort) == in_order(of_page, sort)
        assert walked(limit, pageId=page.pk, sort=sort, parentId=of_page[0].pk) == in_order(replies, sort)


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


def gets_reactions(post: Message) -> None:
    Message.objects.filter(pk=post.pk).update(reaction_total=9)


def loses_reactions(post: Message) -> None:
    Message.objects.filter(pk=post.pk).update(reaction_total=0)


def is_approved(post: Message) -> None:
    Message.objects.filter(pk=post.pk).update(status="published")


def is_hidden(post: Message) -> None:
    Message.objects.filter(pk=post.pk).update(status="hidden")


@pytest.mark.parametrize(
    ("change", "of", "times"),
    [
        # "listed": on the first page; "next": after it.
        (gets_reactions, "listed", {"newest": 1, "oldest": 1, "reactions": 1}),
        (gets_reactions, "next", {"newest": 1, "oldest": 1, "reactions": 0}),
        (loses_reactions, "listed", {"newest": 1, "oldest": 1, "reactions": 2}),
        (loses_reactions, "next", {"newest": 1, "oldest": 1, "reactions": 1}),
        (is_approved, "pending before", {"newest": 0, "oldest": 0, "reactions": 0}),
        (is_approved, "pending after", {"newest": 1, "oldest": 1, "reactions": 1}),
        (is_hidden, "listed", {"newest": 1, "oldest": 1, "reactions": 1}),
        (is_hidden, "next", {"newest": 0, "oldest": 0, "reactions": 0}),
    ],
)
@pytest.mark.parametrize("sort", SORTS)
def test_how_often_a_post_that_changes_between_two_pages_is_listed(
    change: Callable[[Message], None], of: str, times: dict[str, int], sort: str
) -> None:
    page = PageFactory()
    before, *others, after = posts(page, [6, 5, 4, 3, 2, 1])[:: -1 if sort == "newest" else 1]
    first, _second, third, _fourth = others
    chosen = {"listed": first, "next": third, "pending before": before, "pending after": after}[of]
    if of.startswith("pending"):
        Message.objects.filter(pk=chosen.pk).update(status="pending")
    walk = pages_of(PATH, limit=3, pageId=page.pk, sort=sort)
    listed = [message["id"] for message in next(walk).json["messages"]]
    change(chosen)
    listed += [message["id"] for answer in walk for message in answer.json["messages"]]
    counts = Counter(listed)
    assert counts.pop(str(chosen.pk), 0) == times[sort]
    assert counts == {str(post.pk): 1 for post in (before, *others, after) if post.pk != chosen.pk}


def test_a_cursor_is_bound_to_its_order() -> None:
    page = PageFactory()
    posts(page, [1, 1])
    cursors = {sort: Api().get(PATH, pageId=page.pk, sort=sort, limit=1).json["nextCursor"] for sort in SORTS}
    for sort, other in product(SORTS, SORTS):
        answer = Api().get(PATH, pageId=page.pk, sort=other, cursor=cursors[sort])
        assert answer.status == (200 if sort == other else 400)
    assert Api().get(PATH, pageId=page.pk, cursor=cursors["newest"]).status == 200


def test_a_cursor_of_a_release_without_orders_is_valid() -> None:
    page = PageFactory()
    older, newer = posts(page, [0, 0])
    cursor = CursorPage.of("messages", {"page_id": page.pk, "include_top_reply": False}).cursor_at(
        (newer.created_at, newer.pk)
    )
    answer = Api().get(PATH, pageId=page.pk, cursor=cursor)
    assert [message["id"] for message in answer.json["messages"]] == [str(older.pk)]


def test_an_unknown_order_is_400() -> None:
    page = PageFactory().pk
    for sort in ("", "top", "NEWEST", "newest,oldest", "\x00", "x" * 10_000, ["oldest", "newest"]):
        answer = Api().get(PATH, pageId=page, sort=sort)
        assert (answer.status, answer.json["field"]) == (400, "sort"), sort
