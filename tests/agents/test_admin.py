"""The plain admin of requests, agents and tokens."""

from __future__ import annotations

import pytest
from django.contrib.admin.models import LogEntry
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from agents.models import Agent, AgentRequest, AgentToken
from messaging.models import Account
from tests.agents.factories import RequestFactory, TokenHolder, agent_with_token
from tests.api import Api
from tests.factories import PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
MODELS = ["agentrequest", "agent", "agenttoken"]


@pytest.fixture
def admin() -> Account:
    return SuperAdminFactory()


@pytest.fixture
def desk(admin: Account) -> Client:
    client = Client()
    client.force_login(admin)
    return client


@pytest.fixture
def held() -> TokenHolder:
    return agent_with_token()


def rows(model: str) -> str:
    return reverse(f"admin:agents_{model}_changelist")


def act(desk: Client, action: str, row: Model, reason: str = "") -> str:
    """Run one action on one row; the page that comes back."""
    sent = {"action": action, "_selected_action": [str(row.pk)], "reason": reason}
    return desk.post(rows(row._meta.model_name or ""), sent, follow=True).content.decode()


@pytest.mark.parametrize("model", MODELS)
def test_shows_rows_and_no_secret(desk: Client, held: TokenHolder, model: str) -> None:
    row = {"agentrequest": held.request, "agent": held.agent, "agenttoken": held.token}[model]
    digest = bytes(AgentToken.objects.get().digest)
    for url in (
        rows(model),
        reverse(f"admin:agents_{model}_change", args=[row.pk]),
        reverse(f"admin:agents_{model}_history", args=[row.pk]),
    ):
        page = desk.get(url)
        assert page.status_code == 200
        for secret in (held.value, digest.hex(), repr(digest), "digest"):
            assert secret not in page.content.decode()


@pytest.mark.parametrize("model", MODELS)
def test_rows_are_read_only(desk: Client, held: TokenHolder, model: str) -> None:
    row = {"agentrequest": held.request, "agent": held.agent, "agenttoken": held.token}[model]
    assert desk.get(reverse(f"admin:agents_{model}_add")).status_code == 403
    assert desk.post(reverse(f"admin:agents_{model}_change", args=[row.pk]), {"label": "x"}).status_code == 403
    assert desk.post(reverse(f"admin:agents_{model}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403


def test_approve(desk: Client, admin: Account) -> None:
    asked = RequestFactory()
    assert "approved" in act(desk, "approve", asked, "Useful.")
    asked.refresh_from_db()
    assert (asked.status, asked.decided_by, asked.reason) == ("approved", admin, "Useful.")
    assert LogEntry.objects.get(object_id=str(asked.pk)).user_id == admin.pk


def test_reject(desk: Client) -> None:
    asked = RequestFactory()
    act(desk, "reject", asked, "Not here.")
    asked.refresh_from_db()
    assert (asked.status, asked.reason) == ("rejected", "Not here.")


def test_a_late_decision_is_told_not_made(desk: Client, held: TokenHolder) -> None:
    assert "request_not_pending" in act(desk, "reject", held.request)
    assert AgentRequest.objects.get().status == "approved"


def test_revoke_freeze_unfreeze(desk: Client, held: TokenHolder) -> None:
    act(desk, "freeze", held.agent, "Looks odd.")
    assert held.api.get("/v1/agent/self").status == 401
    assert Agent.objects.get().freeze_reason == "Looks odd."
    act(desk, "unfreeze", held.agent)
    assert held.api.get("/v1/agent/self").status == 200
    act(desk, "revoke", held.token, "Lost.")
    assert held.api.get("/v1/agent/self").status == 401
    assert AgentToken.objects.get().revoke_reason == "Lost."


def test_revoke_all_of_an_agent(desk: Client, held: TokenHolder) -> None:
    act(desk, "revoke_tokens", held.agent, "Lost.")
    assert AgentToken.objects.get().revoke_reason == "Lost."


@pytest.mark.parametrize("model", MODELS)
def test_is_for_super_admins_only(held: TokenHolder, model: str) -> None:
    """is_staff without super admin sees none of it; an agent's bearer opens nothing."""
    staff = Client()
    staff.force_login(PersonFactory(is_staff=True))
    assert staff.get(rows(model)).status_code == 403
    assert model not in staff.get("/admin/").content.decode()
    sent = {"action": "approve", "_selected_action": [str(held.request.pk)]}
    assert staff.post(rows(model), sent).status_code == 403
    assert Client().get(rows(model)).status_code == 302
    assert Api.as_agent(held.value).get(rows(model)).status == 302


def test_actions_need_the_csrf_token(admin: Account) -> None:
    asked, client = RequestFactory(), Client(enforce_csrf_checks=True)
    client.force_login(admin)
    sent = {"action": "approve", "_selected_action": [str(asked.pk)]}
    assert client.post(rows("agentrequest"), sent).status_code == 403
    asked.refresh_from_db()
    assert asked.status == "pending"
