"""The admin of agents and agent tokens, and the counts of their refused calls."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from agents import denied_calls
from agents.admin.agents import TOKENS_SHOWN_MAX
from agents.denied_calls import refused_calls
from agents.models import COMMUNITIES_MAX, Agent, AgentToken, RefusedCall
from agents.services import create_token, delete_agent, freeze_agent, narrow_agent, revoke_token
from kernel.admin.formatting import age
from messaging.models import Account, PostsChoice
from messaging.privacy.erasing import cancel_erasure, request_erasure
from tests.admin.bystanders import Unchanged
from tests.admin.pages import decide, decide_on_many, page, read, rows_of
from tests.agents.factories import RequestFactory, TokenHolder, agent_with_token, expired_tokens
from tests.agents.racing import race
from tests.factories import CommunityFactory, MessageFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def holder() -> TokenHolder:
    return agent_with_token()


@pytest.fixture
def bystander(unchanged: Unchanged) -> TokenHolder:
    """Another agent, which stays as it is."""
    other = agent_with_token()
    unchanged(other.agent, other.token)
    return other


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
    assert f'href="{page(holder.agent)}"' in read(admin_client, holder.token)
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


def test_freeze_and_unfreeze_on_the_agent_page(
    admin_client: Client, holder: TokenHolder, bystander: TokenHolder, boss: Account
) -> None:
    assert is_valid(holder)
    text = read(admin_client, holder.agent)
    assert f'action="{page(holder.agent, "freeze")}"' in text
    assert page(holder.agent, "unfreeze") not in text
    assert "frozen." in decide(admin_client, holder.agent, "freeze", reason="Looks odd.")
    assert (is_valid(holder), is_valid(bystander)) == (False, True)
    agent = Agent.objects.get(pk=holder.agent.pk)
    assert (agent.frozen_by, agent.freeze_reason) == (boss, "Looks odd.")
    decide(admin_client, holder.agent, "freeze", reason="Second.")
    assert Agent.objects.get(pk=holder.agent.pk).freeze_reason == "Looks odd."
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


@pytest.mark.usefixtures("bystander")
def test_narrow_removes_scopes_and_communities(admin_client: Client, holder: TokenHolder) -> None:
    community, agent = CommunityFactory(), holder.agent
    assert "checked" in read(admin_client, agent, "narrow")
    sent: dict[str, Any] = {"scopes": ["post"], "community_ids": [str(community.pk)], "reason": "Too loud."}
    assert "narrowed." in decide(admin_client, agent, "narrow", **sent)
    agent.refresh_from_db()
    assert (agent.scopes, agent.community_ids) == (["post"], [community.pk])
    assert "errorlist" in decide(admin_client, agent, "narrow", scopes=["post", "reply"], reason="Back again.")
    agent.refresh_from_db()
    assert agent.scopes == ["post"]


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


def test_revoke_disables_a_token(
    admin_client: Client, holder: TokenHolder, boss: Account, unchanged: Unchanged
) -> None:
    second, _value = create_token(request_id=holder.request.pk, by=holder.agent.operator)
    unchanged(second)
    assert "revoked." in decide(admin_client, holder.token, "revoke", reason="Lost.")
    assert not is_valid(holder)
    holder.token.refresh_from_db()
    assert (holder.token.revoked_by, holder.token.revoke_reason) == (boss, "Lost.")
    assert "Revoked (active → revoked): Lost." in read(admin_client, holder.token, "history")
    assert page(holder.token, "revoke") not in read(admin_client, holder.token)
    assert "not available in the current state" in read(admin_client, holder.token, "revoke")


@pytest.mark.usefixtures("bystander")
def test_revoke_all_disables_every_token_of_an_agent(admin_client: Client, holder: TokenHolder) -> None:
    create_token(request_id=holder.request.pk, by=holder.agent.operator)
    assert "all tokens revoked." in decide(admin_client, holder.agent, "revoke", reason="Lost.")
    assert not is_valid(holder)
    reasons = AgentToken.objects.filter(agent=holder.agent).values_list("revoke_reason", flat=True)
    assert list(reasons) == ["Lost."] * 2


def test_bulk_freeze_and_revoke(admin_client: Client) -> None:
    holders = [agent_with_token() for _ in range(4)]
    agents, tokens = [one.agent for one in holders[:2]], [one.token for one in holders[1:3]]
    assert "2 agents: frozen." in decide_on_many(admin_client, agents, "freeze", reason="A flood.")
    assert [is_valid(one) for one in holders] == [False, False, True, True]
    assert "2 agent tokens: revoked." in decide_on_many(admin_client, tokens, "revoke", reason="Lost.")
    assert [is_valid(one) for one in holders] == [False, False, False, True]


def test_a_bulk_action_needs_a_confirmation_with_a_reason_and_narrow_is_none(
    admin_client: Client, holder: TokenHolder
) -> None:
    def answer(**sent: str) -> str:
        selected = {"_selected_action": [str(holder.agent.pk)], "action": "freeze", "reason": "Now."}
        return admin_client.post(page(Agent, "changelist"), selected | sent, follow=True).content.decode()

    assert str(holder.agent) in answer()
    assert "errorlist" in answer(confirmed="1", reason="")
    assert "No action selected" in answer(action="narrow", confirmed="1")
    assert is_valid(holder)


@pytest.mark.parametrize("model", ["request", "agent", "token"])
def test_rows_are_read_only(admin_client: Client, holder: TokenHolder, model: str) -> None:
    row = getattr(holder, model)
    assert admin_client.get(page(type(row), "add")).status_code == 403
    assert admin_client.post(page(row), {"label": "x"}).status_code == 403
    assert admin_client.post(page(row, "delete"), {"post": "yes"}).status_code == 403
    row.refresh_from_db()


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


def counts(holder: TokenHolder) -> dict[tuple[str, str], int]:
    return {(row["operation"], row["code"]): row["calls"] for row in refused_calls(holder.agent.pk)}


def test_refused_calls_are_counted_by_operation_and_code(holder: TokenHolder) -> None:
    # Neither an accepted call nor one with an unknown token is counted.
    holder.api.get("/v1/agent/self")
    type(holder.api).as_agent("cag_nonsense").get("/v1/agent/self")
    narrow_agent(agent=holder.agent, by=SuperAdminFactory(), scopes=["post"])
    message = MessageFactory()
    for _ in range(3):
        holder.api.post("/v1/reactions", {"messageId": str(message.pk), "emoji": "👍"})
    holder.api.post("/api/messages", {"pageId": "nonsense", "content": "x"})
    holder.api.get("/v1/agent-tokens")
    holder.api.get(f"/api/messages/{message.pk}")
    assert counts(holder) == {
        ("addReaction", "agent_scope_missing:react"): 3,
        ("createMessage", "unknown_page"): 1,
        ("listAgentTokens", "agent_route_not_allowed"): 1,
    }
    assert RefusedCall.objects.count() == 3


def test_calls_with_a_revoked_token_are_counted(holder: TokenHolder) -> None:
    boss = SuperAdminFactory()
    freeze_agent(agent=holder.agent, by=boss, reason="Odd.")
    holder.api.get("/v1/agent/self")
    revoke_token(token_id=holder.token.pk, by=boss)
    holder.api.post("/admin/logout/")
    assert counts(holder) == {("getAgentSelf", "agent_suspended"): 1, ("", "token_revoked"): 1}


def test_soft_throttle_limits_the_counted_calls(holder: TokenHolder, settings: Any) -> None:
    settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"refusal_note": (2, 60)}
    for _ in range(4):
        holder.api.get("/v1/agent-tokens")
    assert counts(holder) == {("listAgentTokens", "agent_route_not_allowed"): 2}


@pytest.mark.django_db(transaction=True)
def test_concurrent_refused_calls_are_all_counted() -> None:
    holder = agent_with_token()
    assert set(race(8, lambda _: holder.api.get("/v1/agent-tokens").status)) == {403}
    assert counts(holder) == {("listAgentTokens", "agent_route_not_allowed"): 8}


@pytest.mark.django_db(transaction=True)
def test_database_error_while_counting_does_not_change_the_response(monkeypatch: pytest.MonkeyPatch) -> None:
    holder = agent_with_token()
    monkeypatch.setattr(denied_calls, "NOTE", "SELECT %s, %s, %s FROM no_such_table")
    assert holder.api.get("/v1/agent-tokens").error == "agent_route_not_allowed"


def test_prune_deletes_counts_after_thirty_days(holder: TokenHolder) -> None:
    holder.api.get("/v1/agent-tokens")
    RefusedCall.objects.update(day=timezone.now().date() - timedelta(days=denied_calls.STORED_DAYS))
    call_command("prune")
    assert RefusedCall.objects.count() == 1
    # One day more than stored: for five minutes after midnight, the margin of the clocks is still in the day before.
    RefusedCall.objects.update(day=timezone.now().date() - timedelta(days=denied_calls.STORED_DAYS + 2))
    call_command("prune", dry_run=True)
    assert RefusedCall.objects.count() == 1
    call_command("prune")
    assert not RefusedCall.objects.exists()
