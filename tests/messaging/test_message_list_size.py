"""The size limit of message lists: an answer has fewer messages instead of more bytes, and paging misses none."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from config.api.ids import new_id
from messaging.fields import CONTEXT_ANCHOR_MAX
from messaging.models import Message, Page
from messaging.models.message import ANCHOR_TEXT_MAX, ATTACHMENT_URL_MAX, ATTACHMENTS_MAX, CONTENT_MAX
from messaging.queries import message_lists
from messaging.queries.message_lists import FEW, PAGE_BYTES
from tests.api import Answer, Api
from tests.factories import CommunityFactory, PageFactory, PersonFactory

pytestmark = pytest.mark.django_db
PATH = "/api/messages"
START = datetime(2026, 11, 1, tzinfo=UTC)
WHOLE = 65_536 - len('{"x":""}')


def at_all_caps(character: str = "x") -> dict[str, Any]:
    """The fields of a message of the maximum size, each text of one character."""
    url = "https://example.com/"
    size = len(character.encode())
    return {
        "content": character * CONTENT_MAX,
        "tag_type": "note",
        "payload": {"x": character * (WHOLE // size)},
        "anchor_text": character * ANCHOR_TEXT_MAX,
        "context_anchor": {"x": character * ((CONTEXT_ANCHOR_MAX - 8) // size)},
        "attachments": [
            {"type": "x" * 64, "url": url + character * (ATTACHMENT_URL_MAX - len(url))} for _ in range(ATTACHMENTS_MAX)
        ],
    }


def made(page: Page, count: int, *, fields: dict[str, Any], **more: Any) -> list[Message]:
    """Messages a minute apart, the oldest first."""
    author = PersonFactory()
    return Message.objects.bulk_create(
        [
            Message(
                id=new_id(),
                page=page,
                author=author,
                author_kind=author.kind,
                created_at=START + timedelta(minutes=n),
                **{
                    name: value[n] if isinstance(value, list) and name == "parent" else value
                    for name, value in more.items()
                },
                **fields,
            )
            for n in range(count)
        ]
    )


@pytest.fixture
def heavy(db: None) -> Page:
    """100 messages with a top reply each, all at the documented caps: 49 MiB."""
    page = PageFactory()
    posts = made(page, 100, fields=at_all_caps(), community=CommunityFactory())
    made(page, 100, fields=at_all_caps(), parent=posts)
    return page


def newest_first(page: Page, **query: Any) -> list[str]:
    return [
        str(pk)
        for pk in Message.objects.filter(page=page, **query).order_by("-created_at", "-id").values_list("pk", flat=True)
    ]


def walk(page: Page, **query: Any) -> Iterator[Answer]:
    cursor: dict[str, str] = {}
    while True:
        answer = Api().get(PATH, pageId=page.pk, **query, **cursor)
        assert answer.status == 200
        yield answer
        assert answer.json["hasMore"] == (answer.json["nextCursor"] is not None)
        if not answer.json["hasMore"]:
            return
        cursor = {"cursor": answer.json["nextCursor"]}


def check_walk(page: Page, expected: list[str], **query: Any) -> list[int]:
    """Checks that every answer fits and that together they are the list; returns the number of messages of each."""
    listed, counts = [], []
    for answer in walk(page, **query):
        messages = answer.json["messages"]
        assert len(answer.body) <= PAGE_BYTES or len(messages) == 1
        assert messages
        counts.append(len(messages))
        listed += messages
    assert [message["id"] for message in listed] == expected
    if "includeTopReply" in query:
        assert all(message["topReply"]["parentId"] == message["id"] for message in listed)
    return counts


@pytest.mark.parametrize(
    ("query", "at_least"),
    [
        ({"limit": 100}, 8),
        ({"limit": 100, "includeTopReply": "true"}, 4),
        ({"limit": 10, "includeTopReply": "true"}, 4),
        ({"limit": 11}, 8),
        ({"limit": 3, "includeTopReply": "true"}, 3),
    ],
)
def test_a_hundred_messages_at_all_caps_are_listed_in_answers_that_fit(
    heavy: Page, query: dict[str, Any], at_least: int
) -> None:
    counts = check_walk(heavy, newest_first(heavy, parent=None), **query)
    assert all(count >= at_least for count in counts[:-1]), counts


def test_replies_and_filtered_lists_fit_too(heavy: Page) -> None:
    parent = Message.objects.filter(page=heavy, parent=None).latest("created_at")
    made(heavy, 20, fields=at_all_caps(), parent=[parent] * 20)
    check_walk(heavy, newest_first(heavy, parent=parent), limit=100, parentId=parent.pk)
    for name, value in (("communityId", parent.community_id), ("tagType", "note"), ("authorKind", "human")):
        check_walk(heavy, newest_first(heavy, parent=None), limit=100, **{name: value})


def test_no_statement_fetches_more_than_fits(heavy: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    """PostgreSQL does not send, and the process does not hold, 49 MiB of which most is dropped."""
    brought: list[int] = []

    def counted(statement: str, values: Any) -> list[Any]:
        rows = fetch_all(statement, values)
        brought.append(sum(len(value) for row in rows for value in row if isinstance(value, str)))
        return rows

    fetch_all = message_lists.fetch_all
    monkeypatch.setattr(message_lists, "fetch_all", counted)
    one = len(Api().get(f"{PATH}/{newest_first(heavy)[0]}").body)
    for limit in (FEW, FEW + 1, 100):
        Api().get(PATH, pageId=heavy.pk, limit=limit, includeTopReply="true")
    assert len(brought) == 6
    assert max(brought) <= PAGE_BYTES + (FEW + 1) * one // 2
    assert max(brought[2:]) <= PAGE_BYTES


@pytest.mark.parametrize("character", ["\x01", '"', "é", "💩"], ids=ascii)
def test_the_size_counts_json_escapes(character: str) -> None:
    page = PageFactory()
    made(page, 60, fields={"content": character * CONTENT_MAX})
    for limit in (10, 100):
        check_walk(page, newest_first(page), limit=limit)


@pytest.mark.parametrize("character", ["x", "💩"])
def test_one_message_at_all_caps_with_quote_and_top_reply_fits(character: str) -> None:
    page = PageFactory()
    quoted = made(page, 1, fields=at_all_caps(character))[0]
    post = made(page, 1, fields=at_all_caps(character), quote=quoted)[0]
    made(page, 1, fields=at_all_caps(character), parent=[post], quote=quoted)
    answer = Api().get(PATH, pageId=page.pk, limit=1, includeTopReply="true")
    assert answer.json["messages"][0]["topReply"]["quote"]["content"] == character * CONTENT_MAX
    assert len(answer.body) < PAGE_BYTES


def test_a_message_over_the_limit_is_listed_alone() -> None:
    """Caps may change, and an empty page would have no next cursor."""
    page = PageFactory()
    made(page, 3, fields={"content": "x" * PAGE_BYTES})
    made(page, 3, fields={"content": "short"})
    for limit in (2, 100):
        assert max(check_walk(page, newest_first(page), limit=limit)) <= 3


def test_the_limit_counts_messages_and_top_replies() -> None:
    for of_posts, of_replies in ((at_all_caps(), {"content": "x"}), ({"content": "x"}, at_all_caps())):
        page = PageFactory()
        posts = made(page, 30, fields=of_posts)
        made(page, 30, fields=of_replies, parent=posts)
        counts = check_walk(page, newest_first(page, parent=None), limit=100, includeTopReply="true")
        assert len(counts) > 1


def test_a_list_that_just_fits_is_complete() -> None:
    page = PageFactory()
    made(page, 12, fields={"content": "x" * 150_000})
    answer = Api().get(PATH, pageId=page.pk, limit=100)
    assert (len(answer.json["messages"]), answer.json["hasMore"]) == (12, False)


def test_the_size_is_taken_of_the_long_columns() -> None:
    """Each column has a value of its own."""
    quoted = made(PageFactory(), 1, fields={"content": "quoted"})[0]
    fields = {
        "content": "content",
        "tag_type": "note",
        "payload": {"p": 1},
        "anchor_text": "anchor",
        "context_anchor": {"c": 1},
        "attachments": [],
        "reaction_counts": {"👍": 1},
    }
    post = made(PageFactory(), 1, fields=fields, quote=quoted)[0]
    statement, values = message_lists._statement(
        str(post.page_id), None, {}, None, 2, with_top_reply=True, is_weighed=False
    )
    (row,) = message_lists.fetch_all(statement, values)
    assert message_lists.WEIGHED_OF(row) == ("content", "quoted", '{"p": 1}', "anchor", '{"c": 1}', "[]", '{"👍": 1}')
    assert row[message_lists.TOP_ID] is None
    assert isinstance(row[0], UUID)
