"""Every list of whole posts has at most 2 MiB a page, also where JSON escapes make texts longer, and skips none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kernel.api.pagination import LIMIT_MAX, CursorPage
from kernel.cache.rendering import to_json
from kernel.changes.log import NewChange, append
from messaging.models import Account, Community, Message, MessageStatus, Page, Report
from messaging.models.message import CONTENT_MAX
from messaging.models.moderation import NOTE_MAX
from messaging.moderation.queries import recent_posts
from messaging.posts.message_sizes import PAGE_BYTES, messages_by_id
from tests.api import Api
from tests.factories import CommunityFactory, PageFactory, PersonFactory, SuperAdminFactory
from tests.messaging.test_message_list_size import at_all_caps, insert
from tests.messaging.walking import pages_of

pytestmark = pytest.mark.django_db
POSTS = 24
# One byte in PostgreSQL, six in JSON.
ESCAPED = {"content": "needle " + "\x01" * (CONTENT_MAX - 7)}
LARGE = at_all_caps() | {"content": "needle " + "x" * (CONTENT_MAX - 7)}
Query = dict[str, Any]


def search(_page: Page, _community: Community) -> tuple[str, Query]:
    return "/v1/search", {"q": "needle"}


def pending(_page: Page, community: Community) -> tuple[str, Query]:
    Message.objects.update(status=MessageStatus.PENDING)
    return "/v1/moderation/queue", {"communityId": community.pk, "state": "pending"}


def reported(_page: Page, community: Community) -> tuple[str, Query]:
    posts, reporters = list(Message.objects.all()), [PersonFactory() for _ in range(10)]
    Report.objects.bulk_create(
        Report(message=post, reporter=reporter, reason="other", note="\x01" * NOTE_MAX)
        for post in posts
        for reporter in reporters
    )
    return "/v1/moderation/queue", {"communityId": community.pk, "state": "reported"}


def listed(page: Page, _community: Community) -> tuple[str, Query]:
    return "/api/messages", {"pageId": page.pk}


@pytest.mark.parametrize("fields", [ESCAPED, LARGE], ids=["escaped", "at all caps"])
@pytest.mark.parametrize("list_of", [search, pending, reported, listed])
def test_pages_fit_and_together_have_every_post_once(
    list_of: Callable[[Page, Community], tuple[str, Query]], fields: dict[str, Any]
) -> None:
    page, community, moderator = PageFactory(), CommunityFactory(), SuperAdminFactory()
    posts = insert(page, POSTS, fields=fields, community=community)
    path, query = list_of(page, community)
    assert sorted(walk(path, moderator, query)) == sorted(str(post.pk) for post in posts)


def walk(path: str, moderator: Account, query: Query) -> list[str]:
    """The ids on all pages, each of which fits."""
    by = Api.as_person(moderator) if "moderation" in path else Api()
    pages = list(pages_of(path, by=by, limit=100, **query))
    assert max(len(page.body) for page in pages) <= PAGE_BYTES
    return [message["id"] for page in pages for message in page.json["messages"]]


@pytest.mark.parametrize("fields", [ESCAPED, LARGE], ids=["escaped", "at all caps"])
def test_pages_of_recent_posts_fit_and_together_have_every_post_once(fields: dict[str, Any]) -> None:
    """A page of the account area shows them."""
    community = CommunityFactory()
    posts = insert(PageFactory(), POSTS, fields=fields, community=community)
    ids: list[str] = []
    cursor: str | None = None
    while True:
        page = CursorPage.of("recent", {"limit": LIMIT_MAX} | ({"cursor": cursor} if cursor else {}))
        listed = recent_posts(community_id=community.pk, page=page)
        assert len(to_json(listed)) <= PAGE_BYTES
        ids += [str(message["id"]) for message in listed["messages"]]
        cursor = listed["nextCursor"]
        if cursor is None:
            break
    assert sorted(ids) == sorted(str(post.pk) for post in posts)


def many(page: Page) -> list[Message]:
    """As many rows as a list may have, of posts that alone just fit into a response."""
    (empty,) = insert(page, 1, fields={"content": ""})
    rest = PAGE_BYTES // LIMIT_MAX - len(to_json(messages_by_id([empty.pk])[0][0]))
    return insert(page, 1, fields={"content": "x" * rest}) * LIMIT_MAX


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "posts_on",
    [lambda page: insert(page, POSTS, fields=ESCAPED), lambda page: insert(page, POSTS, fields=LARGE), many],
    ids=["escaped", "at all caps", "many"],
)
@pytest.mark.parametrize(
    ("path", "key"), [("/v1/changes", "changes"), ("/v1/inbox", "events")], ids=["changes", "inbox"]
)
def test_pages_of_changes_and_inboxes_fit_and_together_have_every_row_once(
    posts_on: Callable[[Page], list[Message]], path: str, key: str
) -> None:
    page, reader = PageFactory(), PersonFactory()
    api = Api.as_person(reader)
    account = reader.pk if key == "events" else None
    start = api.get(path, tail="true").json["nextCursor"]
    posts = posts_on(page)
    of_page = {"type": "reply" if account else "message.created", "page_id": page.pk, "account_id": account}
    append([NewChange(message_id=post.pk, actor_id=post.author_id, **of_page) for post in posts])
    ids, cursor, more = list[str](), start, True
    while more:
        answer = api.get(path, limit=LIMIT_MAX, cursor=cursor)
        assert answer.status == 200, answer.json
        assert len(answer.body) <= PAGE_BYTES
        assert all(row["message"] for row in answer.json[key])
        ids += [row["messageId"] for row in answer.json[key]]
        cursor, more = answer.json["nextCursor"], answer.json["hasMore"]
    assert ids == [str(post.pk) for post in posts]
