"""Undoing decisions on agent requests: `agents.services.agents`."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.db.models import F

from agents.exceptions import (
    ApprovalInUse,
    DecisionNotUndoable,
    RequestNotApproved,
    RequestNotFound,
    RequestNotPending,
    UndoTooLate,
)
from agents.models import Agent, AgentRequest, AgentToken
from agents.services import approve_request, cancel_request, create_token, reject_request, undo_decision
from kernel.api.exceptions import ApiError
from kernel.api.ids import new_id
from kernel.changes.models import Change
from messaging.accounts.exceptions import HandleTaken
from messaging.models import Account, HandleClaim
from tests.agents.factories import ApprovedFactory, RequestFactory
from tests.agents.racing import race
from tests.factories import PersonFactory, SuperAdminFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("bystander")]


def fresh(request: AgentRequest) -> AgentRequest:
    return AgentRequest.objects.get(pk=request.pk)


def rejected() -> AgentRequest:
    return reject_request(request_id=RequestFactory().pk, by=SuperAdminFactory(), reason="No.")


def test_an_approval_is_undone_with_its_agent() -> None:
    request, boss = ApprovedFactory(), SuperAdminFactory()
    undone = undo_decision(request_id=request.pk, by=boss, reason="Wrong key.")
    assert fresh(request) == undone
    assert (undone.status, undone.decided_by, undone.decided_at, undone.agent, undone.reason) == (
        *("pending", None, None, None),
        "",
    )
    assert not Agent.objects.filter(account__handle=request.agent_handle).exists()
    assert not Account.objects.filter(handle=request.agent_handle).exists()
    assert HandleClaim.objects.filter(handle=request.agent_handle).exists()
    entry = LogEntry.objects.filter(object_id=str(request.pk)).latest("pk")
    assert (entry.user_id, entry.change_message) == (boss.pk, "Approval undone (approved → pending): Wrong key.")
    told = Change.objects.filter(account_id=request.requester_id).latest("id")
    assert told.data["status"] == "pending"


def test_an_undone_approval_can_be_approved_and_rejected_again() -> None:
    request, boss = ApprovedFactory(), SuperAdminFactory()
    undo_decision(request_id=request.pk, by=boss)
    approve_request(request_id=request.pk, by=boss)
    assert Agent.objects.filter(account__handle=request.agent_handle).count() == 1
    undo_decision(request_id=request.pk, by=boss)
    assert reject_request(request_id=request.pk, by=boss).status == "rejected"


def test_a_rejection_is_reopened_at_any_time_and_claims_its_handle() -> None:
    request, boss = rejected(), SuperAdminFactory()
    AgentRequest.objects.filter(pk=request.pk).update(decided_at=F("decided_at") - timedelta(days=90))
    assert undo_decision(request_id=request.pk, by=boss).status == "pending"
    assert HandleClaim.objects.filter(handle=request.agent_handle).exists()
    assert (
        LogEntry.objects.filter(object_id=str(request.pk)).latest("pk").change_message
        == "Reopened (rejected → pending)."
    )
    assert approve_request(request_id=request.pk, by=boss).agent is not None


def test_a_rejection_whose_handle_is_taken_is_not_reopened() -> None:
    request = rejected()
    PersonFactory(handle=request.agent_handle)
    with pytest.raises(HandleTaken):
        undo_decision(request_id=request.pk, by=SuperAdminFactory())
    assert fresh(request).status == "rejected"


def test_an_approval_is_final_after_thirty_seconds() -> None:
    request = ApprovedFactory()
    AgentRequest.objects.filter(pk=request.pk).update(decided_at=F("decided_at") - timedelta(seconds=31))
    with pytest.raises(UndoTooLate):
        undo_decision(request_id=request.pk, by=SuperAdminFactory())
    assert fresh(request).status == "approved"
    assert Agent.objects.filter(account__handle=request.agent_handle).count() == 1


def test_an_approval_is_final_once_a_token_was_created_even_a_revoked_one() -> None:
    request = ApprovedFactory()
    create_token(request_id=request.pk, by=request.requester)
    AgentToken.objects.filter(agent__request=request).update(revoked_at=F("created_at"), revoked_by=request.requester)
    with pytest.raises(ApprovalInUse):
        undo_decision(request_id=request.pk, by=SuperAdminFactory())
    assert fresh(request).status == "approved"


def test_only_approvals_and_rejections_can_be_undone() -> None:
    pending, boss = RequestFactory(), SuperAdminFactory()
    cancelled = RequestFactory()
    cancel_request(request_id=cancelled.pk, by=cancelled.requester)
    for request in (pending, cancelled):
        with pytest.raises(DecisionNotUndoable):
            undo_decision(request_id=request.pk, by=boss)
    with pytest.raises(RequestNotFound):
        undo_decision(request_id=new_id(), by=boss)


def attempt(call: object, **arguments: object) -> str:
    try:
        call(**arguments)  # type: ignore[operator]
    except ApiError as refusal:
        return type(refusal).__name__
    return "done"


@pytest.mark.django_db(transaction=True)
def test_of_a_token_and_an_undo_at_once_one_succeeds() -> None:
    for _ in range(4):
        request, boss = ApprovedFactory(), SuperAdminFactory()
        results = race(
            2,
            lambda number, request=request, boss=boss: attempt(
                (create_token, undo_decision)[number], request_id=request.pk, by=(request.requester, boss)[number]
            ),
        )
        assert results in (["done", "ApprovalInUse"], ["RequestNotApproved", "done"])
        assert fresh(request).status == ("approved" if results[0] == "done" else "pending")
        assert AgentToken.objects.filter(agent__request=request).exists() == (results[0] == "done")


@pytest.mark.django_db(transaction=True)
def test_of_several_undos_at_once_one_succeeds() -> None:
    for request in (ApprovedFactory(), rejected()):
        boss = SuperAdminFactory()
        results = race(4, lambda _, request=request, boss=boss: attempt(undo_decision, request_id=request.pk, by=boss))
        assert sorted(results) == ["DecisionNotUndoable"] * 3 + ["done"]
        assert fresh(request).status == "pending"


@pytest.mark.django_db(transaction=True)
def test_of_a_reopening_and_a_claim_of_the_handle_at_once_one_succeeds() -> None:
    request, boss = rejected(), SuperAdminFactory()

    def act(number: int) -> str:
        if number:
            return attempt(undo_decision, request_id=request.pk, by=boss)
        return attempt(PersonFactory, handle=request.agent_handle)

    assert sorted(race(2, act)) == ["HandleTaken", "done"]


def test_a_token_of_an_undone_approval_is_refused() -> None:
    request = ApprovedFactory()
    undo_decision(request_id=request.pk, by=SuperAdminFactory())
    with pytest.raises(RequestNotApproved):
        create_token(request_id=request.pk, by=request.requester)
    with pytest.raises(RequestNotPending):
        reject_request(request_id=ApprovedFactory().pk, by=SuperAdminFactory())
