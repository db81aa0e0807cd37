"""getAgentRequest: GET /v1/agent-tokens/requests/{id}."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from tests.agents.factories import ApprovedFactory, RequestFactory, agent_with_token
from tests.api import Api
from tests.factories import PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
URL = "/v1/agent-tokens/requests"


@pytest.mark.parametrize("factory", [RequestFactory, ApprovedFactory])
def test_the_requester_gets_the_record_of_the_list(factory: Any) -> None:
    request = factory()
    api = Api.as_person(request.requester)
    answer = api.get(f"{URL}/{request.pk}")
    assert (answer.status, [answer.json]) == (200, api.get(URL).json["requests"])


def test_a_request_of_another_person_is_404() -> None:
    answer = Api.as_person(PersonFactory()).get(f"{URL}/{RequestFactory().pk}")
    assert (answer.status, answer.error) == (404, "request_not_found")


def test_a_super_admin_gets_any_request_as_its_requester_does() -> None:
    request = RequestFactory()
    answers = [Api.as_person(person).get(f"{URL}/{request.pk}") for person in (SuperAdminFactory(), request.requester)]
    assert [answer.status for answer in answers] == [200, 200]
    assert answers[0].body == answers[1].body


@pytest.mark.parametrize("request_id", [uuid4(), "x", "0" * 36])
def test_an_unknown_request_is_404(request_id: Any) -> None:
    answer = Api.as_person(PersonFactory()).get(f"{URL}/{request_id}")
    assert (answer.status, answer.error) == (404, "request_not_found")


def test_an_agent_and_a_client_without_a_credential_are_refused() -> None:
    holder = agent_with_token()
    path = f"{URL}/{holder.request.pk}"
    assert holder.api.get(path).error == "agent_route_not_allowed"
    assert Api().get(path).error == "not_authenticated"


def test_it_takes_as_many_queries_as_the_credential_and_one(django_assert_num_queries: Any) -> None:
    request = ApprovedFactory()
    api = Api.as_person(request.requester)
    with django_assert_num_queries(2):
        assert api.get(f"{URL}/{request.pk}").status == 200
