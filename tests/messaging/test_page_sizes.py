"""Every list of whole posts has at most 2 MiB a page, also where JSON escapes make texts longer, and skips none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from messaging.models import Account, Community, Message, MessageStatus, Page, Report
from messaging.models.message import CONTENT_MAX
from messaging.models.report import NOTE_MAX
from messaging.queries.message_lists import PAGE_BYTES
from tests.api import Api
from tests.factories import CommunityFactory, PageFactory, PersonFactory, SuperAdminFactory
from tests.messaging.test_message_list_size import at_all_caps, insert

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
    api = Api.as_person(moderator) if "moderation" in path else Api()
    ids: list[str] = []
    cursor: Query = {}
    while True:
        answer = api.get(path, **query, limit=100, **cursor)
        assert answer.status == 200, answer.json
        assert len(answer.body) <= PAGE_BYTES
        ids += [message["id"] for message in answer.json["messages"]]
        if not answer.json["hasMore"]:
            return ids
        cursor = {"cursor": answer.json["nextCursor"]}
