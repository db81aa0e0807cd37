"""rejectAgentRequest and cancelAgentRequest."""

from __future__ import annotations

import pytest
from django.contrib.admin.models import LogEntry

from agents.models import Agent, AgentRequest
from messaging.models import HandleClaim
from tests.agents.factories import ApprovedFactory, RequestFactory, agent_with_token
from tests.agents.racing import race
from tests.api import Answer, Api
from tests.factories import PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db


def url(request: AgentRequest, verb: str) -> str:
    return f"/v1/agent-tokens/requests/{request.pk}/{verb}"


def reject(request: AgentRequest, **body: object) -> Answer:
    return Api.as_person(SuperAdminFactory()).post(url(request, "reject"), body)


def cancel(request: AgentRequest) -> Answer:
    return Api.as_person(request.requester).post(url(request, "cancel"))


def test_reject() -> None:
    """Agent request: pending → rejected by a super admin, with a reason."""
    asked = RequestFactory()
    answer = reject(asked, reason="Not here.")
    assert (answer.status, answer.json["status"], answer.json["reason"]) == (200, "rejected", "Not here.")
    assert answer.json["agent"] is None
    assert not Agent.objects.exists()
    assert LogEntry.objects.get(object_id=str(asked.pk)).change_message == "Rejected: Not here."


def test_cancel() -> None:
    """Agent request: pending → cancelled by the requester."""
    asked = RequestFactory()
    answer = cancel(asked)
    assert (answer.status, answer.json["status"]) == (200, "cancelled")
    assert answer.json["decidedBy"]["id"] == str(asked.requester.pk)
    assert LogEntry.objects.get(object_id=str(asked.pk)).user_id == asked.requester.pk


@pytest.mark.parametrize("verb", [reject, cancel])
def test_frees_handle_and_place(verb: object) -> None:
    """The handle is free again, and the request no longer counts as pending."""
    person = PersonFactory()
    held = [RequestFactory(requester=person) for _ in range(3)]
    assert verb(held[0]).status == 200  # type: ignore[operator]
    assert not HandleClaim.objects.filter(handle=held[0].agent_handle).exists()
    RequestFactory(requester=person, agent_handle=held[0].agent_handle)


@pytest.mark.parametrize("verb", [reject, cancel])
def test_starts_from_pending_only(verb: object) -> None:
    """409 request_not_pending; the handle of an approved agent is not given back."""
    approved = ApprovedFactory()
    answer = verb(approved)  # type: ignore[operator]
    assert (answer.status, answer.error) == (409, "request_not_pending")
    assert HandleClaim.objects.filter(handle=approved.agent_handle).exists()


def test_only_the_requester_cancels() -> None:
    """Rule 7: to others, super admins included, the request does not exist."""
    asked = RequestFactory()
    for caller in (PersonFactory(), SuperAdminFactory()):
        assert Api.as_person(caller).post(url(asked, "cancel")).error == "request_not_found"
    asked.refresh_from_db()
    assert asked.status == "pending"


def test_only_super_admins_reject() -> None:
    asked = RequestFactory()
    assert Api.as_person(asked.requester).post(url(asked, "reject")).error == "super_admin_required"


@pytest.mark.parametrize("verb", ["reject", "cancel"])
def test_no_agents_and_no_other_tokens(verb: str) -> None:
    """Rule 6: 403 for agents."""
    asked = RequestFactory()
    assert agent_with_token().api.post(url(asked, verb)).error == "agent_route_not_allowed"
    assert Api().post(url(asked, verb)).error == "not_authenticated"
    assert Api.as_signed_in(SuperAdminFactory()).post(url(asked, verb)).error == "invalid_token"


@pytest.mark.parametrize("verb", ["reject", "cancel"])
@pytest.mark.parametrize("request_id", ["018f0000-0000-7000-8000-000000000000", "nonsense"])
def test_unknown_request(verb: str, request_id: str) -> None:
    answer = Api.as_person(SuperAdminFactory()).post(f"/v1/agent-tokens/requests/{request_id}/{verb}")
    assert (answer.status, answer.error) == (404, "request_not_found")


@pytest.mark.parametrize(("reason", "status"), [("x" * 500, 200), ("x" * 501, 400), (7, 400), (None, 200)])
def test_reason_of_a_rejection(reason: object, status: int) -> None:
    assert reject(RequestFactory(), reason=reason).status == status


@pytest.mark.django_db(transaction=True)
def test_cancelling_and_approving_at_once() -> None:
    """One wins, the other is told."""
    asked, admin = RequestFactory(), Api.as_person(SuperAdminFactory())
    calls = [lambda: cancel(asked), lambda: admin.post(url(asked, "approve"))]
    statuses = race(2, lambda n: calls[n]().status)
    assert sorted(statuses) == [200, 409]
    asked.refresh_from_db()
    assert HandleClaim.objects.filter(handle=asked.agent_handle).exists() == (asked.status == "approved")
