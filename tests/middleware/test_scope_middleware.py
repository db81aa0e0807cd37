"""ScopeMiddleware: what the declaration of an operation does not allow is refused before the view runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client, override_settings
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

from kernel.api.credentials import CredentialKind
from kernel.api.operations import operation
from kernel.api.requests import Response
from kernel.api.viewsets import ApiViewSet, router
from tests.agents.factories import agent_with_token
from tests.api import HANDLER, Api
from tests.factories import PersonFactory

pytestmark = pytest.mark.django_db
CALLS: list[tuple[Any, Any, Any]] = []


class Scoped(ApiViewSet):
    @operation("writeScoped", callers={CredentialKind.AGENT, CredentialKind.PERSON}, scopes={"react"}, body_max=64)
    def create(self, request: Any) -> Response:
        CALLS.append((request.user.pk, request.auth.kind, request.data))
        return Response({})


class Undeclared(ApiViewSet):
    def create(self, request: Any) -> Response:
        CALLS.append(request)
        return Response({})

    def delete(self, request: Any) -> Response:
        """DRF would call it though no route names it."""
        CALLS.append(request)
        return Response({})


@csrf_exempt
def plain(request: Any) -> HttpResponse:
    return HttpResponse("plain")


routes = router()
routes.register("scoped", Scoped, basename="scoped")
urlpatterns = [*routes.urls, path("plain", plain), path("undeclared", Undeclared.as_view({"post": "create"}))]


@pytest.fixture(autouse=True)
def _urls() -> Iterator[None]:
    CALLS.clear()
    with override_settings(ROOT_URLCONF=__name__):
        yield


def send(api: Api, url: str = "/scoped", method: str = "POST", body: bytes = b"{}") -> tuple[int, str]:
    client = Client()
    client.handler = HANDLER
    response = client.generic(method, url, body, content_type="application/json", headers=api.credentials)
    is_json = response.headers["Content-Type"] == "application/json"
    return response.status_code, response.json().get("error", "") if is_json else ""


def test_the_view_finds_the_account_the_credential_and_the_parsed_body() -> None:
    agent, person = agent_with_token(), PersonFactory()
    assert send(agent.api, body=b'{"a": 1}') == (200, "")
    assert send(Api.as_person(person), body=b"") == (200, "")
    assert [(agent.agent.pk, CredentialKind.AGENT, {"a": 1}), (person.pk, CredentialKind.PERSON, {})] == CALLS


def test_a_refused_request_does_not_reach_the_view() -> None:
    agent, poster = agent_with_token().api, agent_with_token(scopes=["post"]).api
    for api, body, refusal in (
        (Api(), b"{}", (401, "not_authenticated")),
        (Api({"Authorization": "Basic x"}), b"{}", (401, "invalid_token")),
        (Api.as_signed_in(PersonFactory()), b"{}", (401, "invalid_token")),
        (poster, b"{", (400, "invalid_input")),
        (poster, b"{}", (403, "agent_scope_missing:react")),
        (agent, b'{"a": "%s"}' % (b"x" * 64), (413, "payload_too_large")),
    ):
        assert send(api, body=body) == refusal
    assert CALLS == []


def test_a_view_without_a_declaration_refuses_agents_on_unsafe_methods() -> None:
    agent = agent_with_token().api
    for method, status in (("GET", 200), ("POST", 403), ("DELETE", 403)):
        assert (send(agent, "/plain", method)[0], send(Api(), "/plain", method)[0]) == (status, 200), method


def test_a_method_that_a_viewset_does_not_have_is_405_for_agents_as_for_others() -> None:
    agent = agent_with_token().api
    for method in ("PUT", "PATCH", "DELETE", "QUERY"):
        for api in (agent, Api()):
            assert send(api, method=method) == (405, "method_not_allowed"), method


def test_a_handler_without_a_declaration_refuses_agents() -> None:
    agent = agent_with_token().api
    for method in ("POST", "DELETE"):
        assert send(agent, "/undeclared", method) == (403, "agent_route_not_allowed"), method
    assert CALLS == []
