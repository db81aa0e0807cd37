"""The counts of refused calls of agents."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from agents import denied_calls
from agents.denied_calls import refused_calls
from agents.models import RefusedCall
from agents.services import freeze_agent, narrow_agent, revoke_token
from tests.agents.factories import TokenHolder, agent_with_token
from tests.agents.racing import race
from tests.factories import MessageFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def holder() -> TokenHolder:
    return agent_with_token()


def counts(holder: TokenHolder) -> dict[tuple[str, str], int]:
    return {(row["operation"], row["code"]): row["calls"] for row in refused_calls(holder.agent.pk)}


def test_refused_calls_are_counted_by_operation_and_code(holder: TokenHolder) -> None:
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
    assert counts(holder) == {("getAgentSelf", "token_revoked"): 1, ("", "token_revoked"): 1}


def test_accepted_calls_and_unknown_tokens_are_not_counted(holder: TokenHolder) -> None:
    holder.api.get("/v1/agent/self")
    type(holder.api).as_agent("cag_nonsense").get("/v1/agent/self")
    assert not RefusedCall.objects.exists()


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
