"""Feeds through the response cache: hits send no query, and every acknowledged write is visible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from messaging.accounts.services import ensure_person
from messaging.communities.admin import CommunityAdmin
from messaging.communities.services import change_community
from messaging.models import Community, Page
from messaging.moderation.services import approve_message, hide_message, restore_message
from messaging.pages.moving import move_page
from tests.agents.factories import agent_with_token
from tests.api import Api
from tests.cache.conftest import Call, call, django_paths, store
from tests.factories import CommunityFactory, MessageFactory, SuperAdminFactory
from tests.hiding import hide_posts_of

__all__ = ["call", "django_paths", "store"]
pytestmark = pytest.mark.django_db(transaction=True)
OLD_ID = "p1_" + "a" * 32


def paths_of(message: Any) -> list[str]:
    feeds = (f"/feeds/pages/{message.page_id}", f"/feeds/communities/{message.community.slug}")
    return [f"{feed}.{extension}" for feed in feeds for extension in ("atom", "json")]


def write(message: Any, **fields: Any) -> None:
    body = {"pageId": message.page_id, "communityId": str(message.community_id), "content": "New"} | fields
    assert agent_with_token().api.post("/api/messages", body).status == 201


def test_a_hit_sends_no_query_and_revalidates_by_its_etag(call: Call) -> None:
    for path in paths_of(MessageFactory(community=CommunityFactory())):
        first, second = call(path), call(path)
        assert (first.status, first.queries > 0, second.queries) == (200, True, 0)
        assert (second.body, second.headers) == (first.body, first.headers)
        again = call(path, HTTP_IF_NONE_MATCH=first.headers["ETag"])
        assert (again.status, again.body, again.queries) == (304, b"", 0)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_feeds_have_a_throttle_which_does_not_count_hits(call: Call, settings: Any, method: str) -> None:
    settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"feed": (2, 60)}
    post, here = MessageFactory(community=CommunityFactory()), {"REMOTE_ADDR": "198.51.100.7"}
    first, second, third, _ = paths_of(post)
    statuses = [call(path, "", method, **here).status for path in (first, first, second, second, third, first)]
    assert statuses == [200, 200, 200, 200, 429, 200]
    assert call(f"/api/messages/{post.pk}", **here).status == 200
    assert call(third, REMOTE_ADDR="203.0.113.7").status == 200


def rename(message: Any) -> None:
    ensure_person(handle=message.author.handle, name="Renamed", password=None, is_staff=False, is_superuser=False)


@pytest.mark.parametrize(
    "change",
    [
        write,
        lambda message: write(message, parentId=str(message.pk)),
        lambda message: hide_message(message_id=message.pk, by=SuperAdminFactory()),
        lambda message: hide_posts_of(author=message.author, by=SuperAdminFactory()),
        rename,
    ],
    ids=["post", "reply", "hide", "hide all", "rename the author"],
)
def test_a_write_changes_every_feed_that_shows_it(call: Call, change: Callable[[Any], Any]) -> None:
    message = MessageFactory(community=CommunityFactory())
    paths = paths_of(message)
    before = [call(path).body for path in paths]
    change(message)
    after = [call(path) for path in paths]
    assert all(sent.body != body and sent.queries > 0 for sent, body in zip(after, before, strict=True))


def test_approving_and_restoring_a_post_changes_the_feeds(call: Call) -> None:
    message, boss = MessageFactory(community=CommunityFactory(), status="pending"), SuperAdminFactory()
    for move, is_shown in ((approve_message, True), (hide_message, False), (restore_message, True)):
        bodies = [call(path).body for path in paths_of(message)]
        assert [message.content.encode() in body for body in bodies] == [not is_shown] * 4
        move(message_id=message.pk, by=boss)
        bodies = [call(path).body for path in paths_of(message)]
        assert [message.content.encode() in body for body in bodies] == [is_shown] * 4


def test_a_post_of_another_page_and_community_changes_no_feed(call: Call) -> None:
    paths = paths_of(MessageFactory(community=CommunityFactory()))
    for path in paths:
        call(path)
    write(MessageFactory(community=CommunityFactory()))
    assert [call(path).queries for path in paths] == [0] * 4


def test_a_renamed_community_is_shown_at_once_under_its_slug_alone(call: Call) -> None:
    community = CommunityFactory(slug="before", name="Before")
    assert b"Before" in call("/feeds/communities/before.atom").body
    change_community(community, {"name": "After"})
    assert b"After" in call("/feeds/communities/before.atom").body
    change_community(community, {"slug": "after"})
    assert call("/feeds/communities/before.atom").status == 404
    assert call("/feeds/communities/after.atom").status == 200
    other = CommunityFactory(slug="before")
    assert str(other.pk).encode() in call("/feeds/communities/before.atom").body


def test_a_community_that_is_edited_in_the_admin_is_shown_at_once(call: Call, rf: Any) -> None:
    from django.contrib import admin

    community = CommunityFactory(name="Before")
    path = f"/feeds/communities/{community.slug}.json"
    assert b"Before" in call(path).body
    community.name = "After"

    class Form:
        changed_columns = ("name",)
        cleaned_data = {"reason": ""}

    request = rf.post("/")
    request.user = SuperAdminFactory()
    CommunityAdmin(Community, admin.site).save_model(request, community, Form(), change=True)  # type: ignore[arg-type]
    assert b"After" in call(path).body


def test_a_moved_page_changes_the_links_in_every_feed(call: Call) -> None:
    old = Page.objects.create(id=OLD_ID, normalized_url="https://example.com/a?PHPSESSID=1")
    message = MessageFactory(page=old, community=CommunityFactory())
    paths = paths_of(message)
    assert all(b"PHPSESSID" in call(path).body for path in paths)
    move_page(old)
    assert not any(b"PHPSESSID" in call(path).body for path in paths)
    # The cached feed of the old id depends on the new page.
    before = call(paths[0]).body
    write(message, pageId=Page.objects.get().pk)
    assert call(paths[0]).body != before


def test_an_issued_page_shows_its_url_at_once(call: Call) -> None:
    url = "https://example.com/issued"
    page_id = Api().post("/v1/presence/normalize-url", {"url": url}).json["pageId"]
    Page.objects.all().delete()
    path = f"/feeds/pages/{page_id}.json"
    assert url.encode() not in call(path).body
    Api().post("/v1/presence/normalize-url", {"url": url})
    assert url.encode() in call(path).body


def test_a_refreshed_feed_is_what_django_would_send(call: Call, django_paths: list[str]) -> None:
    message = MessageFactory(community=CommunityFactory())
    for path in paths_of(message):
        call(path)
        write(message)
        django_paths.clear()
        refreshed = call(path)
        assert django_paths == []
        sent = call(path, HTTP_X_FORWARDED_PROTO="http")
        assert (refreshed.status, refreshed.body, refreshed.headers) == (200, sent.body, sent.headers)


def test_unknown_communities_and_malformed_page_ids_are_not_cached(call: Call, store: Any) -> None:
    assert call("/feeds/communities/none.atom").status == call("/feeds/pages/x.atom").status == 404
    assert store.bytes == 0
