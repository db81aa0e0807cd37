"""listAgentRequests: GET /v1/agent-tokens/requests."""

from __future__ import annotations

from typing import Any

import pytest

from agents.services import cancel_request, reject_request
from messaging.models import Account
from tests.agents.factories import ApprovedFactory, RequestFactory, agent_with_token
from tests.api import Api
from tests.factories import PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
URL = "/v1/agent-tokens/requests"


@pytest.fixture
def person() -> Account:
    return PersonFactory()


def one_of_each(person: Account) -> dict[str, str]:
    """status → id of a request of that status."""
    admin = SuperAdminFactory()
    rejected = reject_request(request_id=RequestFactory(requester=person).pk, by=admin)
    cancelled = cancel_request(request_id=RequestFactory(requester=person).pk, by=person)
    held = [RequestFactory(requester=person), ApprovedFactory(requester=person), rejected, cancelled]
    return {request.status: str(request.pk) for request in held}


def test_shows_ones_own_newest_first(person: Account) -> None:
    """Callers see their own requests."""
    RequestFactory()
    held = [str(RequestFactory(requester=person).pk) for _ in range(3)]
    answer = Api.as_person(person).get(URL)
    assert [request["id"] for request in answer.json["requests"]] == held[::-1]
    assert (answer.json["hasMore"], answer.json["nextCursor"]) == (False, None)


@pytest.mark.parametrize("status", ["pending", "approved", "rejected", "cancelled"])
@pytest.mark.parametrize("everybody", [False, True])
def test_status_filters(person: Account, status: str, everybody: bool) -> None:
    """Query: status, on one's own list and with all=1."""
    held = one_of_each(person)
    caller = Api.as_person(SuperAdminFactory() if everybody else person)
    answer = caller.get(URL, status=status, **({"all": "1"} if everybody else {}))
    assert [request["id"] for request in answer.json["requests"]] == [held[status]]


def test_all_is_for_super_admins(person: Account) -> None:
    """Rule 7: only a super admin may list all requests."""
    held = {str(RequestFactory(requester=person).pk), str(RequestFactory().pk)}
    refused = Api.as_person(person).get(URL, all="1")
    assert (refused.status, refused.error) == (403, "super_admin_required")
    listed = Api.as_person(SuperAdminFactory()).get(URL, all="1")
    assert {request["id"] for request in listed.json["requests"]} == held


@pytest.mark.parametrize("query", [{"all": "0"}, {"all": "true"}, {"status": "open"}, {"limit": "0"}, {"limit": "1_0"}])
def test_odd_queries(person: Account, query: dict[str, str]) -> None:
    """Query: all takes only the value 1, status only the four."""
    answer = Api.as_person(person).get(URL, **query)
    assert (answer.status, answer.json["field"]) == (400, next(iter(query)))


def test_pages_through(person: Account) -> None:
    admin = SuperAdminFactory()
    for _ in range(5):
        cancel_request(request_id=RequestFactory(requester=person).pk, by=person)
    seen, cursor = [], None
    while True:
        query: dict[str, Any] = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        page = Api.as_person(person).get(URL, **query).json
        seen += [request["id"] for request in page["requests"]]
        cursor = page["nextCursor"]
        if not page["hasMore"]:
            break
        assert Api.as_person(person).get(URL, status="pending", **query | {"cursor": cursor}).error == "invalid_cursor"
        assert Api.as_person(admin).get(URL, cursor=cursor).error == "invalid_cursor"
    assert len(seen) == len(set(seen)) == 5
    assert seen == sorted(seen, reverse=True)


def test_runs_the_same_queries_for_every_size(person: Account, django_assert_max_num_queries: Any) -> None:
    for _ in range(4):
        ApprovedFactory(requester=person)
    with django_assert_max_num_queries(2):  # who calls, and the list
        assert len(Api.as_person(person).get(URL).json["requests"]) == 4


def test_is_for_persons_only(person: Account) -> None:
    """Errors: 403 for agents."""
    assert agent_with_token().api.get(URL).error == "agent_route_not_allowed"
    assert Api().get(URL).error == "not_authenticated"
    assert Api.as_signed_in(person).get(URL).error == "invalid_token"
