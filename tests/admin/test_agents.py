"""The admin of agents and agent tokens."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.utils import timezone

from agents.admin.agents import TOKENS_SHOWN_MAX
from agents.models import Agent, AgentToken
from agents.models.agent import COMMUNITIES_MAX
from agents.services import delete_agent, freeze_agent
from config.admin.formatting import age
from messaging.models import Account, PostsChoice
from messaging.personal_data.erasures import cancel_erasure, request_erasure
from tests.admin.pages import decide, decide_on_many, page, read, rows_of
from tests.agents.factories import RequestFactory, TokenHolder, agent_with_token, expired_tokens
from tests.factories import CommunityFactory, MessageFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def holder() -> TokenHolder:
    return agent_with_token()


def is_valid(holder: TokenHolder) -> bool:
    return holder.api.get("/v1/agent/self").status == 200


def test_lists_show_state_operator_and_grant(admin_client: Client, holder: TokenHolder) -> None:
    holder.api.get("/v1/agent/self")
    text = read(admin_client, Agent, "changelist")
    for shown in (str(holder.agent), str(holder.request.requester), "post, reply, quote, react", "every community"):
        assert shown in text
    assert '<span class="badge good">working</span>' in text
    text = read(admin_client, AgentToken, "changelist")
    assert holder.token.prefix in text
    assert '<span class="badge good">active</span>' in text
    assert holder.token.prefix not in read(admin_client, AgentToken, "changelist", q="no_match")
    assert str(holder.agent) in read(admin_client, Agent, "changelist", q=f"{holder.request.requester}")


def test_the_list_of_agents_is_filtered_by_state(admin_client: Client, boss: Account) -> None:
    working, frozen, deleted, suspended = (agent_with_token() for _ in range(4))
    freeze_agent(agent=frozen.agent, by=boss, reason="Looks odd.")
    delete_agent(handle=deleted.account.handle, by=deleted.agent.operator)
    Account.objects.filter(pk=suspended.agent.operator_id).update(is_active=False)
    states = {"working": working, "frozen": frozen, "deleted": deleted, "suspended": suspended}
    for state in states:
        text = read(admin_client, Agent, "changelist", state=state)
        shown = [name for name, each in states.items() if page(each.agent) in text]
        assert shown == [state]


def test_agents_of_a_person_who_waits_for_an_erasure_are_not_deleted(admin_client: Client, holder: TokenHolder) -> None:
    operator = holder.agent.operator
    request_erasure(person=operator, posts=PostsChoice.ANONYMOUS, by=operator)
    assert "operator leaving" in read(admin_client, Agent, "changelist", state="leaving")
    assert page(holder.agent) not in read(admin_client, Agent, "changelist", state="deleted")
    assert "operator leaving" in admin_client.get(page(holder.agent)).content.decode()
    cancel_erasure(person=operator, by=operator)
    assert page(holder.agent) in read(admin_client, Agent, "changelist", state="working")


def test_agent_page_shows_a_token_that_works_however_many_later_ones_have_ended(
    admin_client: Client, holder: TokenHolder
) -> None:
    expired_tokens(holder, number=TOKENS_SHOWN_MAX)
    assert page(holder.token) in admin_client.get(page(holder.agent)).content.decode()


def test_agent_page_shows_posts_limits_and_refused_calls(
    admin_client: Client, holder: TokenHolder, boss: Account
) -> None:
    MessageFactory(author=holder.agent.account, content="What <b>it</b> wrote", status="pending")
    holder.api.get("/v1/agent-tokens")
    holder.api.get("/v1/agent-tokens")
    freeze_agent(agent=holder.agent, by=boss, reason="Looks odd.")
    text = read(admin_client, holder.agent)
    for shown in (
        "What &lt;b&gt;it&lt;/b&gt; wrote",
        holder.token.prefix,
        f"frozen by {boss}",
        "Frozen (active → frozen): Looks odd.",
        "<strong>30</strong> of 30 left: post",
        holder.request.purpose,
        page(holder.request),
        page(holder.token, "revoke"),
    ):
        assert shown in text
    assert ["listAgentTokens", "agent_route_not_allowed", "2"] in [row[:3] for row in rows_of(text)]


def test_no_page_contains_a_token_or_digest(admin_client: Client, holder: TokenHolder) -> None:
    digest = bytes(AgentToken.objects.get().digest)
    for row in (holder.request, holder.agent, holder.token, holder.request.requester, holder.agent.account):
        for name in ("changelist", "change", "history"):
            text = read(admin_client, type(row) if name == "changelist" else row, name)
            for secret in (holder.value, digest.hex(), repr(digest), "digest", "password_hash", "md5$", "pbkdf2"):
                assert secret not in text


def test_freeze_and_unfreeze_on_the_agent_page(admin_client: Client, holder: TokenHolder, boss: Account) -> None:
    assert is_valid(holder)
    text = read(admin_client, holder.agent)
    assert f'action="{page(holder.agent, "freeze")}"' in text
    assert page(holder.agent, "unfreeze") not in text
    assert "frozen." in decide(admin_client, holder.agent, "freeze", reason="Looks odd.")
    assert not is_valid(holder)
    agent = Agent.objects.get()
    assert (agent.frozen_by, agent.freeze_reason) == (boss, "Looks odd.")
    assert "unfrozen." in decide(admin_client, holder.agent, "unfreeze")
    assert is_valid(holder)
    changes = LogEntry.objects.filter(object_id=str(holder.agent.pk)).order_by("pk")
    assert list(changes.values_list("change_message", flat=True)) == [
        "Frozen (active → frozen): Looks odd.",
        "Unfrozen (frozen → active).",
    ]


@pytest.mark.parametrize("decision", ["freeze", "revoke", "narrow"])
def test_restricting_an_agent_requires_a_reason(admin_client: Client, holder: TokenHolder, decision: str) -> None:
    assert "errorlist" in decide(admin_client, holder.agent, decision, scopes=["post"])
    assert is_valid(holder)
    assert Agent.objects.get().scopes == holder.agent.scopes


def test_narrow_removes_scopes_and_communities(admin_client: Client, holder: TokenHolder) -> None:
    community = CommunityFactory()
    assert "checked" in read(admin_client, holder.agent, "narrow")
    sent: dict[str, Any] = {"scopes": ["post"], "community_ids": [str(community.pk)], "reason": "Too loud."}
    assert "narrowed." in decide(admin_client, holder.agent, "narrow", **sent)
    agent = Agent.objects.get()
    assert (agent.scopes, agent.community_ids) == (["post"], [community.pk])
    assert "errorlist" in decide(admin_client, holder.agent, "narrow", scopes=["post", "reply"], reason="Back again.")
    assert Agent.objects.get().scopes == ["post"]


@pytest.mark.parametrize("decision", ["approve", "narrow"])
def test_a_grant_has_few_communities_or_all(admin_client: Client, holder: TokenHolder, decision: str) -> None:
    row = holder.agent if decision == "narrow" else RequestFactory(agent_handle="another")
    handle = "another" if decision == "approve" else holder.account.handle
    ids = [str(community.pk) for community in CommunityFactory.create_batch(COMMUNITIES_MAX + 1)]
    sent: dict[str, Any] = {"scopes": row.scopes, "reason": "Too loud."}
    assert f"at most {COMMUNITIES_MAX}" in decide(admin_client, row, decision, **sent, community_ids=ids)
    assert not Agent.objects.exclude(community_ids=[]).exists()
    decide(admin_client, row, decision, **sent, community_ids=ids[1:])
    assert len(Agent.objects.get(account__handle=handle).community_ids) == COMMUNITIES_MAX


def test_revoke_disables_a_token(admin_client: Client, holder: TokenHolder, boss: Account) -> None:
    assert "revoked." in decide(admin_client, holder.token, "revoke", reason="Lost.")
    assert not is_valid(holder)
    token = AgentToken.objects.get()
    assert (token.revoked_by, token.revoke_reason) == (boss, "Lost.")
    assert "Revoked (active → revoked): Lost." in read(admin_client, holder.token, "history")
    assert page(holder.token, "revoke") not in read(admin_client, holder.token)
    assert "not available in the current state" in read(admin_client, holder.token, "revoke")


def test_revoke_all_disables_every_token_of_an_agent(admin_client: Client, holder: TokenHolder) -> None:
    assert "all tokens revoked." in decide(admin_client, holder.agent, "revoke", reason="Lost.")
    assert not is_valid(holder)
    assert AgentToken.objects.get().revoke_reason == "Lost."


def test_bulk_freeze_and_revoke(admin_client: Client) -> None:
    holders = [agent_with_token() for _ in range(3)]
    assert "2 agents: frozen." in decide_on_many(
        admin_client, [one.agent for one in holders[:2]], "freeze", reason="A flood."
    )
    assert [is_valid(one) for one in holders] == [False, False, True]
    assert "2 agent tokens: revoked." in decide_on_many(
        admin_client, [one.token for one in holders[1:]], "revoke", reason="Lost."
    )
    assert [is_valid(one) for one in holders] == [False, False, False]


def test_bulk_action_without_confirmation_changes_nothing(admin_client: Client, holder: TokenHolder) -> None:
    sent = {"action": "freeze", "_selected_action": [str(holder.agent.pk)], "reason": "Now."}
    text = admin_client.post(page(Agent, "changelist"), sent).content.decode()
    assert str(holder.agent) in text
    assert is_valid(holder)
    assert (
        "errorlist"
        in admin_client.post(page(Agent, "changelist"), sent | {"confirmed": "1", "reason": ""}).content.decode()
    )
    assert is_valid(holder)


def test_narrow_is_not_a_bulk_action(admin_client: Client, holder: TokenHolder) -> None:
    sent = {"action": "narrow", "_selected_action": [str(holder.agent.pk)], "confirmed": "1", "reason": "x"}
    assert "No action selected" in admin_client.post(page(Agent, "changelist"), sent, follow=True).content.decode()


@pytest.mark.parametrize("model", ["request", "agent", "token"])
def test_rows_are_read_only(admin_client: Client, holder: TokenHolder, model: str) -> None:
    row = getattr(holder, model)
    assert admin_client.get(page(type(row), "add")).status_code == 403
    assert admin_client.post(page(row), {"label": "x"}).status_code == 403
    assert admin_client.post(page(row, "delete"), {"post": "yes"}).status_code == 403
    row.refresh_from_db()


def test_freezing_a_frozen_agent_keeps_the_first_reason(admin_client: Client, holder: TokenHolder) -> None:
    freeze_agent(agent=holder.agent, by=SuperAdminFactory(handle="first_one"), reason="First.")
    decide(admin_client, holder.agent, "freeze", reason="Second.")
    assert Agent.objects.get().freeze_reason == "First."


@pytest.mark.parametrize(
    ("left", "text"),
    [
        (timedelta(days=90), "in 90 days"),
        (timedelta(days=1, hours=23), "in 1\xa0day"),
        (timedelta(seconds=5), "in a moment"),
    ],
)
def test_age_of_a_future_time_is_exact_to_the_day(left: timedelta, text: str) -> None:
    assert f">{text}<" in age(timezone.now() + left + timedelta(milliseconds=500))
