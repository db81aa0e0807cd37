"""removeReaction: DELETE /v1/reactions/{reactionId} (decisions 5 and 9)."""

from __future__ import annotations

import pytest

from kernel.writes.models import RateLimitEvent
from messaging.models import Ban, Community, Message
from reactions.models import Reaction
from tests.agents.factories import agent_with_token
from tests.api import Api
from tests.factories import CommunityFactory, MessageFactory, PersonFactory
from tests.reactions.counts import counted

pytestmark = pytest.mark.django_db
UNKNOWN = "01a1f811-f718-77e8-9670-721b30c88378"


def reaction_by(api: Api, message: Message, emoji: str = "👍") -> str:
    response = api.post("/v1/reactions", {"messageId": str(message.pk), "emoji": emoji, "toggle": False})
    return str(response.json["reactionId"])


def test_own_reaction_is_removed(api: Api, post: Message) -> None:
    for other, emoji in ((PersonFactory(), "👍"), (PersonFactory(), "🎉")):
        reaction_by(Api.as_person(other), post, emoji)
    response = api.delete(f"/v1/reactions/{reaction_by(api, post)}")
    assert response.status == 200
    assert response.json == {"success": True, "action": "removed", "count": 1, "total": 2}
    assert counted(post) == {"👍": 1, "🎉": 1}


def test_second_removal_is_404_and_changes_no_count(api: Api, post: Message) -> None:
    reaction_by(Api.as_person(PersonFactory()), post)
    path = f"/v1/reactions/{reaction_by(api, post)}"
    assert [api.delete(path).status for _ in range(3)] == [200, 404, 404]
    assert api.delete(path).error == "reaction_not_found"
    assert counted(post) == {"👍": 1}


def test_retry_with_the_same_key_is_replayed(api: Api, post: Message) -> None:
    reaction_by(Api.as_person(PersonFactory()), post)
    path = f"/v1/reactions/{reaction_by(api, post)}"
    first, second = api.delete(path, key="k"), api.delete(path, key="k")
    assert (second.status, second.body) == (200, first.body)
    assert counted(post) == {"👍": 1}


def test_unknown_reaction_is_404(api: Api, post: Message) -> None:
    reaction_by(api, post)
    for reaction_id in ("x", "00000000", UNKNOWN, UNKNOWN + "%0a", post.pk):
        response = api.delete(f"/v1/reactions/{reaction_id}")
        assert (response.status, response.error) == (404, "reaction_not_found"), reaction_id
    assert counted(post) == {"👍": 1}


def test_reaction_of_another_account_is_403(api: Api, agent: Api, post: Message) -> None:
    path = f"/v1/reactions/{reaction_by(api, post)}"
    for stranger in (agent, Api.as_person(PersonFactory())):
        response = stranger.delete(path)
        assert (response.status, response.error) == (403, "not_owner")
    assert counted(post) == {"👍": 1}
    assert not RateLimitEvent.objects.exists()


def test_missing_credential_is_401(api: Api, post: Message) -> None:
    assert Api().delete(f"/v1/reactions/{reaction_by(api, post)}").status == 401
    assert counted(post) == {"👍": 1}


def test_agent_without_the_scope_is_403() -> None:
    response = agent_with_token(scopes=["post"]).api.delete(f"/v1/reactions/{UNKNOWN}")
    assert (response.status, response.error) == (403, "agent_scope_missing:react")


def test_reaction_to_an_unpublished_post_or_in_a_read_only_community_can_be_removed(api: Api) -> None:
    for status, is_read_only in (("hidden", False), ("deleted", False), ("published", True)):
        community = CommunityFactory()
        post = MessageFactory(community=community)
        path = f"/v1/reactions/{reaction_by(api, post)}"
        reaction_by(Api.as_person(PersonFactory()), post)
        Message.objects.filter(pk=post.pk).update(status=status)
        Community.objects.filter(pk=community.pk).update(read_only=is_read_only)
        assert api.delete(path).status == 200, status
        assert counted(post) == {"👍": 1}


@pytest.mark.parametrize("error", ["banned_from_community", "community_forbids"])
def test_toggle_removes_where_no_reaction_may_be_added(error: str) -> None:
    community = CommunityFactory()
    person, other = PersonFactory(), PersonFactory()
    api, post, untouched = Api.as_person(person), *MessageFactory.create_batch(2, community=community)
    reaction_by(Api.as_person(other), post)
    reaction_by(api, post)
    if error == "banned_from_community":
        Ban.objects.create(community=community, account=person)
    else:
        Community.objects.filter(pk=community.pk).update(read_only=True)
    for message, emoji, toggle in ((post, "🎉", True), (post, "👍", False), (untouched, "👍", True)):
        refused = api.post("/v1/reactions", {"messageId": str(message.pk), "emoji": emoji, "toggle": toggle})
        assert (refused.status, refused.error) == (403, error)
    body = {"messageId": str(post.pk), "emoji": "👍", "toggle": True}
    removed = api.post("/v1/reactions", body)
    assert (removed.status, removed.json.get("action"), removed.json.get("count")) == (200, "removed", 1)
    assert (counted(post), counted(untouched)) == ({"👍": 1}, {})
    assert api.post("/v1/reactions", body).error == error


def test_agent_without_the_community_is_403() -> None:
    own = CommunityFactory()
    post = MessageFactory(community=own)
    agent = agent_with_token(community_ids=[own.pk]).api
    path = f"/v1/reactions/{reaction_by(agent, post)}"
    Message.objects.filter(pk=post.pk).update(community=CommunityFactory())
    response = agent.delete(path)
    assert (response.status, response.error) == (403, "agent_community_not_allowed")
    assert Reaction.objects.exists()


def test_removal_charges_the_react_limit(agent: Api, post: Message) -> None:
    path = f"/v1/reactions/{reaction_by(agent, post)}"
    response = agent.delete(path)
    assert '"react";r=118;' in response.headers["RateLimit"]
    assert list(RateLimitEvent.objects.values_list("counter", flat=True)) == ["react", "react"]
    assert agent.delete(path).status == 404
    assert RateLimitEvent.objects.count() == 2, "a refused call charges nothing"
