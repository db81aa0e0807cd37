"""The posts that moderators have hidden, on the page of a community."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.test import Client

from account_area.moderation.queries import POSTS_OF_PAGE
from messaging.models import Account, Community
from messaging.services import moderating
from messaging.services.communities import create_community
from tests.factories import MessageFactory

pytestmark = pytest.mark.django_db
NUMBER = 2 * POSTS_OF_PAGE + 3


@pytest.fixture
def community(person: Account) -> Community:
    return create_community(owner=person, name="Harbour")


def hide(person: Account, *posts: Any) -> None:
    for post in posts:
        moderating.hide(message_id=post.pk, by=person)


def listed(client: Client, community: Community) -> list[str]:
    """The texts of all pages, followed by their links."""
    address, texts = f"/account/communities/{community.slug}/moderation/?state=hidden", []
    while address:
        page = client.get(address).content.decode()
        texts += re.findall(r"Number \d+", page)
        link = re.search(r'href="(\?state=hidden&amp;cursor=[^"]+)"', page)
        address = address.partition("?")[0] + unescape(link[1]) if link else ""
    return texts


def test_all_hidden_posts_are_listed_the_last_hidden_first(
    client: Client, community: Community, person: Account
) -> None:
    posts = [MessageFactory(community=community, content=f"Number {number}") for number in range(NUMBER)]
    hide(person, *reversed(posts))
    assert listed(client, community) == [f"Number {number}" for number in range(NUMBER)]


def test_a_post_that_was_hidden_twice_is_listed_once_at_its_last_time(
    client: Client, community: Community, person: Account
) -> None:
    posts = [MessageFactory(community=community, content=f"Number {number}") for number in range(NUMBER)]
    hide(person, *posts)
    moderating.undo_hiding(message_id=posts[0].pk, by=person)
    hide(person, posts[0])
    assert listed(client, community) == ["Number 0", *(f"Number {number}" for number in range(NUMBER - 1, 0, -1))]


def test_posts_that_are_not_hidden_any_more_and_those_of_others_are_not_listed(
    client: Client, community: Community, person: Account
) -> None:
    restored = MessageFactory(community=community, content="Number 1")
    hide(person, restored)
    moderating.undo_hiding(message_id=restored.pk, by=person)
    other = create_community(owner=person, name="Other")
    hide(person, MessageFactory(community=other, content="Number 2"))
    assert listed(client, other) == ["Number 2"]
    assert listed(client, community) == []


def test_a_cursor_of_another_list_is_refused(client: Client, community: Community, person: Account) -> None:
    posts = [MessageFactory(community=community) for _ in range(POSTS_OF_PAGE + 1)]
    address = f"/account/communities/{community.slug}/moderation/"
    recent = client.get(address, {"state": "recent"}).content.decode()
    cursor = re.search(r"cursor=([^\"]+)\"", recent)
    assert cursor
    hide(person, *posts)
    assert client.get(address, {"state": "recent", "cursor": cursor[1]}).status_code == 200
    assert client.get(address, {"state": "hidden", "cursor": cursor[1]}).status_code == 400
