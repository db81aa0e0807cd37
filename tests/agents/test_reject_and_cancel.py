"""rejectAgentRequest and cancelAgentRequest."""

from __future__ import annotations

import pytest
from django.contrib.admin.models import LogEntry

from agents.models import Agent, AgentRequest
from messaging.models import HandleClaim
from tests.agents.factories import ApprovedFactory, RequestFactory
from tests.agents.racing import race
from tests.api import Answer, Api
from tests.factories import PersonFactory, SuperAdminFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("bystander")]


def url(request: AgentRequest, verb: str) -> str:
    return f"/v1/agent-tokens/requests/{request.pk}/{verb}"


def reject(request: AgentRequest, **body: object) -> Answer:
    return Api.as_person(SuperAdminFactory()).post(url(request, "reject"), body)


def cancel(request: AgentRequest) -> Answer:
    return Api.as_person(request.requester).post(url(request, "cancel"))


def test_super_admin_rejects_with_a_reason() -> None:
    """Agent request: pending → rejected by a super admin, with a reason."""
    agent_request = RequestFactory()
    response = reject(agent_request, reason="Not here.")
    assert (response.status, response.json["status"], response.json["reason"]) == (200, "rejected", "Not here.")
    assert response.json["agent"] is None
    assert not Agent.objects.filter(account__handle=agent_request.agent_handle).exists()
    assert (
        LogEntry.objects.get(object_id=str(agent_request.pk)).change_message
        == "Rejected (pending → rejected): Not here."
    )


def test_requester_cancels() -> None:
    """Agent request: pending → cancelled by the requester."""
    agent_request = RequestFactory()
    response = cancel(agent_request)
    assert (response.status, response.json["status"]) == (200, "cancelled")
    assert response.json["decidedBy"]["id"] == str(agent_request.requester.pk)
    assert LogEntry.objects.get(object_id=str(agent_request.pk)).user_id == agent_request.requester.pk


@pytest.mark.parametrize("verb", [reject, cancel])
def test_handle_is_released_and_the_request_not_counted(verb: object) -> None:
    """The handle is available, and the request does not count as pending."""
    person = PersonFactory()
    requests = [RequestFactory(requester=person) for _ in range(3)]
    assert verb(requests[0]).status == 200  # type: ignore[operator]
    assert not HandleClaim.objects.filter(handle=requests[0].agent_handle).exists()
    RequestFactory(requester=person, agent_handle=requests[0].agent_handle)


@pytest.mark.parametrize("verb", [reject, cancel])
def test_decided_request_is_409(verb: object) -> None:
    """409 request_not_pending; the handle of an approved agent is not released."""
    approved = ApprovedFactory()
    response = verb(approved)  # type: ignore[operator]
    assert (response.status, response.error) == (409, "request_not_pending")
    assert HandleClaim.objects.filter(handle=approved.agent_handle).exists()


def test_cancel_by_another_account_is_404() -> None:
    """Rule 7: 404 for every other person, super admins included."""
    agent_request = RequestFactory()
    for caller in (PersonFactory(), SuperAdminFactory()):
        assert Api.as_person(caller).post(url(agent_request, "cancel")).error == "request_not_found"
    agent_request.refresh_from_db()
    assert agent_request.status == "pending"


def test_unknown_request_is_404() -> None:
    for verb in ["reject", "cancel"]:
        for request_id in ["018f0000-0000-7000-8000-000000000000", "nonsense"]:
            response = Api.as_person(SuperAdminFactory()).post(f"/v1/agent-tokens/requests/{request_id}/{verb}")
            assert (response.status, response.error) == (404, "request_not_found"), (verb, request_id)


@pytest.mark.parametrize(("reason", "status"), [("x" * 500, 200), ("x" * 501, 400), (7, 400), (None, 200)])
def test_reason_has_at_most_500_characters(reason: object, status: int) -> None:
    assert reject(RequestFactory(), reason=reason).status == status


@pytest.mark.django_db(transaction=True)
def test_concurrent_cancel_and_approve_only_one_succeeds() -> None:
    """One succeeds, the other is 409."""
    agent_request, admin = RequestFactory(), Api.as_person(SuperAdminFactory())
    calls = [lambda: cancel(agent_request), lambda: admin.post(url(agent_request, "approve"))]
    statuses = race(2, lambda n: calls[n]().status)
    assert sorted(statuses) == [200, 409]
    agent_request.refresh_from_db()
    assert HandleClaim.objects.filter(handle=agent_request.agent_handle).exists() == (
        agent_request.status == "approved"
    )
