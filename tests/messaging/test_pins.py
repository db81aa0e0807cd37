"""Moderators pin at most three posts of a community on a page."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from messaging.models import Account, Community, Decision, Message, Page, Pin
from messaging.pages.discussions import pinned_of
from messaging.pages.moving import move_page
from tests.agents.racing import race
from tests.api import Answer, Api
from tests.factories import CommunityFactory, MessageFactory, PageFactory, PersonFactory, SuperAdminFactory
from tests.openapi import document

pytestmark = pytest.mark.django_db
MODERATED = "/v1/moderation/messages"


@pytest.fixture
def moderator() -> Account:
    return PersonFactory()


@pytest.fixture
def community(moderator: Account) -> Community:
    community: Community = CommunityFactory()
    community.moderators.create(account=moderator)
    return community


@pytest.fixture
def page() -> Page:
    return PageFactory()


@pytest.fixture
def api(moderator: Account) -> Api:
    return Api.as_person(moderator)


def posts(count: int, community: Community, page: Page) -> list[Message]:
    return [MessageFactory(community=community, page=page) for _ in range(count)]


def pin(api: Api, post: Message, **body: Any) -> Answer:
    return api.post(f"{MODERATED}/{post.pk}/pin", body)


def unpin(api: Api, post: Message, **options: Any) -> Answer:
    return api.delete(f"{MODERATED}/{post.pk}/pin", **options)


def decide(api: Api, post: Message, what: str) -> None:
    assert api.post(f"{MODERATED}/{post.pk}/{what}", {}).status == 200


def acts(community: Community) -> list[tuple[str, Any, str]]:
    return list(Decision.objects.filter(community=community).order_by("pk").values_list("act", "message", "reason"))


def test_the_last_pinned_post_is_first(api: Api, community: Community, page: Page) -> None:
    first, second, plain = posts(3, community, page)
    other = MessageFactory(community=community)
    for post in (first, second, other):
        answer = pin(api, post)
        assert (answer.status, answer.json) == (200, {"id": str(post.pk), "pinned": True})
    assert pinned_of(page.pk, community.pk) == [second.pk, first.pk]
    assert pinned_of(other.page_id, community.pk) == [other.pk]
    assert pinned_of(page.pk, CommunityFactory().pk) == []
    assert unpin(api, second).json == {"id": str(second.pk), "pinned": False}
    assert pinned_of(page.pk, community.pk) == [first.pk]
    assert plain.pk not in pinned_of(page.pk, community.pk)


def test_pinning_and_unpinning_twice_changes_nothing(api: Api, community: Community, page: Page) -> None:
    (post,) = posts(1, community, page)
    pin(api, post, reason=" The rules. ")
    assert pin(api, post, reason="again").status == 200
    assert unpin(api, post).status == 200
    again = unpin(api, post)
    assert (again.status, again.error) == (404, "pin_not_found")
    assert acts(community) == [("pinned", post.pk, "The rules."), ("unpinned", post.pk, "")]


def test_a_fourth_pin_is_refused(api: Api, community: Community, page: Page) -> None:
    *pinned, fourth = posts(4, community, page)
    for post in pinned:
        pin(api, post)
    answer = pin(api, fourth)
    assert (answer.status, answer.refusal) == (409, {"error": "too_many_pins", "max": 3})
    # The pins of another community on the page, and of the community on another page, are counted apart.
    boss = Api.as_person(SuperAdminFactory())
    assert pin(boss, MessageFactory(community=CommunityFactory(), page=page)).status == 200
    assert pin(api, MessageFactory(community=community)).status == 200
    unpin(api, pinned[0])
    assert pin(api, fourth).status == 200
    assert pinned_of(page.pk, community.pk) == [post.pk for post in (fourth, pinned[2], pinned[1])]


def test_a_hidden_post_is_not_shown_and_is_shown_again(api: Api, community: Community, page: Page) -> None:
    first, second = posts(2, community, page)
    for post in (first, second):
        pin(api, post)
    decide(api, second, "hide")
    assert pinned_of(page.pk, community.pk) == [first.pk]
    decide(api, second, "restore")
    assert pinned_of(page.pk, community.pk) == [second.pk, first.pk]
    decide(api, second, "hide")
    assert unpin(api, second).status == 200


def test_the_pin_of_a_post_that_is_not_shown_makes_room(api: Api, community: Community, page: Page) -> None:
    hidden, deleted, third, fourth, fifth, sixth = posts(6, community, page)
    for post in (hidden, deleted, third):
        pin(api, post)
    # Its replies keep it as a tombstone.
    MessageFactory(parent=deleted, community=community)
    decide(api, hidden, "hide")
    assert Api.as_person(deleted.author).delete(f"/api/messages/{deleted.pk}").status == 200
    assert pinned_of(page.pk, community.pk) == [third.pk]
    assert pin(api, fourth).status == pin(api, fifth).status == 200
    assert pin(api, sixth).error == "too_many_pins"
    decide(api, hidden, "restore")
    assert pinned_of(page.pk, community.pk) == [fifth.pk, fourth.pk, third.pk]
    assert Pin.objects.count() == 3


@pytest.mark.parametrize("status", ["pending", "hidden", "deleted"])
def test_only_published_posts_are_pinned(api: Api, community: Community, status: str) -> None:
    answer = pin(api, MessageFactory(community=community, status=status))
    assert (answer.status, answer.refusal) == (409, {"error": "message_state_changed", "status": status})
    assert not Pin.objects.exists()


def test_replies_and_posts_of_no_community_are_not_pinned(api: Api, community: Community, page: Page) -> None:
    (post,) = posts(1, community, page)
    reply, free = MessageFactory(parent=post, community=community), MessageFactory()
    for sender, other in ((api, reply), (Api.as_person(SuperAdminFactory()), free)):
        answer = pin(sender, other)
        assert (answer.status, answer.error) == (409, "not_pinnable")


def test_only_moderators_pin(api: Api, community: Community, page: Page) -> None:
    first, second = posts(2, community, page)
    pin(api, first)
    stranger = PersonFactory()
    CommunityFactory().moderators.create(account=stranger)
    for answer in (pin(Api.as_person(stranger), second), unpin(Api.as_person(stranger), first)):
        assert (answer.status, answer.error) == (403, "moderator_required")
    for answer in (api.post(f"{MODERATED}/{uuid4()}/pin", {}), api.delete(f"{MODERATED}/{uuid4()}/pin")):
        assert (answer.status, answer.error) == (404, "message_not_found")
    assert pin(api, second, reason="x" * 501).status == pin(api, second, reason=1).status == 400
    assert pinned_of(page.pk, community.pk) == [first.pk]


def test_a_key_pins_once(api: Api, community: Community, page: Page) -> None:
    (post,) = posts(1, community, page)
    path = f"{MODERATED}/{post.pk}/pin"
    first = api.post(path, {}, key="one")
    unpin(api, post)
    assert api.post(path, {}, key="one").json == first.json
    assert not Pin.objects.exists()


def test_a_moved_page_has_its_pins_the_last_three_of_a_community(api: Api, community: Community, page: Page) -> None:
    old = Page.objects.create(pk="p1_" + "b" * 32, normalized_url=page.normalized_url)
    there, here = posts(2, community, old), posts(2, community, page)
    other = CommunityFactory()
    of_other = MessageFactory(community=other, page=old)
    for post in (there[0], here[0], there[1], here[1]):
        pin(api, post)
    pin(Api.as_person(SuperAdminFactory()), of_other)
    move_page(old)
    assert pinned_of(page.pk, community.pk) == [here[1].pk, there[1].pk, here[0].pk]
    assert pinned_of(page.pk, other.pk) == [of_other.pk]
    assert Pin.objects.count() == 4


@pytest.mark.django_db(transaction=True)
def test_of_concurrent_pins_three_succeed(
    api: Api, community: Community, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    document()
    monkeypatch.setattr("kernel.api.throttling.hit", lambda *_arguments: None)
    found = posts(6, community, page)
    assert sorted(race(6, lambda number: pin(api, found[number]).status)) == [200] * 3 + [409] * 3
    assert Pin.objects.count() == 3
    # The same post at once.
    unpin(api, Message.objects.get(pk=pinned_of(page.pk, community.pk)[0]))
    rest = [post for post in found if not Pin.objects.filter(message=post).exists()]
    assert race(4, lambda _number: pin(api, rest[0]).status) == [200] * 4
    assert Pin.objects.count() == 3
