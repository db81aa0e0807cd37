"""getAgentRequest: GET /v1/agent-tokens/requests/{id}."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from tests.agents.factories import ApprovedFactory, RequestFactory
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


def test_a_super_admin_gets_any_request_as_its_requester_does() -> None:
    request = RequestFactory()
    answers = [Api.as_person(person).get(f"{URL}/{request.pk}") for person in (SuperAdminFactory(), request.requester)]
    assert [answer.status for answer in answers] == [200, 200]
    assert answers[0].body == answers[1].body


def test_an_unknown_request_is_404() -> None:
    for request_id in [uuid4(), "x", "0" * 36]:
        answer = Api.as_person(PersonFactory()).get(f"{URL}/{request_id}")
        assert (answer.status, answer.error) == (404, "request_not_found"), request_id


def test_it_takes_as_many_queries_as_the_credential_and_one(django_assert_num_queries: Any) -> None:
    request = ApprovedFactory()
    api = Api.as_person(request.requester)
    with django_assert_num_queries(2):
        assert api.get(f"{URL}/{request.pk}").status == 200
