"""The size limit of message lists: a response over it contains fewer messages, and paging skips none."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from pytest_django.plugin import DjangoDbBlocker

from kernel.api.ids import new_id
from messaging.models import Message, Page
from messaging.models.message import ANCHOR_TEXT_MAX, ATTACHMENT_URL_MAX, ATTACHMENTS_MAX, CONTENT_MAX
from messaging.posts import lists, message_sizes
from messaging.posts.message_sizes import FEW, PAGE_BYTES
from messaging.serializer_fields import CONTEXT_ANCHOR_MAX
from tests.api import Api
from tests.factories import CommunityFactory, PageFactory, PersonFactory
from tests.messaging.walking import pages_of
from tests.module_rows import undone_after_module

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


def insert(page: Page, count: int, *, fields: dict[str, Any], **more: Any) -> list[Message]:
    """Insert messages one minute apart; returns them oldest first."""
    author = PersonFactory()
    return Message.objects.bulk_create(
        [
            Message(
                id=new_id(),
                page=page,
                author=author,
                author_kind=author.kind,
                created_at=START + timedelta(minutes=n),
                **{name: value[n] if name == "parent" else value for name, value in more.items()},
                **fields,
            )
            for n in range(count)
        ]
    )


@pytest.fixture(scope="module")
def heavy(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Page]:
    """40 messages, each with a top reply, all at the documented caps: 20 MiB."""
    with undone_after_module(django_db_blocker):
        page = PageFactory()
        posts = insert(page, 40, fields=at_all_caps(), community=CommunityFactory())
        insert(page, 40, fields=at_all_caps(), parent=posts)
        yield page


def newest_first(page: Page, **query: Any) -> list[str]:
    return [
        str(pk)
        for pk in Message.objects.filter(page=page, **query).order_by("-created_at", "-id").values_list("pk", flat=True)
    ]


def check_walk(page: Page, expected: list[str], **query: Any) -> list[int]:
    """Check that every response fits and that all together are the list; returns the number of messages of each."""
    listed, counts = [], []
    for response in pages_of(PATH, pageId=page.pk, **query):
        messages = response.json["messages"]
        assert len(response.body) <= PAGE_BYTES or len(messages) == 1
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
def test_messages_at_all_caps_are_listed_in_responses_that_fit(
    heavy: Page, query: dict[str, Any], at_least: int
) -> None:
    counts = check_walk(heavy, newest_first(heavy, parent=None), **query)
    assert all(count >= at_least for count in counts[:-1]), counts


def test_replies_and_filtered_lists_fit_the_size_limit(heavy: Page) -> None:
    parent = Message.objects.filter(page=heavy, parent=None).latest("created_at")
    insert(heavy, 20, fields=at_all_caps(), parent=[parent] * 20)
    check_walk(heavy, newest_first(heavy, parent=parent), limit=100, parentId=parent.pk)
    for name, value in (("communityId", parent.community_id), ("tagType", "note"), ("authorKind", "human")):
        check_walk(heavy, newest_first(heavy, parent=None), limit=100, **{name: value})


def test_no_statement_fetches_more_than_fits(heavy: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    """PostgreSQL does not send 20 MiB to the process, most of which would be dropped."""
    fetched: list[int] = []

    def counted(statement: str, values: Any) -> list[Any]:
        rows = fetch_all(statement, values)
        fetched.append(sum(len(value) for row in rows for value in row if isinstance(value, str)))
        return rows

    fetch_all = message_sizes.fetch_all
    monkeypatch.setattr(message_sizes, "fetch_all", counted)
    one = len(Api().get(f"{PATH}/{newest_first(heavy)[0]}").body)
    for limit in (FEW, FEW + 1, 100):
        Api().get(PATH, pageId=heavy.pk, limit=limit, includeTopReply="true")
    assert len(fetched) == 6
    assert max(fetched) <= PAGE_BYTES + (FEW + 1) * one // 2
    assert max(fetched[2:]) <= PAGE_BYTES


# They are more than fit into a response.
@pytest.mark.parametrize(("character", "count"), [("\x01", 20), ('"', 55), ("é", 55), ("💩", 30)], ids=ascii)
def test_the_size_counts_json_escapes(character: str, count: int) -> None:
    page = PageFactory()
    insert(page, count, fields={"content": character * CONTENT_MAX})
    check_walk(page, newest_first(page), limit=10)
    assert len(check_walk(page, newest_first(page), limit=100)) > 1


@pytest.mark.parametrize("character", ["x", "💩"])
def test_one_message_at_all_caps_with_quote_and_top_reply_fits(character: str) -> None:
    page = PageFactory()
    quoted = insert(page, 1, fields=at_all_caps(character))[0]
    post = insert(page, 1, fields=at_all_caps(character), quote=quoted)[0]
    insert(page, 1, fields=at_all_caps(character), parent=[post], quote=quoted)
    response = Api().get(PATH, pageId=page.pk, limit=1, includeTopReply="true")
    assert response.json["messages"][0]["topReply"]["quote"]["content"] == character * CONTENT_MAX
    assert len(response.body) < PAGE_BYTES


def test_a_message_over_the_limit_is_listed_alone() -> None:
    """Caps may change, and a response without messages would have no next cursor."""
    page = PageFactory()
    insert(page, 3, fields={"content": "x" * PAGE_BYTES})
    insert(page, 3, fields={"content": "short"})
    for limit in (2, 100):
        assert max(check_walk(page, newest_first(page), limit=limit)) <= 3


def test_the_limit_counts_messages_and_top_replies() -> None:
    for post_fields, reply_fields in ((at_all_caps(), {"content": "x"}), ({"content": "x"}, at_all_caps())):
        page = PageFactory()
        posts = insert(page, 30, fields=post_fields)
        insert(page, 30, fields=reply_fields, parent=posts)
        counts = check_walk(page, newest_first(page, parent=None), limit=100, includeTopReply="true")
        assert len(counts) > 1


def test_a_list_just_under_the_size_limit_is_complete() -> None:
    page = PageFactory()
    insert(page, 12, fields={"content": "x" * 150_000})
    response = Api().get(PATH, pageId=page.pk, limit=100)
    assert (len(response.json["messages"]), response.json["hasMore"]) == (12, False)


def test_the_size_counts_the_long_columns() -> None:
    """Each column has a distinct value."""
    quoted = insert(PageFactory(), 1, fields={"content": "quoted"})[0]
    fields = {
        "content": "content",
        "tag_type": "note",
        "payload": {"p": 1},
        "anchor_text": "anchor",
        "context_anchor": {"c": 1},
        "attachments": [],
        "reaction_counts": {"👍": 1},
    }
    post = insert(PageFactory(), 1, fields=fields, quote=quoted)[0]
    asked = lists.MessageList(str(post.page_id))
    where, values = lists._where(asked, None, None)
    statement = lists._statement(asked, where, 2, with_top_reply=True, is_weighed=False)
    (row,) = message_sizes.fetch_all(statement, values)
    long = ("content", post.page.normalized_url, "quoted", '{"p": 1}', "anchor", '{"c": 1}', "[]", '{"👍": 1}')
    assert message_sizes.WEIGHED_OF(row) == long
    assert row[lists.TOP_ID] is None
    assert isinstance(row[0], UUID)
