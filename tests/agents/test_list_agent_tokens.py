"""listAgentTokens: GET /v1/agent-tokens."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from agents.models import AgentToken
from agents.services import create_token, freeze_agent, narrow_agent, revoke_token, unfreeze_agent
from messaging.accounts.services import suspend_person
from tests.agents.factories import ApprovedFactory, agent_with_token
from tests.api import Api
from tests.factories import CommunityFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
URL = "/v1/agent-tokens"


def test_list_shows_own_tokens_by_prefix() -> None:
    holder, _other = agent_with_token(), agent_with_token()
    response = holder.operator.get(URL)
    (token,) = response.json["tokens"]
    assert (token["id"], token["prefix"]) == (str(holder.token.pk), holder.value[:12])
    assert token["agent"]["handle"] == holder.request.agent_handle
    assert token["scopes"] == holder.agent.scopes
    assert holder.value not in response.body.decode()
    assert holder.value[12:] not in response.body.decode()


def test_status_is_active_revoked_or_expired() -> None:
    request = ApprovedFactory()
    rows = [create_token(request_id=request.pk, by=request.requester, label=name)[0] for name in "abc"]
    revoke_token(token_id=rows[1].pk, by=request.requester, reason="Lost.")
    AgentToken.objects.filter(pk=rows[2].pk).update(expires_at=timezone.now())
    listed = Api.as_person(request.requester).get(URL).json["tokens"]
    assert [(token["label"], token["status"]) for token in listed] == [
        ("c", "expired"),
        ("b", "revoked"),
        ("a", "active"),
    ]
    assert listed[1]["revokeReason"] == "Lost."
    assert listed[1]["revokedAt"] is not None
    assert listed[0]["revokedAt"] is listed[0]["lastUsedAt"] is None


def test_valid_tokens_of_a_stopped_agent_are_suspended() -> None:
    request, boss = ApprovedFactory(), SuperAdminFactory()
    rows = [create_token(request_id=request.pk, by=request.requester, label=name)[0] for name in "abc"]
    revoke_token(token_id=rows[1].pk, by=request.requester)
    AgentToken.objects.filter(pk=rows[2].pk).update(expires_at=timezone.now())

    def statuses() -> list[str]:
        listed = Api.as_person(boss).get(URL, all="1").json["tokens"]
        return [token["status"] for token in reversed(listed)]

    freeze_agent(agent=request.agent, by=boss, reason="Flood")
    assert statuses() == ["suspended", "revoked", "expired"]
    unfreeze_agent(agent=request.agent, by=boss)
    assert statuses() == ["active", "revoked", "expired"]
    suspend_person(person=request.requester, by=boss, reason="Spam")
    assert statuses() == ["suspended", "revoked", "expired"]


def test_admin_filters_suspended_tokens_and_agents(client: Client) -> None:
    working, frozen, stopped = (agent_with_token() for _ in range(3))
    boss = SuperAdminFactory()
    client.force_login(boss)
    freeze_agent(agent=frozen.agent, by=boss)
    suspend_person(person=stopped.request.requester, by=boss)

    def prefixes(state: str) -> set[str]:
        text = client.get("/admin/agents/agenttoken/", {"state": state}).content.decode()
        return {each.token.prefix for each in (working, frozen, stopped) if each.token.prefix in text}

    assert prefixes("active") == {working.token.prefix}
    assert prefixes("suspended") == {frozen.token.prefix, stopped.token.prefix}
    agents = {
        state: client.get("/admin/agents/agent/", {"state": state}).content.decode()
        for state in ("working", "suspended")
    }
    assert working.account.handle in agents["working"]
    assert stopped.account.handle not in agents["working"]
    assert stopped.account.handle in agents["suspended"]


def test_list_shows_the_narrowed_grant() -> None:
    """Narrowing an agent affects its tokens."""
    holder, community = agent_with_token(), CommunityFactory()
    narrow_agent(agent=holder.agent, by=SuperAdminFactory(), scopes=["react"], community_ids=[community.pk])
    (token,) = holder.operator.get(URL).json["tokens"]
    assert (token["scopes"], token["communityIds"]) == (["react"], [str(community.pk)])


def test_all_requires_a_super_admin() -> None:
    """Query: all=1 lists the tokens of every agent."""
    ids = {str(agent_with_token().token.pk) for _ in range(2)}
    refused = Api.as_person(PersonFactory()).get(URL, all="1")
    assert (refused.status, refused.error) == (403, "super_admin_required")
    admin = Api.as_person(SuperAdminFactory())
    assert {token["id"] for token in admin.get(URL, all="1").json["tokens"]} == ids
    assert admin.get(URL).json["tokens"] == []


def test_all_accepts_only_1() -> None:
    for value in ["0", "true", "", "11"]:
        assert Api.as_person(SuperAdminFactory()).get(URL, all=value).status == 400, value


def test_number_of_queries_does_not_depend_on_the_rows(django_assert_max_num_queries: Any) -> None:
    request = ApprovedFactory()
    for _ in range(5):
        create_token(request_id=request.pk, by=request.requester)
    operator = Api.as_person(request.requester)
    with django_assert_max_num_queries(2):  # the credential and the list
        first = operator.get(URL, limit=3).json
    second = operator.get(URL, limit=3, cursor=first["nextCursor"]).json
    assert (first["hasMore"], second["hasMore"]) == (True, False)
    assert len({token["id"] for token in first["tokens"] + second["tokens"]}) == 5
