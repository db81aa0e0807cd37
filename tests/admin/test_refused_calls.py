"""Refused calls of agents are counted where a super admin sees them."""

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
def held() -> TokenHolder:
    return agent_with_token()


def counted(held: TokenHolder) -> dict[tuple[str, str], int]:
    return {(row["operation"], row["code"]): row["calls"] for row in refused_calls(held.agent.pk)}


def test_counts_by_operation_and_code(held: TokenHolder) -> None:
    narrow_agent(agent=held.agent, by=SuperAdminFactory(), scopes=["post"])
    message = MessageFactory()
    for _ in range(3):
        held.api.post("/v1/reactions", {"messageId": str(message.pk), "emoji": "👍"})
    held.api.post("/api/messages", {"pageId": "nonsense", "content": "x"})
    held.api.get("/v1/agent-tokens")
    held.api.get(f"/api/messages/{message.pk}")
    assert counted(held) == {
        ("addReaction", "agent_scope_missing:react"): 3,
        ("createMessage", "unknown_page"): 1,
        ("listAgentTokens", "agent_route_not_allowed"): 1,
    }
    assert RefusedCall.objects.count() == 3


def test_tells_of_calls_with_a_token_that_ended(held: TokenHolder) -> None:
    boss = SuperAdminFactory()
    freeze_agent(agent=held.agent, by=boss, reason="Odd.")
    held.api.get("/v1/agent/self")
    revoke_token(token_id=held.token.pk, by=boss)
    held.api.post("/admin/logout/")
    assert counted(held) == {("getAgentSelf", "token_revoked"): 1, ("", "token_revoked"): 1}


def test_what_is_unknown_or_answered_is_not_counted(held: TokenHolder) -> None:
    held.api.get("/v1/agent/self")
    type(held.api).as_agent("cag_nonsense").get("/v1/agent/self")
    assert not RefusedCall.objects.exists()


def test_a_flood_is_not_counted_to_the_end(held: TokenHolder, settings: Any) -> None:
    settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"refusal_note": (2, 60)}
    for _ in range(4):
        held.api.get("/v1/agent-tokens")
    assert counted(held) == {("listAgentTokens", "agent_route_not_allowed"): 2}


@pytest.mark.django_db(transaction=True)
def test_no_call_is_lost_among_parallel_ones() -> None:
    held = agent_with_token()
    assert set(race(8, lambda _: held.api.get("/v1/agent-tokens").status)) == {403}
    assert counted(held) == {("listAgentTokens", "agent_route_not_allowed"): 8}


@pytest.mark.django_db(transaction=True)
def test_a_refusal_that_cannot_be_counted_is_still_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    held = agent_with_token()
    monkeypatch.setattr(denied_calls, "NOTE", "SELECT %s, %s, %s FROM no_such_table")
    assert held.api.get("/v1/agent-tokens").error == "agent_route_not_allowed"


def test_pruned_after_thirty_days(held: TokenHolder) -> None:
    held.api.get("/v1/agent-tokens")
    RefusedCall.objects.update(day=timezone.now().date() - timedelta(days=denied_calls.STORED_DAYS))
    call_command("prune")
    assert RefusedCall.objects.count() == 1
    RefusedCall.objects.update(day=timezone.now().date() - timedelta(days=denied_calls.STORED_DAYS + 1))
    call_command("prune", dry_run=True)
    assert RefusedCall.objects.count() == 1
    call_command("prune")
    assert not RefusedCall.objects.exists()
