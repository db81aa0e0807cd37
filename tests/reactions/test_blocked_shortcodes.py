"""A shortcode is text that all readers see below a post: the word lists of the post's community hold for it."""

from __future__ import annotations

import pytest

from messaging.communities.services import create_community
from reactions.models import Reaction
from tests.api import Api
from tests.embeds.making import an_embed
from tests.factories import CommunityFactory, MessageFactory, PageFactory, PersonFactory

pytestmark = pytest.mark.django_db
PATH = "/v1/reactions"
HOSTS = ("site.example", "other.example")


def test_a_shortcode_with_a_blocked_word_is_refused_and_other_emoji_are_not() -> None:
    community = CommunityFactory(blocked_words=["casino*", "buy now"])
    post, elsewhere = MessageFactory(community=community), MessageFactory()
    api = Api.as_person(PersonFactory())
    for emoji in (":casino:", ":best-casinos:", ":buy_now:", ":buy-now+here:"):
        refused = api.post(PATH, {"messageId": str(post.pk), "emoji": emoji})
        assert (refused.status, refused.error) == (422, "content_blocked"), emoji
    assert not Reaction.objects.exists()
    for emoji in (":well_said:", "🎉", ":+1:"):
        assert api.post(PATH, {"messageId": str(post.pk), "emoji": emoji}).status == 200, emoji
    # The list of one community does not hold in another, or in none.
    assert api.post(PATH, {"messageId": str(elsewhere.pk), "emoji": ":casino:"}).status == 200


def test_the_words_of_the_widget_of_the_page_hold_too() -> None:
    owner = PersonFactory()
    community = create_community(owner=owner, name="Harbour")
    an_embed(owner, community_id=community.pk, domain_whitelist=["site.example"], blocked_words=["casino"])
    posts = [MessageFactory(community=community, page=PageFactory(url=f"https://{host}/")) for host in HOSTS]
    api = Api.as_person(PersonFactory())
    statuses = [api.post(PATH, {"messageId": str(post.pk), "emoji": ":casino:"}).status for post in posts]
    assert statuses == [422, 200]


def test_a_shortcode_of_before_is_removed_and_joined() -> None:
    """A list that was changed since refuses no removal, and what is shown already shows nothing new."""
    community = CommunityFactory()
    post, first, second = MessageFactory(community=community), PersonFactory(), PersonFactory()
    body = {"messageId": str(post.pk), "emoji": ":casino:"}
    assert Api.as_person(first).post(PATH, body).status == 200
    community.blocked_words = ["casino"]
    community.save()
    assert Api.as_person(second).post(PATH, body).status == 200
    assert [Api.as_person(person).post(PATH, body).json["action"] for person in (first, second)] == ["removed"] * 2
    assert Api.as_person(first).post(PATH, body).error == "content_blocked"
