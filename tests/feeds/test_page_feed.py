"""getPageAtomFeed and getPageJsonFeed: /feeds/pages/{pageId}.atom and .json."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from messaging.models import Account, Message, Page
from messaging.pages.moving import move_page
from tests.api import Api
from tests.factories import AgentAccountFactory, CommunityFactory, MessageFactory, PageFactory, PersonFactory
from tests.feeds.reading import get, read, read_both

pytestmark = pytest.mark.django_db
FORMATS = pytest.mark.parametrize("extension", ["atom", "json"])
START = datetime(2026, 11, 1, tzinfo=UTC)
UNKNOWN = "p1_" + "a" * 32


def feed_path(page: Page) -> str:
    return f"/feeds/pages/{page.pk}"


def test_posts_and_replies_are_listed_newest_first() -> None:
    page, author = PageFactory(), PersonFactory(name="Ada")
    post = MessageFactory(page=page, content="First", author=author, created_at=START)
    reply = MessageFactory(parent=post, content="Second", created_at=START + timedelta(minutes=1))
    third = MessageFactory(page=page, content="Third", community=CommunityFactory())
    MessageFactory(content="On another page")
    feed = read_both(feed_path(page))
    assert [item.id for item in feed.items] == [f"urn:uuid:{message.pk}" for message in (third, reply, post)]
    assert [item.text for item in feed.items] == ["Third", "Second", "First"]
    first = feed.items[-1]
    assert (first.author, first.published, first.updated) == ("Ada", post.created_at, post.updated_at)
    assert first.page_url == f"{page.normalized_url}#community-post-{post.pk}"
    assert first.url == Api().get(f"/api/messages/{post.pk}").json["url"]
    assert (feed.title, feed.home) == (f"Discussion of {page.normalized_url}", page.normalized_url)
    assert feed.updated == max(item.updated for item in feed.items)


def test_agents_are_named_as_agents_in_both_formats() -> None:
    post = MessageFactory(created_at=START)
    MessageFactory(page=post.page, author=AgentAccountFactory(), author_kind="agent")
    items = Api().get(f"{feed_path(post.page)}.json").json["items"]
    assert [item["_community"]["authorKind"] for item in items] == ["agent", "human"]
    atom = get(feed_path(post.page), "atom").body.decode()
    first, second = atom.split("<entry>")[1:]
    assert ('<category term="agent"' in first, "<category" in second) == (True, False)


def test_posts_with_equal_times_are_ordered_by_id() -> None:
    post = MessageFactory(created_at=START)
    for _ in range(3):
        MessageFactory(page=post.page, created_at=START)
        MessageFactory(parent=post, created_at=START)
    expected = [message_id.urn for message_id in Message.objects.order_by("-id").values_list("id", flat=True)]
    assert [item.id for item in read_both(feed_path(post.page)).items] == expected


@pytest.mark.parametrize(("posts", "replies"), [(60, 0), (0, 60), (30, 30), (1, 49)])
def test_the_feed_has_the_newest_50(posts: int, replies: int) -> None:
    parent, author = MessageFactory(created_at=START), PersonFactory()
    Message.objects.bulk_create(
        Message(
            page=parent.page,
            author=author,
            author_kind="human",
            content=str(n),
            parent=parent if n < replies else None,
            created_at=START + timedelta(minutes=1 + n * 7 % (posts + replies)),
        )
        for n in range(posts + replies)
    )
    newest = Message.objects.order_by("-created_at", "-id").values_list("content", flat=True)[:50]
    assert [item.text for item in read_both(feed_path(parent.page)).items] == [*newest]


def test_only_published_posts_are_listed() -> None:
    shown = MessageFactory()
    for status in ("pending", "hidden", "deleted"):
        MessageFactory(page=shown.page, status=status)
        MessageFactory(parent=shown, status=status)
    assert [item.text for item in read_both(feed_path(shown.page)).items] == [shown.content]


@FORMATS
def test_a_page_without_posts_has_an_empty_feed(extension: str) -> None:
    page = PageFactory()
    assert read(feed_path(page), extension).items == []
    assert read(feed_path(page), extension).home == page.normalized_url
    unknown = read(f"/feeds/pages/{UNKNOWN}", extension)
    assert (unknown.items, unknown.title) == ([], f"Discussion of {UNKNOWN}")


def test_an_empty_feed_does_not_change() -> None:
    assert get(f"/feeds/pages/{UNKNOWN}", "atom").body == get(f"/feeds/pages/{UNKNOWN}", "atom").body


@FORMATS
def test_a_malformed_page_id_is_404(extension: str) -> None:
    for page in ("p1_", "p2_" + "a" * 32, "p1_" + "A" * 32, "x", "%00", "%ff", UNKNOWN + ".a"):
        answer = Api().get(f"/feeds/pages/{page}.{extension}")
        assert (answer.status, answer.error) == (404, "not_found"), page
        assert answer.headers["Content-Type"] == "application/json"


def test_there_are_no_other_formats() -> None:
    for path in ("", ".rss", ".atom/", ".ATOM", "/atom", ".json.", "%2Eatom%2F"):
        assert Api().get(f"/feeds/pages/{UNKNOWN}{path}").status == 404, path


@FORMATS
def test_the_address_of_a_feed_is_absolute_and_does_not_depend_on_the_host(extension: str, settings: Any) -> None:
    settings.BASE_URL = "https://service.example"
    settings.ALLOWED_HOSTS = ["*"]
    headers = {"Host": "evil.example", "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "gopher"}
    page = PageFactory()
    answer = get(feed_path(page), extension, headers=headers)
    assert b"evil.example" not in answer.body
    assert read(feed_path(page), extension).url == f"https://service.example/feeds/pages/{page.pk}.{extension}"


def test_a_page_that_is_selected_by_a_fragment_has_links_without_the_post() -> None:
    """A URL has one fragment, and another one would be another page."""
    page = PageFactory(url="https://example.com/app#!/story")
    MessageFactory(page=page)
    assert [item.page_url for item in read_both(feed_path(page)).items] == ["https://example.com/app#!/story"]


def test_the_id_of_a_feed_depends_on_the_page_alone(settings: Any) -> None:
    page, other = PageFactory(), PageFactory()
    before = read(feed_path(page), "atom").id
    MessageFactory(page=page)
    settings.BASE_URL = "https://moved.example"
    assert before
    assert read(feed_path(page), "atom").id == before != read(feed_path(other), "atom").id


def test_the_feed_of_an_old_page_id_has_the_posts_of_the_new_page() -> None:
    old = Page.objects.create(id=UNKNOWN, normalized_url="https://example.com/a?PHPSESSID=1")
    post = MessageFactory(page=old)
    move_page(old)
    new = Message.objects.get(pk=post.pk).page
    assert new.pk != UNKNOWN
    for extension in ("atom", "json"):
        moved = get(f"/feeds/pages/{UNKNOWN}", extension).body
        assert moved == get(feed_path(new), extension).body
    (item,) = read_both(f"/feeds/pages/{UNKNOWN}").items
    assert item.page_url == f"https://example.com/a#community-post-{post.pk}"


@FORMATS
def test_a_feed_shows_no_account_but_the_name(extension: str) -> None:
    author: Account = MessageFactory().author
    body = get(feed_path(Page.objects.get()), extension).body.decode()
    assert author.name in body
    assert str(author.pk) not in body


@FORMATS
def test_a_feed_is_read_only(extension: str) -> None:
    path = f"{feed_path(PageFactory())}.{extension}"
    head = Api().send("HEAD", path)
    assert (head.status, head.body) == (200, b"")
    assert head.headers["ETag"] == Api().get(path).headers["ETag"]
    for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
        refused = Api().send(method, path)
        assert (refused.status, refused.error, refused.headers["Allow"]) == (405, "method_not_allowed", "GET, HEAD")


def test_each_format_has_its_media_type_and_may_be_read_by_any_page() -> None:
    path = feed_path(PageFactory())
    types = {"atom": "application/atom+xml", "json": "application/feed+json"}
    for extension, media_type in types.items():
        answer = get(path, extension, headers={"Accept": "text/html", "Origin": "https://reader.example"})
        assert answer.headers["Content-Type"] == media_type
        assert answer.headers["Access-Control-Allow-Origin"] == "*"
        assert answer.headers["Cache-Control"] == "public, no-cache"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        again = Api().get(f"{path}.{extension}", headers={"If-None-Match": answer.headers["ETag"]})
        assert (again.status, again.body) == (304, b"")
