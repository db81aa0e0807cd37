"""Narrowing: the command narrow_agent and the service behind it."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.core.management import CommandError, call_command

from agents.models import Agent
from messaging.models import Community
from tests.agents.factories import TokenHolder, agent_with_token
from tests.factories import CommunityFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def held() -> TokenHolder:
    return agent_with_token()


@pytest.fixture
def communities() -> list[Community]:
    return CommunityFactory.create_batch(2)


def run(held: TokenHolder, *args: Any) -> dict[str, Any]:
    out = StringIO()
    call_command("narrow_agent", held.request.agent_handle, *map(str, args), "--json", stdout=out)
    printed: dict[str, Any] = json.loads(out.getvalue())
    return printed


def test_keeps_the_scopes_given(held: TokenHolder) -> None:
    printed = run(held, "--scope", "post", "--scope", "react")
    assert (printed["scopes"], printed["communityIds"]) == (["post", "react"], [])
    assert printed["agent"]["id"] == str(held.agent.pk)
    assert held.api.get("/v1/agent/self").json["scopes"] == ["post", "react"]


def test_keeps_the_communities_given(held: TokenHolder, communities: list[Community]) -> None:
    both = [str(community.pk) for community in communities]
    assert run(held, "--community", both[0], "--community", both[1])["communityIds"] == both
    assert run(held, "--community", both[1])["communityIds"] == [both[1]]
    assert Agent.objects.get().scopes == ["post", "reply", "quote", "react"]


def test_is_safe_twice(held: TokenHolder) -> None:
    assert run(held, "--scope", "post", "--reason", "Too many quotes.") == run(held, "--scope", "post")
    entry = LogEntry.objects.get(object_id=str(held.agent.pk))
    assert entry.change_message == "Narrowed to scopes post; communities all: Too many quotes."


def test_adds_nothing(held: TokenHolder, communities: list[Community]) -> None:
    run(held, "--scope", "post", "--community", communities[0].pk)
    for args in (
        ["--scope", "post", "--scope", "react"],
        ["--community", communities[1].pk],
        ["--community", held.agent.pk],
        ["--scope", "admin"],
        ["--community", "nonsense"],
        ["--scope", "post", "--reason", "x" * 501],
    ):
        with pytest.raises(CommandError):
            run(held, *args)
    agent = Agent.objects.get()
    assert (agent.scopes, agent.community_ids) == (["post"], [communities[0].pk])


def test_an_unknown_community_or_agent(held: TokenHolder) -> None:
    with pytest.raises(CommandError, match="Unknown"):
        run(held, "--community", held.agent.pk)
    with pytest.raises(CommandError, match="nobody_here"):
        call_command("narrow_agent", "nobody_here", "--scope", "post")


def test_prints_a_sentence_without_json(held: TokenHolder) -> None:
    out = StringIO()
    call_command("narrow_agent", held.request.agent_handle, "--scope", "post", stdout=out)
    assert out.getvalue() == f"@{held.request.agent_handle}: scopes post; communities: every one\n"
