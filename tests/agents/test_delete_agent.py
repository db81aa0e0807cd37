"""deleteAgent: DELETE /v1/agents/{handle}."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.db import transaction

from agents.models import AgentToken
from agents.services import freeze_agent
from agents.services.agents import delete_agent
from messaging.models import HandleClaim, Webhook
from messaging.webhooks.services import disable_webhook
from tests.agents.factories import TokenHolder, agent_with_token
from tests.agents.racing import race
from tests.api import Answer, Api
from tests.factories import MessageFactory, PersonFactory, SuperAdminFactory
from tests.sessions import in_background, wait_until_another_waits
from tests.webhooks.making import GLOBAL_URL, a_webhook

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("bystander")]


@pytest.fixture
def holder() -> TokenHolder:
    return agent_with_token()


def delete(caller: Api, handle: object) -> Answer:
    return caller.delete(f"/v1/agents/{handle}")


def test_it_ends_at_once_and_its_posts_and_its_handle_stay(holder: TokenHolder) -> None:
    post, handle = MessageFactory(author=holder.account), holder.account.handle
    public = f"/v1/agents/{handle}"
    assert Api().get(public).json["status"] == "active"
    response = delete(holder.operator, handle)
    assert (response.status, response.json) == (200, {"handle": handle, "deleted": True})
    assert Api().get(public).json["status"] == "suspended"
    assert holder.api.get("/v1/agent/self").error == "token_revoked"
    assert holder.agent.tokens.get().revoke_reason == "The agent was deleted."
    refused = holder.operator.post(f"/v1/agent-tokens/requests/{holder.request.pk}/token", {})
    assert refused.error == "agent_frozen"
    assert Api().get(f"/api/messages/{post.pk}").json["author"]["handle"] == handle
    assert HandleClaim.objects.filter(handle=handle).exists()
    body = {"agentName": "Another", "agentHandle": handle, "purpose": "Takes the handle again.", "scopes": ["post"]}
    assert Api.as_person(PersonFactory()).post("/v1/agent-tokens/requests", body).error == "handle_taken"
    entry = LogEntry.objects.get(object_id=str(holder.agent.pk))
    assert (entry.user_id, entry.change_message) == (holder.request.requester_id, "Deleted.")


def test_its_webhooks_are_deleted_but_those_that_a_super_admin_disabled(holder: TokenHolder) -> None:
    a_webhook(holder)
    blocked = a_webhook(holder)
    disable_webhook(webhook_id=blocked.pk, by=SuperAdminFactory())
    delete(holder.operator, holder.account.handle)
    assert Webhook.objects.get() == blocked


def test_a_frozen_agent_can_be_deleted(holder: TokenHolder) -> None:
    freeze_agent(agent=holder.agent, by=SuperAdminFactory())
    assert delete(holder.operator, holder.account.handle).status == 200


def test_only_the_operator_may_delete(holder: TokenHolder) -> None:
    handle = holder.account.handle
    for caller in (PersonFactory(), SuperAdminFactory()):
        assert delete(Api.as_person(caller), handle).error == "agent_not_found"
    assert delete(holder.api, handle).error == "agent_route_not_allowed"
    assert delete(Api(), handle).error == "not_authenticated"
    for other in (holder.request.requester.handle, "no_agent", "A", "%00"):
        assert delete(holder.operator, other).status == 404
    assert holder.api.get("/v1/agent/self").status == 200


@pytest.mark.django_db(transaction=True)
def test_concurrent_calls_delete_once() -> None:
    holder = agent_with_token()
    statuses = race(6, lambda _n: delete(holder.operator, holder.account.handle).status)
    assert sorted(statuses) == [200] + [404] * 5
    assert LogEntry.objects.filter(object_id=str(holder.agent.pk), change_message="Deleted.").count() == 1


@pytest.mark.django_db(transaction=True)
def test_no_token_is_created_beside_a_deletion() -> None:
    holder = agent_with_token()
    path = f"/v1/agent-tokens/requests/{holder.request.pk}/token"
    race(6, lambda n: delete(holder.operator, holder.account.handle) if n == 3 else holder.operator.post(path, {}))
    assert not AgentToken.objects.active().filter(agent=holder.agent).exists()


@pytest.mark.django_db(transaction=True)
def test_no_webhook_is_created_beside_a_deletion(settings: Any) -> None:
    settings.WEBHOOKS = True
    holder = agent_with_token()
    body = {"url": GLOBAL_URL, "agentId": str(holder.account.pk)}
    with ThreadPoolExecutor(1) as pool, transaction.atomic():
        delete_agent(handle=holder.account.handle, by=holder.request.requester)
        created = in_background(pool, lambda: holder.operator.post("/v1/webhooks", body))
        wait_until_another_waits()
    assert created.result().status == 404
    assert not Webhook.objects.exists()
