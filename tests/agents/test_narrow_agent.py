"""The command narrow_agent and its service."""

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

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("bystander")]


@pytest.fixture
def holder() -> TokenHolder:
    return agent_with_token()


@pytest.fixture
def communities() -> list[Community]:
    return CommunityFactory.create_batch(2)


def run(holder: TokenHolder, *args: Any) -> dict[str, Any]:
    out = StringIO()
    call_command("narrow_agent", holder.request.agent_handle, *map(str, args), "--json", stdout=out)
    output: dict[str, Any] = json.loads(out.getvalue())
    return output


def test_only_the_given_scopes_remain(holder: TokenHolder) -> None:
    output = run(holder, "--scope", "post", "--scope", "react")
    assert (output["scopes"], output["communityIds"]) == (["post", "react"], [])
    assert output["agent"]["id"] == str(holder.agent.pk)
    assert holder.api.get("/v1/agent/self").json["scopes"] == ["post", "react"]


def test_only_the_given_communities_remain(holder: TokenHolder, communities: list[Community]) -> None:
    both = [str(community.pk) for community in communities]
    assert run(holder, "--community", both[0], "--community", both[1])["communityIds"] == both
    assert run(holder, "--community", both[1])["communityIds"] == [both[1]]
    assert Agent.objects.get(pk=holder.agent.pk).scopes == ["post", "reply", "quote", "react"]


def test_second_run_changes_nothing(holder: TokenHolder) -> None:
    assert run(holder, "--scope", "post", "--reason", "Too many quotes.") == run(holder, "--scope", "post")
    entry = LogEntry.objects.get(object_id=str(holder.agent.pk))
    assert entry.change_message == "Narrowed scopes (−reply, −quote, −react): Too many quotes."


def test_the_history_names_the_communities(holder: TokenHolder, communities: list[Community]) -> None:
    Community.objects.filter(pk=communities[0].pk).update(name="Harbour: north:")
    run(holder, "--community", communities[0].pk, "--community", communities[1].pk)
    run(holder, "--community", communities[1].pk, "--scope", "post", "--reason", "Less.")
    log = LogEntry.objects.filter(object_id=str(holder.agent.pk)).order_by("pk")
    assert list(log.values_list("change_message", flat=True)) == [
        f"Narrowed communities (all → Harbour:north, {communities[1].name}).",
        "Narrowed scopes (−reply, −quote, −react), communities (−Harbour:north): Less.",
    ]


def test_scopes_and_communities_cannot_be_added(holder: TokenHolder, communities: list[Community]) -> None:
    run(holder, "--scope", "post", "--community", communities[0].pk)
    for args in (
        ["--scope", "post", "--scope", "react"],
        ["--community", communities[1].pk],
        ["--community", holder.agent.pk],
        ["--scope", "admin"],
        ["--community", "nonsense"],
        ["--scope", "post", "--reason", "x" * 501],
    ):
        with pytest.raises(CommandError):
            run(holder, *args)
    agent = Agent.objects.get(pk=holder.agent.pk)
    assert (agent.scopes, agent.community_ids) == (["post"], [communities[0].pk])


def test_a_reason_may_have_500_characters(holder: TokenHolder) -> None:
    run(holder, "--scope", "post", "--reason", "x" * 500)
    assert LogEntry.objects.get(object_id=str(holder.agent.pk)).change_message.endswith(f": {'x' * 500}")


def test_unknown_community_or_agent_is_an_error(holder: TokenHolder) -> None:
    with pytest.raises(CommandError, match="unknown"):
        run(holder, "--community", holder.agent.pk)
    with pytest.raises(CommandError, match="unknown_handle"):
        call_command("narrow_agent", "unknown_handle", "--scope", "post")


def test_output_without_json(holder: TokenHolder) -> None:
    out = StringIO()
    call_command("narrow_agent", holder.request.agent_handle, "--scope", "post", stdout=out)
    assert out.getvalue() == f"@{holder.request.agent_handle}: scopes post; communities: all\n"
