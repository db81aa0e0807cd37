"""requestAgent: POST /v1/agent-tokens/requests."""

from __future__ import annotations

from typing import Any

import pytest

from agents.models import AgentRequest
from messaging.models import Account, HandleClaim
from tests.agents.factories import ApprovedFactory, RequestFactory
from tests.agents.racing import race
from tests.api import Api
from tests.factories import CommunityFactory, PersonFactory

pytestmark = pytest.mark.django_db
URL = "/v1/agent-tokens/requests"


def body(**changes: Any) -> dict[str, Any]:
    base = {
        "agentName": "Page Helper",
        "agentHandle": "page_helper",
        "purpose": "Answers questions about the page.",
        "scopes": ["post", "reply"],
    }
    return base | changes


@pytest.fixture
def person() -> Account:
    return PersonFactory()


@pytest.fixture
def api(person: Account) -> Api:
    return Api.as_person(person)


def test_response_is_the_pending_request(api: Api, person: Account) -> None:
    """Agent request: (none) → pending, 201, with every body field."""
    community = CommunityFactory()
    sent = body(website="https://example.com/about", communityIds=[str(community.pk)])
    response = api.post(URL, sent)
    assert response.status == 201
    assert {name: response.json[name] for name in sent} == sent
    assert response.json["status"] == "pending"
    assert response.json["requester"]["id"] == str(person.pk)
    assert [response.json[name] for name in ("agent", "decidedBy", "decidedAt", "reason")] == [None] * 4


def test_website_and_communities_are_optional(api: Api) -> None:
    response = api.post(URL, body())
    assert (response.json["website"], response.json["communityIds"]) == (None, [])


@pytest.mark.parametrize(
    ("name", "length", "status"),
    [
        *(("agentName", length, status) for length, status in ((1, 400), (2, 201), (60, 201), (61, 400))),
        *(("agentHandle", length, status) for length, status in ((2, 400), (3, 201), (30, 201), (31, 400))),
        *(("purpose", length, status) for length, status in ((19, 400), (20, 201), (2000, 201), (2001, 400))),
    ],
)
def test_length_limits(api: Api, name: str, length: int, status: int) -> None:
    """Limits: agentName 2 to 60, agentHandle 3 to 30, purpose 20 to 2000; surrounding spaces do not count."""
    padding = "" if name == "agentHandle" else "  "
    response = api.post(URL, body(**{name: padding + "x" * length + padding}))
    assert response.status == status
    if status == 201:
        assert response.json[name] == "x" * length


INVALID: dict[str, list[object]] = {
    **{name: [None, 7, {}, ""] for name in ("agentName", "purpose")},
    # ^[a-z0-9_]{3,30}$, without a final newline.
    "agentHandle": [None, 7, {}, "", "Helper", "help-er", "help er", "hélper", "helper\n", "١٢٣"],
    "website": ["example.com", "ftp://example.com", "javascript:alert(1)", "https://u:p@a.example", ""],
    "scopes": [None, 7, {}, "", [], ["admin"], ["post", "Post"], "post", [["post"]]],
}


def test_a_missing_or_invalid_field_is_400_and_named(api: Api) -> None:
    """Agent request: the column Required; a wrong type is a 400 as well."""
    sent = [(name, body(**{name: value})) for name, values in INVALID.items() for value in values]
    sent += [(name, {key: value for key, value in body().items() if key != name}) for name in body()]
    for name, fields in sent:
        response = api.post(URL, fields)
        assert (response.status, response.json["field"].partition("[")[0]) == (400, name), fields
    assert not AgentRequest.objects.exists()


def test_duplicate_scopes_are_removed(api: Api) -> None:
    assert api.post(URL, body(scopes=["react", "post", "react"])).json["scopes"] == ["react", "post"]


def test_communities_must_exist_and_be_at_most_twenty(api: Api) -> None:
    """Limits: communityIds on an agent request, 20 items."""
    ids = [str(community.pk) for community in CommunityFactory.create_batch(21)]
    assert api.post(URL, body(communityIds=ids)).json["field"] == "communityIds"
    assert api.post(URL, body(communityIds=ids[:20])).status == 201
    unknown = api.post(URL, body(agentHandle="other", communityIds=["018f0000-0000-7000-8000-000000000000"]))
    assert (unknown.status, unknown.json["field"]) == (400, "communityIds")
    assert api.post(URL, body(agentHandle="other", communityIds=["nonsense"])).status == 400


@pytest.mark.parametrize("request_factory", [RequestFactory, ApprovedFactory])
def test_handle_of_a_request_is_not_available(api: Api, request_factory: Any) -> None:
    """Errors: 409 handle_taken, for a pending and for an approved request."""
    request_factory(agent_handle="page_helper")
    response = api.post(URL, body())
    assert (response.status, response.error, response.json["field"]) == (409, "handle_taken", "agentHandle")


def test_handle_of_a_person_is_not_available(api: Api, person: Account) -> None:
    assert api.post(URL, body(agentHandle=person.handle)).error == "handle_taken"
    assert HandleClaim.objects.filter(handle=person.handle).count() == 1


def test_person_has_at_most_three_pending_requests(api: Api, person: Account) -> None:
    """Limits: pending agent requests 3; 429 without Retry-After. Requests of others and approved ones do not count."""
    RequestFactory()
    ApprovedFactory(requester=person)
    for n in range(3):
        assert api.post(URL, body(agentHandle=f"helper_no_{n}")).status == 201
    response = api.post(URL, body(agentHandle="one_too_many"))
    assert (response.status, response.error) == (429, "too_many_pending_requests")
    assert "Retry-After" not in response.headers
    assert not HandleClaim.objects.filter(handle="one_too_many").exists()


def test_retry_with_the_same_key_creates_one_request(api: Api) -> None:
    first, second = (api.post(URL, body(), key="once") for _ in range(2))
    assert first.body == second.body
    assert second.headers["Idempotent-Replayed"] == "true"
    assert AgentRequest.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_concurrent_calls_create_at_most_three_requests(person: Account) -> None:
    """Limits: 3 pending requests, also under concurrency."""
    statuses = race(10, lambda n: Api.as_person(person).post(URL, body(agentHandle=f"racer_{n}")).status)
    assert sorted(statuses) == [201] * 3 + [429] * 7
    assert AgentRequest.objects.count() == 3


@pytest.mark.django_db(transaction=True)
def test_concurrent_requests_for_one_handle_only_one_succeeds() -> None:
    """One succeeds, nine are 409 handle_taken."""
    people = PersonFactory.create_batch(10)
    responses = race(10, lambda n: Api.as_person(people[n]).post(URL, body()))
    assert sorted(response.status for response in responses) == [201] + [409] * 9
    assert {response.error for response in responses if response.status == 409} == {"handle_taken"}
