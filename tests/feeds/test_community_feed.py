"""getCommunityAtomFeed and getCommunityJsonFeed: /feeds/communities/{slug}.atom and .json."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from messaging.models import Community, Message
from tests.api import Api
from tests.factories import CommunityFactory, MessageFactory, PageFactory, PersonFactory
from tests.feeds.reading import get, read, read_both

pytestmark = pytest.mark.django_db
FORMATS = pytest.mark.parametrize("extension", ["atom", "json"])
START = datetime(2026, 11, 1, tzinfo=UTC)


def feed_path(community: Community) -> str:
    return f"/feeds/communities/{community.slug}"


def test_posts_and_replies_of_all_pages_are_listed_newest_first() -> None:
    community = CommunityFactory(name="Readers")
    post = MessageFactory(community=community, created_at=START)
    elsewhere = MessageFactory(community=community, created_at=START + timedelta(minutes=1))
    reply = MessageFactory(parent=post, community=community, content="Re")
    MessageFactory(page=post.page)
    MessageFactory(page=post.page, community=CommunityFactory())
    feed = read_both(feed_path(community))
    assert [item.id for item in feed.items] == [f"urn:uuid:{message.pk}" for message in (reply, elsewhere, post)]
    assert [item.page_url for item in feed.items] == [
        f"{message.page.normalized_url}#community-post-{message.pk}" for message in (reply, elsewhere, post)
    ]
    assert (feed.title, feed.id) == ("Readers", f"urn:uuid:{community.pk}")


def test_the_feed_has_the_newest_50() -> None:
    community, author, pages = CommunityFactory(), PersonFactory(), [PageFactory() for _ in range(3)]
    Message.objects.bulk_create(
        Message(
            page=pages[n % 3],
            community=community,
            author=author,
            author_kind="human",
            content=str(n),
            created_at=START + timedelta(minutes=n),
        )
        for n in range(60)
    )
    assert [item.text for item in read_both(feed_path(community)).items] == [str(n) for n in range(59, 9, -1)]


def test_only_published_posts_are_listed() -> None:
    community = CommunityFactory()
    shown = MessageFactory(community=community)
    for status in ("pending", "hidden", "deleted"):
        MessageFactory(community=community, status=status)
    assert [item.text for item in read_both(feed_path(community)).items] == [shown.content]


@FORMATS
def test_an_unknown_community_is_404(extension: str) -> None:
    for slug in ("none", "None", "%00", "%ff", "a%20b", "x" * 61, "x" * 5_000, "ä", "-", "a.json"):
        answer = Api().get(f"/feeds/communities/{slug}.{extension}")
        assert (answer.status, answer.error) == (404, "community_not_found"), slug


@FORMATS
def test_a_community_without_posts_and_with_the_longest_slug_has_an_empty_feed(extension: str) -> None:
    feed = read(feed_path(CommunityFactory(slug="x" * 60)), extension)
    assert feed.items == []
    assert feed.url.endswith(f"/feeds/communities/{'x' * 60}.{extension}")


def test_a_renamed_community_has_its_feed_under_the_new_slug() -> None:
    community = CommunityFactory(slug="before")
    before = read("/feeds/communities/before", "atom")
    Community.objects.filter(pk=community.pk).update(slug="after", name="After")
    after = read("/feeds/communities/after", "atom")
    assert (after.id, after.title) == (before.id, "After")
    assert Api().get("/feeds/communities/before.atom").status == 404


@FORMATS
def test_a_client_that_has_the_feed_gets_304(extension: str) -> None:
    path = feed_path(CommunityFactory())
    etag = get(path, extension).headers["ETag"]
    assert Api().get(f"{path}.{extension}", headers={"If-None-Match": f'"other", W/{etag}'}).status == 304
