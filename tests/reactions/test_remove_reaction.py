"""removeReaction: DELETE /v1/reactions/{reactionId} (decisions 5 and 9)."""

from __future__ import annotations

import pytest

from config.writes.models import RateLimitEvent
from messaging.models import Message, MessageStatus
from reactions.models import Reaction
from tests.agents.factories import agent_with_token
from tests.api import Api
from tests.factories import CommunityFactory, MessageFactory, PersonFactory
from tests.reactions.counts import counted

pytestmark = pytest.mark.django_db
UNKNOWN = "01a1f811-f718-77e8-9670-721b30c88378"


def reaction_by(api: Api, message: Message, emoji: str = "👍") -> str:
    answer = api.post("/v1/reactions", {"messageId": str(message.pk), "emoji": emoji, "toggle": False})
    return str(answer.json["reactionId"])


def test_ones_own(api: Api, post: Message) -> None:
    for other, emoji in ((PersonFactory(), "👍"), (PersonFactory(), "🎉")):
        reaction_by(Api.as_person(other), post, emoji)
    answer = api.delete(f"/v1/reactions/{reaction_by(api, post)}")
    assert answer.status == 200
    assert answer.json == {"success": True, "action": "removed", "count": 1, "total": 2}
    assert counted(post) == {"👍": 1, "🎉": 1}


def test_a_repeat_is_404_and_lowers_nothing(api: Api, post: Message) -> None:
    reaction_by(Api.as_person(PersonFactory()), post)
    path = f"/v1/reactions/{reaction_by(api, post)}"
    assert [api.delete(path).status for _ in range(3)] == [200, 404, 404]
    assert api.delete(path).error == "reaction_not_found"
    assert counted(post) == {"👍": 1}


def test_a_repeat_with_the_same_key_is_replayed(api: Api, post: Message) -> None:
    path = f"/v1/reactions/{reaction_by(api, post)}"
    first, second = api.delete(path, key="k"), api.delete(path, key="k")
    assert (second.status, second.body) == (200, first.body)


@pytest.mark.parametrize("reaction_id", ["x", "00000000", UNKNOWN, UNKNOWN + "%0a"])
def test_unknown(api: Api, reaction_id: str) -> None:
    answer = api.delete(f"/v1/reactions/{reaction_id}")
    assert (answer.status, answer.error) == (404, "reaction_not_found")


def test_the_id_of_a_post_is_not_that_of_a_reaction(api: Api, post: Message) -> None:
    reaction_by(api, post)
    assert api.delete(f"/v1/reactions/{post.pk}").status == 404


def test_anothers(api: Api, agent: Api, post: Message) -> None:
    path = f"/v1/reactions/{reaction_by(api, post)}"
    for stranger in (agent, Api.as_person(PersonFactory())):
        answer = stranger.delete(path)
        assert (answer.status, answer.error) == (403, "not_owner")
    assert counted(post) == {"👍": 1}
    assert not RateLimitEvent.objects.exists()


def test_nobody(api: Api, post: Message) -> None:
    assert Api().delete(f"/v1/reactions/{reaction_by(api, post)}").status == 401
    assert counted(post) == {"👍": 1}


def test_an_agent_without_the_scope() -> None:
    answer = agent_with_token(scopes=["post"]).api.delete(f"/v1/reactions/{UNKNOWN}")
    assert (answer.status, answer.error) == (403, "agent_scope_missing:react")


@pytest.mark.parametrize("status", [MessageStatus.HIDDEN, MessageStatus.DELETED])
def test_from_a_post_that_was_taken_out_since(api: Api, post: Message, status: str) -> None:
    path = f"/v1/reactions/{reaction_by(api, post)}"
    Message.objects.filter(pk=post.pk).update(status=status)
    assert api.delete(path).status == 200
    assert counted(post) == {}


def test_from_a_community_that_has_become_read_only(api: Api) -> None:
    community = CommunityFactory()
    post = MessageFactory(community=community)
    path = f"/v1/reactions/{reaction_by(api, post)}"
    community.read_only = True
    community.save()
    assert api.delete(path).status == 200


def test_an_agent_outside_the_communities_that_are_left_to_it() -> None:
    own = CommunityFactory()
    post = MessageFactory(community=own)
    agent = agent_with_token(community_ids=[own.pk]).api
    path = f"/v1/reactions/{reaction_by(agent, post)}"
    Message.objects.filter(pk=post.pk).update(community=CommunityFactory())
    answer = agent.delete(path)
    assert (answer.status, answer.error) == (403, "agent_community_not_allowed")
    assert Reaction.objects.exists()


def test_removing_spends_the_react_counter(agent: Api, post: Message) -> None:
    path = f"/v1/reactions/{reaction_by(agent, post)}"
    answer = agent.delete(path)
    assert '"react";r=118;' in answer.headers["RateLimit"]
    assert list(RateLimitEvent.objects.values_list("counter", flat=True)) == ["react", "react"]
    assert agent.delete(path).status == 404
    assert RateLimitEvent.objects.count() == 2, "a refusal spends nothing"
