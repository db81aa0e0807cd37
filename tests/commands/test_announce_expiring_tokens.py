"""The command that tells agents and operators of tokens that expire within 7 days, once per token."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from agents.models import AgentToken
from agents.services import create_token, revoke_token, tokens
from kernel.changes.models import Change
from tests.agents.factories import TokenHolder, agent_with_token
from tests.agents.racing import race
from tests.changes.inbox import events
from tests.commands.running import run, run_json

pytestmark = pytest.mark.django_db
COMMAND = "announce_expiring_tokens"


@pytest.fixture
def agent() -> TokenHolder:
    holder = agent_with_token()
    Change.objects.all().delete()
    return holder


def expires_in(holder: TokenHolder, **delta: float) -> None:
    AgentToken.objects.filter(pk=holder.token.pk).update(expires_at=timezone.now() + timedelta(**delta))


def test_the_agent_and_its_operator_are_told(agent: TokenHolder) -> None:
    expires_in(agent, days=7, seconds=-1)
    assert run_json(COMMAND, "--json") == {"announced": 1}
    agent.token.refresh_from_db()
    for caller in (agent.api, agent.operator):
        (event,) = events(caller)
        assert (event["type"], event["actor"]) == ("token_expiring", None)
        assert event["data"] == {
            "tokenId": str(agent.token.pk),
            "prefix": agent.token.prefix,
            "expiresAt": agent.token.expires_at.isoformat().replace("+00:00", "Z"),
        }


def test_a_token_that_expires_later_or_has_ended_is_not_announced(agent: TokenHolder) -> None:
    for later in ({"days": 7, "seconds": 5}, {"days": 90}, {"seconds": -5}):
        expires_in(agent, **later)
        assert run_json(COMMAND, "--json") == {"announced": 0}
    expires_in(agent, days=1)
    bystander, _value = create_token(request_id=agent.request.pk, by=agent.request.requester, expires_in_days=2)
    revoke_token(token_id=agent.token.pk, by=agent.request.requester)
    assert run_json(COMMAND, "--json") == {"announced": 1}
    assert AgentToken.objects.exclude(expiry_announced_at=None).get() == bystander


def test_more_tokens_than_a_batch_are_announced_once(agent: TokenHolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "BATCH", 2)
    for _ in range(4):
        create_token(request_id=agent.request.pk, by=agent.request.requester, expires_in_days=5)
    assert run(COMMAND) == "4 announced.\n"
    assert run(COMMAND) == "0 announced.\n"
    assert Change.objects.count() == 8


@pytest.mark.django_db(transaction=True)
def test_hosts_that_run_it_at_once_announce_each_token_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "BATCH", 2)
    holders = [agent_with_token() for _ in range(6)]
    for holder in holders:
        expires_in(holder, days=1)
    race(4, lambda _number: tokens.announce_expiring_tokens())
    tokens.announce_expiring_tokens()
    told = Change.objects.filter(type="token_expiring").values_list("account_id", flat=True)
    assert sorted(told) == sorted(pk for holder in holders for pk in (holder.agent.pk, holder.agent.operator_id))
