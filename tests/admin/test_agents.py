"""Agents and their tokens on the desk: what they may do, what they did, and stopping them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.utils import timezone

from agents.models import Agent, AgentToken
from agents.services import freeze_agent
from config.admin.formatting import age
from messaging.models import Account
from tests.admin.pages import decide, decide_on_many, page, read, rows_of
from tests.agents.factories import TokenHolder, agent_with_token
from tests.factories import CommunityFactory, MessageFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def held() -> TokenHolder:
    return agent_with_token()


def works(held: TokenHolder) -> bool:
    return held.api.get("/v1/agent/self").status == 200


def test_the_lists(admin_client: Client, held: TokenHolder) -> None:
    held.api.get("/v1/agent/self")
    text = read(admin_client, Agent, "changelist")
    for shown in (str(held.agent), str(held.request.requester), "post, reply, quote, react", "every community"):
        assert shown in text
    assert '<span class="badge good">working</span>' in text
    text = read(admin_client, AgentToken, "changelist")
    assert held.token.prefix in text
    assert '<span class="badge good">active</span>' in text
    assert held.token.prefix not in read(admin_client, AgentToken, "changelist", q="nobody")
    assert str(held.agent) in read(admin_client, Agent, "changelist", q=f"{held.request.requester}")


def test_the_page_tells_what_it_may_and_did(admin_client: Client, held: TokenHolder, boss: Account) -> None:
    MessageFactory(author=held.agent.account, content="What <b>it</b> wrote", status="pending")
    held.api.get("/v1/agent-tokens")
    held.api.get("/v1/agent-tokens")
    freeze_agent(agent=held.agent, by=boss, reason="Looks odd.")
    text = read(admin_client, held.agent)
    for shown in (
        "What &lt;b&gt;it&lt;/b&gt; wrote",
        held.token.prefix,
        f"frozen by {boss}",
        "Frozen: Looks odd.",
        "<strong>30</strong> of 30 left to post",
        held.request.purpose,
        page(held.request),
        page(held.token, "revoke"),
    ):
        assert shown in text
    assert ["listAgentTokens", "agent_route_not_allowed", "2"] in [row[:3] for row in rows_of(text)]


def test_nothing_shows_a_secret(admin_client: Client, held: TokenHolder) -> None:
    digest = bytes(AgentToken.objects.get().digest)
    for row in (held.request, held.agent, held.token, held.request.requester, held.agent.account):
        for name in ("changelist", "change", "history"):
            text = read(admin_client, type(row) if name == "changelist" else row, name)
            for secret in (held.value, digest.hex(), repr(digest), "digest", "password_hash", "md5$", "pbkdf2"):
                assert secret not in text


def test_freeze_on_its_page_and_unfreeze(admin_client: Client, held: TokenHolder, boss: Account) -> None:
    assert works(held)
    text = read(admin_client, held.agent)
    assert f'action="{page(held.agent, "freeze")}"' in text
    assert page(held.agent, "unfreeze") not in text
    assert "frozen." in decide(admin_client, held.agent, "freeze", reason="Looks odd.")
    assert not works(held)
    agent = Agent.objects.get()
    assert (agent.frozen_by, agent.freeze_reason) == (boss, "Looks odd.")
    assert "unfrozen." in decide(admin_client, held.agent, "unfreeze")
    assert works(held)
    changes = LogEntry.objects.filter(object_id=str(held.agent.pk)).order_by("pk")
    assert list(changes.values_list("change_message", flat=True)) == ["Frozen: Looks odd.", "Unfrozen."]


@pytest.mark.parametrize("decision", ["freeze", "revoke", "narrow"])
def test_what_stops_an_agent_needs_a_reason(admin_client: Client, held: TokenHolder, decision: str) -> None:
    assert "errorlist" in decide(admin_client, held.agent, decision, scopes=["post"])
    assert works(held)
    assert Agent.objects.get().scopes == held.agent.scopes


def test_narrow(admin_client: Client, held: TokenHolder) -> None:
    community = CommunityFactory()
    assert "checked" in read(admin_client, held.agent, "narrow")
    sent: dict[str, Any] = {"scopes": ["post"], "community_ids": [str(community.pk)], "reason": "Too loud."}
    assert "narrowed." in decide(admin_client, held.agent, "narrow", **sent)
    agent = Agent.objects.get()
    assert (agent.scopes, agent.community_ids) == (["post"], [community.pk])
    assert "errorlist" in decide(admin_client, held.agent, "narrow", scopes=["post", "reply"], reason="Back again.")
    assert Agent.objects.get().scopes == ["post"]


def test_revoke_one_token(admin_client: Client, held: TokenHolder, boss: Account) -> None:
    assert "revoked." in decide(admin_client, held.token, "revoke", reason="Lost.")
    assert not works(held)
    token = AgentToken.objects.get()
    assert (token.revoked_by, token.revoke_reason) == (boss, "Lost.")
    assert "Revoked: Lost." in read(admin_client, held.token, "history")
    assert page(held.token, "revoke") not in read(admin_client, held.token)
    assert "cannot be done any more" in read(admin_client, held.token, "revoke")


def test_revoke_all_of_an_agent(admin_client: Client, held: TokenHolder) -> None:
    assert "all tokens revoked." in decide(admin_client, held.agent, "revoke", reason="Lost.")
    assert not works(held)
    assert AgentToken.objects.get().revoke_reason == "Lost."


def test_many_at_once(admin_client: Client) -> None:
    held = [agent_with_token() for _ in range(3)]
    assert "2 agents: frozen." in decide_on_many(
        admin_client, [one.agent for one in held[:2]], "freeze", reason="A flood."
    )
    assert [works(one) for one in held] == [False, False, True]
    assert "2 agent tokens: revoked." in decide_on_many(
        admin_client, [one.token for one in held[1:]], "revoke", reason="Lost."
    )
    assert [works(one) for one in held] == [False, False, False]


def test_an_action_without_confirmation_does_nothing(admin_client: Client, held: TokenHolder) -> None:
    sent = {"action": "freeze", "_selected_action": [str(held.agent.pk)], "reason": "Now."}
    text = admin_client.post(page(Agent, "changelist"), sent).content.decode()
    assert str(held.agent) in text
    assert works(held)
    assert (
        "errorlist"
        in admin_client.post(page(Agent, "changelist"), sent | {"confirmed": "1", "reason": ""}).content.decode()
    )
    assert works(held)


def test_narrowing_is_not_for_many(admin_client: Client, held: TokenHolder) -> None:
    sent = {"action": "narrow", "_selected_action": [str(held.agent.pk)], "confirmed": "1", "reason": "x"}
    assert "No action selected" in admin_client.post(page(Agent, "changelist"), sent, follow=True).content.decode()


@pytest.mark.parametrize("model", ["request", "agent", "token"])
def test_rows_are_read_only(admin_client: Client, held: TokenHolder, model: str) -> None:
    row = getattr(held, model)
    assert admin_client.get(page(type(row), "add")).status_code == 403
    assert admin_client.post(page(row), {"label": "x"}).status_code == 403
    assert admin_client.post(page(row, "delete"), {"post": "yes"}).status_code == 403
    row.refresh_from_db()


def test_two_freeze_at_once_and_the_first_stays(admin_client: Client, held: TokenHolder) -> None:
    freeze_agent(agent=held.agent, by=SuperAdminFactory(handle="first_one"), reason="First.")
    decide(admin_client, held.agent, "freeze", reason="Second.")
    assert Agent.objects.get().freeze_reason == "First."


@pytest.mark.parametrize(
    ("left", "words"),
    [
        (timedelta(days=90), "in 90 days"),
        (timedelta(days=1, hours=23), "in 1\xa0day"),
        (timedelta(seconds=5), "in a moment"),
    ],
)
def test_what_is_to_come_is_told_to_the_day(left: timedelta, words: str) -> None:
    assert f">{words}<" in age(timezone.now() + left + timedelta(milliseconds=500))
