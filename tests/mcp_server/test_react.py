"""react: sets, replaces and removes one's own reaction."""

from __future__ import annotations

from uuid import uuid4

import pytest

from reactions.models import Reaction
from tests.agents.factories import agent_with_token
from tests.api import Api
from tests.factories import CommunityFactory, MessageFactory, PersonFactory
from tests.mcp_server.rpc import Mcp

pytestmark = pytest.mark.django_db


def emoji() -> list[str]:
    return list(Reaction.objects.values_list("emoji", flat=True))


@pytest.mark.parametrize("kind", ["agent", "person"])
def test_sets_replaces_and_removes(kind: str) -> None:
    mcp = Mcp(agent_with_token().api if kind == "agent" else Api.as_person(PersonFactory()))
    post = str(MessageFactory().pk)
    steps: list[tuple[str | None, str, list[str]]] = [
        ("👍", "added", ["👍"]),
        ("👍", "unchanged", ["👍"]),
        ("🎉", "replaced", ["🎉"]),
        ("👍", "replaced", ["👍"]),
        (None, "removed", []),
        (None, "unchanged", []),
        ("👍", "added", ["👍"]),
    ]
    for sent, action, left in steps:
        content = mcp.call("react", postId=post, emoji=sent).content
        assert (content["success"], content["action"], emoji()) == (True, action, left)


def test_says_how_many_writes_remain() -> None:
    content = Mcp(agent_with_token().api).call("react", postId=str(MessageFactory().pk), emoji="👍").content
    assert (content["count"], content["remaining"]) == (1, {"react": 119})


def test_removes_only_ones_own() -> None:
    post = str(MessageFactory().pk)
    Mcp(agent_with_token().api).call("react", postId=post, emoji="👍")
    assert Mcp(agent_with_token().api).call("react", postId=post, emoji=None).content["action"] == "unchanged"
    assert emoji() == ["👍"]


def test_refusals_are_those_of_the_api() -> None:
    for arguments, error in [
        ({"postId": str(uuid4()), "emoji": "👍"}, "message_not_found"),
        ({"postId": str(uuid4()), "emoji": None}, "message_not_found"),
        ({"postId": "../x", "emoji": None}, "message_not_found"),
        ({"postId": "x", "emoji": "👍"}, "invalid_input"),
        ({"emoji": "👍"}, "invalid_input"),
        ({"postId": str(uuid4()), "emoji": ["👍"]}, "invalid_input"),
        ({"postId": str(uuid4())}, "invalid_input"),
        ({"postId": str(uuid4()), "emoji": "no emoji"}, "invalid_emoji"),
        ({"postId": str(uuid4()), "emoji": "👍" * 40}, "content_too_long"),
    ]:
        assert Mcp(agent_with_token().api).call("react", **arguments).error == error, (arguments, error)


def test_a_limited_agent_reacts_in_its_communities_only() -> None:
    mcp = Mcp(agent_with_token(community_ids=[CommunityFactory().pk]).api)
    assert mcp.call("react", postId=str(MessageFactory().pk), emoji="👍").error == "agent_community_not_allowed"
