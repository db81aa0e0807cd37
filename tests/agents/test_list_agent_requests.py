"""listAgentRequests: GET /v1/agent-tokens/requests."""

from __future__ import annotations

from typing import Any

import pytest

from agents.services import cancel_request, reject_request
from messaging.models import Account
from tests.agents.factories import ApprovedFactory, RequestFactory
from tests.api import Api
from tests.factories import PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
URL = "/v1/agent-tokens/requests"


@pytest.fixture
def person() -> Account:
    return PersonFactory()


def request_ids_by_status(person: Account) -> dict[str, str]:
    """A request of each status: {status: id}."""
    admin = SuperAdminFactory()
    rejected = reject_request(request_id=RequestFactory(requester=person).pk, by=admin)
    cancelled = cancel_request(request_id=RequestFactory(requester=person).pk, by=person)
    requests = [RequestFactory(requester=person), ApprovedFactory(requester=person), rejected, cancelled]
    return {request.status: str(request.pk) for request in requests}


def test_list_shows_own_requests_newest_first(person: Account) -> None:
    RequestFactory()
    ids = [str(RequestFactory(requester=person).pk) for _ in range(3)]
    response = Api.as_person(person).get(URL)
    assert [request["id"] for request in response.json["requests"]] == ids[::-1]
    assert (response.json["hasMore"], response.json["nextCursor"]) == (False, None)


def test_filter_by_status(person: Account) -> None:
    """Query: status, without and with all=1."""
    ids = request_ids_by_status(person)
    assert ids.keys() == {"pending", "approved", "rejected", "cancelled"}
    for caller, query in ((person, {}), (SuperAdminFactory(), {"all": "1"})):
        for status, request_id in ids.items():
            response = Api.as_person(caller).get(URL, status=status, **query)
            assert [request["id"] for request in response.json["requests"]] == [request_id], (status, query)


def test_all_requires_a_super_admin(person: Account) -> None:
    """Rule 7: only a super admin may list all requests."""
    ids = {str(RequestFactory(requester=person).pk), str(RequestFactory().pk)}
    refused = Api.as_person(person).get(URL, all="1")
    assert (refused.status, refused.error) == (403, "super_admin_required")
    listed = Api.as_person(SuperAdminFactory()).get(URL, all="1")
    assert {request["id"] for request in listed.json["requests"]} == ids


def test_invalid_query_is_400(person: Account) -> None:
    """Query: all accepts 1 only, status the four statuses only."""
    for query in [{"all": "0"}, {"all": "true"}, {"status": "open"}, {"limit": "0"}, {"limit": "1_0"}]:
        response = Api.as_person(person).get(URL, **query)
        assert (response.status, response.json["field"]) == (400, next(iter(query))), query


def test_pagination_covers_every_request_once(person: Account) -> None:
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


def test_number_of_queries_does_not_depend_on_the_rows(person: Account, django_assert_max_num_queries: Any) -> None:
    for _ in range(4):
        ApprovedFactory(requester=person)
    with django_assert_max_num_queries(2):  # the credential and the list
        assert len(Api.as_person(person).get(URL).json["requests"]) == 4


def test_limit_is_validated_before_the_filters(person: Account) -> None:
    refused = Api.as_person(person).get(URL, all="1", limit="abc")
    assert (refused.status, refused.json["field"]) == (400, "limit")


def test_invalid_filter_is_400_and_quotes_little_of_its_value(person: Account) -> None:
    for value in ["", "nope", "%s%n{0}", "x" * 3000]:
        refused = Api.as_person(person).get(URL, status=value)
        assert (refused.status, refused.error, refused.json["field"]) == (400, "invalid_input", "status"), value
        assert refused.json["allowed"] == ["pending", "approved", "rejected", "cancelled"], value
        [problem] = refused.json["details"]
        assert problem["pointer"] == "?status", value
        assert value[:40] in problem["message"], value
        assert len(problem["message"]) < 100, value
