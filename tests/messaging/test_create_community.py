"""createCommunity: POST /v1/communities."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from kernel.api.exceptions import InvalidInput
from messaging.communities.services import create_community
from messaging.models import Community, Decision, Moderator
from messaging.models.community import CREATED_MAX, SLUG_MAX
from messaging.moderation.exceptions import CommunityCreationClosed, SlugTaken, TooManyCommunities
from tests.agents.racing import race
from tests.factories import CommunityFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db


def test_the_creator_is_the_moderator() -> None:
    person = PersonFactory()
    community = create_community(owner=person, name="Harbour Gazette")
    assert (community.slug, community.created_by) == ("harbour-gazette", person)
    assert list(Moderator.objects.values_list("community", "account")) == [(community.pk, person.pk)]
    assert list(Decision.objects.values_list("act", "by")) == [("created", person.pk)]


def test_a_slug_that_is_made_from_the_name_is_free() -> None:
    name = "Harbour " * 14
    slugs = {create_community(owner=PersonFactory(), name=name.strip()).slug for _ in range(3)}
    assert len(slugs) == 3
    assert max(map(len, slugs)) <= SLUG_MAX


def test_a_given_slug_that_is_taken_is_refused() -> None:
    CommunityFactory(slug="harbour")
    with pytest.raises(SlugTaken):
        create_community(owner=PersonFactory(), name="Harbour", slug="harbour")


def test_an_invalid_name_or_slug_is_refused() -> None:
    for fields in ({"name": ""}, {"name": "x" * 121}, {"name": "a\u202eb"}, {"name": "A", "slug": "a b"}):
        with pytest.raises(InvalidInput):
            create_community(owner=PersonFactory(), **fields)
    assert not Community.objects.exists()


def test_only_super_admins_create_communities_where_creation_is_closed(settings: Any) -> None:
    settings.COMMUNITY_CREATION = "closed"
    with pytest.raises(CommunityCreationClosed):
        create_community(owner=PersonFactory(), name="Harbour")
    create_community(owner=SuperAdminFactory(), name="Harbour")


def test_a_person_creates_at_most_five() -> None:
    person = PersonFactory()
    for number in range(CREATED_MAX):
        create_community(owner=person, name=f"Harbour {number}")
    with pytest.raises(TooManyCommunities):
        create_community(owner=person, name="Another")
    create_community(owner=PersonFactory(), name="Another")


@pytest.mark.django_db(transaction=True)
def test_calls_at_once_do_not_pass_the_limit() -> None:
    person = PersonFactory()
    for number in range(CREATED_MAX - 1):
        create_community(owner=person, name=f"Harbour {number}")

    def created(number: int) -> bool:
        with suppress(TooManyCommunities):
            return bool(create_community(owner=person, name=f"At once {number}"))
        return False

    assert sorted(race(6, created)) == [False] * 5 + [True]
    assert Community.objects.filter(created_by=person).count() == CREATED_MAX
