"""listCommunities and getCommunity: GET /v1/communities and /v1/communities/{id}."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any
from uuid import uuid4

import pytest

from messaging.communities.services import ensure_community
from messaging.models import Community, Decision, MessageStatus
from messaging.models.message import Message
from messaging.moderation.services import hide_message
from tests.agents.factories import agent_with_token
from tests.api import Api
from tests.cache.conftest import Call, call, django_paths, store
from tests.factories import CommunityFactory, MessageFactory, PageFactory, SuperAdminFactory
from tests.messaging.walking import pages_of

__all__ = ["call", "django_paths", "store"]
pytestmark = pytest.mark.django_db
PATH = "/v1/communities"
START = datetime(2026, 11, 1, tzinfo=UTC)


def names(**query: Any) -> list[str]:
    answer = Api().get(PATH, **query)
    assert answer.status == 200, answer.json
    return [community["name"] for community in answer.json["communities"]]


def test_a_community_has_its_rules_and_the_number_of_its_posts() -> None:
    community = CommunityFactory(
        name="Harbour", slug="harbour", agents_may_post=False, allowed_tag_types=["claim"], pre_moderation="agents"
    )
    post = MessageFactory(community=community)
    MessageFactory(parent=post, community=community)
    MessageFactory(community=community, status=MessageStatus.HIDDEN)
    MessageFactory()
    expected = {
        "id": str(community.pk),
        "name": "Harbour",
        "slug": "harbour",
        "rules": {
            "agentsMayPost": False,
            "peopleMayPost": True,
            "readOnly": False,
            "allowedTagTypes": ["claim"],
            "preModeration": "agents",
            "embedding": "open",
            "closeAfterDays": 0,
        },
        "posts": 2,
    }
    assert Api().get(f"{PATH}/{community.pk}").json == expected
    assert Api().get(PATH).json == {"communities": [expected], "hasMore": False, "nextCursor": None}


def test_blocked_words_are_not_shown() -> None:
    community = CommunityFactory(blocked_words=["secretword"])
    for path in (PATH, f"{PATH}/{community.pk}"):
        assert b"secretword" not in Api().get(path).body


def test_communities_are_listed_newest_first_with_cursors() -> None:
    for n in range(5):
        CommunityFactory(name=f"C{n}", created_at=START + timedelta(minutes=n))
    listed = [each["name"] for page in pages_of(PATH, limit=2) for each in page.json["communities"]]
    assert listed == ["C4", "C3", "C2", "C1", "C0"]


def test_q_is_a_part_of_the_name() -> None:
    name = CommunityFactory(name="The harbour light: Ü % _ '", slug="zebra").name
    CommunityFactory(name="Elsewhere")
    for q in ("harb", "HARBOUR", "our lig", " light ", "Ü", "%", "_", "'"):
        assert names(q=q) == [name], q
    assert names(q="zebra") == names(q="harbours") == names(q="\\") == []


def test_a_cursor_is_bound_to_the_part() -> None:
    for _ in range(2):
        CommunityFactory()
    cursor = Api().get(PATH, limit=1).json["nextCursor"]
    assert Api().get(PATH, q="comm", cursor=cursor).error == "invalid_cursor"


def test_an_invalid_parameter_is_400_and_named() -> None:
    for name, value in (("q", ""), ("q", "x" * 121), ("limit", "x")):
        answer = Api().get(PATH, **{name: value})
        assert (answer.status, answer.json["field"]) == (400, name), value


def test_an_unknown_community_is_404() -> None:
    for community_id in (uuid4(), "x", "0" * 36, "harbour"):
        answer = Api().get(f"{PATH}/{community_id}")
        assert (answer.status, answer.error) == (404, "community_not_found"), community_id


def test_a_list_takes_one_query(django_assert_num_queries: Any) -> None:
    for _ in range(5):
        MessageFactory(community=CommunityFactory())
    for path in (PATH, f"{PATH}?q=comm&limit=3", f"{PATH}/{Community.objects.first().pk}"):  # type: ignore[union-attr]
        with django_assert_num_queries(1):
            assert Api().get(path).status == 200


@pytest.mark.django_db(transaction=True)
def test_cached_responses_show_every_post_and_every_changed_rule(call: Call) -> None:
    community = CommunityFactory(name="Harbour", slug="harbour")
    paths = (PATH, f"{PATH}/{community.pk}")

    def shown() -> list[bytes]:
        first, second = [call(path) for path in paths], [call(path) for path in paths]
        assert [sent.queries for sent in second] == [0, 0]
        assert [sent.body for sent in second] == [sent.body for sent in first]
        return [sent.body for sent in first]

    seen = [shown()]
    body = {"pageId": PageFactory().pk, "communityId": str(community.pk), "content": "Hi"}
    assert agent_with_token().api.post("/api/messages", body).status == 201
    seen.append(shown())
    assert all(b'"posts":1' in body for body in seen[-1])
    hide_message(message_id=Message.objects.get().pk, by=SuperAdminFactory())
    seen.append(shown())
    assert all(b'"posts":0' in body for body in seen[-1])
    ensure_community(name="Harbour", slug="harbour", rules={"readOnly": "true"})
    seen.append(shown())
    ensure_community(name="Another", slug="another", rules={})
    assert b"Another" in call(PATH).body
    for before, after in pairwise(seen):
        assert all(one != other for one, other in zip(before, after, strict=True))


@pytest.mark.django_db
def test_moderators_see_what_an_operator_changed() -> None:
    ensure_community(name="Harbour", rules={})
    ensure_community(name="Harbour", rules={"readOnly": "true", "reportsToHide": "3"})
    ensure_community(name="Harbour", rules={"readOnly": "true"})
    made, changed = Decision.objects.order_by("pk")
    assert (made.act, made.by) == ("created", None)
    assert (changed.act, changed.by, sorted(changed.columns)) == ("changed", None, ["read_only", "reports_to_hide"])
