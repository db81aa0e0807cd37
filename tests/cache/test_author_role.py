"""Cached responses follow who moderates the communities of their posts."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from tests.api import Api
from tests.cache.conftest import Call
from tests.factories import CommunityFactory, MessageFactory, PersonFactory

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_moderator_who_is_added_or_removed_is_shown_as_one_or_not(call: Call, django_paths: list[str]) -> None:
    moderator, person, community = PersonFactory(), PersonFactory(), CommunityFactory()
    community.moderators.create(account=moderator)
    post = MessageFactory(community=community, author=person)
    api, path = Api.as_person(moderator), f"/v1/moderation/communities/{community.pk}/moderators"

    def roles() -> list[Any]:
        one = orjson.loads(call(f"/api/messages/{post.pk}").body)
        (listed,) = orjson.loads(call("/api/messages", f"pageId={post.page_id}").body)["messages"]
        return [one["authorRole"], listed["authorRole"]]

    assert roles() == [None, None]
    django_paths.clear()
    assert roles() == [None, None]
    assert django_paths == []
    assert api.post(path, {"handle": person.handle}).status == 200
    assert roles() == ["moderator", "moderator"]
    # Repeated, it changes nothing.
    assert api.post(path, {"handle": person.handle}).status == 200
    django_paths.clear()
    assert roles() == ["moderator", "moderator"]
    assert django_paths == []
    assert api.delete(f"{path}/{person.pk}").status == 200
    assert roles() == [None, None]
