"""getAgent: GET /v1/agents/{handle}, what anyone may know about an agent."""

from __future__ import annotations

from datetime import datetime

import pytest

from agents.services import freeze_agent, undo_decision, unfreeze_agent
from messaging.accounts.services import suspend_person, unsuspend_person
from tests.agents.factories import ApprovedFactory, RequestFactory, TokenHolder, agent_with_token
from tests.api import Api
from tests.cache.conftest import Call, call, django_paths, store
from tests.factories import PersonFactory, SuperAdminFactory

__all__ = ["call", "django_paths", "store"]
pytestmark = pytest.mark.django_db


def path_of(holder: TokenHolder) -> str:
    return f"/v1/agents/{holder.account.handle}"


def test_it_shows_who_operates_the_agent_and_when_it_was_approved_and_no_more() -> None:
    holder = agent_with_token(requester=PersonFactory(name="Ada Lovelace", handle="ada"), agent_handle="library_helper")
    body = Api().get("/v1/agents/library_helper").json
    assert datetime.fromisoformat(body.pop("approvedAt")) == holder.agent.created_at
    assert body == {
        "id": str(holder.account.pk),
        "name": holder.account.name,
        "handle": "library_helper",
        "operator": {"name": "Ada Lovelace", "handle": "ada"},
        "status": "active",
    }


def test_a_person_a_pending_agent_and_an_unknown_handle_are_404() -> None:
    PersonFactory(handle="ada")
    RequestFactory(agent_handle="pending_one")
    for handle in ("ada", "pending_one", "nobody", "ADA", "a", "x" * 31, "%00", "ada%0a", "@ada", "é" * 3):
        answer = Api().get(f"/v1/agents/{handle}")
        assert (answer.status, answer.error) == (404, "agent_not_found"), handle


def test_it_takes_one_query_and_none_without_a_possible_handle(django_assert_num_queries: object) -> None:
    holder = agent_with_token()
    for path, queries in ((path_of(holder), 1), ("/v1/agents/nobody", 1), ("/v1/agents/A-Z", 0)):
        with django_assert_num_queries(queries):  # type: ignore[operator]
            Api().get(path)


@pytest.mark.django_db(transaction=True)
def test_the_cached_response_says_at_once_that_the_agent_is_suspended(call: Call) -> None:
    holder = agent_with_token()
    operator, admin = holder.request.requester, SuperAdminFactory()

    def status() -> bool:
        first, second = call(path_of(holder)), call(path_of(holder))
        assert (second.queries, second.body) == (0, first.body)
        return b'"status":"active"' in first.body

    assert status()
    freeze_agent(agent=holder.agent, by=admin, reason="Not public.")
    assert not status()
    assert b"Not public" not in call(path_of(holder)).body
    unfreeze_agent(agent=holder.agent, by=admin)
    assert status()
    suspend_person(person=operator, by=admin)
    assert not status()
    unsuspend_person(person=operator, by=admin)
    assert status()


@pytest.mark.django_db(transaction=True)
def test_the_agent_of_an_undone_approval_is_unknown_at_once(call: Call) -> None:
    undone, other = ApprovedFactory(), ApprovedFactory()
    paths = [f"/v1/agents/{request.agent_handle}" for request in (undone, other)]
    assert [call(path).status for path in paths] == [200, 200]
    undo_decision(request_id=undone.pk, by=SuperAdminFactory())
    answers = [call(path) for path in paths]
    assert [(answer.status, answer.queries > 0) for answer in answers] == [(404, True), (200, False)]
